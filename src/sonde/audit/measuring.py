"""Site metrics: what the URL measures make of a poll; distributions over pages, leaders, and the
*order* of a site.

*Organised for focused crawling* means that URLs say where a link leads: pages of a folder link to
that folder more often than links do at large. Over the pages with links inside the site, let o be
the mean share of such links that stay in the page's own basename, and e the mean share of all such
links of the site that go to it. The order is (o - e) / (1 - e): 0 where folders say nothing, 1
where they say everything, undefined where all these pages live in one folder.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import Any

import numpy as np

from sonde.audit.polling import Poll, PolledHost
from sonde.crawling.progress import STOPS
from sonde.kernels.html.urls import basename_of
from sonde.protocols import Floats
from sonde.url_measures import Surroundings, keys_of


@dataclass(frozen=True)
class Distribution:
    """The distribution of one number over the pages: its mean, range and quartiles."""

    mean: float
    lowest: float
    lower: float  # a quarter lies below it
    median: float
    upper: float  # a quarter lies above it
    highest: float

    @classmethod
    def of(cls, values: list[float]) -> Distribution | None:
        if not values:
            return None
        return cls(float(np.mean(values)), *np.quantile(values, (0, 0.25, 0.5, 0.75, 1)).tolist())


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
    polled: str  # when, in UTC
    requests: int
    stop: str
    pages: tuple[PageRow, ...]
    invalid: int  # URLs that turned out not to be pages
    unread: dict[str, int]  # these, and URLs that were passed over, by reason
    links: int
    domains: int
    basenames: int
    rfu: Distribution | None
    bfu: Distribution | None
    rtt: Distribution | None
    rtt_smoothed: float | None  # of the most asked host, as is the next
    rtt_deviation: float | None
    hosts: tuple[PolledHost, ...]
    leaders: tuple[Leader, ...]
    id_with_bfu: float | None  # rank correlation over linked URLs
    stay: float  # what the order rests on: see ``sonde.audit.measuring``
    chance: float
    crowd: float
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
    order = order_of({page.url: page.links for page in poll.pages})
    rfu = Distribution.of([row.rfu for row in rows])
    level, words = verdict(order, None if rfu is None else rfu.median)
    unread = dict(Counter([*poll.invalid.values(), *poll.passed.values()]).most_common())
    if not rows:
        why = ", ".join(unread) or STOPS.get(poll.stop, poll.stop)
        words = f"unknown: no page could be read ({why})"
    asked = poll.hosts[0] if poll.hosts else None
    return SiteAudit(
        url=poll.url,
        polled=datetime.fromtimestamp(poll.began, UTC).isoformat(timespec="seconds"),
        requests=poll.requests,
        stop=poll.stop,
        pages=tuple(rows),
        invalid=len(poll.invalid),
        unread=unread,
        links=sum(row.links for row in rows),
        domains=len(domains),
        basenames=len(basenames),
        rfu=rfu,
        bfu=Distribution.of([row.bfu for row in rows]),
        rtt=Distribution.of([row.rtt for row in rows if row.rtt is not None]),
        rtt_smoothed=None if asked is None else asked.rtt,
        rtt_deviation=None if asked is None else asked.deviation,
        hosts=poll.hosts,
        leaders=tuple(leaders),
        id_with_bfu=rank_correlation(
            np.array([float(leader.pages) for leader in leaders]),
            np.array([leader.bfu for leader in leaders]),
        ),
        stay=order.stay,
        chance=order.chance,
        crowd=order.crowd,
        order=order.value,
        level=level,
        verdict=words,
    )


def rank_correlation(left: Floats, right: Floats) -> float | None:
    """Spearman's; ``None`` where one side has no two different values. Those that only rounding
    tells apart are equal."""
    left, right = np.round(left, 12), np.round(right, 12)
    if len(left) < 2 or len(set(left.tolist())) < 2 or len(set(right.tolist())) < 2:
        return None
    return float(np.corrcoef(_ranks(left), _ranks(right))[0, 1])


def _ranks(values: Floats) -> Floats:
    """Ranks, equal values sharing their mean."""
    _, places, counts = np.unique(values, return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    shared: Floats = (last - (counts - 1) / 2)[places]
    return shared


WELL, FAIRLY = 0.4, 0.15
"""The order from which on a site counts as well organised, and as fairly organised."""

_SCATTERED = 0.2  # a median RFU below it: links lead away
_FEW = 10  # pages; fewer are the hubs around the start
_ALONE = 1.5  # with fewer URLs than that in a folder, on average, folders tell of single pages


@dataclass(frozen=True)
class FolderOrder:
    """How the links inside a site keep to folders."""

    pages: int  # with links inside the site
    folders: int  # that these pages live in
    stay: float  # o
    chance: float  # e
    crowd: float  # distinct URLs of the site in a folder, on average

    @property
    def value(self) -> float | None:
        """The order; nothing where there is but one folder."""
        return None if self.folders < 2 else (self.stay - self.chance) / (1.0 - self.chance)


def order_of(links: Mapping[str, Mapping[str, int]]) -> FolderOrder:
    """The order of pages with their links, each target once."""
    inside: dict[str, Counter[str]] = {}
    everywhere: Counter[str] = Counter()
    urls: set[str] = set()
    for page, targets in links.items():
        home = keys_of(page)[0]
        own = [url for url in targets if keys_of(url)[0] == home]
        if own:
            inside[page] = Counter(map(basename_of, own))
            everywhere.update(inside[page])
            urls.update(own, (page,))
    if not inside:
        return FolderOrder(0, 0, 0.0, 0.0, 0.0)
    homes = {page: basename_of(page) for page in inside}
    total = everywhere.total()
    return FolderOrder(
        pages=len(inside),
        folders=len(set(homes.values())),
        stay=sum(count[homes[page]] / count.total() for page, count in inside.items()) / len(homes),
        chance=sum(everywhere[home] / total for home in homes.values()) / len(homes),
        crowd=len(urls) / len(set(map(basename_of, urls))),
    )


def verdict(order: FolderOrder, rfu: float | None) -> tuple[str, str]:
    """The level of a site, and the verdict in a sentence. `rfu` is the median of its pages."""
    if order.pages < 2:
        return "unknown", "unknown: too few pages with links to say anything"
    away = rfu is not None and rfu < _SCATTERED
    notes = "; its links scatter over other domains" if away else ""
    notes += "; so few pages say little of a site" if order.pages < _FEW else ""
    value = order.value
    if value is None:
        why = "all pages with links live in one folder: URLs do not tell them apart"
        return "flat", f"flat: {why}{notes}"
    shares = (
        f"over {order.pages:,} pages, {100 * order.stay:.0f} % of the links inside the site stay in"
        f" their page's folder, where chance would have {100 * order.chance:.0f} %"
    )
    if value >= WELL:
        level, means = "well organised", "URLs tell where a crawl goes"
    elif value >= FAIRLY:
        level, means = "fairly organised", "URLs help some"
    else:
        level, means = "poorly organised", "URLs tell little"
        if order.crowd < _ALONE:
            means = "nearly every page has a folder of its own, so that URLs do not group pages"
    return level, f"{level} for focused crawling: {shares}: {means}{notes}"
