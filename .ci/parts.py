"""Runs the parts of a target one after the other, and says how long each took.

    python .ci/parts.py test "lint=ruff check ." "types=mypy"

A part is a name and a command. All are run, also after one that failed; the status is 1 then.
"""

from __future__ import annotations

import resource
import shlex
import subprocess
import sys
import time
from pathlib import Path


def children() -> float:
    """CPU seconds of the processes that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def main(target: str, *parts: str) -> int:
    """Run the parts; 0 if all went well."""
    rows = []
    for part in parts:
        name, _, command = part.partition("=")
        words = shlex.split(command)
        print(f"== {name}: {command}", flush=True)
        began, spent = time.monotonic(), children()
        status = subprocess.run(
            [str(Path(sys.executable).with_name(words[0])), *words[1:]]
        ).returncode
        rows.append((name, time.monotonic() - began, children() - spent, status))
        print(f"== {name}: {rows[-1][1]:.0f} s", flush=True)
    print(f"\n{target:<12} {'seconds':>8} {'CPU':>8}")
    for name, wall, cpu, status in rows:
        print(f"{name:<12} {wall:8.1f} {cpu:8.1f}  {'FAILED' if status else 'ok'}")
    print(f"{'all':<12} {sum(row[1] for row in rows):8.1f} {sum(row[2] for row in rows):8.1f}")
    return int(any(status for *_, status in rows))


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
