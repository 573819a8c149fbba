"""What the URL measures make of a poll: spreads, leaders, and a verdict.

*Organised for focused crawling* means that URLs say where a link leads: pages of a folder link to
that folder more often than links do at large. Over the pages with links inside the site, let o be
the mean share of such links that stay in the page's own basename, and e the mean share of all such
links of the site that go to it. The *order* is (o - e) / (1 - e): 0 where folders say nothing, 1
where they say everything; undefined where the site has one folder.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from sonde.audit.polling import Poll
from sonde.kernels.basenames import basename_of
from sonde.protocols import Floats
from sonde.sources.web.place import Surroundings, keys_of

WELL, FAIRLY = 0.4, 0.15
"""The order from which on a site counts as well organised, and as fairly organised."""

_SCATTERED = 0.2  # a median RFU below it: links lead away


@dataclass(frozen=True)
class Spread:
    """Of one number over the pages."""

    mean: float
    lowest: float
    median: float
    highest: float

    @classmethod
    def of(cls, values: list[float]) -> Spread | None:
        if not values:
            return None
        return cls(
            float(np.mean(values)), min(values), float(np.median(values)), float(max(values))
        )


@dataclass(frozen=True)
class PageRow:
    """The measures of one page."""

    url: str
    links: int
    domains: int
    basenames: int
    rfu: float
    bfu: float
    hop: int
    rtt: float | None


@dataclass(frozen=True)
class Leader:
    """A URL that many pages link to. ``bfu`` is the mean BFU of the links to it."""

    url: str
    pages: int
    repeats: int
    hop: int | None
    bfu: float


@dataclass(frozen=True)
class SiteAudit:
    """All that an audit says of a site."""

    url: str
    requests: int
    stop: str
    pages: tuple[PageRow, ...]
    invalid: int
    links: int
    domains: int
    basenames: int
    rfu: Spread | None
    bfu: Spread | None
    rtt: Spread | None
    rtt_smoothed: float | None
    rtt_deviation: float | None
    leaders: tuple[Leader, ...]
    id_with_bfu: float | None  # rank correlation over linked URLs
    order: float | None
    level: str
    verdict: str

    def as_json(self) -> dict[str, Any]:
        """For ``--json``."""
        return asdict(self)


def audit(poll: Poll) -> SiteAudit:
    """Measure a poll. All linked URLs are among the leaders, the most linked first."""
    rows = []
    domains: set[str] = set()
    basenames: set[str] = set()
    parents: dict[str, list[float]] = defaultdict(list)  # BFU(u, v) by v
    repeats: Counter[str] = Counter()
    for page in poll.pages:
        around = Surroundings(page.links)
        domains.update(around.domains)
        basenames.update(around.basenames)
        rows.append(
            PageRow(
                page.url,
                around.count,
                len(around.domains),
                len(around.basenames),
                around.rfu(page.url),
                around.bfu(page.url),
                page.hop,
                page.rtt,
            )
        )
        for (target, times), place in zip(page.links.items(), around.places, strict=True):
            if target not in poll.invalid:
                parents[target].append(place.bfu)
                repeats[target] += times - 1
    leaders = [
        Leader(url, len(shares), repeats[url], poll.hops.get(url), sum(shares) / len(shares))
        for url, shares in parents.items()
    ]
    leaders.sort(key=lambda leader: (-leader.pages, -leader.repeats, leader.url))
    order = _order(poll)
    rfu = Spread.of([row.rfu for row in rows])
    level, verdict = _verdict(rows, rfu, order)
    return SiteAudit(
        url=poll.url,
        requests=poll.requests,
        stop=poll.stop,
        pages=tuple(rows),
        invalid=len(poll.invalid),
        links=sum(row.links for row in rows),
        domains=len(domains),
        basenames=len(basenames),
        rfu=rfu,
        bfu=Spread.of([row.bfu for row in rows]),
        rtt=Spread.of([row.rtt for row in rows if row.rtt is not None]),
        rtt_smoothed=None if poll.rtt is None else poll.rtt[0],
        rtt_deviation=None if poll.rtt is None else poll.rtt[1],
        leaders=tuple(leaders),
        id_with_bfu=rank_correlation(
            np.array([float(leader.pages) for leader in leaders]),
            np.array([leader.bfu for leader in leaders]),
        ),
        order=order,
        level=level,
        verdict=verdict,
    )


def _order(poll: Poll) -> float | None:
    """By how much more than links at large a page's links stay in its own folder."""
    inside: dict[str, Counter[str]] = {}
    everywhere: Counter[str] = Counter()
    for page in poll.pages:
        home = keys_of(page.url)[0]
        counts = Counter(basename_of(url) for url in page.links if keys_of(url)[0] == home)
        if counts:
            inside[page.url] = counts
            everywhere.update(counts)
    if not inside:
        return None
    total = everywhere.total()
    own = [counts[basename_of(url)] / counts.total() for url, counts in inside.items()]
    chance = [everywhere[basename_of(url)] / total for url in inside]
    expected = sum(chance) / len(chance)
    if math.isclose(expected, 1.0):
        return None
    return (sum(own) / len(own) - expected) / (1.0 - expected)


def _verdict(rows: list[PageRow], rfu: Spread | None, order: float | None) -> tuple[str, str]:
    linking = [row for row in rows if row.links]
    if len(linking) < 2 or rfu is None:
        return "unknown", "too few pages with links to say anything"
    away = rfu.median < _SCATTERED
    scattered = "; its links scatter over other domains" if away else ""
    if order is None:
        level, why = "flat", "all pages live in one folder, so that URLs do not tell them apart"
    elif order >= WELL:
        level = "well organised"
        why = "links mostly stay in their page's folder, so that a folder's yield tells of the rest"
    elif order >= FAIRLY:
        level = "fairly organised"
        why = "links favour their page's folder, so that URLs help some"
    else:
        level = "poorly organised"
        why = "links go to folders as chance would have it, so that URLs tell little"
    return level, f"{level} for focused crawling: {why}{scattered}"


def rank_correlation(left: Floats, right: Floats) -> float | None:
    """Spearman's; ``None`` where one side has no two different values."""
    if len(left) < 2 or len(set(left.tolist())) < 2 or len(set(right.tolist())) < 2:
        return None
    return float(np.corrcoef(_ranks(left), _ranks(right))[0, 1])


def _ranks(values: Floats) -> Floats:
    """Ranks, equal values sharing their mean."""
    _, places, counts = np.unique(values, return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    shared: Floats = (last - (counts - 1) / 2)[places]
    return shared
