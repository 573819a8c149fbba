"""Retries: which failures are worth another try, how often, and how long a server asks to wait."""

from __future__ import annotations

from email.utils import parsedate_to_datetime

TRANSIENT = frozenset(("timeout", "connect", "disconnected", "slow", "dns")) | {
    f"http-{status}" for status in (408, 425, 429, 500, 502, 503, 504)
}
"""Reasons of a ``FetchProblem`` that may be gone at the next try."""

TROUBLE = frozenset(("timeout", "connect", "disconnected", "slow", "http-429", "http-503"))
"""Those that say that the server wants to be left alone, or cannot answer."""

GIVE_UP = 5
"""Troubles of a host in a row after which nothing is tried again there."""

LONGEST_PAUSE = 24 * 3600.0
"""No server can make a crawler wait longer than this."""


class Retries:
    """Counts how often each node was tried again: at most ``most`` times."""

    def __init__(self, most: int) -> None:
        self.most = most
        self._tried: dict[str, int] = {}

    def again(self, node: str, reason: str, *, troubles: int = 0, counted: bool = True) -> bool:
        """Whether a node that failed for this reason is tried again. ``troubles`` are those of its
        host in a row; one that is not ``counted`` may be repeated for ever."""
        tried = self._tried.get(node, 0)
        if reason not in TRANSIENT or (counted and tried >= self.most) or troubles >= GIVE_UP:
            self._tried.pop(node, None)
            return False
        self._tried[node] = tried + counted
        return True

    def succeeded(self, node: str) -> None:
        """A node was visited: what was counted for it is forgotten."""
        self._tried.pop(node, None)

    def recall(self, node: str, tried: int) -> None:
        """A node was tried so often before."""
        self._tried[node] = tried


def retry_after(value: str | None, wall: float) -> float | None:
    """Seconds to wait by a Retry-After header, given the time of day; ``None`` for nothing."""
    if not value:
        return None
    value = value.strip()
    if value.isascii() and value.isdigit():
        return min(float(value[:9]), LONGEST_PAUSE)
    try:
        moment = parsedate_to_datetime(value)
    except (TypeError, ValueError, OverflowError):
        return None
    return min(max(0.0, moment.timestamp() - wall), LONGEST_PAUSE)
