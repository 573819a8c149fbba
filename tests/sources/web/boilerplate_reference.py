"""Main text by its definition, page by page, with sets and dictionaries: nothing is forgotten."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

RUN = 6
LONG = 32


@dataclass(frozen=True)
class Block:
    """The text between two boundaries: pieces of words, in a link or not, and where it stands."""

    pieces: tuple[tuple[tuple[str, ...], bool], ...]
    path: tuple[tuple[str, str, str], ...] = ()  # elements: name, class, id
    navigation: bool = False
    main: bool = False
    heading: int = 0

    @property
    def words(self) -> list[str]:
        return [word for piece, _ in self.pieces for word in piece]

    @property
    def links(self) -> list[bool]:
        return [link for piece, link in self.pieces for _ in piece]

    @property
    def linkish(self) -> bool:
        return 2 * sum(self.links) >= len(self.links)

    @property
    def kinds(self) -> tuple[tuple[str, str], ...]:
        return tuple((name, kind) for name, kind, _ in self.path)

    def keys(self) -> dict[tuple[object, ...], range]:
        """What is counted of the block, and the words that each count speaks of."""
        words = self.words
        where = (self.kinds, self.linkish)
        keys: dict[tuple[object, ...], range] = {}
        keys["block", tuple(words), *where] = range(len(words))
        if len(words) > RUN:
            for at in range(len(words) - RUN + 1):
                if len(words) <= LONG or at in (0, len(words) - RUN):
                    keys["run", tuple(words[at : at + RUN]), self.linkish, at] = range(at, at + RUN)
        if self.linkish and len(self.pieces) > 1:
            at = 0
            for number, (piece, _) in enumerate(self.pieces):
                keys["part", piece, *where, number] = range(at, at + len(piece))
                at += len(piece)
        return keys


def counted(key: tuple[object, ...]) -> tuple[object, ...]:
    """The key without the place in its block."""
    return key[:-1] if key[0] in ("run", "part") else key


Slot = tuple[tuple[str, str, str], ...] | tuple[str, str]
"""The path of an element, or of one with a class its name and its class."""


def kinds_of(block: Block) -> list[Slot]:
    """The elements with a class that a block stands in."""
    return [(name, kind) for name, kind, _ in block.path if kind]


@dataclass
class Sums:
    pages: int = 0
    words: int = 0
    repeats: int = 0
    linked: int = 0
    strong: int = 0
    cores: int = 0


@dataclass
class Site:
    """What was learned of a site."""

    pages: int = 0
    with_main: int = 0
    counts: Counter[tuple[object, ...]] = field(default_factory=Counter)
    slots: dict[Slot, Sums] = field(default_factory=dict)

    def learn(self, page: list[Block]) -> None:
        self.pages += 1
        self.with_main += any(block.main for block in page)
        shown = [block for block in page if not block.navigation]
        self.counts.update({counted(key) for block in shown for key in set(block.keys())})
        self.counts.update({("id", name) for block in page for _, _, name in block.path if name})
        marks = self.marks(page)
        seen: dict[Slot, Sums] = {}
        for block, marked in zip(page, marks, strict=True):
            if block.navigation:
                continue
            for slot in self.slots_of(block) + kinds_of(block):
                sums = self.slots.setdefault(slot, Sums())
                seen[slot] = sums
                sums.words += len(marked)
                sums.repeats += sum(mark > 0 for mark in marked)
                sums.strong += sum(mark > 1 for mark in marked)
                sums.linked += sum(block.links)
        for sums in seen.values():
            sums.pages += 1
        core = self.core(page, marks)
        if core is not None:
            for slot in self.slots_of(page[core]) + kinds_of(page[core]):
                self.slots[slot].cores += 1

    def slots_of(self, block: Block) -> list[Slot]:
        path = tuple(
            (name, kind, own if self.is_common(own) else "") for name, kind, own in block.path
        )
        return [path[: depth + 1] for depth in range(len(path))]

    def is_common(self, name: str) -> bool:
        known = self.counts["id", name]
        return known >= 3 and 10 * known >= min(self.pages, 100)

    def marks(self, page: list[Block]) -> list[list[int]]:
        """Of each word: 0 its own, 1 a repeat, 2 on half of the pages, 3 on four fifths."""
        pages = self.pages
        link = max(3, min(8, -(-pages // 100)))
        text = max(5, min(50, -(-pages // 20)))
        half = -(-pages // 2)
        most = -(-4 * pages // 5)
        found = []
        headings = [block.words for block in page if block.heading and not block.navigation][:3]
        for block in page:
            marks = [0] * len(block.words)
            if block.words in headings and not block.heading:
                marks = [1] * len(block.words)
            for key, words in block.keys().items():
                count = self.counts[counted(key)]
                enough = link if block.linkish and key[0] != "run" else text
                degree = 3 if count >= most else 2 if count >= half else int(count >= enough)
                if count < (2 if block.linkish else 3):
                    degree = 0
                for word in words:
                    marks[word] = max(marks[word], degree)
            found.append(marks)
        return found

    def core(
        self, page: list[Block], marks: list[list[int]], verdicts: list[int] | None = None
    ) -> int | None:
        best, number = (0, 0), None
        for place, (block, marked) in enumerate(zip(page, marks, strict=True)):
            if block.navigation or (verdicts is not None and verdicts[place]):
                continue
            own = [not mark for mark in marked]
            bare = sum(o and not link for o, link in zip(own, block.links, strict=True))
            if (bare, sum(own)) > best:
                best, number = (bare, sum(own)), place
        return number

    @property
    def trusted(self) -> bool:
        return 10 * self.with_main >= 9 * self.pages

    def verdict(self, block: Block, core: Block | None) -> int:
        """0 for content, 1 for what goes at the edges of a page, 2 for what goes anywhere, 5 for
        what goes at the edges, and its repeats anywhere."""
        around = set() if core is None else set(self.slots_of(core))
        within = self.trusted and block.main
        for slot, (name, kind, _) in zip(self.slots_of(block), block.path, strict=True):
            sums = self.slots.get(slot, Sums())
            if slot in around:
                continue
            if (sums.pages < 4 or 10 * sums.pages < self.pages) and kind:
                sums = self.slots.get((name, kind), Sums())
            if sums.pages < 4 or 10 * sums.pages < self.pages or 10 * sums.cores >= sums.pages:
                continue
            everywhere = 5 * sums.pages >= 4 * self.pages
            if within and not everywhere:
                continue
            if 5 * sums.repeats >= 4 * sums.words and 2 * sums.linked >= sums.words:
                return 2
            if 4 * sums.repeats >= sums.words:
                return 5 if 2 * sums.linked >= sums.words else 1
            if self.pages >= 10 and everywhere:
                if not within and 5 * sums.linked >= 4 * sums.words:
                    return 1
                if sums.strong >= sums.pages and sums.words <= 30 * sums.pages:
                    return 1
        return 0

    def main(self, page: list[Block]) -> list[list[bool]]:
        """Of each word, whether it is main text."""
        marks = self.marks(page)
        core = self.core(page, marks)
        words = [
            (number, place)
            for number, block in enumerate(page)
            if not block.navigation
            for place in range(len(block.words))
        ]
        kept = [[False] * len(block.words) for block in page]
        if core is None:
            for number, place in words:
                kept[number][place] = marks[number][place] < 2
            return kept
        verdicts = [self.verdict(block, None) for block in page]
        if self.core(page, marks, verdicts) is None:
            verdicts = [self.verdict(block, page[core]) for block in page]
        within = [self.trusted and block.main for block in page]

        def heading(number: int, place: int) -> bool:
            return page[number].heading > 0 and not marks[number][place]

        def goes_at_edge(number: int, place: int) -> bool:
            if heading(number, place):
                return False
            return verdicts[number] > 0 or marks[number][place] >= (3 if within[number] else 2)

        def goes_anywhere(number: int, place: int) -> bool:
            if heading(number, place) or within[number]:
                return False
            mark = marks[number][place]
            return verdicts[number] == 2 or mark >= 2 or (verdicts[number] == 5 and mark > 0)

        def edge(order: list[tuple[int, int]]) -> int:
            """How many words go before the first that stays."""
            last = 0
            for number, (block, place) in enumerate(order):
                if goes_at_edge(block, place):
                    last = number + 1
                elif not heading(block, place):
                    break
            return last

        low, high = edge(words), len(words) - edge(words[::-1])
        for at, (number, place) in enumerate(words):
            if heading(number, place):
                kept[number][place] = True
            elif low < high:
                kept[number][place] = low <= at < high and not goes_anywhere(number, place)
            else:
                stays = not goes_at_edge(number, place) and not goes_anywhere(number, place)
                kept[number][place] = stays
        own = [
            kept[number][place]
            for number, place in words
            if not marks[number][place] and not page[number].links[place]
        ]
        held = sum(kept[number][place] for number, place in words)
        lost = sum(not kept[number][place] and marks[number][place] < 2 for number, place in words)
        if own.count(False) > own.count(True) or (held < 12 and lost > 4 * held):
            for number, place in words:
                if not heading(number, place):
                    kept[number][place] = verdicts[number] != 2 and marks[number][place] < 2
        return kept
