"""Experiments in which every estimator leads its own crawl: alone, as bandits, and as a league."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from sonde.errors import InputError
from sonde.lab.experiments.experiment import Experiment, notes
from sonde.lab.protocol import Protocol
from sonde.lab.report import Figure, Report, ReportTable, panels
from sonde.lab.results import Curves, Mean, Results, geometric, mean, share
from sonde.lab.units import OBJECTIVES, CrawlSpec, estimator_of
from sonde.protocols import Floats

LEAD = Protocol(sets=10, seed_nodes=50, steps=100_000)
ARMS = ("n", "e", "ne", "lnh")
_ARMS = ",".join(ARMS)
ESTIMATORS = (
    "bfs",
    "opic",
    "opic:ne",
    "nr",
    "n",
    "n:max",
    "e",
    "e:max",
    "ne",
    "ne:max",
    "n2",
    "ne2",
    "lnh",
    "lnh:max",
    "lnh2",
    "hybrid[n,lnh,1000]",
    "hybrid[ne,lnh,1000]",
    "hybrid[bfs,lnh,1000]",
    f"mab:eps=0.1[{_ARMS}]",
    f"mab:var[{_ARMS}]",
    "yield",
    "auto",
)
BANDITS = tuple(
    f"mab:{kind}={epsilon:g}[{_ARMS}]"
    for kind in ("eps", "eps-first", "var:eps")
    for epsilon in (0.05, 0.1, 0.2, 0.4)
)
SHORT = 1_000


def lead(
    protocol: Protocol = LEAD,
    estimators: Sequence[str] = ESTIMATORS,
    objectives: Sequence[str] = OBJECTIVES,
) -> Experiment:
    """Each estimator leads its own crawl; the oracle's is the yardstick."""
    return Experiment("lead", protocol, entrants(estimators, objectives), report_lead)


def bandits(
    protocol: Protocol = LEAD, estimators: Sequence[str] = BANDITS, arms: Sequence[str] = ARMS
) -> Experiment:
    """Bandits over their parameters, beside the estimators that are their arms."""
    return Experiment("bandits", protocol, entrants([*arms, *estimators], ("sum",)), report_bandits)


def league(
    protocol: Protocol = LEAD,
    estimators: Sequence[str] = ESTIMATORS,
    baseline: str = "bfs",
    objective: str = "sum",
) -> Experiment:
    """The league table: relative to a baseline, to the oracle, and to the best possible."""
    base = str(estimator_of(baseline))
    return Experiment(
        "global",
        protocol,
        entrants([baseline, *estimators], (objective,)),
        lambda results: report_league(results, base, objective),
        bounded=(objective,),
    )


def entrants(estimators: Sequence[str], objectives: Sequence[str]) -> list[tuple[str, CrawlSpec]]:
    """The oracle and the estimators, once each, under every objective."""
    for objective in objectives:
        if objective not in OBJECTIVES:
            raise InputError(f"unknown objective {objective!r} (sum or count)")
    named = {str(estimator_of(text)): text for text in ("oracle", *estimators)}
    return [
        (label, CrawlSpec(text, objective=objective))
        for objective in objectives
        for label, text in named.items()
    ]


def merits(results: Results, label: str, objective: str) -> tuple[Mean, Mean, Mean]:
    """Harvest rate, efficiency and GPR at the last step, over all seed graphs of all graphs."""

    def last(column: str, oracle: bool = False) -> Floats:
        parts = []
        for graph in results.graphs:
            values = results.curves(graph, label, column, objective).last
            if oracle:
                values = share(values, results.curves(graph, "oracle", column, objective).last)
            parts.append(values)
        values = np.concatenate(parts)
        return values[~np.isnan(values)]

    return mean(last("harvest_rate")), mean(last("area", oracle=True)), mean(last("gpr"))


def judged(results: Results, objective: str) -> ReportTable:
    """What judges crawls beyond their score."""
    (threshold,) = {setting.threshold for setting in results.settings.values()}
    return ReportTable(
        f"Judged ({objective}): harvest rate, efficiency and GPR at the last step",
        ["estimator", "harvest rate", "efficiency", "GPR"],
        [
            [label, *(one.shown(3) for one in merits(results, label, objective))]
            for label in results.labels
        ],
        "Means over all seed graphs of all graphs. Harvest rate: visits that score above "
        f"{threshold:g}. Efficiency: the area under the score's curve, relative to the oracle's. "
        "GPR: S / (S + 2B), S the visits above that score, B those at or below it after which the "
        "crawl went on elsewhere than to one of their links.",
    )


def until(curves: Curves, steps: int) -> Curves:
    """The first steps alone."""
    kept = curves.steps <= steps
    return Curves(curves.steps[kept], curves.rows[:, kept])


def report_lead(results: Results) -> Report:
    tables, figures = [], []
    others = [label for label in results.labels if label != "oracle"]
    for objective in results.objectives:
        for head, step in ((f"after {SHORT:,} steps", SHORT), ("at the last step", None)):
            rows = [
                [label]
                + [_final(results, graph, label, objective, step) for graph in results.graphs]
                for label in others
            ]
            title = f"{objective}, relative to the oracle, {head}"
            tables.append(ReportTable(title, ["estimator", *results.graphs], rows))
        tables.append(judged(results, objective))
        figures += _figures(results, objective, others)
    return Report(
        "lead", "Lead: every estimator leads its own crawl", tables, figures, notes(results)
    )


def _figures(results: Results, objective: str, others: Sequence[str]) -> list[Figure]:
    def absolute(graph: str, label: str) -> Curves:
        return results.curves(graph, label, "gain", objective)

    def relative(graph: str, label: str) -> Curves:
        return results.relative(graph, label, "oracle", objective)

    def short(graph: str, label: str) -> Curves:
        return until(relative(graph, label), SHORT)

    named, share_of = f"lead-{objective}", "share of the oracle's score"
    relatively = f"score ({objective}) relative to the oracle's crawl"
    whole = panels(results.graphs, results.labels, absolute)
    to_oracle, early = (panels(results.graphs, others, each) for each in (relative, short))
    return [
        Figure(named, f"Score ({objective}) against steps", "score", whole),
        Figure(f"{named}-relative", relatively.capitalize(), share_of, to_oracle),
        Figure(f"{named}-short", f"The first {SHORT:,} steps: {relatively}", share_of, early),
    ]


def _final(results: Results, graph: str, label: str, objective: str, step: int | None) -> str:
    curves = results.relative(graph, label, "oracle", objective)
    return mean(curves.last if step is None else curves.at(step)).shown(3)


def report_bandits(results: Results) -> Report:
    others = [label for label in results.labels if label != "oracle"]
    arms = [label for label in others if not label.startswith("mab:")]
    rows = []
    for label in others:
        shares = []
        for graph in results.graphs:
            gains = [float(np.mean(results.curves(graph, arm, "gain").last)) for arm in arms]
            gain = float(np.mean(results.curves(graph, label, "gain").last))
            shares.append(gain / max(gains) if max(gains) > 0 else math.nan)
        rows.append([label, *(f"{value:.3f}" for value in shares), f"{geometric(shares):.3f}"])
    table = ReportTable(
        "Score at the last step relative to the best single arm on each graph",
        ["estimator", *results.graphs, "geometric mean"],
        rows,
    )
    figure = Figure(
        "bandits",
        "Bandits and their arms: score relative to the oracle's crawl",
        "share of the oracle's score",
        panels(
            results.graphs, others, lambda graph, label: results.relative(graph, label, "oracle")
        ),
    )
    return Report(
        "bandits",
        "Bandits over their parameters",
        [table, judged(results, "sum")],
        [figure],
        notes(results),
    )


def report_league(results: Results, baseline: str, objective: str) -> Report:
    def score(graph: str, label: str) -> float:
        return float(np.mean(results.curves(graph, label, "gain", objective).last))

    def ceiling(graph: str) -> float:
        return float(np.mean(results.curves(graph, "bound", "upper", objective).last))

    def ratio(part: float, whole: float) -> float:
        return part / whole if whole > 0 else math.nan

    lines = []
    for label in results.labels:
        shares = [ratio(score(graph, label), score(graph, baseline)) for graph in results.graphs]
        oracle = [ratio(score(graph, label), score(graph, "oracle")) for graph in results.graphs]
        best = [ratio(score(graph, label), ceiling(graph)) for graph in results.graphs]
        lines.append((label, shares, geometric(shares), geometric(oracle), geometric(best), best))
    # The best known crawl is oracle-greedy's or path-greedy's.
    known = [
        ratio(
            float(np.mean(results.curves(graph, "bound", "lower", objective).last)), ceiling(graph)
        )
        for graph in results.graphs
    ]
    lines.sort(key=lambda line: -line[2] if not math.isnan(line[2]) else 0.0)
    rows = [
        [
            label,
            f"{overall:.3f}",
            *(f"{value:.3f}" for value in shares),
            f"{oracle:.3f}",
            f"{_percent(best)} %",
        ]
        for label, shares, overall, oracle, best, _ in lines
    ]
    heads = ["estimator", "geometric mean", *results.graphs, "to oracle", "at most from optimal"]
    table = ReportTable(
        f"League table: {objective} relative to {baseline}",
        heads,
        rows,
        "By the geometric mean over graphs of the mean score over seed graphs. The last column "
        "says how far, at most, the estimator's score is from that of the best possible crawl.",
    )
    optimal = ReportTable(
        "At most so many percent from optimal",
        ["estimator", *results.graphs],
        [
            ["best known crawl", *(_percent(value) for value in known)],
            *([label, *(_percent(value) for value in best)] for label, _, _, _, _, best in lines),
        ],
    )
    return Report(
        "global",
        "The league table",
        [table, optimal, judged(results, objective)],
        [],
        notes(results),
    )


def _percent(share: float) -> str:
    """What a share of the whole lacks, in percent; rounding does not make it negative."""
    return f"{100 * max(0.0, 1 - share):.1f}"
