"""The function scorer: a page's worth is what a Python function says.

A page function takes the document (``url``, ``title``, ``text``, ``content``, ``links``) and
returns a number >= 0. A link function takes the document and one of its links, and returns that
link's alpha; without one all alphas are 0. From text: ``module:page`` or
``module:page,module:link``.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from importlib import import_module
from typing import Any

from sonde.errors import InputError
from sonde.scorers.document import Document, Scores, Span

PageFunction = Callable[[Any], float]
LinkFunction = Callable[[Any, Any], float]


class FunctionScorer:
    """Scores by functions of the user's."""

    def __init__(self, page: PageFunction, link: LinkFunction | None = None) -> None:
        self.page = page
        self.link = link

    @classmethod
    def from_spec(cls, spec: str) -> FunctionScorer:
        """Import the functions that ``module:page`` or ``module:page,module:link`` name."""
        names = [name.strip() for name in spec.split(",")]
        if len(names) > 2:
            raise InputError(f"expected module:page or module:page,module:link, not {spec!r}")
        return cls(*(_imported(name) for name in names))

    def score(self, document: Document) -> Scores:
        beta = _checked(self.page, self.page(document))
        return Scores(beta, [self._alpha(document, link) for link in document.links])

    def rescore(self, document: Document) -> float:
        """The beta of a document whose main text has changed since it was scored."""
        return self.score(document).beta

    def _alpha(self, document: Document, link: Span) -> float:
        return 0.0 if self.link is None else _checked(self.link, self.link(document, link))


def _imported(name: str) -> Callable[..., float]:
    module, colon, attribute = name.partition(":")
    if not colon:
        raise InputError(f"expected module:function, not {name!r}")
    try:
        found = getattr(import_module(module), attribute)
    except (ImportError, AttributeError, ValueError) as error:
        raise InputError(f"cannot import {name!r}: {error}") from None
    if not callable(found):
        raise InputError(f"{name!r} is not a function")
    return found  # type: ignore[no-any-return]


def _checked(function: Callable[..., float], value: float) -> float:
    number = float(value)
    if not (math.isfinite(number) and number >= 0.0):
        name = getattr(function, "__name__", repr(function))
        raise InputError(f"the scorer {name} returned {value!r}; scores are finite and >= 0")
    return number
