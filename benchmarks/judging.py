"""Judges the judge on real sites: main text, near duplicates, traps, before and after.

    python benchmarks/judging.py FOLDER [--sites NAME ...] [--pages N] [-o docs/results/judging.md]

FOLDER has the sites as ``SITES`` names them: documentation packages of Debian 12 (``apt-get
download PACKAGE`` and ``dpkg-deb -x FILE FOLDER``, or installed, where FOLDER is ``/``);
``schools``, the Schools Wikipedia of 2013; ``indieweb``, pages of a MediaWiki as it serves them,
one file each; ``forum`` and ``news``, a Spirit forum and a Pelican site filled with public text.
Sites that are not there are left out. What a site's own markup calls its main text is the truth.
Pages are read in breadth-first order from the index page, as a crawl would. ``--keep FILE`` adds to
earlier figures.

*Before* is what sonde did until its main text was learned from sites: all but navigation, header,
footer and aside; simhash within three bits; stale pairs of words in the first 4,000 characters. It
stands here as small functions. Beside both stand resiliparse and trafilatura, where installed.
"""

from __future__ import annotations

import argparse
import html
import json
import math
import re
import statistics
import sys
import time
from collections import Counter, defaultdict, deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from selectolax.lexbor import LexborHTMLParser

from sonde.sources.main_text import HeldPage, SiteTemplates
from sonde.sources.page import Page, read_page
from sonde.sources.web.staleness import Staleness
from sonde.sources.web.twins import FEWEST, SIMILAR, Twin, Twins, printed
from sonde.sources.web.url_shapes import growing, shapes_of

MARK = "<!-- measured: all below is written by benchmarks/judging.py -->"
TOPICS = 15
SAMPLE = 60  # pages that the rivals read of each site

DOC = "usr/share/doc"


@dataclass(frozen=True)
class RealSite:
    """Where a site is, its first page, and the selectors of its main text: what belongs to it, what
    in that does not, and what a page must have to be judged at all."""

    folder: str
    index: str | None
    main: str
    less: str = ""
    needs: str = ""
    kind: str = "documentation"
    chosen: bool = False
    """Whether thresholds were chosen on it; the others are held out."""


SITES: dict[str, RealSite] = {
    "cppreference": RealSite(
        "usr/share/cppreference/doc/html",
        None,
        "#firstHeading, #mw-content-text",
        ".t-navbar, #toc",
        kind="wiki",
        chosen=True,
    ),
    "postgresql": RealSite(
        f"{DOC}/postgresql-doc-15/html", "index.html", "body", ".navheader, .navfooter", chosen=True
    ),
    "python": RealSite(f"{DOC}/python3.11/html", "index.html", "div.body", chosen=True),
    "apache": RealSite(
        f"{DOC}/apache2-doc/manual/en",
        "index.html",
        "#page-content",
        "#quickview, .top",
        chosen=True,
    ),
    "handbook": RealSite(
        f"{DOC}/debian-handbook/html/en-US",
        "index.html",
        "body",
        ".docnav, #banner, p#title",
        kind="book",
        chosen=True,
    ),
    "schools": RealSite(
        "schools/wpcd",
        None,
        "#firstHeading, h1.firstHeading, #bodyContent",
        "#siteSub, #toc, .printfooter, #contentSub, #jump-to-nav",
        kind="wiki",
        chosen=True,
    ),
    "linux": RealSite(f"{DOC}/linux-doc-6.1/html", "index.html", "[role=main]", chosen=True),
    "pandas": RealSite(
        f"{DOC}/python-pandas-doc/html",
        "index.html",
        "main",
        ".prev-next-area, .bd-sidebar-secondary, .prev-next-bottom",
        chosen=True,
    ),
    "openjdk": RealSite(f"{DOC}/openjdk-17-jre-headless/api", "index.html", "main", chosen=True),
    "node": RealSite(
        f"{DOC}/nodejs/api", "index.html", "#column1", "header, #toc, .header, .toc", chosen=True
    ),
    "erlang": RealSite(
        f"{DOC}/erlang-doc", "doc/index.html", "#content", "nav, footer, .footer", chosen=True
    ),
    "lilypond": RealSite(
        f"{DOC}/lilypond/html/Documentation",
        "index.html",
        "#main, .contents-main",
        "table.nav_table, .nav_table, #footer, #languages, #highlighting-settings, .tocframe",
        chosen=True,
    ),
    "indieweb": RealSite(
        "sites/indieweb",
        "00000.html",
        "#firstHeading, #mw-content-text",
        "#toc, .toc, .mw-editsection, .printfooter",
        kind="MediaWiki",
    ),
    "git-annex": RealSite(
        f"{DOC}/git-annex/html",
        "index.html",
        "#content, .title, .comment",
        ".comment-header",
        kind="wiki",
    ),
    "octave": RealSite(f"{DOC}/octave/octave.html", "index.html", "body", ".header"),
    "eigen": RealSite(f"{DOC}/libeigen3-dev/html", "index.html", ".header .title, .contents"),
    "django": RealSite(f"{DOC}/python-django-doc/html", "index.html", "#yui-main"),
    "news": RealSite(
        "news/out", "index.html", "#content, #featured", ".post-info, .paginator", kind="news"
    ),
    "forum": RealSite(
        "sites/forum",
        "00000.html",
        "h1.headline, .comment__text",
        needs=".comment__text",
        kind="forum",
    ),
    "handbook-ja": RealSite(
        f"{DOC}/debian-handbook/html/ja-JP",
        "index.html",
        "body",
        ".docnav, #banner, p#title",
        kind="book, Japanese",
    ),
    "gimp-zh": RealSite(
        "usr/share/gimp/2.0/help/zh_CN",
        "index.html",
        "body",
        ".navheader, .navfooter",
        kind="manual, Chinese",
    ),
    "gimp-ru": RealSite(
        "usr/share/gimp/2.0/help/ru",
        "index.html",
        "body",
        ".navheader, .navfooter",
        kind="manual, Russian",
    ),
    "libreoffice-ja": RealSite(
        "usr/share/libreoffice/help/ja/text", None, "#DisplayArea", kind="manual, Japanese"
    ),
}


# -- pages of a site, in order ---------------------------------------------------------------------


def pages_of(folder: Path, index: str | None, most: int) -> Iterator[tuple[Page, str]]:
    """The pages of a folder breadth first, each with its HTML; from the first by name where there
    is no index, and on with the next one wherever links come to an end."""
    folder = folder.resolve()
    files = sorted(file for file in folder.rglob("*") if file.suffix in (".html", ".htm"))
    if not files:
        return
    first = folder / (index or "index.html")
    if not first.is_file():
        first = files[0]
    seen = {first}
    waiting, rest = deque([first]), iter(files)
    for _ in range(most):
        while not waiting:
            following = next((file for file in rest if file not in seen), None)
            if following is None:
                return
            seen.add(following)
            waiting.append(following)
        file = waiting.popleft()
        body = file.read_bytes()
        page = read_page(body, f"http://site.example/{file.relative_to(folder).as_posix()}")
        for link in page.links:
            target = folder / link.url.partition("?")[0].removeprefix("http://site.example/")
            inside = link.url.startswith("http://site.example/") and target not in seen
            if inside and target.suffix in (".html", ".htm") and target.is_file():
                seen.add(target)
                waiting.append(target)
        yield page, _decoded(body)


def _decoded(body: bytes) -> str:
    found = re.search(rb"charset=[\"']?([\w-]+)", body[:2000])
    for charset in ("utf-8", found[1].decode() if found else "latin-1", "latin-1"):
        try:
            return body.decode(charset)
        except (UnicodeDecodeError, LookupError):
            continue
    return body.decode("utf-8", "replace")


_UNSEEN = (
    "script, style, noscript, template, svg, head, [hidden], [aria-hidden=true], object, iframe,"
    " video, audio, canvas"
)
_INLINE = re.compile(
    r"</?(?:a|abbr|b|bdi|bdo|big|cite|code|em|font|i|kbd|mark|q|s|samp|small|span|strong|sub|sup|tt"
    r"|u|var|ins|del|dfn|label|nobr|acronym)\b[^>]*>",
    re.IGNORECASE,
)


def truth(source: str, site: RealSite) -> str | None:
    """What the site's own markup calls main text; ``None`` for a page that has none."""
    tree = LexborHTMLParser(source)
    if tree.css_first(site.needs or site.main) is None:
        return None
    for node in tree.css(f"{_UNSEEN}, {site.less}" if site.less else _UNSEEN):
        node.decompose()
    found = []
    for node in tree.css(site.main):
        above = node.parent
        while above is not None and above.attributes.get("data-main") is None:
            above = above.parent
        if above is None:  # the outermost alone
            node.attrs["data-main"] = ""
            found.append(node.html or "")
    text = re.sub(r"<!--.*?-->", "", _INLINE.sub("", " ".join(found)), flags=re.DOTALL)
    return html.unescape(re.sub(r"<(?:[^>\"]|\"[^\"]*\")*>", " ", text))


_UNSPACED = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u30ff\u31f0-\u9fff\uf900-\ufaff]"
)


def bag(text: str) -> Counter[str]:
    """The words of a text, and the characters of scripts that have no spaces."""
    found: Counter[str] = Counter()
    for word in re.findall(r"\w+", text.lower()):
        if _UNSPACED.search(word):
            found.update(word)
        else:
            found[word] += 1
    return found


def _unspaced(letter: str) -> bool:
    return _UNSPACED.match(letter) is not None


# -- before ----------------------------------------------------------------------------------------

Hashes = NDArray[np.uint64]
_MIX = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xBF58476D1CE4E5B9)


def simhash(text: str) -> int:
    """Charikar's fingerprint over runs of eight bytes, as it was; 0 for too little text."""
    raw = text.encode("utf-8", "replace")
    if len(raw) < 64:
        return 0
    runs = np.ndarray((len(raw) - 7,), dtype="<u8", buffer=raw, strides=(1,))
    long = len(raw) >= 2_048
    if long:
        starts = np.flatnonzero(np.frombuffer(raw, np.uint8)[:-8] == ord(" ")) + 1
        if len(starts) * 16 >= len(raw):
            runs = runs[starts]
    hashes = runs * _MIX[0]
    hashes ^= hashes >> np.uint64(29)
    hashes *= _MIX[1]
    sample = hashes[(hashes >> np.uint64(40)) & np.uint64(3) == 0] if long else hashes
    if len(sample) == 0:
        return 0
    sample ^= sample >> np.uint64(32)
    bits = np.unpackbits(sample.view(np.uint8).reshape(-1, 8), axis=1)
    votes = np.add.reduce(bits, axis=0, dtype=np.int32) * 2 > len(sample)
    return int.from_bytes(np.packbits(votes).tobytes(), "big") or 1


def word_pairs(text: str) -> set[tuple[str, str]]:
    """Pairs of neighbouring words, numbers left out, of what was looked at of a page."""
    words = [word[:8] for word in re.sub(r"\d+", " ", text[:4_000]).split()]
    return set(pairwise(words))


class OldTraps:
    """Stale templates as they were told: with a wall instead of a sample."""

    def __init__(self) -> None:
        self._visits: defaultdict[str, list[bool]] = defaultdict(list)
        self._read: dict[str, set[tuple[str, str]]] = {}

    def refuses(self, url: str) -> bool:
        """Whether a URL would not have been visited."""
        if growing(url) is not None:
            return True
        for level, shape in shapes_of(url).levels():
            enough = {"template": 12, "path": 20, "directory": 30}.get(level)
            if enough is None or len(self._visits[shape]) < enough:
                continue
            if sum(self._visits[shape][-enough:]) <= 0.1 * enough:
                return True
        return False

    def observe(self, url: str, content: str) -> None:
        """A page was visited."""
        shapes = shapes_of(url)
        place = shapes.directory or shapes.path or shapes.template
        pairs, known = word_pairs(content), self._read.get(place)
        new = len(pairs) if known is None else len(pairs - known)
        merged = pairs | (known or set())
        self._read[place] = merged if len(merged) <= 4_096 else pairs
        fresh = known is None or new >= 30 or new > 0.2 * len(pairs)
        for level, shape in shapes.levels():
            if level != "segment":
                self._visits[shape].append(fresh)


# -- near duplicates by their definition -----------------------------------------------------------


def twins_of(pages: list[Hashes]) -> set[int]:
    """The pages that share nine tenths of their shingles with an earlier one (by prefix filter)."""
    shingles, often = np.unique(np.concatenate(pages), return_counts=True)
    holders: defaultdict[int, list[int]] = defaultdict(list)
    found = set()
    for number, page in enumerate(pages):
        size = len(page)
        if size < FEWEST:
            continue
        rare = np.argsort(often[np.searchsorted(shingles, page)], kind="stable")
        prefix = page[rare[: size - math.ceil(SIMILAR * size) + 1]].tolist()
        for other in {each for shingle in prefix for each in holders[shingle]}:
            if jaccard(page, pages[other]) >= SIMILAR:
                found.add(number)
                break
        for shingle in prefix:
            holders[shingle].append(number)
    return found


def jaccard(one: Hashes, other: Hashes) -> float:
    """The share of what either has that both have."""
    both = len(np.intersect1d(one, other, assume_unique=True))
    return both / max(1, len(one) + len(other) - both)


# -- one site --------------------------------------------------------------------------------------


class Vocabulary:
    """Numbers for words: thousands of pages are held."""

    def __init__(self) -> None:
        self.words: dict[str, int] = {}

    def numbers(self, words: Iterable[str]) -> frozenset[int]:
        """The numbers of words."""
        return frozenset(self.words.setdefault(word, len(self.words)) for word in words)


@dataclass
class Row:
    """What is held of a page: the words of its main text in truth, of all its text, and of what was
    and is taken for its main text, with the F1 of these; shingles, and who it is said to repeat."""

    truth: Counter[str] | None
    source: str | None
    words: dict[str, frozenset[int]]
    f1: dict[str, float]
    shingles: Hashes
    text: int
    twin: Twin | None
    near: int | None


@dataclass
class Figures:
    """What was found on a site; precision and recall are of pages and topics, 15 a site."""

    name: str
    kind: str
    chosen: bool
    pages: int = 0
    judged: int = 0
    has: int = 0
    scores: tuple[int, int] = (0, 0)
    right: tuple[int, int] = (0, 0)
    f1: tuple[float, float] = (0.0, 0.0)
    rivals: dict[str, tuple[float, float, float, float]] | None = None
    """By name: F1, precision and recall of topics, milliseconds a page."""
    microseconds: float = 0.0
    twins: int = 0
    old_flagged: int = 0
    old_right: int = 0
    flagged: int = 0
    right_flags: int = 0
    found_twins: int = 0
    least: float = 1.0
    old_refused: int = 0
    refused: int = 0


def measured(
    name: str, folder: Path, most: int, rivals: dict[str, Callable[[str], str]]
) -> Figures:
    """All figures of one site."""
    site = SITES[name]
    found = Figures(name, site.kind, site.chosen)
    prints: list[bytes] = []
    twins = Twins(lambda lease: prints[lease])
    sites, staleness, traps = SiteTemplates(), Staleness(), OldTraps()
    vocabulary = Vocabulary()
    rows: list[Row] = []
    fingerprints: list[int] = []
    spent = 0.0
    for number, (page, source) in enumerate(pages_of(folder / site.folder, site.index, most)):
        before, said = page.content, truth(source, site)
        found.old_refused += traps.refuses(page.url)
        found.refused += staleness.verdict(page.url) is not None
        began = time.process_time()
        judged, main = sites.judge(page)
        held = sites.hold(HeldPage(number, page.url, judged, 0.0))
        spent += time.process_time() - began
        mark = printed(main)
        twin = twins.find(mark)
        twins.add(page.url, number, mark, None if twin is None else twin.number)
        prints.append(mark.packed())
        staleness.observe(page.url, main, most - number)
        traps.observe(page.url, before)
        fingerprint = simhash(before)
        near = (at for at, other in enumerate(fingerprints) if _near(fingerprint, other))
        row = Row(
            truth=None if said is None else bag(said),
            source=None,
            words={"all": vocabulary.numbers(bag(page.text))},
            f1={},
            shingles=main.shingles(),
            text=hash(page.text),
            twin=twin,
            near=next(near, None),
        )
        fingerprints.append(fingerprint)
        rows.append(row)
        _take(row, "before", before, vocabulary)
        _take(row, "after", judged.content, vocabulary)
        for each in held:  # the host is known now: its first pages are judged once more
            _take(rows[each.lease], "after", each.page.content, vocabulary)
        if number % max(1, min(most, 1_000) // (2 * SAMPLE)) == 0:
            row.source = source
        if row.truth is not None:
            row.words["truth"] = vocabulary.numbers(row.truth)
        if number >= 10 and rows[number - 10].source is None and "truth" in rows[number - 10].words:
            rows[number - 10].truth = Counter()  # it is not compared any more
    found.pages = len(rows)
    found.microseconds = spent / max(1, len(rows)) * 1e6
    _judge_twins(found, rows)
    _judge_text(found, [row for row in rows if "truth" in row.words], rivals, vocabulary)
    return found


def _take(row: Row, column: str, text: str, vocabulary: Vocabulary) -> None:
    """Take in what is said to be a page's main text."""
    words = bag(text)
    row.words[column] = vocabulary.numbers(words)
    if row.truth is not None:
        size = words.total() + row.truth.total()
        row.f1[column] = 2 * (words & row.truth).total() / size if size else 1.0


def _near(one: int, other: int) -> bool:
    return one != 0 and other != 0 and (one ^ other).bit_count() <= 3


def _judge_twins(found: Figures, rows: list[Row]) -> None:
    sets = [row.shingles for row in rows]
    true = twins_of(sets)
    found.twins = len(true)
    for number, row in enumerate(rows):
        if row.near is not None:
            found.old_flagged += 1
            found.old_right += jaccard(sets[number], sets[row.near]) >= SIMILAR
        if row.twin is not None:
            other = row.twin.number
            alike = jaccard(sets[number], sets[other])
            if row.text == rows[other].text:
                alike = 1.0  # all words of both are the same, menus included
            found.flagged += 1
            found.right_flags += alike >= SIMILAR
            found.found_twins += number in true
            found.least = min(found.least, alike)


def _judge_text(
    found: Figures,
    rows: list[Row],
    rivals: dict[str, Callable[[str], str]],
    vocabulary: Vocabulary,
) -> None:
    found.judged = len(rows)
    if not rows:
        return
    topics = topics_of(rows, vocabulary)
    found.has = sum(len(topics & row.words["truth"]) for row in rows)
    before, after = (scored(rows, topics, column) for column in ("before", "after"))
    found.scores, found.right = (before[0], after[0]), (before[1], after[1])
    found.f1 = mean_f1(rows, "before"), mean_f1(rows, "after")
    sample = [row for row in rows if row.source is not None and row.truth is not None]
    sample = sample[:: max(1, len(sample) // SAMPLE)][:SAMPLE]
    found.rivals = {}
    for name, extract in rivals.items():
        began = time.process_time()
        texts = [extract(row.source or "") for row in sample]
        spent = time.process_time() - began
        for row, text in zip(sample, texts, strict=True):
            _take(row, name, text, vocabulary)
        scores, right = scored(sample, topics, name)
        has = sum(len(topics & row.words["truth"]) for row in sample)
        share = right / max(1, scores), right / max(1, has)
        found.rivals[name] = (mean_f1(sample, name), *share, 1e3 * spent / len(sample))


def topics_of(rows: list[Row], vocabulary: Vocabulary) -> frozenset[int]:
    """Words that stand in the main text of some pages, and on how many more because menus have
    them: the worst ones, one in the middle, and a plain one."""
    shown = Counter(word for row in rows for word in row.words["all"])
    said = Counter(word for row in rows for word in row.words["truth"])
    least, most = max(3, len(rows) // 100), len(rows) // 2
    ratios = [
        (shown[number] / said[number], said[number], word)
        for word, number in vocabulary.words.items()
        if least <= said[number] <= most
        and word.isalpha()
        and (len(word) >= 3 or _unspaced(word[0]))
    ]
    ratios.sort(key=lambda each: (-each[0], -each[1], each[2]))
    topics = [word for _, _, word in ratios[: TOPICS - 2]]
    if ratios:
        topics.append(min(ratios, key=lambda each: (abs(each[0] - 2), each[2]))[2])
        plain = [each for each in ratios if each[0] <= 1.05]
        topics += [max(plain, key=lambda each: (each[1], each[2]))[2]] if plain else []
    return vocabulary.numbers(topics)


def scored(rows: list[Row], topics: frozenset[int], column: str) -> tuple[int, int]:
    """How many pages score for a topic, and how many of these have it in their main text."""
    scores = sum(len(topics & row.words[column]) for row in rows)
    right = sum(len(topics & row.words[column] & row.words["truth"]) for row in rows)
    return scores, right


def mean_f1(rows: list[Row], column: str) -> float:
    """The mean F1 of the words of pages."""
    return statistics.fmean(row.f1[column] for row in rows)


def rivals() -> dict[str, Callable[[str], str]]:
    """The other extractors that are installed."""
    found: dict[str, Callable[[str], str]] = {}
    try:
        from resiliparse.extract.html2text import extract_plain_text

        found["resiliparse"] = lambda source: extract_plain_text(source, main_content=True)
    except ImportError:
        print("resiliparse is not installed", file=sys.stderr)
    try:
        import trafilatura

        found["trafilatura"] = lambda source: trafilatura.extract(source) or ""
    except ImportError:
        print("trafilatura is not installed", file=sys.stderr)
    return found


# -- the page --------------------------------------------------------------------------------------


def table(heads: list[str], rows: list[list[str]]) -> str:
    """A table in Markdown."""
    lines = [heads, ["---"] + ["---:"] * (len(heads) - 1), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def report(found: list[Figures]) -> str:
    """The measured part of the page."""
    parts = ["## Main text", _text_table(found), "## Near duplicates", _twin_table(found)]
    parts += ["## Refused pages", _trap_table(found)]
    return "\n\n".join(parts)


def _share(part: int, whole: int) -> str:
    return f"{part / whole:.2f}" if whole else "-"


def _means(found: list[Figures]) -> list[str]:
    def mean(values: list[float]) -> str:
        return f"{statistics.fmean(values):.3f}" if values else "-"

    cells = [mean([each.f1[0] for each in found]), mean([each.f1[1] for each in found])]
    for at in (0, 1):
        cells.append(mean([each.right[at] / max(1, each.scores[at]) for each in found]))
        cells.append(mean([each.right[at] / max(1, each.has) for each in found]))
    for name in ("resiliparse", "trafilatura"):
        got = [each.rivals[name] for each in found if each.rivals and name in each.rivals]
        cells.append(mean([each[0] for each in got]))
        cells.append(f"{mean([each[1] for each in got])} / {mean([each[2] for each in got])}")
    return cells


def _text_table(found: list[Figures]) -> str:
    heads = ["site", "kind", "pages", "have the words", "score before (right)"]
    heads += ["score now (right)", "F1 before", "F1 now", "P / R before", "P / R now"]
    heads += ["resiliparse F1", "P / R", "trafilatura F1", "P / R"]
    rows = []
    for each in found:
        row = [each.name + ("" if each.chosen else " *"), each.kind, f"{each.judged:,}"]
        row += [f"{each.has:,}"]
        row += [f"{each.scores[at]:,} ({each.right[at]:,})" for at in (0, 1)]
        row += [f"{each.f1[0]:.3f}", f"{each.f1[1]:.3f}"]
        row += [
            f"{_share(each.right[at], each.scores[at])} / {_share(each.right[at], each.has)}"
            for at in (0, 1)
        ]
        for name in ("resiliparse", "trafilatura"):
            got = (each.rivals or {}).get(name)
            row += ["-", "-"] if got is None else [f"{got[0]:.3f}", f"{got[1]:.2f} / {got[2]:.2f}"]
        rows.append(row)
    for label, some in (
        ("mean", found),
        ("mean, chosen on", [each for each in found if each.chosen]),
        ("mean, held out *", [each for each in found if not each.chosen]),
    ):
        if some:
            before, now, p0, r0, p1, r1, f2, pr2, f3, pr3 = _means(some)
            pages = f"{sum(each.judged for each in some):,}"
            row = [f"**{label}**", "", pages, "", "", "", before, now, f"{p0} / {r0}"]
            rows.append([*row, f"{p1} / {r1}", f2, pr2, f3, pr3])
    costs = [statistics.fmean([each.microseconds for each in found]) / 1e3]
    for name in ("resiliparse", "trafilatura"):
        taken = [each.rivals[name][3] for each in found if each.rivals and name in each.rivals]
        costs.append(statistics.fmean(taken) if taken else math.nan)
    return table(heads, rows) + (
        f"\n\nCPU a page beside reading its HTML, mean of these sites: {costs[0]:.2f} ms;"
        f" resiliparse, reading included, {costs[1]:.2f} ms; trafilatura {costs[2]:.1f} ms."
    )


def _twin_table(found: list[Figures]) -> str:
    heads = ["site", "pages", "with a twin", "flagged before", "precision", "flagged now"]
    heads += ["precision", "recall", "least similar"]
    rows = [
        [
            each.name,
            f"{each.pages:,}",
            f"{each.twins:,}",
            f"{each.old_flagged:,}",
            _share(each.old_right, each.old_flagged),
            f"{each.flagged:,}",
            f"{each.right_flags / each.flagged:.3f}" if each.flagged else "-",
            f"{each.found_twins / each.twins:.3f}" if each.twins else "-",
            f"{each.least:.3f}" if each.flagged else "-",
        ]
        for each in found
    ]
    return table(heads, rows)


def _trap_table(found: list[Figures]) -> str:
    rows = [
        [each.name, f"{each.pages:,}", f"{each.old_refused:,}", f"{each.refused:,}"]
        for each in found
    ]
    return table(["site", "pages", "refused before", "refused now"], rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--sites", nargs="+", choices=SITES, default=list(SITES), metavar="NAME")
    parser.add_argument("--pages", type=int, default=5_000, help="of each site at most")
    parser.add_argument("--keep", type=Path, help="a file of figures, to add to")
    parser.add_argument("-o", "--output", type=Path, default=Path("docs/results/judging.md"))
    args = parser.parse_args()
    kept: dict[str, Any] = {}
    if args.keep is not None and args.keep.exists():
        kept = json.loads(args.keep.read_text(encoding="utf-8"))
    others = rivals()
    for name in args.sites:
        if name in kept or not (args.folder / SITES[name].folder).is_dir():
            continue
        kept[name] = asdict(measured(name, args.folder, args.pages, others))
        print(name, kept[name], file=sys.stderr)
        if args.keep is not None:
            args.keep.write_text(json.dumps(kept), encoding="utf-8")
    found = [Figures(**kept[name]) for name in SITES if name in kept]
    before = args.output.read_text(encoding="utf-8") if args.output.exists() else ""
    reading = before.partition(MARK)[0]
    args.output.write_text(f"{reading}{MARK}\n\n{report(found)}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
