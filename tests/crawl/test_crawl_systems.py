"""macOS and Windows from here: the calls that they lack are taken away, and sonde goes on."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from crawl_sites import Site, tree

import sonde
from sonde import system
from sonde.cli import main
from sonde.errors import InputError
from sonde.store.run import Run

PATCH = pytest.MonkeyPatch


def is_open(file: int, inode: int) -> bool:
    try:
        return os.fstat(file).st_ino == inode
    except OSError:
        return False


def windows(monkeypatch: PATCH) -> list[tuple[int, int]]:
    """As on Windows; the places that its lock is asked for."""
    asked: list[tuple[int, int]] = []
    held: dict[tuple[int, int], int] = {}

    def locking(file: int, mode: int, count: int) -> None:
        place = (os.fstat(file).st_ino, os.lseek(file, 0, os.SEEK_CUR))
        asked.append((place[1], count))
        if held.get(place, file) != file and is_open(held[place], place[0]):
            raise PermissionError(13, "Permission denied")
        held[place] = file

    monkeypatch.setattr(system, "_fcntl", None)
    monkeypatch.setattr(system, "_msvcrt", SimpleNamespace(LK_NBLCK=2, locking=locking))
    monkeypatch.setattr(system, "_BOOT", Path("no", "such", "file"))
    for call in ("fdatasync", "pwrite", "pread", "sched_getaffinity"):
        monkeypatch.delattr(os, call, raising=False)
    opened = os.open

    def no_folders(path: Any, *rest: Any, **further: Any) -> int:
        if Path(path).is_dir():
            raise PermissionError(13, "Permission denied", str(path))
        return opened(path, *rest, **further)

    monkeypatch.setattr(os, "open", no_folders)
    return asked


def no_loop_signals(monkeypatch: PATCH) -> None:
    def refuse(*_: object) -> None:
        raise NotImplementedError

    monkeypatch.setattr(asyncio.SelectorEventLoop, "add_signal_handler", refuse)


# -- import --------------------------------------------------------------------------------------


def test_every_module_is_imported_without_what_only_posix_has() -> None:
    code = """
import asyncio, importlib, multiprocessing, os, pkgutil, subprocess, sys, tempfile
POSIX = {"fcntl", "grp", "posix_ipc", "pwd", "resource", "syslog", "termios", "tty", "uvloop"}
class Absent:
    def find_spec(self, name, path=None, target=None):
        if name in POSIX:
            raise ModuleNotFoundError(name, name=name)
for name in POSIX & set(sys.modules):
    del sys.modules[name]
sys.meta_path.insert(0, Absent())
import sonde
# What other packages import, they decide by the name of the system, which is not taken away here.
OTHERS = ("sonde.scrapy.", "sonde.serve.mcp_server")
for module in pkgutil.walk_packages(sonde.__path__, "sonde."):
    if not module.name.endswith("__main__") and not module.name.startswith(OTHERS):
        importlib.import_module(module.name)
"""
    subprocess.run([sys.executable, "-c", code], check=True)


# -- a whole crawl -------------------------------------------------------------------------------


def test_a_crawl_is_made_and_resumed_as_on_windows(tmp_path: Path, monkeypatch: PATCH) -> None:
    asked = windows(monkeypatch)
    no_loop_signals(monkeypatch)
    settings: dict[str, Any] = {
        "topic": "tide gauge", "delay": 0, "per_host": 4, "allow_private": True,
        "contact": "me@a.example",
    }  # fmt: skip
    with Site(tree(60)) as site:
        sonde.crawl(site.url("/0"), path=tmp_path / "run", budget=20, **settings)
        assert site.total == 20
        again = sonde.Crawl.resume(tmp_path / "run", budget=30).run_to_end()
        assert site.total == again.requests == 30
    assert asked
    assert all(
        place > 1 << 20 and count == 1 for place, count in asked
    )  # beside the owner's number


# -- the lock ------------------------------------------------------------------------------------


@pytest.mark.parametrize("like", ["here", "windows"])
def test_one_writer_a_run(like: str, tmp_path: Path, monkeypatch: PATCH) -> None:
    if like == "windows":
        windows(monkeypatch)
    with (
        Run.create(tmp_path / "run", {}),
        pytest.raises(InputError, match=rf"another process .* \(process {os.getpid()}\)"),
    ):
        Run.open(tmp_path / "run")


def test_a_system_without_any_lock_says_so(tmp_path: Path, monkeypatch: PATCH) -> None:
    monkeypatch.setattr(system, "_fcntl", None)
    monkeypatch.setattr(system, "_msvcrt", None)
    Run.create(tmp_path / "run", {}).close()
    assert any("two processes" in weakness for weakness in system.weaknesses())


# -- the disk ------------------------------------------------------------------------------------


def test_on_macos_the_drive_is_asked_too(tmp_path: Path, monkeypatch: PATCH) -> None:
    asked: list[int] = []
    fcntl = SimpleNamespace(F_FULLFSYNC=51, fcntl=lambda file, call: asked.append(call))
    monkeypatch.setattr(system, "_fcntl", fcntl)
    monkeypatch.delattr(os, "fdatasync", raising=False)
    with (tmp_path / "file").open("wb") as file:
        system.sync_file(file.fileno())
    assert asked == [51]


def test_a_drive_that_cannot_be_asked_gets_the_usual_call(
    tmp_path: Path, monkeypatch: PATCH
) -> None:
    def refuse(file: int, call: int) -> None:
        raise OSError(45, "Operation not supported")

    synced: list[int] = []
    monkeypatch.setattr(system, "_fcntl", SimpleNamespace(F_FULLFSYNC=51, fcntl=refuse))
    monkeypatch.delattr(os, "fdatasync", raising=False)
    monkeypatch.setattr(os, "fsync", synced.append)
    with (tmp_path / "file").open("wb") as file:
        system.sync_file(file.fileno())
        assert synced == [file.fileno()]


# -- power cuts ----------------------------------------------------------------------------------


def test_on_macos_the_session_has_a_name(tmp_path: Path, monkeypatch: PATCH) -> None:
    sysctl = tmp_path / "sysctl"
    sysctl.write_text('#!/bin/sh\ntest "$*" = "-n kern.bootsessionuuid" && echo 6BA7-B810\n')
    sysctl.chmod(0o755)
    monkeypatch.setattr(system, "_BOOT", tmp_path / "none")
    monkeypatch.setattr(system, "_SYSCTL", sysctl)
    assert system.boot() == ""
    monkeypatch.setattr(sys, "platform", "darwin")
    assert system.boot() == "6BA7-B810"
    assert not system.restarted_since("6BA7-B810")
    assert system.restarted_since("another")
    monkeypatch.setattr(system, "_SYSCTL", tmp_path / "none")
    assert system.boot() == ""


def test_without_a_name_every_kill_may_have_been_a_power_cut(
    tmp_path: Path, monkeypatch: PATCH
) -> None:
    """So that the budget is never overspent: what was reserved ahead counts as spent."""
    run = Run.create(tmp_path / "named", {})
    run.journal.commit()
    run.abandon()
    with Run.open(tmp_path / "named") as run:
        assert not run.power_lost
    monkeypatch.setattr(system, "_BOOT", tmp_path / "none")
    for name in ("named", "nameless"):
        run = Run.open(tmp_path / name) if name == "named" else Run.create(tmp_path / name, {})
        run.journal.commit()
        run.abandon()
        with Run.open(tmp_path / name) as run:
            assert run.power_lost
        with Run.open(tmp_path / name) as run:
            assert not run.power_lost  # it was closed
    assert any("power cut" in weakness for weakness in system.weaknesses())


# -- signals -------------------------------------------------------------------------------------


@pytest.mark.parametrize("loop_hears", [True, False])
@pytest.mark.parametrize("number", system.SIGNALS)
def test_signals_are_heard_and_given_back(
    number: signal.Signals, loop_hears: bool, monkeypatch: PATCH
) -> None:
    if not loop_hears:
        no_loop_signals(monkeypatch)
    before = signal.getsignal(number)

    async def wait() -> None:
        heard = asyncio.Event()
        with system.on_signals(heard.set):
            os.kill(os.getpid(), number)
            await asyncio.wait_for(heard.wait(), 60)

    asyncio.run(wait())
    assert signal.getsignal(number) == before


# -- what it says --------------------------------------------------------------------------------


def test_the_doctor_says_what_the_system_cannot_promise(
    monkeypatch: PATCH, capsys: pytest.CaptureFixture[str]
) -> None:
    windows(monkeypatch)
    assert main(["doctor", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["weaknesses"] == system.weaknesses() != []
    assert main(["doctor"]) == 0
    told = capsys.readouterr().out
    assert all(f"this system: {weakness}" in told for weakness in system.weaknesses())
