"""The everyday form: which of these estimators for this graph, paired over seed graphs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sonde.lab.experiments.experiment import Experiment, notes
from sonde.lab.experiments.lead import entrants, merits
from sonde.lab.protocol import Protocol
from sonde.lab.report import Figure, Report, ReportTable, panels
from sonde.lab.results import Mean, Results, mean

COMPARE = Protocol(sets=10, seed_nodes=50, steps=10_000)


@dataclass(frozen=True)
class RankedEstimator:
    """One estimator: its score, its share of the oracle's, and how far it is behind the leader."""

    estimator: str
    scores: dict[str, Mean]  # by graph
    share: Mean
    behind: Mean
    harvest_rate: Mean
    efficiency: Mean
    gpr: Mean

    @property
    def told_apart(self) -> bool:
        """Whether it is behind the leader by more than chance explains."""
        return self.behind.value - self.behind.half > 0


@dataclass(frozen=True)
class EstimatorComparison:
    """Estimators in order of their share of the oracle's score; the oracle stands apart."""

    objective: str
    graphs: dict[str, dict[str, Any]]
    oracle: dict[str, Mean]
    ranking: Sequence[RankedEstimator]
    pairs: int
    report: Report

    @property
    def verdict(self) -> str:
        """One line."""
        first, *others = self.ranking
        line = f"{first.estimator}: {first.share.value:.3f} of the oracle's score"
        level = [other for other in others if not other.told_apart]
        beaten = [other for other in others if other.told_apart]
        if not others:
            return line
        if level:
            named = ", ".join(other.estimator for other in level)
            line += f", not told apart from {named}"
        else:
            line += ", best of all"
        if beaten:
            nearest = beaten[0]
            line += f"; ahead of {nearest.estimator} by {nearest.behind.shown(3)}"
        return f"{line} (95 %, {self.pairs} pairs)"

    def as_json(self) -> dict[str, Any]:
        def shown(value: Mean) -> dict[str, float | None]:
            half = None if np.isnan(value.half) else value.half
            return {"mean": value.value, "half_width": half}

        return {
            "objective": self.objective,
            "graphs": self.graphs,
            "pairs": self.pairs,
            "oracle": {graph: shown(value) for graph, value in self.oracle.items()},
            "estimators": [
                {
                    "estimator": one.estimator,
                    "scores": {graph: shown(value) for graph, value in one.scores.items()},
                    "share_of_oracle": shown(one.share),
                    "behind_leader": shown(one.behind),
                    "harvest_rate": shown(one.harvest_rate),
                    "efficiency": shown(one.efficiency),
                    "gpr": shown(one.gpr),
                    "told_apart": one.told_apart,
                }
                for one in self.ranking
            ],
            "verdict": self.verdict,
        }


def comparing(protocol: Protocol, estimators: Sequence[str], objective: str) -> Experiment:
    """The experiment behind a comparison."""
    return Experiment(
        "compare",
        protocol,
        entrants(estimators, (objective,)),
        lambda results: compared(results, objective).report,
    )


def compared(results: Results, objective: str) -> EstimatorComparison:
    """What to make of it. Pairs are seed graphs, of all graphs together."""
    labels = [label for label in results.labels if label != "oracle"] or ["oracle"]
    shares = {
        label: np.concatenate(
            [results.relative(graph, label, "oracle", objective).last for graph in results.graphs]
        )
        for label in labels
    }
    # A seed graph from which even the oracle gains nothing tells nothing apart.
    order = sorted(labels, key=lambda label: -float(np.nanmean(shares[label])))
    leader = order[0]
    scores = {
        label: {
            graph: mean(results.curves(graph, label, "gain", objective).last)
            for graph in results.graphs
        }
        for label in (*labels, "oracle")
    }
    ranking = [
        RankedEstimator(
            label,
            scores[label],
            mean(shares[label]),
            mean(shares[leader] - shares[label]),
            *merits(results, label, objective),
        )
        for label in order
    ]
    return EstimatorComparison(
        objective=objective,
        graphs={
            graph: {
                "seed_graphs": setting.sets,
                "seed_nodes": setting.seed_nodes,
                "steps": setting.steps,
                "scaled_down": list(setting.notes),
            }
            for graph, setting in results.settings.items()
        },
        oracle=scores["oracle"],
        ranking=ranking,
        pairs=len(shares[leader]),
        report=_report(results, objective, ranking, scores["oracle"]),
    )


def _report(
    results: Results,
    objective: str,
    ranking: Sequence[RankedEstimator],
    oracle: dict[str, Mean],
) -> Report:
    judged = ["harvest rate", "efficiency", "GPR"]
    heads = ["estimator", *results.graphs, "of the oracle", "behind the first", *judged]
    rows = [
        [
            one.estimator,
            *(one.scores[graph].shown(1) for graph in results.graphs),
            one.share.shown(3),
            "" if place == 0 else one.behind.shown(3),
            *(value.shown(3) for value in (one.harvest_rate, one.efficiency, one.gpr)),
        ]
        for place, one in enumerate(ranking)
    ]
    rows.append(
        [
            "oracle",
            *(oracle[graph].shown(1) for graph in results.graphs),
            "1",
            "",
            *(value.shown(3) for value in merits(results, "oracle", objective)),
        ]
    )
    figure = Figure(
        f"compare-{objective}",
        f"Score ({objective}) relative to the oracle's crawl, mean and 95 % interval",
        "share of the oracle's score",
        panels(
            results.graphs,
            [one.estimator for one in ranking],
            lambda graph, label: results.relative(graph, label, "oracle", objective),
        ),
    )
    title = f"Score ({objective}), mean ± half of the 95 % interval"
    return Report(
        "compare",
        "Estimators compared",
        [ReportTable(title, heads, rows)],
        [figure],
        notes(results),
    )
