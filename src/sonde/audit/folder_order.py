"""Whether folders say where links lead: the *order* of a site, and the verdict that rests on it.

*Organised for focused crawling* means that URLs say where a link leads: pages of a folder link to
that folder more often than links do at large. Over the pages with links inside the site, let o be
the mean share of such links that stay in the page's own basename, and e the mean share of all such
links of the site that go to it. The order is (o - e) / (1 - e): 0 where folders say nothing, 1
where they say everything, undefined where all these pages live in one folder.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from sonde.kernels.html.urls import basename_of
from sonde.url_measures import keys_of

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
