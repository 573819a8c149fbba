"""Specs that strangers may send: an estimator that works, or an error of one line."""

from __future__ import annotations

from dataclasses import fields

import pytest

from sonde import Explorer
from sonde.errors import SpecError
from sonde.estimators import Estimator, estimator_from
from sonde.estimators.yields import FORECASTS, OPTIONS
from sonde.peers.query import handed_query_from
from sonde.records import Link, Visit

NUMBERS = [
    *("1e999", "-1e999", "nan", "inf", "-1", "0", "1e-999", "1.5", "1e400", "1e308", "1e18"),
    *("1e-18", "1e-300", "\u00b2", "\u0663"),
    *("9" * digits for digits in (10, 19, 400, 5000)),
]


def specs(number: str) -> list[str]:
    bandits = ["eps", "eps-first", "var:eps", "thompson"]
    return [
        f"hybrid[ne,lnh,{number}]",
        f"nr:d={number}",
        *(f"mab:{kind}={number}[n,e]" for kind in bandits),
        *(f"hedge:{option}={number}[n,e]" for option in ("rate", "share")),
        *(f"{name}:{option}={number}" for name in ("yield", "auto") for option in OPTIONS.values()),
        *(
            f"{name}:{option.name}={number}"
            for name, kind in FORECASTS.items()
            for option in fields(kind)
        ),
    ]


def crawled(estimator: Estimator, score: float = 1.0) -> int:
    explorer = Explorer(estimator, budget=100)
    explorer.add_seeds(["start"])
    for step in range(40):
        for lease in explorer.ask(1):
            links = [Link(f"{step}-{place}", score) for place in range(3)]
            explorer.tell(lease, Visit(score * (step % 2), links))
    return explorer.visits


@pytest.mark.parametrize("number", NUMBERS)
def test_an_estimator_with_any_number_works_or_is_refused(number: str) -> None:
    for spec in specs(number):
        message = {"query": "1", "topic": "t", "estimator": spec, "share": 1, "patience": 1.0}
        try:
            handed_query_from(message)  # what a peer makes of it
        except ValueError:
            continue
        try:
            estimator = estimator_from(spec)
        except SpecError:
            continue
        assert crawled(estimator) == 40


@pytest.mark.parametrize("spec", ["mab:eps=0.1[" * 2000 + "n" + "]" * 2000, "[" * 5000])
def test_an_estimator_in_too_many_brackets_is_refused(spec: str) -> None:
    with pytest.raises(SpecError):
        estimator_from(spec)


@pytest.mark.parametrize("spec", ["auto", "lnh", "ridge", "hurdle", "ucb", "ne", "opic", "yield"])
@pytest.mark.parametrize("score", [1e308, 1e-308, 1e200])
def test_scores_whose_sums_are_no_numbers_end_nothing(spec: str, score: float) -> None:
    assert crawled(estimator_from(spec), score) == 40
