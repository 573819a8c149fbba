"""Site metrics: what the URL measures make of a poll; distributions over pages, and leaders."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import Any

import numpy as np

from sonde.audit.folder_order import order_of, verdict
from sonde.audit.polling import Poll, PolledHost
from sonde.crawling.events import STOPS
from sonde.protocols import Floats
from sonde.url_measures import Surroundings


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
    stay: float  # what the order rests on: see ``sonde.audit.folder_order``
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
