"""Durations as people write them."""

from __future__ import annotations

import re

from sonde.errors import SpecError

_DURATION = re.compile(r"(\d+(?:\.\d+)?)(ms|s|m|h|d|w)")
_NUMBER = re.compile(r"\d+(?:\.\d+)?")
_SECONDS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0, "w": 604800.0}


def seconds_from(text: str) -> float:
    """A duration such as ``90s``, ``15m``, ``1h30m`` or ``7d``, in seconds; a number is seconds."""
    if _NUMBER.fullmatch(text):
        return float(text)
    parts = _DURATION.findall(text)
    if not parts or "".join(number + unit for number, unit in parts) != text:
        raise SpecError(f"{text!r} is not a duration (such as 30s, 15m, 1h30m or 7d)")
    return sum(float(number) * _SECONDS[unit] for number, unit in parts)
