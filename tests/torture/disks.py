"""Disks that fill up: at any size the crawl ends with one line, what was reported is there, and the
run resumes once there is room."""

from __future__ import annotations

import json
import random
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

from crawl_sites import Site, tree
from outcome import Part

from sonde.crawling import Crawl
from sonde.store.reader import DATABASE

FULL = """
import json, resource, signal, sys
from sonde.crawling import Crawl
from sonde.errors import SondeError
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
size = int(sys.argv[3])
resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
said, end = [], ""
def heard(event):
    said.append(getattr(event, "lease", 0))
try:
    Crawl(sys.argv[1], path=sys.argv[2], topic="tide gauge", budget=400, delay=0, per_host=16,
          allow_private=True, sitemaps="no", contact="torture@localhost", pages=sys.argv[4] == "1",
          on_event=heard).run_to_end()
except SondeError as error:
    end = str(error)
print(json.dumps([[each for each in said if each], end]))
"""


def disks(folder: Path, most: int) -> Part:
    """So many disks, each of another size."""
    part = Part("full disks", "one clear line; what was reported is there; the run resumes")
    dice = random.Random(7)
    sizes = []
    for number in range(most):
        size = int(10 ** dice.uniform(4.3, 6.0))
        sizes.append(size)
        run = folder / f"disk-{number}"
        with Site(tree(2000, 6)) as site:
            done = subprocess.run(
                [sys.executable, "-c", FULL, site.url("/0"), str(run), str(size), str(number % 2)],
                capture_output=True,
                text=True,
                timeout=120,
                check=False,
            )
            what = ""
            if done.returncode:
                what = done.stderr.strip()[-200:]
            elif (run / DATABASE).exists():
                said, end = json.loads(done.stdout)
                before = site.total
                with closing(sqlite3.connect(run / DATABASE)) as database, database:
                    leases = dict(database.execute("SELECT number, outcome FROM leases"))
                database.close()
                if any(leases.get(lease) is None for lease in said):
                    what = "something was reported that is not there"
                elif end and "\n" in end:
                    what = f"not one line: {end!r:.200}"
                else:
                    try:
                        result = Crawl.resume(run).run_to_end()
                        if not before <= site.total <= result.requests <= 400:
                            what = f"{site.total} requests, {result.requests} counted"
                    except Exception as error:
                        what = f"it does not resume: {error!r:.200}"
        part.check(not what, f"disk of {size:,} bytes: {what}")
    part.figures.append(f"{min(sizes):,} to {max(sizes):,} bytes a file")
    return part
