"""JSON paths: values picked by names with dots between them, ``[]`` for each of a list.

>>> pick({"post": {"facets": [{"did": "a"}, {"did": "b"}, {}]}}, "post.facets[].did")
['a', 'b']

What is not there, or is not of the shape that the path expects, is left out: an API may leave out
what it likes.
"""

from __future__ import annotations

from typing import Any

from sonde.whole_text import whole


def pick(data: Any, path: str) -> list[Any]:
    """All values at a path; those that are null are left out."""
    found = [data]
    for step in path.split(".") if path else []:
        name = step.removesuffix("[]")
        if name:
            found = [value[name] for value in found if isinstance(value, dict) and name in value]
        if step.endswith("[]"):
            found = [value for several in found if isinstance(several, list) for value in several]
    return [value for value in found if value is not None]


def one(data: Any, path: str) -> Any:
    """The first value at a path, or ``None``."""
    return next(iter(pick(data, path)), None)


def text(data: Any, path: str) -> str:
    """The first value at a path as a text: numbers are written out, all else is empty."""
    value = one(data, path)
    return whole(str(value)) if isinstance(value, (str, int, float)) else ""
