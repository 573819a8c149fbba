"""Duplicates: which URLs are one page, by their spelling, by redirects, by what they say.

*Variants* are spellings of one URL: ``/a`` and ``/a/``, ``?x=1&y=2`` and ``?y=2&x=1``, ``/`` and
``/index.html``, http and https, with ``www.`` and without. They are often the same page, and on
some sites not. So none is merged until the site has shown it: three pairs of URLs that differ by
this rule alone, with three different contents, the same within each pair, and not one pair that
differed. A redirect between two spellings shows it as well, and also which one the site prefers.

*Near duplicates* are pages that say nearly the same. Their fingerprint is Charikar's simhash over
the runs of eight bytes. Of a long text only those at the starts of words count (all of them in
scripts without spaces), and of these one in four, chosen by its own hash, so that the choice does
not move when text is inserted elsewhere. Two texts that differ in a few words differ in a few bits.
A text too short to carry a fingerprint (under 64 bytes) gets 0, which is near nothing.

*Aliases* are URLs that turned out to be a page which is known under another.

Deterministic: telling the same visits in the same order gives the same answers.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from sonde.kernels.text.simhash import majority_of

NEAR = 3
"""Fingerprints that differ in at most so many bits belong to nearly the same text."""

_SHORTEST = 64
_LONG = 2_048
_SPACED = 16


def simhash(text: str) -> int:
    """The fingerprint of a text; 0 when there is too little of it."""
    raw = text.encode("utf-8", "replace")
    if len(raw) < _SHORTEST:
        return 0
    long = len(raw) >= _LONG
    # A script that puts spaces between its words?
    spaced = long and raw.count(b" ", 0, -8) * _SPACED >= len(raw)
    found: int = majority_of(raw, spaced, long, np.zeros(64, dtype=np.uint64))
    return found  # 0 for a long text that repeats one run for ever


class Duplicates:
    """All that is known of pages with several names."""

    def __init__(self) -> None:
        self.variants = VariantLearner()
        self.near = NearDuplicates()
        self.aliases: dict[str, str] = {}  # a URL that is the page of another, which was visited

    def stands_for(self, url: str) -> str:
        """The URL under which a page is known."""
        if self.variants.learned:
            url = self.variants.canonical(url)
        return self.aliases.get(url, url)

    def visited(self, url: str, final_url: str, canonical: str | None, fingerprint: int) -> None:
        """A page was visited, and stands for all its names."""
        if final_url != url:
            self.aliases[final_url] = url
            self.variants.redirected(url, final_url)
        if canonical is not None and canonical not in (url, final_url):
            self.aliases.setdefault(canonical, url)
        self.variants.observe(final_url, fingerprint)
        self.near.add(fingerprint, url)


def distance(one: int, other: int) -> int:
    """In how many bits two fingerprints differ."""
    return (one ^ other).bit_count()


class NearDuplicates:
    """Finds a fingerprint within ``NEAR`` bits among those added, the earliest first.

    Four bands of 16 bits: two fingerprints that differ in at most three bits agree on one band
    whole. A band that very many pages share (an empty template) is only looked through for its
    earliest ``_DEEPEST`` members, so that one look-up stays cheap.
    """

    _DEEPEST = 256

    def __init__(self) -> None:
        self._bands: dict[int, list[tuple[int, str]]] = {}

    def find(self, fingerprint: int) -> str | None:
        """The name under which a near fingerprint was first added."""
        if fingerprint == 0:
            return None
        for band in _bands(fingerprint):
            for known, name in self._bands.get(band, ()):
                if distance(known, fingerprint) <= NEAR:
                    return name
        return None

    def add(self, fingerprint: int, name: str) -> None:
        """Remember a fingerprint. Adding in the order of the log restores the index."""
        if fingerprint == 0:
            return
        for band in _bands(fingerprint):
            members = self._bands.setdefault(band, [])
            if len(members) < self._DEEPEST:
                members.append((fingerprint, name))


def _bands(fingerprint: int) -> tuple[int, int, int, int]:
    return (
        fingerprint & 0xFFFF,
        0x10000 | (fingerprint >> 16) & 0xFFFF,
        0x20000 | (fingerprint >> 32) & 0xFFFF,
        0x30000 | (fingerprint >> 48),
    )


ENOUGH = 3
"""Pairs with different contents that make a rule hold."""

_MOST_KEPT = 4  # spellings of one page that are remembered
_INDEX = re.compile(r"/(?:index|default)\.(?:html?|php|aspx?|jsp|cgi)$", re.IGNORECASE)


def _parts(url: str) -> tuple[str, str, str, str]:
    """Scheme, host with port, path, query with its question mark."""
    scheme, _, rest = url.partition("://")
    netloc, slash, tail = rest.partition("/")
    path, mark, query = (slash + tail).partition("?")
    return scheme, netloc, path, mark + query


def _slash_off(url: str) -> str:
    scheme, netloc, path, query = _parts(url)
    return f"{scheme}://{netloc}{path.rstrip('/') or '/'}{query}"


def _slash_on(url: str) -> str:
    scheme, netloc, path, query = _parts(url)
    if path.endswith("/") or "." in path.rpartition("/")[2]:
        return url
    return f"{scheme}://{netloc}{path}/{query}"


def _ordered(url: str) -> str:
    path, mark, query = url.partition("?")
    return path + mark + "&".join(sorted(query.split("&"))) if mark else url


def _index_off(url: str) -> str:
    scheme, netloc, path, query = _parts(url)
    return f"{scheme}://{netloc}{_INDEX.sub('/', path)}{query}"


def _https(url: str) -> str:
    _, netloc, path, query = _parts(url)
    return f"https://{netloc}{path}{query}" if _portless(netloc) else url


def _http(url: str) -> str:
    _, netloc, path, query = _parts(url)
    return f"http://{netloc}{path}{query}" if _portless(netloc) else url


def _portless(netloc: str) -> bool:
    return ":" not in netloc.rpartition("]")[2]


def _www_off(url: str) -> str:
    scheme, netloc, path, query = _parts(url)
    return f"{scheme}://{netloc.removeprefix('www.')}{path}{query}"


def _www_on(url: str) -> str:
    scheme, netloc, path, query = _parts(url)
    if netloc.startswith("www.") or not netloc[0].isalpha():
        return url
    return f"{scheme}://www.{netloc}{path}{query}"


# Each rule has one or two directions. The first is used unless redirects prefer the second.
RULES: dict[str, tuple[Callable[[str], str], ...]] = {
    "index": (_index_off,),
    "slash": (_slash_off, _slash_on),
    "order": (_ordered,),
    "scheme": (_https, _http),
    "www": (_www_off, _www_on),
}


@dataclass(slots=True)
class _Evidence:
    contents: list[int] = field(default_factory=list)  # of pairs that agreed; at most ENOUGH
    against: int = 0
    votes: list[int] = field(default_factory=lambda: [0, 0])  # redirects, by direction

    @property
    def holds(self) -> bool:
        return self.against == 0 and len(self.contents) >= ENOUGH


class VariantLearner:
    """Learns per site (host without ``www.``) which rules hold, and then applies them."""

    def __init__(self) -> None:
        self._seen: dict[str, list[tuple[str, int]]] = {}
        self._evidence: dict[str, dict[str, _Evidence]] = {}

    def observe(self, url: str, content: int) -> None:
        """A visit to a normalised URL gave this content; 0 stands for too little to compare."""
        if content == 0:
            return
        bare = _bare(url)
        spellings = self._seen.setdefault(bare, [])
        for other, known in spellings:
            if other == url:
                return
            rule = _differ_by(url, other)
            if rule is not None:
                self._tell(url, rule, content if distance(content, known) <= NEAR else None)
        if len(spellings) < _MOST_KEPT:
            spellings.append((url, content))

    def redirected(self, source: str, target: str) -> None:
        """The site redirects one spelling to another, or somewhere else, which says nothing."""
        rule = _differ_by(source, target)
        if rule is None:
            return
        # No content was compared; that the site links the two itself is evidence of its own.
        evidence = self._tell(source, rule, zlib.crc32(source.encode()))
        for direction, spell in enumerate(RULES[rule]):
            if spell(source) == target:
                evidence.votes[direction] += 1

    @property
    def learned(self) -> bool:
        """Whether any rule holds or may come to hold anywhere."""
        return bool(self._evidence)

    def canonical(self, url: str) -> str:
        """The spelling that stands for a normalised URL on its site, by the rules that hold."""
        site = self._evidence.get(_site(url))
        if site is None:
            return url
        for rule, spellings in RULES.items():
            evidence = site.get(rule)
            if evidence is not None and evidence.holds:
                prefers = len(spellings) > 1 and evidence.votes[1] > evidence.votes[0]
                url = spellings[1 if prefers else 0](url)
        return url

    def rules(self, url: str) -> list[str]:
        """The names of the rules that hold on a URL's site."""
        site = self._evidence.get(_site(url), {})
        return [rule for rule in RULES if rule in site and site[rule].holds]

    def _tell(self, url: str, rule: str, content: int | None) -> _Evidence:
        site = self._evidence.setdefault(_site(url), {})
        evidence = site.setdefault(rule, _Evidence())
        if content is None:
            evidence.against += 1
        elif len(evidence.contents) < ENOUGH and content not in evidence.contents:
            evidence.contents.append(content)
        return evidence


def _site(url: str) -> str:
    return url.split("/", 3)[2].removeprefix("www.")


def _bare(url: str) -> str:
    """All rules applied: the key that all spellings share."""
    for spellings in RULES.values():
        url = spellings[0](url)
    return url


def _differ_by(one: str, other: str) -> str | None:
    """The single rule by which two URLs differ; ``None`` where none or several are needed."""
    if one == other:
        return None
    for rule, spellings in RULES.items():
        if spellings[0](one) == spellings[0](other):
            return rule
    return None
