"""What sonde asks of the operating system, and what it does where the system has no such call.

A lock on a run, the way to the disk, a name for the time since the machine was started, and
signals in an event loop. ``weaknesses`` says what cannot be promised on this system, and ``sonde
doctor`` prints it.
"""

from __future__ import annotations

import errno
import importlib
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from sonde.errors import ResourceError


def _module(name: str) -> Any:
    """A module that not every system has, or ``None``."""
    try:
        return importlib.import_module(name)
    except ImportError:
        return None


_fcntl = _module("fcntl")  # POSIX
_msvcrt = _module("msvcrt")  # Windows
_LOCKED_BYTE = 1 << 30  # which nobody reads or writes: Windows denies what is locked to others
_BOOT = Path("/proc/sys/kernel/random/boot_id")
_SYSCTL = Path("/usr/sbin/sysctl")
SIGNALS = (signal.SIGINT, signal.SIGTERM)
_ANY_FILE = 2


# -- the lock ------------------------------------------------------------------------------------


def take_lock(file: int) -> bool:
    """Whether this process holds the lock of an open file from now on, until it closes the file or
    ends, however it ends."""
    try:
        if _fcntl is not None:
            _fcntl.flock(file, _fcntl.LOCK_EX | _fcntl.LOCK_NB)
        elif _msvcrt is not None:
            os.lseek(file, _LOCKED_BYTE, os.SEEK_SET)
            _msvcrt.locking(file, _msvcrt.LK_NBLCK, 1)
    except OSError:
        return False
    return True


# -- the disk ------------------------------------------------------------------------------------


def sync_file(file: int) -> None:
    """Wait until what was written to a file is on the disk. It must be open for writing."""
    full = getattr(_fcntl, "F_FULLFSYNC", None)  # macOS, whose fsync ends in the drive's cache
    if full is not None:
        with suppress(OSError):  # a file system that cannot
            _fcntl.fcntl(file, full)
            return
    if hasattr(os, "fdatasync"):
        os.fdatasync(file)
    else:
        os.fsync(file)


def sync_folder(path: Path) -> None:
    """Wait until the names of new files are on the disk, on systems that open folders."""
    try:
        folder = os.open(path, os.O_RDONLY)
    except PermissionError:  # Windows
        return
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


# -- open files ----------------------------------------------------------------------------------


def is_exhausted() -> bool:
    """Whether no more files can be opened now."""
    try:
        os.close(os.dup(_ANY_FILE))
    except OSError as error:
        return is_starved(error)
    return False


def is_starved(error: BaseException | None) -> bool:
    """Whether an error came about because no more files may be opened."""
    while error is not None:
        if isinstance(error, OSError) and error.errno in (errno.EMFILE, errno.ENFILE):
            return True
        error = getattr(error, "os_error", None) or error.__cause__
    return False


def no_descriptors() -> ResourceError:
    """What to say then."""
    resource = _module("resource")
    limit = "" if resource is None else f" of {resource.getrlimit(resource.RLIMIT_NOFILE)[0]}"
    return ResourceError(
        f"the limit{limit} open files is reached: ask for fewer at once (--concurrency), or allow"
        " more (ulimit -n); what was reported is safe, and the run resumes"
    )


# -- power cuts ----------------------------------------------------------------------------------


def boot() -> str:
    """A name for the time since this machine was started; empty where it has none."""
    try:
        return _BOOT.read_text(encoding="ascii").strip()
    except OSError:
        pass
    if sys.platform == "darwin":
        with suppress(OSError, subprocess.SubprocessError):
            asked = [str(_SYSCTL), "-n", "kern.bootsessionuuid"]
            return subprocess.run(
                asked, capture_output=True, text=True, timeout=5, check=True
            ).stdout.strip()
    return ""


def restarted_since(name: str | None) -> bool:
    """Whether the machine may have been started since ``boot`` gave this name."""
    return not name or name != boot()


# -- signals -------------------------------------------------------------------------------------


@contextmanager
def on_signals(callback: Callable[[], object]) -> Iterator[None]:
    """Within an event loop: call back on SIGINT and on SIGTERM."""
    import asyncio  # which whoever only takes a lock does without

    loop = asyncio.get_running_loop()
    before: dict[int, Any] = {}

    def hear(number: int, _: object) -> None:
        loop.call_soon_threadsafe(callback)

    for number in SIGNALS:
        try:
            loop.add_signal_handler(number, callback)
        except NotImplementedError:  # Windows, whose loop is woken by a signal all the same
            before[number] = signal.signal(number, hear)
    try:
        yield
    finally:
        for number in SIGNALS:
            if number in before:
                signal.signal(number, before[number])
            else:
                loop.remove_signal_handler(number)


# -- what is not promised ------------------------------------------------------------------------


def weaknesses() -> list[str]:
    """What cannot be promised on this system, a sentence each."""
    found = []
    if _fcntl is None and _msvcrt is None:
        found.append("nothing keeps two processes from writing the same run")
    if os.name == "nt":
        found += [
            "a power cut may take the name of a WARC file that was begun in its last second",
            "who else may read a file with a secret is not checked",
            "SIGTERM ends a crawl as a kill does: the run resumes, requests in flight are spent",
        ]
    if not boot():
        found.append(
            "a power cut cannot be told from a kill: after either, requests that were reserved"
            " ahead count as spent"
        )
    return found
