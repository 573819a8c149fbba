"""Main text: what a page says itself, beside what its site says on many pages.

Of a site that is not known yet, a page's own markup decides: navigation, header, footer and aside
are no main text. ``SiteTemplates`` learns the rest while pages are read, host by host
(``boilerplate`` has how): what many pages of a host repeat is not a page's own. What is found is a
function of the pages in the order in which they are told, and of nothing else.

``MainText`` is the finding for one page: the words that are kept, where they stand, their shingles,
and where its links stand.

A host's first pages are *held*: with its tenth page they are judged once more, by what is known
then, and never again. Hosts are forgotten when there are too many of them, or when together they
know too much: those first that were visited least lately.
"""

from __future__ import annotations

import io
import json
import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import zstandard
from numpy.typing import NDArray

from sonde.kernels.text.boilerplate import Imprint, Site, positions, spans
from sonde.kernels.text.shingles import digest, shingled
from sonde.kernels.text.utf8 import characters_before
from sonde.net.urls import group_of
from sonde.sources.page import Page, Spans, TextLayout, bare_layout

KNOWN = 10
"""Pages after which a site is known."""

MOST_SITES = 4_096
"""Hosts that are remembered at one time."""

MOST_KEYS = 1 << 20
"""What is remembered of all hosts together, in keys of about fifty bytes."""

MENU, CONTENT, FOOTER = range(3)
"""Where a link stands: outside of main text, in it, or after the last of it."""

_PACKER = zstandard.ZstdCompressor(level=-3)  # for a short while: fast
_TEXT_OF_A_KEY = 32  # characters of a held page that count as one key


@dataclass(frozen=True)
class MainText:
    """The words of a page (its ``imprint``) that are main text: ``kept`` has 1 for each of them."""

    text: str
    data: bytes  # the text in UTF-8
    imprint: Imprint
    kept: NDArray[np.uint8]

    @cached_property
    def _places(self) -> NDArray[np.intc]:
        found: NDArray[np.intc] = np.asarray(spans(self.imprint, self.kept), dtype=np.intc)
        if not self.text.isascii():
            characters_before(self.data, found)
        return found

    @cached_property
    def spans(self) -> Spans | None:
        """Where it stands in the page's text; ``None`` for all of it."""
        if self.kept.all():
            return None
        return tuple([(start, end) for start, end in self._places.tolist()])

    def shingles(self, *, numbers: bool = True, links: bool = True) -> NDArray[np.uint64]:
        """The hashes of its runs of three words, sorted, each once; without numbers or words in
        links, if these are not wanted."""
        found: NDArray[np.uint64] = np.empty(self.imprint.words, dtype=np.uint64)
        count: int = shingled(self.imprint, self.kept, found, numbers, links)
        found = found[:count]
        found.sort()
        once: NDArray[np.uint64] = found[np.diff(found, prepend=~found[:1]) != 0]
        return once  # faster than np.unique

    def digest(self, *, numbers: bool = True, links: bool = True) -> tuple[int, int]:
        """A hash of its words in their order, and how many they are."""
        found: tuple[int, int] = digest(self.imprint, self.kept, numbers, links)
        return found

    def positions(self, links: Sequence[tuple[Any, ...]]) -> list[int]:
        """Where links stand whose second and third items say where their anchors begin and end:
        ``MENU``, ``CONTENT`` or ``FOOTER``."""
        found: list[int] = positions(self._places, list(links))
        return found


class HeldPage(NamedTuple):
    """One of a host's first pages: its visit, the page without its links, and the score that it was
    told with, ``None`` where that stays whatever its main text is."""

    lease: int
    node: str
    page: Page
    score: float | None


@dataclass
class _Host:
    site: Site = field(default_factory=Site)
    held: list[HeldPage] = field(default_factory=list)
    weight: int = 0
    changed: bool = True  # since it was last kept

    def weigh(self) -> int:
        """What it takes to remember the host, in keys."""
        text = sum(len(held.page.text) for held in self.held)
        self.weight = self.site.counts.live + self.site.slots.live + text // _TEXT_OF_A_KEY
        return self.weight


class SiteTemplates:
    """What the hosts of a crawl have said, by host; last visited last."""

    def __init__(self) -> None:
        self._hosts: dict[str, _Host] = {}
        self._weight = 0
        self._gone: dict[str, None] = {}  # forgotten since the hosts were last kept

    def judge(self, page: Page, *, learn: bool = True) -> tuple[Page, MainText]:
        """Learn from a page, and find its main text: the page with it."""
        name = group_of(page.url)
        host = self._hosts.get(name) or _Host()
        if learn:
            self._hosts.pop(name, None)
            self._hosts[name] = host
            self._gone.pop(name, None)
            host.changed = True
        return _judged(page, host.site, learn=learn)

    def hold(self, held: HeldPage) -> list[HeldPage]:
        """The page that was learned last is held if it is one of its host's first. With the last of
        them all are given back, with their main text as it is known now."""
        host = self._hosts[group_of(held.page.url)]
        found: list[HeldPage] = []
        if host.site.pages <= KNOWN:
            host.held.append(held._replace(page=replace(held.page, links=())))
            if host.site.pages == KNOWN:
                found = [each._replace(page=_judged(each.page, host.site)[0]) for each in host.held]
                host.held = []
        self._weight += -host.weight + host.weigh()
        while len(self._hosts) > 1 and (len(self._hosts) > MOST_SITES or self._weight > MOST_KEYS):
            name = next(iter(self._hosts))
            self._weight -= self._hosts.pop(name).weight
            self._gone[name] = None
        return found

    # -- kept and found again ------------------------------------------------------------------

    def order(self) -> list[str]:
        """The hosts, last visited last."""
        return list(self._hosts)

    def changed(self) -> Iterator[tuple[str, bytes]]:
        """The hosts that have changed since they were last asked for, with what is known of them:
        nothing, where they were forgotten."""
        for name in self._gone:
            yield name, b""
        self._gone.clear()
        for name, host in self._hosts.items():
            if host.changed:
                host.changed = False
                yield name, _packed(host)

    def restore(self, order: Sequence[str], states: dict[str, bytes]) -> None:
        """Become what ``order`` and ``changed`` described."""
        self._hosts = {name: _unpacked(states[name]) for name in order if name in states}
        self._weight = sum(host.weigh() for host in self._hosts.values())


def judged_together(pages: Sequence[Page]) -> list[Page]:
    """The pages with their main text, when all of them are known at once."""
    sites: dict[str, Site] = {}
    for page in pages:
        sites.setdefault(group_of(page.url), Site()).learn(page.imprint)
    return [_judged(page, sites[group_of(page.url)])[0] for page in pages]


def _judged(page: Page, site: Site, *, learn: bool = False) -> tuple[Page, MainText]:
    layout = page.layout or bare_layout(page.text)
    imprint = Imprint(*layout)
    kept = np.empty(imprint.words, dtype=np.uint8)
    if learn:
        site.judge(imprint, kept)
    else:
        site.main(imprint, kept)
    found = MainText(page.text, layout.text, imprint, kept)
    return replace(page, main=found.spans), found


# -- as bytes --------------------------------------------------------------------------------------


def pack_spans(spans: Spans | None) -> bytes | None:
    """Where main text stands, as numbers of 32 bits; ``None`` for all of it."""
    return None if spans is None else np.array(spans, dtype="<i4").tobytes()


def unpack_spans(packed: bytes | None) -> Spans | None:
    """The same read back."""
    if packed is None:
        return None
    places = np.frombuffer(packed, dtype="<i4").reshape(-1, 2)
    return tuple([(start, end) for start, end in places.tolist()])


def pack_page(page: Page) -> bytes:
    """What is needed of a page to judge and to score it again."""
    layout = page.layout or bare_layout(page.text)
    facts = json.dumps([page.url, page.title, page.language]).encode()
    sizes = struct.pack("<3q", len(facts), len(layout.text), len(layout.pieces))
    parts = (sizes, facts, layout.text, layout.pieces.tobytes(), layout.nodes.tobytes())
    return _PACKER.compress(b"".join(parts))


def unpack_page(packed: bytes) -> Page:
    """The page again, without its links."""
    data = zstandard.ZstdDecompressor().decompress(packed)
    facts, text, rows = struct.unpack_from("<3q", data)
    begin = struct.calcsize("<3q")
    url, title, language = json.loads(data[begin : begin + facts])
    begin += facts
    said = data[begin : begin + text]
    begin += text
    pieces = np.frombuffer(data, np.intc, 3 * rows, begin).reshape(-1, 3)
    nodes = np.frombuffer(data, np.uint64, -1, begin + pieces.nbytes).reshape(-1, 4)
    layout = TextLayout(said, pieces, nodes)
    return Page(url=url, title=title, language=language, text=said.decode(), layout=layout)


def _packed(host: _Host) -> bytes:
    file = io.BytesIO()
    held = [[each.lease, each.node, each.score] for each in host.held]
    pages = {
        f"held.{number}": np.frombuffer(pack_page(each.page), dtype=np.uint8)
        for number, each in enumerate(host.held)
    }
    facts = np.frombuffer(json.dumps(held).encode(), dtype=np.uint8)
    arrays: dict[str, Any] = {"held": facts, **pages, **host.site.state()}
    np.savez(file, **arrays)
    return file.getvalue()


def _unpacked(packed: bytes) -> _Host:
    host = _Host(changed=False)
    with np.load(io.BytesIO(packed)) as arrays:
        for number, (lease, node, score) in enumerate(json.loads(arrays["held"].tobytes())):
            page = unpack_page(arrays[f"held.{number}"].tobytes())
            host.held.append(HeldPage(lease, node, page, score))
        host.site.restore(arrays)
    return host
