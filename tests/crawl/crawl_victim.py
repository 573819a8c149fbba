"""A process that can be killed in the middle of a crawl, many times, without starting anew.

Reads lines of JSON: ``{"seeds", "folder", "settings", "after", "seconds"}``, with the ``source``
where it is not the Web. For each it forks a child
that makes or resumes the run, waits until the child has reported a number of settled leases (or
some seconds have gone), kills it with SIGKILL, and answers with what the child had reported.
"""

from __future__ import annotations

import json
import os
import select
import signal
import sys
import time
from pathlib import Path
from typing import Any

from sonde.crawling import Crawl, Settled, Stopped


def child(order: dict[str, Any], out: int) -> None:
    def heard(event: Settled | Stopped) -> None:
        if isinstance(event, Settled):
            os.write(out, f"{event.lease} {event.outcome} {event.node}\n".encode())
        else:
            os.write(out, f"stopped {event.reason} -\n".encode())

    folder = Path(order["folder"])
    if (folder / "run.sqlite").exists():
        running = Crawl.resume(folder, on_event=heard)
    else:
        source, seeds = order.get("source"), order["seeds"]
        starts = (seeds, []) if source is None else (source, seeds)
        running = Crawl(
            starts[0], seeds=starts[1], path=folder, on_event=heard, **order["settings"]
        )
    running.run_to_end()


def serve() -> None:
    for line in sys.stdin:
        order = json.loads(line)
        reading, writing = os.pipe()
        pid = os.fork()
        if pid == 0:
            os.close(reading)
            try:
                child(order, writing)
            except BaseException as error:
                os.write(writing, f"error {type(error).__name__} {error}\n".encode())
            os._exit(0)
        os.close(writing)
        said = b""
        deadline = time.monotonic() + order["seconds"]
        while said.count(b"\n") < order["after"]:
            left = deadline - time.monotonic()
            if left <= 0 or not select.select([reading], [], [], left)[0]:
                break
            part = os.read(reading, 65_536)
            if not part:
                break
            said += part
        os.kill(pid, signal.SIGKILL)
        while part := os.read(reading, 65_536):
            said += part
        os.close(reading)
        os.waitpid(pid, 0)
        print(json.dumps(said.decode().splitlines()), flush=True)


if __name__ == "__main__":
    serve()
