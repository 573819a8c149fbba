"""Staleness: places of a site that always have one more page and nothing new on it.

URLs of one shape (see ``url_shapes``) share a tally of how many visits there were and which brought
something new. A visit is *fresh* when, of the runs of three words in its main text (numbers, and
words of its own URL, left out), 30 or more than a fifth had not been read before in the same place:
the months of a calendar differ in numbers, the facets of a shop in order. Shapes are tallied at
several levels, so that a trap cannot hide by varying one of them: the template, its path whatever
the parameters, its directory.

The widest level is the first segment of the path, or the root. There a page *repeats* when it is
the first of its directory and says nothing new among all pages of the segment, or when all words of
its main text, or all that are not in links, have stood in this order on another page of the host. A
path that grows for ever shows one page again and again, and a page that says "not found" with
status 200 differs in its links at most.

A shape comes under suspicion when of its last visits a tenth or less were fresh. It takes 12 visits
of a template, 16 of a path, 24 of a directory, 32 of a segment, and not less than a hundredth of
the requests that are left: who has much to spend can look longer. A suspect is not walled off but
*sampled*: with each further stale visit an eighth as many of its URLs are let through (those whose
hash is low enough, so that a URL is not let through by asking often), and each fresh visit takes
half of that back: what was refused for little is soon refused no more.

``factor`` is the shrunken share of fresh visits, to multiply a link's promise with: the yield
decays as the trap shows itself. Fresh pages that score nothing are not traps, however many there
are; the estimators deal with those.

Deterministic; ``state`` and ``restore`` are plain JSON data, and so is telling the log again.
"""

from __future__ import annotations

import base64
import hashlib
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sonde.kernels.text.shingles import ShingleSet, pass_over
from sonde.kernels.text.tokens import tokenise
from sonde.sources.main_text import MainText
from sonde.sources.web.url_shapes import Shapes, growing, shapes_of

_PRIOR = 2.0
_RECENT = 12
_HISTORY = 128
_FRESH_SHARE = 0.1  # of a shape's last visits: with no more it is under suspicion
_NEW_SHARE = 0.2  # of a page's shingles: with fewer the page is stale ...
_NEW_ENOUGH = 30  # ... unless there are so many all the same
_MOST_READ = 16_384  # shingles remembered of one place, texts of one host; then it begins anew
_MOST_PLACES = 512  # remembered at one time: those visited last
_STEP = 3  # bits: an eighth as many
_MOST_BITS = 24
_ECHO = 100  # bytes of a URL whose words a page may echo
_FEWEST_BARE = 5  # words outside of links that make a text to be recognised by

# How many visits make a suspect, by level: wider shapes need more evidence.
_ENOUGH = {"template": 12, "path": 16, "directory": 24, "segment": 32}
_SHARE_OF_BUDGET = 100  # and one in so many of the requests that are left


def own_words(main: MainText, url: str) -> MainText:
    """Main text without the words of the page's own URL, which it may only echo."""
    path = url[url.index("/", 8) :].encode("utf-8", "replace")[-_ECHO:]
    echoed = np.empty(len(path), dtype=np.uint64)
    places, numbers = np.empty(len(path), dtype=np.intc), np.empty(len(path), dtype=np.uint8)
    count: int = tokenise(path, places, echoed, numbers)
    if not count:
        return main
    main = replace(main, kept=main.kept.copy())
    pass_over(main.imprint, main.kept, echoed[:count])
    return main


Noted = tuple[int, int, int | None, int]


class Finding(NamedTuple):
    """What was found of a visit: whether it was fresh among its like, whether it repeats what its
    segment or its host has said, how many requests were left then (``None``: no limit), and whether
    the page is a copy of one on another host."""

    fresh: bool
    repeats: bool
    left: int | None
    copied: bool = False

    @property
    def noted(self) -> Noted | None:
        """What the log keeps of it: nothing where all was new."""
        if self.fresh and not self.repeats and not self.copied:
            return None
        return int(self.fresh), int(self.repeats), self.left, int(self.copied)

    @classmethod
    def of(cls, noted: Noted | None) -> Finding:
        """From what the log has kept."""
        if noted is None:
            return cls(True, False, None)
        return cls(bool(noted[0]), bool(noted[1]), noted[2], bool(noted[3]))


@dataclass(slots=True)
class Tally:
    """Visits in all, one bit for each of the last ``_HISTORY`` (was it fresh?), and how many bits
    of a URL's hash must be 0 for it to be let through."""

    visits: int = 0
    bits: int = 0
    sampled: int = 0

    def add(self, fresh: bool, enough: int) -> None:
        self.visits += 1
        self.bits = (self.bits << 1 | fresh) & ((1 << _HISTORY) - 1)
        if fresh:
            self.sampled //= 2
        elif self.visits >= enough and self.fresh(enough) <= _FRESH_SHARE * enough:
            self.sampled = min(self.sampled + _STEP, _MOST_BITS)

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
        self._tallies: dict[str, Tally] = {}
        self._shares: dict[str, float] = {}  # of the shapes that yield less than they could
        self._suspects: dict[str, None] = {}  # shapes that are sampled
        self._read: dict[str, ShingleSet] = {}  # by place, last visited last
        self._texts: dict[str, set[int]] = {}  # by host, last visited last

    def observe(self, url: str, main: MainText, left: int | None) -> Finding:
        """Take in a visited page, with so many requests left."""
        finding = Finding(*self._compared(url, main), left)
        self._tally(shapes_of(url), finding)
        return finding

    def told(self, url: str, main: MainText | None, finding: Finding) -> None:
        """Take in what ``observe`` found of a page. Where it is not known any more what the page
        said, its words count as new once more."""
        if main is not None:
            self._compared(url, main)
        self._tally(shapes_of(url), finding)

    def _compared(self, url: str, main: MainText) -> tuple[bool, bool]:
        shapes, main = shapes_of(url), own_words(main, url)
        first = shapes.place not in self._read
        fresh = widely = self._is_fresh(shapes.place, main)
        if shapes.segment != shapes.place:
            widely = self._is_fresh(shapes.segment, main) or not first
        return fresh, self._repeats(shapes.host, main) or not widely

    def _tally(self, shapes: Shapes, finding: Finding) -> None:
        for level, shape in shapes.levels():
            tally = self._tallies.setdefault(shape, Tally())
            fresh = not finding.repeats if level == "segment" else finding.fresh
            tally.add(fresh, enough(level, finding.left))
            self._note(shape, tally, level)

    def _note(self, shape: str, tally: Tally, level: str) -> None:
        if tally.share < 1.0 and level != "segment":
            self._shares[shape] = tally.share
        else:
            self._shares.pop(shape, None)
        if tally.sampled:
            self._suspects[shape] = None
        else:
            self._suspects.pop(shape, None)

    def _is_fresh(self, place: str, main: MainText) -> bool:
        read = self._read.pop(place, None)
        first = read is None
        if read is None:
            if len(self._read) >= _MOST_PLACES:
                self._read.pop(next(iter(self._read)))
            read = ShingleSet()
        new, runs = read.read(main.imprint, main.kept)
        if read.live > _MOST_READ:
            read = ShingleSet()
            read.read(main.imprint, main.kept)
        self._read[place] = read
        return first or new >= _NEW_ENOUGH or new > _NEW_SHARE * runs

    def _repeats(self, host: str, main: MainText) -> bool:
        texts = self._texts.pop(host, None)
        if texts is None:
            if len(self._texts) >= _MOST_PLACES:
                self._texts.pop(next(iter(self._texts)))
            texts = set()
        if len(texts) >= _MOST_READ:
            texts.clear()
        self._texts[host] = texts
        keys = {main.digest(numbers=False)[0]}
        bare, count = main.digest(numbers=False, links=False)
        if count >= _FEWEST_BARE:
            keys.add(bare)
        known = not keys.isdisjoint(texts)
        texts.update(keys)
        return known

    def factor(self, url: str) -> float:
        """What to multiply a link's promise with: 1 for places not known to be stale."""
        shares = self._shares
        if not shares:
            return 1.0
        return min(shares.get(shape, 1.0) for _, shape in shapes_of(url).levels())

    def verdict(self, url: str) -> str | None:
        """Why a URL is left out, or ``None`` where it is not."""
        why = growing(url)
        if why is not None or not self._suspects:
            return why
        for level, shape in shapes_of(url).levels():
            if shape in self._suspects and not is_sampled(url, self._tallies[shape].sampled):
                return f"{'repeats under' if level == 'segment' else 'nothing new at'} {shape}"
        return None

    def state(self) -> dict[str, Any]:
        """Everything, as plain data."""
        return {
            "tallies": {
                shape: [tally.visits, tally.bits, tally.sampled, shape in self._shares]
                for shape, tally in self._tallies.items()
            },
            "read": {place: _packed(read.state()) for place, read in self._read.items()},
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
        for shape, (visits, bits, sampled, shared) in state["tallies"].items():
            tally = self._tallies[shape] = Tally(visits, bits, sampled)
            self._note(shape, tally, "template" if shared else "segment")
        self._read = {
            place: ShingleSet(np.frombuffer(base64.b64decode(read), dtype="<u4").tolist())
            for place, read in state["read"].items()
        }
        self._texts = {
            host: set(np.frombuffer(base64.b64decode(texts), dtype="<u8").tolist())
            for host, texts in state["texts"].items()
        }


def enough(level: str, left: int | None) -> int:
    """How many visits make a suspect, with so many requests left (``None``: no limit)."""
    most = _HISTORY if left is None else min(left // _SHARE_OF_BUDGET, _HISTORY)
    return max(_ENOUGH[level], most)


def is_sampled(name: str, bits: int) -> bool:
    """Whether a URL or a host is let through: of all of them, each bit halves the number."""
    hashed = hashlib.blake2b(name.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(hashed, "big") >> (64 - bits) == 0


def _packed(numbers: NDArray[Any]) -> str:
    return base64.b64encode(numbers.astype(numbers.dtype.newbyteorder("<")).tobytes()).decode()
