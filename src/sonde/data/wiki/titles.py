"""The titles of a wiki: one spelling for one page, and the namespaces they are in."""

from __future__ import annotations

import html
from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import unquote

FILE, CATEGORY = 6, 14

_CANONICAL = {
    "media": -2, "special": -1, "talk": 1, "user": 2, "user talk": 3, "project": 4,
    "project talk": 5, "file": 6, "image": 6, "file talk": 7, "mediawiki": 8, "mediawiki talk": 9,
    "template": 10, "template talk": 11, "help": 12, "help talk": 13, "category": 14,
    "category talk": 15,
}  # fmt: skip


@dataclass(frozen=True)
class Titles:
    """Knows the namespaces that a dump's ``siteinfo`` lists."""

    names: Mapping[int, str] = field(default_factory=dict)  # number: prefix
    sensitive: frozenset[int] = frozenset()  # namespaces whose first letter may be small

    def spaces(self) -> dict[str, int]:
        """Prefixes in small letters, the wiki's own before those that all wikis know."""
        own = {name.lower(): number for number, name in self.names.items() if name}
        return _CANONICAL | own


class Resolver:
    """Turns what a link says into a title. ``known`` keeps what links said: they repeat."""

    _MOST = 200_000

    def __init__(self, titles: Titles) -> None:
        self._titles = titles
        self._spaces = titles.spaces()
        self.known: dict[bytes, tuple[str, str]] = {}

    def link(self, target: bytes) -> tuple[str, str]:
        """The title that a link's target leads to, if any, and what the link shows.

        That is "file", "category", or nothing for a link that shows its label.
        """
        found = self.known.get(target)
        if found is None:
            if len(self.known) >= self._MOST:
                self.known.clear()
            text = target.decode("utf-8", "surrogatepass")
            space, title = self.title(text)
            kind = ""
            if ":" in text and text.lstrip()[:1] != ":":
                kind = "file" if space == FILE else "category" if space == CATEGORY else ""
            found = self.known[target] = title, kind
        return found

    def kind(self, target: bytes) -> str:
        """What a link to the target shows: see ``wikitext.plain``."""
        return self.link(target)[1]

    def title(self, target: str) -> tuple[int, str]:
        """Namespace and title of a page; an empty title if it is none."""
        if "%" in target:
            target = unquote(target, errors="replace")
        if "&" in target:
            target = html.unescape(target)
        target = target.partition("#")[0]
        name = " ".join(target.replace("_", " ").split()).removeprefix(":").lstrip()
        prefix, colon, rest = name.partition(":")
        space = self._spaces.get(prefix.rstrip().lower(), 0) if colon else 0
        if space:
            name = rest.lstrip()
        if name and space not in self._titles.sensitive:
            name = name[0].upper() + name[1:]
        if not name or space < 0:
            return space, ""
        if not space:
            return 0, name
        shown = self._titles.names.get(space) or prefix.strip().capitalize()
        return space, f"{shown}:{name}"
