"""The watch over a browser: a process that starts it and ends it, whatever becomes of sonde.

Run as a script with a limit in bytes and the browser's command. The browser gets a process group of
its own, which is killed when standard input ends (sonde has closed it, or is dead, however it died)
or when the group's memory passes the limit, where the system tells it (Linux). What the browser
says goes to standard error.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from contextlib import suppress
from pathlib import Path

_LOOK = 0.5  # seconds


def memory_of(group: int) -> int:
    """The bytes that a process group holds in memory, what it shares counted once for each; 0 where
    the system does not say."""
    total = 0
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError, ValueError, IndexError):
            fields = stat.read_text("latin-1").rpartition(")")[2].split()
            if int(fields[2]) == group:
                status = (stat.parent / "status").read_text("latin-1")
                # Anonymous memory is its own; files and shared memory count for all.
                total += 1024 * int(status.partition("RssAnon:")[2].split()[0])
    return total


def watch(limit: int, command: list[str]) -> int:
    """Run a command until standard input ends or its memory passes the limit."""
    ended = threading.Event()

    def wait_for_the_end() -> None:
        while sys.stdin.buffer.read(4096):
            pass
        ended.set()

    threading.Thread(target=wait_for_the_end, daemon=True).start()
    browser = subprocess.Popen(command, stdin=subprocess.DEVNULL, start_new_session=True)
    try:
        while browser.poll() is None and not ended.wait(_LOOK):
            if memory_of(browser.pid) > limit:
                break
    finally:
        if hasattr(os, "killpg"):
            with suppress(ProcessLookupError):
                os.killpg(browser.pid, signal.SIGKILL)
        browser.kill()
        browser.wait()
    return 0


if __name__ == "__main__":
    for name in ("SIGINT", "SIGTERM", "SIGHUP"):
        if hasattr(signal, name):
            signal.signal(
                getattr(signal, name), signal.SIG_IGN
            )  # its end is that of standard input
    code = watch(int(sys.argv[1]), sys.argv[2:])
    os._exit(code)  # the thread may still be reading
