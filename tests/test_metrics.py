"""Harvest rate, efficiency and GPR against their definitions, by hand and on any crawl."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sonde.errors import InputError
from sonde.kernels.graphs import harvest
from sonde.lab.protocol import Protocol
from sonde.metrics import Merit, judge
from sonde.simulation import simulate
from sonde.sources.graph import Graph

SCORES = st.sampled_from([0.0, 0.0, 1.0, 2.0, 0.5, 3.25])
CRAWLS = st.lists(st.tuples(SCORES, st.booleans()), max_size=40)


def naive(crawl: list[tuple[float, bool]], threshold: float) -> Merit:
    """The definitions. A crawl is (score, whether the next visit is one of its links)."""
    scores = [score for score, _ in crawl]
    found = sum(score > threshold for score in scores)
    back = sum(score <= threshold and not linked for score, linked in crawl[:-1])

    def area(gains: list[float]) -> float:
        return sum(sum(gains[: step + 1]) for step in range(len(gains)))

    ideal = area(sorted(scores, reverse=True))
    return Merit(
        found / len(crawl),
        area(scores) / ideal if ideal else 1.0,
        found / (found + 2 * back) if found else 0.0,
    )


@given(CRAWLS, st.sampled_from([0.0, 0.5, 1.0, 9.0]))
def test_after_every_visit(crawl: list[tuple[float, bool]], threshold: float) -> None:
    scores = np.array([score for score, _ in crawl])
    followed = np.array([linked for _, linked in crawl], dtype=np.int8)
    steps = judge(scores, scores, followed, threshold)
    for step in range(len(crawl)):
        expected = naive(crawl[: step + 1], threshold)
        assert steps.harvest_rate[step] == expected.harvest_rate
        assert math.isclose(steps.efficiency[step], expected.efficiency)
        assert steps.gpr[step] == expected.gpr
    for measure in (steps.harvest_rate, steps.efficiency, steps.gpr):
        assert len(measure) == len(crawl)
        assert ((measure >= 0) & (measure <= 1)).all()
    assert (steps.last is None) == (not crawl)


def test_by_hand() -> None:
    """Visits a, b, c, d with scores 1, 0, 0, 2; b leads to c, c leads nowhere: one backtrack."""
    graph = Graph.from_edges(
        [("s", "a"), ("s", "b"), ("b", "c"), ("s", "d")],
        {"s": 1.0, "a": 1.0, "b": 0.0, "c": 0.0, "d": 2.0},
    )
    crawl = simulate(graph, seeds=["s"], estimator="bfs")
    assert crawl.sequence == ["a", "b", "d", "c"]
    # b at 0, and its successor d is not one of its links: a backtrack; c is the last.
    merit = crawl.judged().last
    assert merit == Merit(0.5, (1 + 1 + 3 + 3) / (2 + 3 + 3 + 3), 2 / (2 + 2))
    assert crawl.as_json()["merit"] == {
        "harvest_rate": 0.5,
        "efficiency": 8 / 11,
        "gpr": 0.5,
    }
    assert crawl.judged(threshold=1.0).last == Merit(0.25, 8 / 11, 1 / (1 + 2 * 2))


@pytest.mark.parametrize("threshold", [math.nan, math.inf])
def test_thresholds_are_numbers_to_compare_with(threshold: float) -> None:
    graph = Graph.from_edges([("s", "a")])
    with pytest.raises(InputError, match="a threshold is a finite number"):
        simulate(graph, seeds=["s"]).judged(threshold)
    with pytest.raises(InputError, match="a threshold is a finite number"):
        Protocol(threshold=threshold)


@given(st.lists(st.sampled_from([0.0, 0.1, 0.2, 0.7]), max_size=30))
def test_the_area_of_the_best_order(gains: list[float]) -> None:
    values = np.array(gains)
    places = np.empty(len(gains), dtype=np.int64)
    places[np.argsort(-values, kind="stable")] = np.arange(len(gains))
    areas = harvest.best_first(places, values)
    for step in range(len(gains)):
        best = np.cumsum(np.sort(values[: step + 1])[::-1])
        assert areas[step] == pytest.approx(best.sum())
