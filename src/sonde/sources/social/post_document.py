"""Post document: what an account has said, as a document for the scorer.

``content`` is all posts; ``text`` is the same, and then for each account that is mentioned the
posts that mention it, one place after the other. A link stands at its place, so that its α is
that of the posts that mention the other, all of them together. A bar stands between posts: no
phrase begins in one and ends in the next.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

_BAR = " | "


class AccountPost(NamedTuple):
    """One post: who said what, and whom it mentions (nodes)."""

    author: str
    text: str
    mentions: Sequence[str] = ()


class Mention(NamedTuple):
    """A link: a node, and the place of the posts that lead to it."""

    url: str
    start: int
    end: int


@dataclass(frozen=True)
class PostDocument:
    """A document (see ``scorers.document``)."""

    url: str
    title: str
    text: str
    content: str
    links: tuple[Mention, ...]
    main: None = None
    window: int = 0

    def context(self, link: Any, /) -> str:
        """The posts that mention the other."""
        return self.text[link.start : link.end]


def document(
    node: str, title: str, own: Iterable[str], said: Iterable[tuple[str, str]]
) -> PostDocument:
    """A document of one's `own` posts and of what was `said` of others: (node, text) pairs."""
    content = _BAR.join(map(_one_line, own))
    about: dict[str, list[str]] = {}
    for other, text in said:
        if other != node:
            about.setdefault(other, []).append(_one_line(text))
    parts = [content]
    place = len(content)
    links = []
    for other, texts in about.items():
        section = _BAR.join(texts)
        place += len(_BAR)
        links.append(Mention(other, place, place + len(section)))
        parts.append(section)
        place += len(section)
    return PostDocument(node, title, _BAR.join(parts), content, tuple(links))


def _one_line(text: str) -> str:
    return " ".join(text.split())
