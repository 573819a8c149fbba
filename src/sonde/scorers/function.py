"""The function scorer: a page's worth is what a Python function says.

A page function takes the document (``url``, ``title``, ``language``, ``text``, ``content``,
``links``) and returns a number >= 0. A link function takes the document and one of its links, and
returns that link's alpha. Without one the topic scores links, as the keyword scorer does; without a
topic the page function itself, of a document that has the link's URL, its anchor as title, and its
anchor and window as text. From text: ``module:page`` or ``module:page,module:link``; modules are
looked for in the current folder too.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from sonde.errors import InputError
from sonde.scorers.document import Document, Scorer, Scores, Span

PageFunction = Callable[[Any], float]
LinkFunction = Callable[[Any, Any], float]


@dataclass(frozen=True)
class LinkDocument:
    """A link as a document: what stands around it."""

    url: str
    title: str
    text: str
    language: str = ""
    links: tuple[Span, ...] = ()
    window: int = 0

    @property
    def content(self) -> str:
        return self.text

    def context(self, link: Any, /) -> str:
        """It has no links."""
        raise ValueError(f"no link of {self.url}")


class FunctionScorer:
    """Scores by functions of the user's; ``links`` scores the links where there is no link
    function."""

    def __init__(
        self, page: PageFunction, link: LinkFunction | None = None, *, links: Scorer | None = None
    ) -> None:
        self.page = page
        self.link = link
        self.links = links

    @classmethod
    def from_spec(cls, spec: str, *, links: Scorer | None = None) -> FunctionScorer:
        """Import the functions that ``module:page`` or ``module:page,module:link`` name."""
        names = [name.strip() for name in spec.split(",")]
        if len(names) > 2:
            raise InputError(f"expected module:page or module:page,module:link, not {spec!r}")
        return cls(*(_imported(name) for name in names), links=links)

    def score(self, document: Document) -> Scores:
        beta = _checked(self.page, self.page(document))
        if self.link is None and self.links is not None:
            return Scores(beta, self.links.score(document).alphas)
        return Scores(beta, [self._alpha(document, link) for link in document.links])

    def rescore(self, document: Document) -> float:
        """The beta of a document whose main text has changed since it was scored."""
        return self.score(document).beta

    def _alpha(self, document: Document, link: Span) -> float:
        if self.link is not None:
            return _checked(self.link, self.link(document, link))
        anchor = document.text[link.start : link.end]
        around = LinkDocument(link.url, anchor, document.context(link), document.language)
        return _checked(self.page, self.page(around))


def _imported(name: str) -> Callable[..., float]:
    module, colon, attribute = name.partition(":")
    if not colon:
        raise InputError(f"expected module:function, not {name!r}")
    here = str(Path.cwd())
    if here not in sys.path:  # of a program that was installed it is not
        sys.path.append(here)
    try:
        found = getattr(import_module(module), attribute)
    except Exception as error:  # whatever the module raises when it is imported
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
