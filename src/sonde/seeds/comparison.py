"""All methods on many sites: coverage against the number of seeds and of hops.

A site's coverage is its share: the value covered out of the sum of positive values. Improvement
over ``random`` is the ratio of mean shares over the sites, less one. (A mean of ratios would be
ruled by the few sites on which random seeds cover almost nothing, and has no meaning where they
cover less than nothing, which spam makes possible.) The standard error is the jackknife's, leaving
out one site at a time. Random itself is the mean of several seeded draws.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import numpy as np
import numpy.typing as npt

from sonde import figures
from sonde.errors import InputError
from sonde.interruption import interruptible
from sonde.pool import as_finished
from sonde.seeds.amounts import Amounts
from sonde.seeds.components import Components
from sonde.seeds.methods import Method
from sonde.seeds.network import LinkNetwork
from sonde.seeds.selection import select

DRAWS = 20
OBJECTIVES = ("pages", "value")
Numbers = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class ComparedSite:
    """One site to compare methods on, with what its pages are worth."""

    name: str
    network: LinkNetwork
    values: Numbers


@dataclass(frozen=True)
class ComparisonPlan:
    """Which seeds and hops to try; each is varied while the other one stays put."""

    methods: tuple[Method, ...]
    seeds: tuple[int, ...]
    hops: tuple[int, ...]
    at_seeds: int = 5
    at_hops: int = 5
    seed: int = 0

    def __post_init__(self) -> None:
        if min((self.at_seeds, *self.seeds), default=0) < 1:
            raise InputError("methods are compared at one seed at least")

    @property
    def points(self) -> list[tuple[str, int, int, int]]:
        """Axis, place on it, seeds, hops."""
        by_seeds = [("seeds", k, k, self.at_hops) for k in self.seeds]
        return by_seeds + [("hops", hops, self.at_seeds, hops) for hops in self.hops]


@dataclass(frozen=True)
class Point:
    """A method at one number of seeds and hops, over all sites."""

    objective: str
    axis: str
    at: int
    method: str
    improvement: float
    error: float
    share: float
    chosen: float


@dataclass(frozen=True)
class Anatomy:
    """How a site falls into strongly connected components: their number by size."""

    name: str
    pages: int
    links: int
    components: int
    largest: int
    roots: int
    single: int
    below_10: int
    below_100: int
    larger: int

    @classmethod
    def of(cls, site: ComparedSite) -> Anatomy:
        components = Components(site.network)
        sizes = components.sizes
        edges = [int(np.count_nonzero(sizes < limit)) for limit in (2, 10, 100)]
        return cls(
            site.name,
            site.network.nodes,
            len(site.network.targets),
            len(sizes),
            int(sizes.max(initial=0)),
            int(np.count_nonzero(components.roots)),
            edges[0],
            edges[1] - edges[0],
            edges[2] - edges[1],
            len(sizes) - edges[2],
        )


@dataclass(frozen=True)
class Comparison:
    """The points of all curves, the anatomy of each site, and the shares behind the points.

    ``shares`` is by site, objective, method (in the plan's order, then random) and point.
    """

    plan: ComparisonPlan
    points: tuple[Point, ...]
    sites: tuple[Anatomy, ...]
    shares: Numbers = field(repr=False, compare=False)

    def curve(self, objective: str, axis: str, method: str) -> list[Point]:
        wanted = (objective, axis, method)
        return [p for p in self.points if (p.objective, p.axis, p.method) == wanted]

    @property
    def methods(self) -> list[str]:
        return [str(method) for method in self.plan.methods]

    def lead(
        self, objective: str, axis: str, at: int, first: str, second: str
    ) -> tuple[float, float]:
        """How far one method's improvement over random is above another's, site for site."""
        places = [point[:2] for point in self.plan.points]
        shares = self.shares[:, OBJECTIVES.index(objective), :, places.index((axis, at))]
        one, other = (self.methods.index(method) for method in (first, second))
        return _improvement(shares[:, one], shares[:, other], shares[:, -1])


def compare(
    sites: Sequence[ComparedSite], plan: ComparisonPlan, workers: int | None = None
) -> Comparison:
    """Runs every method on every site; sites side by side on the cores."""
    if not sites:
        raise InputError("there is no site to compare methods on")
    with interruptible():
        found = dict(as_finished(partial(_measure, plan), sites, workers))
    shares = np.array([found[site][0] for site in range(len(sites))])
    chosen = np.array([found[site][1] for site in range(len(sites))])
    points = [
        Point(
            objective,
            axis,
            at,
            str(method),
            *_improvement(shares[:, o, m, p], shares[:, o, -1, p], shares[:, o, -1, p]),
            float(shares[:, o, m, p].mean()),
            float(chosen[:, o, m, p].mean()),
        )
        for o, objective in enumerate(OBJECTIVES)
        for m, method in enumerate(plan.methods)
        for p, (axis, at, _, _) in enumerate(plan.points)
    ]
    anatomies = tuple(Anatomy.of(site) for site in sites)
    return Comparison(plan, tuple(points), anatomies, shares)


def _measure(plan: ComparisonPlan, site: ComparedSite) -> tuple[Numbers, Numbers]:
    """Shares and seeds chosen: by objective, method (random last, as the yardstick) and point."""
    methods = (*plan.methods, Method("random"))
    shape = (len(OBJECTIVES), len(methods), len(plan.points))
    shares, chosen = np.zeros(shape), np.zeros(shape)
    for o, values in enumerate((np.ones(site.network.nodes), site.values)):
        amounts = Amounts.of(values)
        whole = amounts.value(amounts.positive) or 1.0
        for m, method in enumerate(methods):
            draws = DRAWS if method.name == "random" else 1
            for draw in range(draws):
                curves = _curves(site.network, amounts, method, plan, plan.seed + draw)
                for p, (_, _, k, hops) in enumerate(plan.points):
                    gained = curves[hops][:k]
                    shares[o, m, p] += sum(gained) / whole / draws
                    chosen[o, m, p] += len(gained) / draws
    return shares, chosen


def _curves(
    network: LinkNetwork, amounts: Amounts, method: Method, plan: ComparisonPlan, seed: int
) -> dict[int, list[float]]:
    """The gains of the seeds in turn, for each number of hops.

    Every method chooses one seed after another, so the first k of a longer choice are the choice
    of k.
    """
    most: dict[int, int] = {}
    for _, _, k, hops in plan.points:
        most[hops] = max(k, most.get(hops, 0))
    return {
        hops: [
            one.gain
            for one in select(network, k, hops=hops, method=method, values=amounts, seed=seed).seeds
        ]
        for hops, k in most.items()
    }


def _improvement(shares: Numbers, other: Numbers, base: Numbers) -> tuple[float, float]:
    """How far the mean share is above another, in percent of random's; its jackknife error."""
    above = shares - other
    if base.sum() <= 0:
        return float("nan"), float("nan")
    ratio = 100.0 * above.sum() / base.sum()
    count = len(shares)
    without = base.sum() - base
    if count < 2 or (without <= 0).any():
        return float(ratio), float("nan")
    others = 100.0 * (above.sum() - above) / without
    spread = (count - 1) / count * float(((others - others.mean()) ** 2).sum())
    return float(ratio), float(np.sqrt(spread))


TITLES = {"pages": "Page coverage", "value": "Value coverage"}
_MARKERS = "osD^vP*Xhd"
_ANATOMY = (
    "site",
    "pages",
    "links",
    "components",
    "largest",
    "roots",
    "of 1 page",
    "2-9",
    "10-99",
    "100+",
)


def report(comparison: Comparison) -> str:
    """Everything that a comparison found, for a terminal."""
    plan, parts = comparison.plan, []
    for objective in OBJECTIVES:
        for axis, fixed in (("seeds", f"{plan.at_hops} hops"), ("hops", f"{plan.at_seeds} seeds")):
            parts.append(f"{TITLES[objective]}, improvement over random in percent, {fixed}")
            parts.append(improvement_table(comparison, objective, axis))
    parts.append("Strongly connected components by number of pages")
    parts.append(anatomy_table(comparison.sites))
    return "\n\n".join(parts)


def improvement_table(comparison: Comparison, objective: str, axis: str) -> str:
    """Improvement over random in percent, a row a method, a column a number of seeds or hops."""
    curves = [comparison.curve(objective, axis, method) for method in comparison.methods]
    head = [f"method \\ {axis}", *(str(point.at) for point in curves[0])]
    rows = [[curve[0].method, *(_percent(point) for point in curve)] for curve in curves]
    return markdown(head, rows)


def anatomy_table(sites: Sequence[Anatomy]) -> str:
    """The distribution of component sizes, a row a site."""
    rows = [
        [
            site.name,
            *map(
                str,
                (
                    site.pages,
                    site.links,
                    site.components,
                    site.largest,
                    site.roots,
                    site.single,
                    site.below_10,
                    site.below_100,
                    site.larger,
                ),
            ),
        ]
        for site in sites
    ]
    return markdown(_ANATOMY, rows)


def markdown(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table whose columns line up."""
    widths = [max(len(row[i]) for row in (head, *rows)) for i in range(len(head))]

    def line(cells: Sequence[str]) -> str:
        first = cells[0].ljust(widths[0])
        rest = [cell.rjust(width) for cell, width in zip(cells[1:], widths[1:], strict=True)]
        return "| " + " | ".join([first, *rest]) + " |"

    rule = "|" + "|".join("-" * (width + 1) + (":" if i else "-") for i, width in enumerate(widths))
    return "\n".join([line(head), rule + "|", *(line(row) for row in rows)])


def _percent(point: Point) -> str:
    if math.isnan(point.improvement):
        return "–"
    error = "" if math.isnan(point.error) else f" ± {point.error:.1f}"
    return f"{point.improvement:+.1f}{error}"


def draw(comparison: Comparison, folder: Path, prefix: str = "") -> list[Path]:
    """One figure for each of pages and value against seeds and hops; the files written."""
    written = []
    for objective in OBJECTIVES:
        for axis in ("seeds", "hops"):
            if not any(point.axis == axis for point in comparison.points):
                continue
            figure, ((axes,),) = figures.new_figure()
            for number, method in enumerate(comparison.methods):
                curve = comparison.curve(objective, axis, method)
                axes.errorbar(
                    [point.at for point in curve],
                    [point.improvement for point in curve],
                    yerr=[point.error for point in curve],
                    marker=_MARKERS[number % len(_MARKERS)],
                    markersize=5,
                    linewidth=1.2,
                    capsize=2,
                    label=method,
                    **figures.line_style(number),
                )
            axes.xaxis.get_major_locator().set_params(integer=True)
            title = f"{TITLES[objective]}, {len(comparison.sites)} sites"
            figures.label_axes(axes, title, f"number of {axis}", "improvement over random (%)")
            written += figures.save(figure, folder, f"{prefix}{objective}-{axis}")
    return written
