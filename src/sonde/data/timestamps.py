"""Times as people and programs write them, as whole seconds since 1970."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

_NUMBER = re.compile(r"-?\d{1,18}(?:\.\d*)?")


def seconds_from(text: str) -> int | None:
    """Numbers as they are, ISO 8601, e-mail and Twitter dates; UTC where no zone is named.

    >>> seconds_from("1970-01-02"), seconds_from("1970-01-01T01:00:00+01:00"), seconds_from("soon")
    (86400, 0, None)
    """
    text = text.strip()
    if _NUMBER.fullmatch(text):
        return int(float(text)) if "." in text else int(text)
    for read in (datetime.fromisoformat, _twitter, parsedate_to_datetime):
        try:
            found = read(text)
            break
        except (ValueError, TypeError, OverflowError, IndexError):
            continue
    else:
        return None
    if found.tzinfo is None:
        found = found.replace(tzinfo=UTC)
    try:
        return int(found.timestamp())
    except (OverflowError, ValueError):
        return None


def _twitter(text: str) -> datetime:
    return datetime.strptime(text, "%a %b %d %H:%M:%S %z %Y")
