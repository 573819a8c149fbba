"""Experiments on how to steer when the scores are known: randomised picks, and stale estimates."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sonde.errors import InputError
from sonde.lab.experiments.experiment import Experiment, notes
from sonde.lab.protocol import Protocol
from sonde.lab.report import Figure, Report, ReportTable, panels
from sonde.lab.results import Curves, Results, mean
from sonde.lab.units import CrawlSpec

STEERING = Protocol(sets=10, seed_nodes=1_000, above=1.5, steps=5_000)
CERTAIN = (0.0, 0.5, 0.8, 0.95)
SLACK = (0.1, 0.25, 0.5)
REFRESH = Protocol(sets=10, seed_nodes=1_000, above=1.5, steps=100_000)
INTERVALS = (1, 2, 4, 8, 16, 32, 64, 128, 256, 500, 512)


def stones(steps: int, wanted: Sequence[int]) -> list[int]:
    """The steps of a table's columns: those asked for that were reached, and the last."""
    return [*(step for step in wanted if step < steps), steps]


def steering(
    protocol: Protocol = STEERING,
    certain: Sequence[float] = CERTAIN,
    slack: Sequence[float] = SLACK,
) -> Experiment:
    """Greedy against altered greedy over (q, zeta), both by the oracle."""
    entrants = [("greedy", CrawlSpec("oracle"))] + [
        (f"altered:{q:g},{zeta:g}", CrawlSpec("oracle", strategy=f"altered:{q:g},{zeta:g}"))
        for q in certain
        for zeta in slack
    ]
    return Experiment("steering", protocol, entrants, report_steering)


def report_steering(results: Results) -> Report:
    tables = []
    for graph, setting in results.settings.items():
        columns = stones(setting.steps, (10, 100, 500, 1_000, 2_000))
        rows = [
            [
                label,
                *(
                    mean(results.relative(graph, label, "greedy").at(step)).shown(3)
                    for step in columns
                ),
            ]
            for label in results.labels
        ]
        tables.append(ReportTable(graph, ["strategy", *(f"{step:,}" for step in columns)], rows))
    figure = Figure(
        "steering",
        "Altered greedy (q, zeta) relative to greedy, oracle scores",
        "score relative to greedy",
        panels(
            results.graphs,
            results.labels,
            lambda graph, label: results.relative(graph, label, "greedy"),
        ),
    )
    return Report(
        "steering",
        "Steering: greedy against altered greedy, oracle scores",
        tables,
        [figure],
        notes(results),
    )


def refresh(protocol: Protocol = REFRESH, intervals: Sequence[int] = INTERVALS) -> Experiment:
    """How much is lost when estimates are refreshed only now and then."""
    if min(intervals) < 1:
        raise InputError("a refresh interval must be 1 or more")
    wanted = dict.fromkeys((1, *intervals))
    entrants = [(str(every), CrawlSpec("oracle", refresh=every)) for every in wanted]
    return Experiment("refresh", protocol, entrants, report_refresh)


def degradation(results: Results, graph: str, label: str) -> Curves:
    """By how many percent a refresh interval falls behind refreshing at every step."""
    curves = results.relative(graph, label, "1")
    return Curves(curves.steps, 100.0 * (1.0 - curves.rows))


def report_refresh(results: Results) -> Report:
    tables = []
    for graph, setting in results.settings.items():
        columns = stones(setting.steps, (100, 500, 1_000, 5_000, 10_000, 50_000))
        rows = [
            [label]
            + [mean(degradation(results, graph, label).at(step)).shown(1) for step in columns]
            for label in results.labels
        ]
        heads = ["refresh every", *(f"{step:,}" for step in columns)]
        tables.append(ReportTable(graph, heads, rows, "Percent of the score lost, by steps."))
    figure = Figure(
        "refresh",
        "Score lost by refreshing every so many steps, oracle scores",
        "percent lost",
        panels(
            results.graphs,
            [label for label in results.labels if label != "1"],
            lambda graph, label: degradation(results, graph, label),
        ),
    )
    final = [
        [label]
        + [f"{np.mean(degradation(results, graph, label).last):z.1f}" for graph in results.graphs]
        for label in results.labels
    ]
    overall = ReportTable(
        "Percent lost at the last step", ["refresh every", *results.graphs], final
    )
    return Report(
        "refresh",
        "Refresh: the price of stale estimates, oracle scores",
        [overall, *tables],
        [figure],
        notes(results),
    )
