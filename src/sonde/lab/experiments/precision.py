"""Experiments on estimators that follow one and the same crawl, the oracle's: how well they would
have picked, and how long they take."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np

from sonde.lab.experiments.experiment import Experiment, notes
from sonde.lab.experiments.lead import ESTIMATORS
from sonde.lab.protocol import Protocol
from sonde.lab.report import Figure, Report, ReportTable, panels
from sonde.lab.results import Curves, Results, mean
from sonde.lab.units import CrawlSpec, estimator_of

PRECISION = Protocol(sets=10, seed_nodes=50, steps=100_000)
ALLOWED = {
    "an API at 300 requests per 15 minutes": 15 * 60 / 300,
    "one site at a request a second": 1.0,
}
WEEK = 7 * 24 * 3600


def precision(
    protocol: Protocol = PRECISION, estimators: Sequence[str] = ESTIMATORS, window: int = 1_000
) -> Experiment:
    """What each estimator's best node lacks against the truly best one, on the oracle's crawl."""
    return Experiment(
        "precision", protocol, _entrants(estimators), report_precision, "follow", window
    )


def timing(protocol: Protocol = PRECISION, estimators: Sequence[str] = ESTIMATORS) -> Experiment:
    """Microseconds a step of each estimator on that crawl."""
    return Experiment("time", protocol, _entrants(estimators), report_time, "follow")


def _entrants(estimators: Sequence[str]) -> list[tuple[str, CrawlSpec]]:
    return [
        (str(estimator_of(text)), CrawlSpec(text))
        for text in dict.fromkeys(estimators)
        if text != "oracle"
    ]


def report_precision(results: Results) -> Report:
    spans = (("first tenth", 0.0, 0.1), ("middle", 0.1, 0.9), ("last tenth", 0.9, 1.0))
    tables = []
    for graph, setting in results.settings.items():
        rows = []
        for label in results.labels:
            curves = results.curves(graph, label, "loss")
            row = [label]
            for _, low, high in spans:
                inside = (curves.steps > low * setting.steps) & (
                    curves.steps <= high * setting.steps
                )
                row.append(mean(curves.rows[:, inside].mean(axis=1)).shown(3))
            rows.append(row)
        tables.append(ReportTable(graph, ["estimator", *(span[0] for span in spans)], rows))
    figure = Figure(
        "precision",
        "What the estimator's best node lacks against the best one, rolling mean, oracle-led crawl",
        "score lacking",
        panels(
            results.graphs,
            results.labels,
            lambda graph, label: results.curves(graph, label, "loss"),
        ),
        from_early_on=True,
    )
    return Report(
        "precision", "Precision on the oracle-led crawl", tables, [figure], notes(results)
    )


def report_time(results: Results) -> Report:
    columns = ("first tenth", "last tenth")
    tables = []
    for graph, setting in results.settings.items():
        rows = []
        for label in results.labels:
            curves = results.curves(graph, label, "micros")
            early = curves.steps <= max(curves.steps[0], 0.1 * setting.steps)
            late = curves.steps > 0.9 * setting.steps
            times = [float(np.mean(curves.rows[:, part])) for part in (early, late)]
            slowest = max(times) / 1e6
            rows.append(
                [label, *(f"{micros:,.1f}" for micros in times)]
                + [f"{100 * slowest / seconds:.4f} %" for seconds in ALLOWED.values()]
            )
        heads = ["estimator", *(f"µs a step, {part}" for part in columns)]
        heads += [f"of {seconds:g} s" for seconds in ALLOWED.values()]
        tables.append(ReportTable(graph, heads, rows))
    figure = Figure(
        "time",
        "Processor time a step on the oracle-led crawl, and the time that a request allows",
        "microseconds a step",
        panels(results.graphs, results.labels, partial(_mean_micros, results)),
        logarithmic=True,
        from_early_on=True,
        levels={f"{name}": seconds * 1e6 for name, seconds in ALLOWED.items()},
    )
    lines = [
        f"{name} allows {seconds:g} s a step, {round(WEEK / seconds):,} steps in a week."
        for name, seconds in ALLOWED.items()
    ]
    return Report(
        "time", "Time a step on the oracle-led crawl", tables, [figure], [*notes(results), *lines]
    )


def _mean_micros(results: Results, graph: str, label: str) -> Curves:
    """Without bands, which times do not have."""
    curves = results.curves(graph, label, "micros")
    return Curves(curves.steps, curves.rows.mean(axis=0, keepdims=True))
