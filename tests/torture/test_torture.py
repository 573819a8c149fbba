"""The short form of the torture campaign (see ``campaign``)."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "crawl"))

from addresses import addresses
from bombs import bombs
from clocks import clocks
from disks import disks
from interrupts import interrupts
from kills import kills
from outcome import Part


def held(part: Part) -> None:
    assert part.tried
    assert part.broken == []


@pytest.mark.slow
def test_kills(tmp_path: Path) -> None:
    held(kills(tmp_path, 24))


@pytest.mark.slow
def test_bombs(tmp_path: Path) -> None:
    held(bombs(tmp_path, 10))


@pytest.mark.slow
def test_signals(tmp_path: Path) -> None:
    held(interrupts(tmp_path, 3))


def test_addresses() -> None:
    held(addresses())


def test_clocks(tmp_path: Path) -> None:
    held(clocks(tmp_path, 2))


@pytest.mark.slow
def test_disks(tmp_path: Path) -> None:
    held(disks(tmp_path, 3))
