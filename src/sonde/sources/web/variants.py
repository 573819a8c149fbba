"""Variants: which URLs are one page, by their spelling, by redirects, by their hosts.

*Variants* are spellings of one URL: ``/a`` and ``/a/``, ``?x=1&y=2`` and ``?y=2&x=1``, ``/`` and
``/index.html``, http and https, with ``www.`` and without. They are often the same page, and on
some sites not. So none is merged until the site has shown it: three pairs of URLs that differ by
this rule alone, with three different contents, the same within each pair, and not one pair that
differed. A redirect between two spellings shows it as well, and also which one the site prefers.

The same evidence shows two more things. A *parameter* of the URLs of one directory does not matter
(a session, a token): then the value that was seen first stands for all, or none where pages without
it were the same too. And a host is the *mirror* of another, when it has the same pages at the same
paths (unless it was named: who names two hosts wants both).

*Aliases* are URLs that turned out to be a page which is known under another.

Which contents are the same is for others to say (see ``twins``). Deterministic: telling the same
visits in the same order gives the same answers.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

ENOUGH = 3
"""Pairs with different contents that make a rule hold."""

_MOST_KEPT = 4  # spellings of one page that are remembered
_MOST_ASKED = 8  # with parameters, of one path
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
    first: str = ""  # value of a parameter
    without: bool = False  # pages without the parameter were the same

    @property
    def holds(self) -> bool:
        return self.against == 0 and len(self.contents) >= ENOUGH

    def tell(self, content: int | None) -> None:
        """A pair had this content in common, or none."""
        if content is None:
            self.against += 1
        elif len(self.contents) < ENOUGH and content not in self.contents:
            self.contents.append(content)


class PageNames:
    """All names of pages: what is learned of spellings, and aliases."""

    def __init__(self, seeds: Iterable[str] = ()) -> None:
        self.variants = VariantLearner(seeds)
        self.aliases: dict[str, str] = {}  # a URL that is the page of another, which was visited

    def stands_for(self, url: str) -> str:
        """The URL under which a page is known."""
        if self.variants.learned:
            url = self.variants.canonical(url)
        return self.aliases.get(url, url)

    def visited(
        self, url: str, final_url: str, canonical: str | None, content: int, twin: str | None
    ) -> None:
        """A page was visited, and stands for all its names. ``content`` is the same number for
        pages that are the same, 0 for those with too little to compare; ``twin`` is the URL of the
        earliest page that is the same."""
        if final_url != url:
            self.aliases[final_url] = url
            self.variants.redirected(url, final_url)
        if canonical is not None and canonical not in (url, final_url):
            self.aliases.setdefault(canonical, url)
        self.variants.observe(final_url, content, twin)


class VariantLearner:
    """Learns per site (host without ``www.``) which rules hold, and then applies them."""

    def __init__(self, seeds: Iterable[str] = ()) -> None:
        self._named = frozenset(_site(seed) for seed in seeds)
        self._seen: dict[str, list[tuple[str, int]]] = {}
        self._asked: dict[str, list[tuple[str, int]]] = {}  # URLs with parameters, by path
        self._evidence: dict[str, dict[str, _Evidence]] = {}
        self._parameters: dict[str, dict[str, _Evidence]] = {}  # by directory
        self._mirrors: dict[str, dict[str, _Evidence]] = {}  # by host, then by host before it
        self._holding: set[tuple[str, str]] = set()

    def observe(self, url: str, content: int, twin: str | None = None) -> None:
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
                self._tell(self._evidence, _site(url), rule, content if content == known else None)
        if len(spellings) < _MOST_KEPT:
            spellings.append((url, content))
        self._observe_parameters(url, content)
        self._observe_mirror(url, content, twin)

    def _observe_parameters(self, url: str, content: int) -> None:
        path, mark, query = url.partition("?")
        asked = self._asked.get(path, [])
        plain = [each for each in self._seen.get(_bare(path), ()) if mark and each[0] == path]
        for other, known in (*plain, *asked):
            name = _parameter(query, other.partition("?")[2])
            if name is not None:
                same = content == known
                evidence = self._tell(
                    self._parameters, _directory(path), name, content if same else None
                )
                evidence.first = evidence.first or _value(other, name) or _value(url, name)
                evidence.without |= same and not (_value(url, name) and _value(other, name))
        if mark and len(asked) < _MOST_ASKED:
            self._asked.setdefault(path, asked).append((url, content))

    def _observe_mirror(self, url: str, content: int, twin: str | None) -> None:
        site, tail = _site(url), _origin(url)[1]
        if site in self._named:
            return
        suspects = self._mirrors.get(site, {})
        if twin is not None and _site(twin) != site and _origin(twin)[1] == tail:
            self._tell(self._mirrors, site, _origin(twin)[0], content)
        else:
            for other in suspects:
                known = self._seen.get(_bare(other + tail))
                if known and all(each != content for _, each in known):
                    self._tell(self._mirrors, site, other, None)

    def redirected(self, source: str, target: str) -> None:
        """The site redirects one spelling to another, or somewhere else, which says nothing."""
        rule = _differ_by(source, target)
        if rule is None:
            return
        # No content was compared; that the site links the two itself is evidence of its own.
        site = _site(source)
        evidence = self._tell(self._evidence, site, rule, zlib.crc32(source.encode()))
        for direction, spell in enumerate(RULES[rule]):
            if spell(source) == target:
                evidence.votes[direction] += 1

    @property
    def learned(self) -> bool:
        """Whether any rule holds anywhere."""
        return bool(self._holding)

    def canonical(self, url: str) -> str:
        """The spelling that stands for a normalised URL on its site, by the rules that hold."""
        for other, evidence in self._mirrors.get(_site(url), {}).items():
            if evidence.holds:
                url = other + _origin(url)[1]
                break
        if "?" in url and self._parameters:
            url = self._settled(url)
        site = self._evidence.get(_site(url))
        if site is None:
            return url
        for rule, spellings in RULES.items():
            told = site.get(rule)
            if told is not None and told.holds:
                prefers = len(spellings) > 1 and told.votes[1] > told.votes[0]
                url = spellings[1 if prefers else 0](url)
        return url

    def _settled(self, url: str) -> str:
        """A URL without what its parameters say that do not matter."""
        path, _, query = url.partition("?")
        known = self._parameters.get(_directory(path))
        if known is None:
            return url
        kept = []
        for part in query.split("&"):
            name, equals, _ = part.partition("=")
            evidence = known.get(name)
            if evidence is None or not evidence.holds:
                kept.append(part)
            elif not evidence.without:
                kept.append(f"{name}{equals}{evidence.first}")
        return path + "?" * bool(kept) + "&".join(kept)

    def rules(self, url: str) -> list[str]:
        """The names of the rules that hold on a URL's site."""
        site = self._evidence.get(_site(url), {})
        return [rule for rule in RULES if rule in site and site[rule].holds]

    def mirrored(self, url: str) -> bool:
        """Whether a URL's host is the mirror of another."""
        return any(evidence.holds for evidence in self._mirrors.get(_site(url), {}).values())

    def _tell(
        self, about: dict[str, dict[str, _Evidence]], place: str, rule: str, content: int | None
    ) -> _Evidence:
        evidence = about.setdefault(place, {}).setdefault(rule, _Evidence())
        evidence.tell(content)
        (self._holding.add if evidence.holds else self._holding.discard)((place, rule))
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


def _origin(url: str) -> tuple[str, str]:
    """A URL as scheme with host, and the rest."""
    scheme, netloc, path, query = _parts(url)
    return f"{scheme}://{netloc}", path + query


def _directory(path: str) -> str:
    return path[: path.rindex("/") + 1]


def _value(url: str, name: str) -> str:
    for part in url.partition("?")[2].split("&"):
        if part.partition("=")[0] == name:
            return part.partition("=")[2]
    return ""


def _parameter(one: str, other: str) -> str | None:
    """The parameter in which alone two queries differ, or which one of them has not."""
    mine, theirs = ([part for part in query.split("&") if part] for query in (one, other))
    rest = [part for part in mine if part not in theirs]
    gone = [part for part in theirs if part not in mine]
    if len(rest) > 1 or len(gone) > 1:
        return None
    names = {part.partition("=")[0] for part in rest + gone}
    return names.pop() if len(names) == 1 else None
