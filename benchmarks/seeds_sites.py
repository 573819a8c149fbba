"""Real and generated sites for the comparison of seed methods.

Real: the hosts of WebKB with 100 pages or more, from the links in their HTML; Debian's
documentation packages, unpacked side by side in a folder; ranges of consecutive ids of cnr-2000,
whose ids follow the order of URLs. Generated: communities of pages, each a navigation tree with
back-links and cross-links of its own, joined by a few links in one direction.
"""

from __future__ import annotations

import html
import lzma
import posixpath
import re
import tarfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote, urljoin, urlsplit

import numpy as np

from sonde.seeds import Facts, LinkNetwork, Sites, by_rules, uniqueness
from sonde.seeds.comparison import ComparedSite

SMALLEST = 100
HIDDEN, SPAM, CLICKED, DUPLICATE = 0.3, 0.05, 0.05, 0.3
_LINK = re.compile(
    r"<(?:a|area)\b[^>]*?\bhref\s*=\s*(\"[^\"]*\"|'[^']*'|[^\s>]+)"
    r"|<i?frame\b[^>]*?\bsrc\s*=\s*(\"[^\"]*\"|'[^']*'|[^\s>]+)",
    re.IGNORECASE,
)
_BASE = re.compile(r"<base\b[^>]*?\bhref\s*=\s*[\"']?([^\"'\s>]+)", re.IGNORECASE)


@dataclass(frozen=True, eq=False)
class Whole:
    """A site as it is, before a part of it is hidden."""

    name: str
    network: LinkNetwork


def hidden(whole: Whole, seed: int) -> ComparedSite:
    """What a crawl would know: 30 % of pages not crawled, with seeded spam, clicks, duplicates.

    The known site is the crawled pages and the links among them; what they link to beyond is in
    their values. All four properties are drawn page by page, independent of the links. The share
    of duplicates is drawn for each site, up to 30 %.
    """
    dice = np.random.default_rng(seed)
    pages = whole.network.nodes
    crawled, spam, clicked = (
        dice.random(pages) >= HIDDEN,
        dice.random(pages) < SPAM,
        dice.random(pages) < CLICKED,
    )
    duplicate = dice.random(pages) < DUPLICATE * dice.random()
    unique = uniqueness(Sites(["all"], np.zeros(pages, dtype=np.int32)), crawled, duplicate)
    facts = Facts(spam, clicked, crawled, unique)
    nodes = facts.candidates(whole.network)
    values = by_rules(whole.network, facts)[nodes]
    return ComparedSite(whole.name, whole.network.within(nodes), values)


def network_of(links: Iterable[tuple[int, int]], count: int) -> LinkNetwork:
    pairs = np.array(sorted(set(links)), dtype=np.int64).reshape(-1, 2)
    indptr = np.concatenate(([0], np.cumsum(np.bincount(pairs[:, 0], minlength=count))))
    return LinkNetwork.tidy(indptr, pairs[:, 1].astype(np.int32))


def links_of(text: str) -> Iterator[str]:
    """The addresses that a page links to, as it spells them."""
    for match in _LINK.finditer(text):
        yield html.unescape((match[1] or match[2]).strip("\"' \t\r\n"))


def webkb(archive: Path) -> Iterator[Whole]:
    """The larger hosts, a page being known by its URL without a trailing index page."""
    hosts: dict[str, dict[str, str]] = {}
    with tarfile.open(archive) as files:
        for member in files:
            url = member.name.rsplit("/", 1)[-1].replace("^", "/")
            content = files.extractfile(member) if member.isfile() else None
            if content is None or "://" not in url:
                continue
            page = _page(url)
            hosts.setdefault(urlsplit(page).netloc, {})[page] = content.read().decode("latin-1")
    for host, pages in sorted(hosts.items()):
        if len(pages) < SMALLEST:
            continue
        number = {page: place for place, page in enumerate(sorted(pages))}
        links = set()
        for page, source in number.items():
            text = pages[page]
            base = _BASE.search(text)
            for link in links_of(text):
                try:
                    target = number.get(_page(urljoin(base[1] if base else page, link)))
                except ValueError:
                    continue
                if target is not None:
                    links.add((source, target))
        yield Whole(host, network_of(links, len(number)))


def _page(url: str) -> str:
    parts = urlsplit(url)
    path = re.sub(r"/index\.html?$", "/", unquote(parts.path), flags=re.IGNORECASE)
    return f"http://{parts.netloc.lower().removesuffix(':80')}{path.rstrip('/')}"


def packages(folder: Path) -> Iterator[Whole]:
    """Each package's HTML files and the links among them."""
    for package in sorted(path for path in folder.iterdir() if path.is_dir()):
        files = sorted(
            path
            for path in package.rglob("*")
            if path.suffix.lower() in (".html", ".htm") and path.is_file() and not path.is_symlink()
        )
        if len(files) < SMALLEST:
            continue
        number = {path.relative_to(package).as_posix(): i for i, path in enumerate(files)}
        links = set()
        for page, source in number.items():
            text = files[source].read_text(encoding="utf-8", errors="replace")
            base = _BASE.search(text)
            at = posixpath.join(posixpath.dirname(page), base[1] if base else "")
            for link in links_of(text):
                target = number.get(_file(at, link, number))
                if target is not None:
                    links.add((source, target))
        yield Whole(package.name, network_of(links, len(number)))


def _file(folder: str, link: str, files: dict[str, int]) -> str:
    """The file that a relative link leads to, or an empty string."""
    if re.match(r"[a-z][a-z0-9+.-]*:|//|#|$", link, re.IGNORECASE):
        return ""
    path = re.split(r"[?#]", link, maxsplit=1)[0]
    if not path:
        return ""
    whole = posixpath.normpath(posixpath.join(folder, unquote(path))).lstrip("/")
    return whole if whole in files else f"{whole}/index.html"


def ranges(edges: Path, count: int = 20, pages: int = 3000) -> Iterator[Whole]:
    """Evenly spaced ranges of consecutive ids."""
    with lzma.open(edges, "rt") as lines:
        next(lines)
        links = np.loadtxt(lines, dtype=np.int64, delimiter="\t")
    whole = int(links.max()) + 1
    for place in range(count):
        first = place * (whole // count)
        inside = ((links >= first) & (links < first + pages)).all(axis=1)
        pairs = ((int(a), int(b)) for a, b in links[inside] - first)
        yield Whole(f"cnr-2000 from {first}", network_of(pairs, pages))


def generated(count: int = 200, seed: int = 11) -> Iterator[Whole]:
    """Sites of several communities, from 100 to about 1,500 pages."""
    for place in range(count):
        dice = np.random.default_rng([seed, place])
        links: list[tuple[int, int]] = []
        starts = [0]
        while starts[-1] < SMALLEST or len(starts) < 4 or dice.random() < 0.8:
            first, size = starts[-1], int(dice.lognormal(3.5, 0.8)) + 2
            back, across = dice.random(), 2 * dice.random()
            for page in range(first + 1, first + size):
                parent = first + int((page - first) * dice.random() ** 2)
                links.append((parent, page))
                if dice.random() < back:
                    links.append((page, first if dice.random() < 0.5 else parent))
            for _ in range(int(across * size)):
                one, other = dice.integers(first, first + size, 2)
                links.append((int(one), int(other)))
            if first and dice.random() < 0.6:
                links.append((int(dice.integers(0, first)), first))
            starts.append(first + size)
        yield Whole(f"generated {place}", network_of(links, starts[-1]))
