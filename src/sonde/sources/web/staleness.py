"""Staleness: places of a site that always have one more page and nothing new on it.

URLs of one shape (``template_of``: digits and hashes collapsed, parameters by name) share a tally of
how many visits there were and which brought something new. A visit is *fresh* when, of the runs of
three words in its main text (numbers left out), 30 or more than a fifth had not been read before in
the same place: the months of a calendar differ in numbers, the facets of a shop in order. Shapes are
tallied at three levels, so that a trap cannot hide by varying one of them: the template, its path
whatever the parameters, and its directory.

A fourth level is the first segment of the path, or the root for pages right below it. What counts
there is not staleness but *repetition*: that all words of the main text, or all that are not in
links, have stood in this order on another page of the host. A path that grows for ever shows one
page again and again, and a page that says "not found" with status 200 differs in its links at most.

A shape comes under suspicion when of its last visits a tenth or less were fresh. It takes 12 visits
of a template, 20 of a path, 30 of a directory, 32 of a segment, and not less than a hundredth of
the requests that are left: who has much to spend can look longer. A suspect is not walled off but
*sampled*: with each further stale visit half as many of its URLs are let through (those whose hash
is low enough, so that a URL is not let through by asking often), and a fresh visit squares that
share's way back: what was refused half as often is refused no more.

``factor`` is the shrunken share of fresh visits, to multiply a link's promise with: the yield decays
as the trap shows itself.

Deterministic; ``state`` and ``restore`` are plain JSON data, and so is telling the log again.
"""

from __future__ import annotations

import base64
import hashlib
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sonde.kernels.text.simhash import merge
from sonde.sources.web.traps import template_of

_PRIOR = 2.0
_RECENT = 12
_HISTORY = 128
_FRESH_SHARE = 0.1  # of a shape's last visits: with no more it is under suspicion
_NEW_SHARE = 0.2  # of a page's shingles: with fewer the page is stale ...
_NEW_ENOUGH = 30  # ... unless there are so many all the same
_MOST_READ = 16_384  # shingles remembered of one place, texts of one host; then it begins anew
_MOST_PLACES = 512  # remembered at one time: those visited last
_MOST_LEVELS = 20
_FEWEST_BARE = 5  # words outside of links that make a text to be recognised by

# How many visits make a suspect, by level: wider shapes need more evidence.
_ENOUGH = {"template": 12, "path": 20, "directory": 30, "segment": 32}
_SHARE_OF_BUDGET = 100  # and one in so many of the requests that are left

Read = NDArray[np.uint32]


class Said(NamedTuple):
    """What a page's main text says: its shingles (sorted, each once), a hash of all its words, one
    of those outside of links, and how many these are. Numbers are left out of all of them."""

    shingles: Read
    words: int
    bare: int
    bare_count: int


@dataclass(slots=True)
class _Tally:
    """Visits in all, one bit for each of the last ``_HISTORY`` (was it fresh?), and how often the
    share of its URLs that are let through was halved."""

    visits: int = 0
    bits: int = 0
    halved: int = 0

    def add(self, fresh: bool, enough: int) -> None:
        self.visits += 1
        self.bits = (self.bits << 1 | fresh) & ((1 << _HISTORY) - 1)
        if fresh:
            self.halved //= 2
        elif self.visits >= enough and self.fresh(enough) <= _FRESH_SHARE * enough:
            self.halved = min(self.halved + 1, _MOST_LEVELS)

    def fresh(self, last: int) -> int:
        """How many of the last so many visits were fresh."""
        return (self.bits & ((1 << last) - 1)).bit_count()

    @property
    def share(self) -> float:
        last = min(self.visits, _RECENT)
        return (self.fresh(last) + _PRIOR) / (last + _PRIOR)


class Staleness:
    """Keeps a tally for every shape visited."""

    def __init__(self) -> None:
        self._tallies: dict[str, _Tally] = {}
        self._shares: dict[str, float] = {}  # of the shapes that yield less than they could
        self._suspects: dict[str, None] = {}  # shapes that are sampled
        self._read: dict[str, Read] = {}  # sorted shingles by place, last visited last
        self._texts: dict[str, set[int]] = {}  # by host, last visited last

    def observe(self, url: str, said: Said, left: int | None) -> tuple[bool, bool]:
        """Take in a visited page, with so many requests left: whether it was fresh among its like,
        and whether its text repeats another one's."""
        shapes = shapes_of(url)
        fresh = self._is_fresh(shapes.directory or shapes.path or shapes.template, said.shingles)
        repeats = self._repeats(shapes.host, said)
        self._tally(shapes, fresh, repeats, left)
        return fresh, repeats

    def told(
        self, url: str, fresh: bool, repeats: bool, left: int | None, said: Said | None = None
    ) -> None:
        """Take in what ``observe`` said of a page.

        The tallies become what they were. Where the page is not at hand any more, words read on it
        count as new once more.
        """
        shapes = shapes_of(url)
        if said is not None:
            self._is_fresh(shapes.directory or shapes.path or shapes.template, said.shingles)
            self._repeats(shapes.host, said)
        self._tally(shapes, fresh, repeats, left)

    def _tally(self, shapes: Shapes, fresh: bool, repeats: bool, left: int | None) -> None:
        for level, shape in shapes.levels():
            tally = self._tallies.setdefault(shape, _Tally())
            tally.add(not repeats if level == "segment" else fresh, enough(level, left))
            self._note(shape, tally, level)

    def _note(self, shape: str, tally: _Tally, level: str) -> None:
        if tally.share < 1.0 and level != "segment":
            self._shares[shape] = tally.share
        else:
            self._shares.pop(shape, None)
        if tally.halved:
            self._suspects[shape] = None
        else:
            self._suspects.pop(shape, None)

    def _is_fresh(self, place: str, shingles: Read) -> bool:
        known = self._read.pop(place, None)
        if known is None:
            if len(self._read) >= _MOST_PLACES:
                self._read.pop(next(iter(self._read)))
            self._read[place] = shingles
            return True
        merged = np.empty(len(known) + len(shingles), dtype=np.uint32)
        new: int = merge(known, shingles, merged)
        size = len(known) + new
        self._read[place] = merged[:size].copy() if size <= _MOST_READ else shingles
        return new >= _NEW_ENOUGH or new > _NEW_SHARE * len(shingles)

    def _repeats(self, host: str, said: Said) -> bool:
        texts = self._texts.pop(host, None)
        if texts is None:
            if len(self._texts) >= _MOST_PLACES:
                self._texts.pop(next(iter(self._texts)))
            texts = set()
        if len(texts) >= _MOST_READ:
            texts.clear()
        self._texts[host] = texts
        keys = {said.words}
        if said.bare_count >= _FEWEST_BARE:
            keys.add(said.bare)
        known = not keys.isdisjoint(texts)
        texts.update(keys)
        return known

    def factor(self, url: str) -> float:
        """What to multiply a link's promise with: 1 for places not known to be stale."""
        if not self._shares:
            return 1.0
        return min(self._shares.get(shape, 1.0) for _, shape in shapes_of(url).levels())

    def verdict(self, url: str) -> str | None:
        """Why a URL is left out, or ``None`` where it is not."""
        if not self._suspects:
            return None
        for level, shape in shapes_of(url).levels():
            if shape in self._suspects and not _is_sampled(url, self._tallies[shape].halved):
                tally = self._tallies[shape]
                last = min(tally.visits, _HISTORY)
                what = "said something new" if level != "segment" else "were no repeats"
                return f"stale {level}: {tally.fresh(last)} of the last {last} pages like it {what}"
        return None

    def state(self) -> dict[str, Any]:
        """Everything, as plain data."""
        return {
            "tallies": {
                shape: [tally.visits, tally.bits, tally.halved, shape in self._shares]
                for shape, tally in self._tallies.items()
            },
            "read": {place: _packed(read) for place, read in self._read.items()},
            "texts": {
                host: _packed(np.array(sorted(texts), dtype=np.uint64))
                for host, texts in self._texts.items()
            },
        }

    def restore(self, state: dict[str, Any]) -> None:
        """Become what ``state`` described."""
        self._tallies.clear()
        self._shares.clear()
        self._suspects.clear()
        for shape, (visits, bits, halved, shared) in state["tallies"].items():
            tally = self._tallies[shape] = _Tally(visits, bits, halved)
            self._note(shape, tally, "template" if shared else "segment")
        self._read = {
            place: np.frombuffer(base64.b64decode(read), dtype="<u4").astype(np.uint32)
            for place, read in state["read"].items()
        }
        self._texts = {
            host: set(np.frombuffer(base64.b64decode(texts), dtype="<u8").tolist())
            for host, texts in state["texts"].items()
        }


def enough(level: str, left: int | None) -> int:
    """How many visits make a suspect of a shape, with so many requests left."""
    least = _ENOUGH[level]
    return max(least, _HISTORY if left is None else min(_HISTORY, left // _SHARE_OF_BUDGET))


def _is_sampled(url: str, halved: int) -> bool:
    """Whether a URL is among the 1 in 2 ** ``halved`` that are let through."""
    digest = hashlib.blake2b(url.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "big") >> (64 - halved) == 0


def _packed(numbers: NDArray[Any]) -> str:
    return base64.b64encode(numbers.astype(numbers.dtype.newbyteorder("<")).tobytes()).decode()


class Shapes(NamedTuple):
    """The shapes that a URL is tallied under; "" for one that it has not."""

    host: str
    template: str
    path: str
    directory: str
    segment: str

    def levels(self) -> list[tuple[str, str]]:
        """The shapes that there are, with the names of their levels."""
        return [(level, shape) for level, shape in zip(_LEVELS, self[1:], strict=True) if shape]


_LEVELS = ("template", "path", "directory", "segment")


@lru_cache(maxsize=16_384)  # a site's pages link to each other
def shapes_of(url: str) -> Shapes:
    """The shapes of a normalised URL. The root is no directory: a small site has no other."""
    template = template_of(url)
    path, query, _ = template.partition("?")
    directory = path[: path.rindex("/") + 1]
    host = url[: url.index("/", 8) + 1]
    first, slash, _ = url[len(host) :].partition("?")[0].partition("/")
    return Shapes(
        host,
        template,
        path + "?*" if query else "",
        directory + "*" if directory.count("/") > 3 else "",
        f"{host}{first}/**" if slash else f"{host}**",
    )
