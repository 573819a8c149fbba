"""The published claims, each as a number on every graph and a rule that says whether it holds."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq

Floats = np.ndarray[tuple[int, ...], np.dtype[np.float64]]

SINGLES = ("n:sum", "n:max", "e:sum", "e:max", "ne:sum", "ne:max")
HYBRIDS = tuple(f"hybrid[{first},lnh:sum,100]" for first in ("n:sum", "ne:sum", "bfs"))
ARMS = ("n:sum", "e:sum", "ne:sum", "lnh:sum")
LISTED = ",".join(ARMS)
BANDITS = (f"mab:eps=0.1[{LISTED}]", f"mab:var[{LISTED}]")
EARLY = 100
LATE = 10_000  # or the last step; later, most of what scores is found, whatever leads


class Results:
    """Mean gains over seed graphs, by graph, label and objective, at any kept step."""

    def __init__(self, path: Path) -> None:
        table = pq.read_table(path).to_pydict()
        self._rows: dict[tuple[str, str, str], dict[int, list[float]]] = {}
        for graph, label, objective, step, gain in zip(
            *(table[name] for name in ("graph", "label", "objective", "step", "gain")), strict=True
        ):
            if gain is None:  # a bound
                continue
            steps = self._rows.setdefault((graph, label, objective), {})
            steps.setdefault(step, []).append(gain)
        self.graphs = list(dict.fromkeys(table["graph"]))
        self.labels = list(dict.fromkeys(table["label"]))

    def at(self, graph: str, label: str, step: int | None = None, objective: str = "sum") -> float:
        """The mean gain at the last kept step, or at the last one up to `step`."""
        steps = self._rows[graph, label, objective]
        kept = max(one for one in steps if step is None or one <= step)
        return float(np.mean(steps[kept]))

    def steps(self, graph: str, first: int) -> list[int]:
        """The kept steps of a graph's crawls, from the first that counts."""
        kept = next(steps for (name, _, _), steps in self._rows.items() if name == graph)
        return [step for step in kept if step >= first] or [max(kept)]

    def best(self, graph: str, labels: tuple[str, ...], step: int | None = None) -> float:
        return max(self.at(graph, label, step) for label in labels)


def claims(folder: Path) -> str:
    """A Markdown table: a claim, what is measured, its value on every graph, and where it holds."""
    steering, refresh, lead, both = (
        Results(folder / f"{name}.parquet")
        for name in ("steering", "refresh", "global", "count/lead")
    )
    altered = tuple(label for label in steering.labels if label != "greedy")
    everything = tuple(label for label in lead.labels if label not in ("oracle", "bound"))
    counted = tuple(label for label in both.labels if label != "oracle")

    def randomised(step: int | None) -> Callable[[str], float]:
        return lambda graph: (
            steering.best(graph, altered, step) / steering.at(graph, "greedy", step)
        )

    def lost(every: str, first: int) -> Callable[[str], float]:
        return lambda graph: max(
            100 * (1 - refresh.at(graph, every, step) / refresh.at(graph, "1", step))
            for step in refresh.steps(graph, first)
        )

    def ratio(label: str, other: str, step: int | None = None) -> Callable[[str], float]:
        return lambda graph: lead.at(graph, label, step) / lead.at(graph, other, step)

    def to_best(
        labels: tuple[str, ...], among: tuple[str, ...], step: int | None = None
    ) -> Callable[[str], float]:
        return lambda graph: lead.best(graph, labels, step) / lead.best(graph, among, step)

    def every_pair(step: int | None) -> Callable[[str], float]:
        return lambda graph: (
            float(np.mean([steering.at(graph, label, step) for label in altered]))
            / steering.at(graph, "greedy", step)
        )

    def starters(graph: str) -> float:
        found = [lead.at(graph, label, LATE) for label in HYBRIDS]
        return min(found) / max(found)

    def ranks(graph: str) -> float:
        return _rank_correlation(
            np.array([both.at(graph, label, LATE, "sum") for label in counted]),
            np.array([both.at(graph, label, LATE, "count") for label in counted]),
        )

    lines: list[tuple[str, str, Callable[[str], float], Callable[[float], bool]]] = [
        (
            "randomised steering is as good as greedy early",
            f"best altered / greedy, {EARLY} steps",
            randomised(EARLY),
            lambda x: x >= 0.995,
        ),
        (
            "greedy beats it past 1,000 steps",
            "best altered / greedy, last step",
            randomised(None),
            lambda x: x < 0.995,
        ),
        (
            "the same",
            "mean of all pairs / greedy, last step",
            every_pair(None),
            lambda x: x < 0.995,
        ),
        (
            "refresh 2 costs about 5 %",
            "% lost, the most at any step from 50 on",
            lost("2", 50),
            lambda x: 2.5 <= x <= 7.5,
        ),
        (
            "refresh 500 costs 20 to 50 %",
            "% lost, the most at any step from 500 on",
            lost("500", 500),
            lambda x: 20 <= x <= 50,
        ),
        (
            "node features lead on some graphs, node × edge on others",
            "best n / best ne",
            to_best(("n:sum", "n:max"), ("ne:sum", "ne:max"), LATE),
            lambda x: x > 1.0,
        ),
        (
            "e is about equal to ne",
            "e:sum / ne:sum",
            ratio("e:sum", "ne:sum", LATE),
            lambda x: 0.95 <= x <= 1.05,
        ),
        (
            "sum is better late on mention graphs, max on wikis",
            "n:sum / n:max",
            ratio("n:sum", "n:max", LATE),
            lambda x: x > 1.0,
        ),
        ("the same", "ne:sum / ne:max", ratio("ne:sum", "ne:max", LATE), lambda x: x > 1.0),
        (
            "regression is poor early",
            f"lnh:sum / best single feature, {EARLY} steps",
            to_best(("lnh:sum",), SINGLES, EARLY),
            lambda x: x < 0.95,
        ),
        (
            "and catches up late",
            "lnh:sum / best single feature, 10,000 steps",
            to_best(("lnh:sum",), SINGLES, LATE),
            lambda x: x >= 0.95,
        ),
        (
            "the same",
            "lnh:sum / best single feature, last step",
            to_best(("lnh:sum",), SINGLES),
            lambda x: x >= 0.95,
        ),
        (
            "hybrids are comparable to the best on every graph",
            "best hybrid after 100 / best of all",
            to_best(HYBRIDS, everything, LATE),
            lambda x: x >= 0.95,
        ),
        (
            "which estimator starts a hybrid does not matter",
            "worst / best of n, ne, bfs as starters",
            starters,
            lambda x: x >= 0.95,
        ),
        (
            "second-level features do not help",
            "n2:sum / n:sum",
            ratio("n2:sum", "n:sum", LATE),
            lambda x: x <= 1.01,
        ),
        ("the same", "lnh2:sum / lnh:sum", ratio("lnh2:sum", "lnh:sum", LATE), lambda x: x <= 1.01),
        (
            "weighted OPIC is no better than plain",
            "opic:ne / opic",
            ratio("opic:ne", "opic", LATE),
            lambda x: x <= 1.01,
        ),
        (
            "BFS and OPIC trail",
            "bfs / best of all, 1,000 steps",
            to_best(("bfs",), everything, 1_000),
            lambda x: x < 0.9,
        ),
        (
            "the same",
            "opic / best of all, 1,000 steps",
            to_best(("opic",), everything, 1_000),
            lambda x: x < 0.9,
        ),
        (
            "the same",
            "bfs / best of all, 10,000 steps",
            to_best(("bfs",), everything, LATE),
            lambda x: x < 0.9,
        ),
        (
            "the same",
            "opic / best of all, 10,000 steps",
            to_best(("opic",), everything, LATE),
            lambda x: x < 0.9,
        ),
        (
            "count behaves like sum",
            "rank correlation of the estimators",
            ranks,
            lambda x: x >= 0.8,
        ),
        (
            "bandits are comparable to the best",
            "best bandit / best arm",
            to_best(BANDITS, ARMS, LATE),
            lambda x: x >= 0.95,
        ),
    ]
    graphs = lead.graphs
    rows = [
        ["claim", "measured", *graphs, "so on"],
        ["---", "---", *(["---:"] * (len(graphs) + 1))],
    ]
    for claim, measured, value, holds in lines:
        values = [value(graph) for graph in graphs]
        digits = 1 if measured.startswith("%") else 3
        rows.append(
            [
                claim,
                measured,
                *(f"**{one:.{digits}f}**" if holds(one) else f"{one:.{digits}f}" for one in values),
                f"{sum(map(holds, values))} of {len(graphs)}",
            ]
        )
    return "\n".join("| " + " | ".join(row) + " |" for row in rows)


def _rank_correlation(a: Floats, b: Floats) -> float:
    """Spearman's, ties at their mean rank."""

    def ranked(values: Floats) -> Floats:
        order = np.sort(values)
        low = np.searchsorted(order, values, side="left")
        high = np.searchsorted(order, values, side="right")
        return np.asarray((low + high) / 2, dtype=np.float64)

    return float(np.corrcoef(ranked(a), ranked(b))[0, 1])
