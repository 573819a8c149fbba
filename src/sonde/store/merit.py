"""How well a run's visits were ordered, after each of them: see ``sonde.metrics``.

Visits count in the order in which they were told; with several in flight, the successor of a visit
is the next one told, which may have been asked for before.
"""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from sonde.metrics import MeritSteps, judge

_VISITS = """
SELECT leases.number, leases.node, score, gain, targets
FROM log JOIN leases ON leases.number = log.lease LEFT JOIN pages ON pages.lease = log.lease
WHERE log.kind = 'settle' AND outcome = 'visit' ORDER BY log.seq
"""


@dataclass(frozen=True, slots=True)
class JudgedRun:
    """The measures after each visit; ``leases`` names the visits."""

    leases: npt.NDArray[np.int64]
    steps: MeritSteps


def judged(database: sqlite3.Connection, threshold: float = 0.0) -> JudgedRun:
    """Judge a run's visits by its log."""
    leases: list[int] = []
    scores: list[float] = []
    gains: list[float] = []
    followed: list[int] = []
    links: bytes | None = None  # of the visit before, where it may prove a backtrack
    row: tuple[Any, ...]
    for row in database.execute(_VISITS):
        lease, node, score, gain, targets = row
        if leases:
            followed.append(1 if links is None else _among(node, links))
        leases.append(lease)
        scores.append(score or 0.0)
        gains.append(gain or 0.0)
        links = None if scores[-1] > threshold else targets or b""
    if leases:
        followed.append(1)
    return JudgedRun(
        np.array(leases, dtype=np.int64),
        judge(np.array(scores), np.array(gains), np.array(followed, dtype=np.int8), threshold),
    )


def _among(node: int, links: bytes) -> int:
    return int((np.frombuffer(links, "<i4") == node).any())
