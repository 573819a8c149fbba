"""Estimators in which something flows along links: cash, or rank."""

from __future__ import annotations

from dataclasses import dataclass

from sonde.errors import SpecError
from sonde.estimators.builder import ModelBuilder, SingleEstimator
from sonde.protocols import Chooser

NR_PRECISION = 1e-5
"""How far `nr` may be off before it pushes on, as a share of the highest score seen."""


@dataclass(frozen=True)
class Opic(SingleEstimator):
    """On-line page importance: a visited node hands its cash on along its links.

    Shares are equal, or in proportion to the link's score (`e`), to the target's score if it was
    visited and its `n:sum` otherwise (`n`), or to the product of both (`ne`). The visit's own
    contribution to `n:sum` counts.
    """

    by: str = ""

    def __post_init__(self) -> None:
        if self.by not in ("", "e", "n", "ne"):
            raise SpecError(f"unknown estimator '{self}' (opic, opic:e, opic:n or opic:ne)")

    def __str__(self) -> str:
        return f"opic:{self.by}" if self.by else "opic"

    def features(self) -> tuple[str, ...]:
        return (str(self), "n:sum") if "n" in self.by else (str(self),)

    def remembers(self) -> bool:
        return "n" in self.by

    def build(self, builder: ModelBuilder) -> Chooser:
        cash = builder.signal(
            str(self),
            lambda: builder.kernels.Cash(
                builder.frontier,
                builder.links,
                builder.columns[str(self)],
                builder.columns.get("n:sum", -1),
                builder.nodes,
                "e" in self.by,
                "n" in self.by,
            ),
        )
        return builder.single(builder.kernels.Wealth(cash))


@dataclass(frozen=True)
class NavigationalRank(SingleEstimator):
    """Scores flow from children to visited parents, then from parents to the frontier.

    `keep` is d, how much of a node's rank is its own score. Without `exact` the ranks are kept up
    by local pushes, to a tolerance; with it they are iterated anew after every visit.
    """

    keep: float = 0.5
    exact: bool = False

    def __post_init__(self) -> None:
        if not 0 < self.keep <= 1:
            raise SpecError(f"estimator '{self}': d must be above 0 and at most 1")

    def __str__(self) -> str:
        parts = ["nr", *(["exact"] if self.exact else [])]
        return ":".join(parts + ([f"d={self.keep:g}"] if self.keep != 0.5 else []))

    def features(self) -> tuple[str, ...]:
        return (str(self),)

    def remembers(self) -> bool:
        return True

    def signal(self, builder: ModelBuilder) -> None:
        """Have the ranks kept."""
        kernels = builder.kernels
        wiring = (builder.frontier, builder.links, builder.columns[str(self)], builder.nodes)
        if self.exact:
            builder.signal(str(self), lambda: kernels.ExactNavigation(*wiring, self.keep))
        else:
            builder.signal(str(self), lambda: kernels.Navigation(*wiring, self.keep, NR_PRECISION))

    def build(self, builder: ModelBuilder) -> Chooser:
        self.signal(builder)
        return builder.single(builder.ranking(str(self)))
