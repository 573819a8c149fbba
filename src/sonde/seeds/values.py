"""What a page is worth to a crawl that starts near it.

The rules: a page is worth 1; spam sets that to -10; a page that people clicked on is then set to
10; and what a page links to that was never crawled is added, each such page times the probability
that a newly crawled page of the site is unique. A page that was not crawled has no worth of its
own and cannot be a seed: it is what the seeds are to discover, and its promise is already counted
on every page that links to it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sonde.errors import InputError
from sonde.seeds.amounts import Amounts
from sonde.seeds.known_graph import KnownGraph, Sites
from sonde.seeds.network import Flags, LinkNetwork, Nodes

SPAM = -10.0
CLICKED = 10.0
Numbers = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Facts:
    """What is known of each page beyond its links; flags that nobody set are left out."""

    spam: Flags | None = None
    clicked: Flags | None = None
    crawled: Flags | None = None
    unique: Numbers | float = 1.0

    @classmethod
    def gather(
        cls,
        known: KnownGraph,
        *,
        spam: str | None = None,
        clicked: str | None = None,
        crawled: str | None = None,
        duplicate: str | None = None,
        unique: float | None = None,
    ) -> Facts:
        """From the columns named, else from a run's flags, else from columns of these very names.

        ``unique`` is a probability for all sites; without one it is learnt, site by site, from
        the pages marked as duplicates.
        """

        def flags(given: str | None, usual: str, run: Flags | None = None) -> Flags | None:
            if given is not None:
                return known.flags(given)
            if run is not None:
                return run
            return known.flags(usual) if usual in known.columns else None

        fetched = flags(crawled, "crawled", known.crawled)
        repeated = flags(duplicate, "duplicate", known.duplicate)
        probability: Numbers | float = 1.0 if unique is None else unique
        if not 0.0 <= np.min(probability) <= 1.0:
            raise InputError(f"a probability lies between 0 and 1, so not {unique}")
        if unique is None and repeated is not None:
            everything = np.ones(len(known.names), dtype=bool)
            probability = uniqueness(
                _sites(known), everything if fetched is None else fetched, repeated
            )
        return cls(flags(spam, "spam"), flags(clicked, "clicked"), fetched, probability)

    def candidates(self, network: LinkNetwork) -> Nodes:
        """The pages that can be seeds: those that were crawled."""
        if self.crawled is None:
            return np.arange(network.nodes, dtype=np.int32)
        return np.flatnonzero(self.crawled).astype(np.int32)


def worth(
    known: KnownGraph, kind: str = "rules", *, unique: float | None = None, **columns: str | None
) -> tuple[Nodes, Amounts]:
    """The pages that can be seeds, and what they are worth.

    ``kind`` is ``rules`` (with the columns of `Facts.gather`), ``pages`` for 1 each, or a column.
    """
    network = known.network
    if kind == "rules":
        facts = Facts.gather(known, unique=unique, **columns)
        nodes = facts.candidates(network)
        return nodes, Amounts.of(by_rules(network, facts)[nodes])
    for given, column in (("unique", unique), *columns.items()):
        if column is not None:
            raise InputError(f"{given!r} is for values by rules, not for {kind!r}")
    values = np.ones(network.nodes) if kind == "pages" else known.numbers(kind)
    return np.arange(network.nodes, dtype=np.int32), Amounts.of(values)


def by_rules(network: LinkNetwork, facts: Facts) -> Numbers:
    """The value of each page by the rules, in the order in which they are stated above."""
    values = np.ones(network.nodes)
    if facts.spam is not None:
        values[facts.spam] = SPAM
    if facts.clicked is not None:
        values[facts.clicked] = CLICKED
    if facts.crawled is not None:
        unknown = np.concatenate(([0], np.cumsum(~facts.crawled[network.targets])))
        promised = unknown[network.indptr[1:]] - unknown[network.indptr[:-1]]
        values += promised * facts.unique
        values[~facts.crawled] = 0.0
    return values


def uniqueness(sites: Sites, crawled: Flags, duplicate: Flags) -> Numbers:
    """For each page, the share of its site's crawled pages that were no duplicates.

    A site of which nothing was crawled yet is taken to be like all sites together.
    """
    fetched = sites.totals(crawled)
    repeated = sites.totals(crawled & duplicate)
    overall = 1.0 - repeated.sum() / fetched.sum() if fetched.sum() else 1.0
    shares = np.full(len(fetched), overall)
    np.divide(fetched - repeated, fetched, out=shares, where=fetched > 0)
    return np.asarray(shares[sites.labels], dtype=np.float64)


def _sites(known: KnownGraph) -> Sites:
    """The hosts, or one site if the pages are not named by URLs."""
    try:
        return known.sites("host")
    except InputError:
        return Sites(["all"], np.zeros(len(known.names), dtype=np.int32))
