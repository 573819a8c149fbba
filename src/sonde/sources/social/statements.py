"""Rate-limit headers: what an answer says about its limits, in the forms that are in use.

``X-RateLimit-Limit``, ``-Remaining``, ``-Reset`` (also spelt ``X-Rate-Limit-``), the same without
``X-``, the structured ``RateLimit`` and ``RateLimit-Policy`` of the IETF's drafts, old and new, and
``Retry-After``. A reset is a time of day (ISO 8601, or seconds since 1970) or seconds from now.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

from sonde.net.retries import LONGEST_PAUSE, retry_after

_EPOCH = 1_000_000_000  # a reset beyond this is a time of day, not a number of seconds
_PAIR = re.compile(r"([a-z]+)\s*=\s*(\d{1,15})")


@dataclass(frozen=True)
class Statement:
    """``limit`` requests in ``seconds``; ``remaining`` until ``reset``; nothing until
    ``wait_until``. Times are times of day."""

    limit: int | None = None
    seconds: float | None = None
    remaining: int | None = None
    reset: float | None = None
    wait_until: float | None = None


def statement_of(headers: Mapping[str, str], status: int, now: float) -> Statement:
    """Everything that the headers of an answer say.

    >>> statement_of({"RateLimit": '"default";r=50;t=30'}, 200, 1000.0)
    Statement(limit=None, seconds=None, remaining=50, reset=1030.0, wait_until=None)
    """
    limit = remaining = None
    seconds = reset = wait_until = None
    for prefix in ("X-RateLimit-", "X-Rate-Limit-", "RateLimit-"):
        limit = _whole(headers.get(f"{prefix}Limit")) if limit is None else limit
        if remaining is None:
            remaining = _whole(headers.get(f"{prefix}Remaining"))
        reset = _moment(headers.get(f"{prefix}Reset"), now) if reset is None else reset
    stated = _pairs(headers.get("RateLimit"))
    limit = stated.get("limit", limit)
    remaining = stated.get("remaining", stated.get("r", remaining))
    after = stated.get("reset", stated.get("t"))
    if after is not None:
        reset = now + min(after, LONGEST_PAUSE)
    policy = headers.get("RateLimit-Policy")
    if policy and "," not in policy:  # one of several: which one is meant cannot be said
        terms = _pairs(policy)
        quota = terms.get("q", _whole(policy.partition(";")[0]))
        if quota is not None and terms.get("w"):
            limit, seconds = quota, float(terms["w"])
    if status in (429, 503):
        pause = retry_after(headers.get("Retry-After"), now)
        if pause is not None:
            wait_until = now + pause
        elif status == 429:
            wait_until = reset if reset is not None else now + 60.0
    return Statement(limit, seconds, remaining, reset, wait_until)


def _whole(text: str | None) -> int | None:
    """A whole number that may be followed by parameters."""
    digits = (text or "").partition(";")[0].partition(",")[0].strip()
    return int(digits[:15]) if digits.isascii() and digits.isdigit() else None


def _pairs(text: str | None) -> dict[str, int]:
    return {name: int(value) for name, value in _PAIR.findall((text or "").lower())}


def _moment(text: str | None, now: float) -> float | None:
    if not text:
        return None
    number = _whole(text)
    if number is not None:
        moment = float(number) if number > _EPOCH else now + number
    else:
        try:
            parsed = datetime.fromisoformat(text.strip())
        except ValueError:
            return None
        moment = (parsed if parsed.tzinfo else parsed.replace(tzinfo=UTC)).timestamp()
    return min(max(now, moment), now + LONGEST_PAUSE)
