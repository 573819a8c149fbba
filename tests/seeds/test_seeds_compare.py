"""The comparison: shares, standard errors, tables and figures."""

from __future__ import annotations

import math
import sys
from pathlib import Path

import numpy as np
import pytest
import seeds_reference as reference

from sonde.errors import InputError
from sonde.extras import scipy
from sonde.seeds import ComparisonPlan, Method, compare, covered_by, select
from sonde.seeds.comparison import (
    DRAWS,
    Anatomy,
    ComparedSite,
    Comparison,
    anatomy_table,
    draw,
    improvement_table,
)

# Two loops that hang together one way, a page above them and a page apart.
TANGLED = [[1], [2], [0, 3], [4], [3], [0], []]


def sites() -> list[ComparedSite]:
    found = []
    for seed in range(4):
        dice = np.random.default_rng(seed)
        links = [dice.integers(0, 40, 2).tolist() for _ in range(40)]
        values = np.where(dice.random(40) < 0.1, -2.0, 1.0)
        found.append(ComparedSite(f"site {seed}", reference.network(links), values))
    return found


@pytest.fixture(scope="module")
def comparison() -> Comparison:
    methods = tuple(Method.parse(text) for text in ("random", "maxout", "greedy"))
    return compare(
        sites(), ComparisonPlan(methods, (1, 2, 3), (1, 2), at_seeds=2, at_hops=2), workers=1
    )


def test_improvement_is_that_of_mean_shares(comparison: Comparison) -> None:
    shares: dict[str, list[float]] = {"random": [], "greedy": []}
    for site in sites():
        whole = float(site.values[site.values > 0].sum())
        chosen = select(site.network, 3, hops=2, method="greedy", values=site.values).nodes
        shares["greedy"].append(
            covered_by(site.network, chosen, hops=2, values=site.values) / whole
        )
        drawn = [
            select(site.network, 3, hops=2, method="random", values=site.values, seed=seed).value
            for seed in range(DRAWS)
        ]
        shares["random"].append(float(np.mean(drawn)) / whole)
    point = comparison.curve("value", "seeds", "greedy")[-1]
    assert point.at == 3
    assert point.share == pytest.approx(np.mean(shares["greedy"]))
    ratio = np.mean(shares["greedy"]) / np.mean(shares["random"])
    assert point.improvement == pytest.approx(100 * (ratio - 1))
    left_out = [
        100 * np.delete(shares["greedy"], i).mean() / np.delete(shares["random"], i).mean()
        for i in range(4)
    ]
    assert point.error == pytest.approx(math.sqrt(3 * np.var(left_out)))
    assert [p.improvement for p in comparison.curve("pages", "hops", "random")] == [0.0, 0.0]


def test_a_lead_is_the_difference_of_improvements(comparison: Comparison) -> None:
    lead, error = comparison.lead("value", "hops", 1, "greedy", "maxout")
    greedy, maxout = (comparison.curve("value", "hops", name)[0] for name in ("greedy", "maxout"))
    assert lead == pytest.approx(greedy.improvement - maxout.improvement)
    assert error >= 0


def test_components_of_a_site_by_size() -> None:
    anatomy = Anatomy.of(ComparedSite("tangled", reference.network(TANGLED), np.ones(7)))
    assert anatomy == Anatomy("tangled", 7, 7, 4, 3, 2, 2, 2, 0, 0)
    assert "| tangled |     7 |" in anatomy_table([anatomy])


def test_tables_line_up_and_single_sites_have_no_error(comparison: Comparison) -> None:
    table = improvement_table(comparison, "pages", "seeds").splitlines()
    assert len({len(line) for line in table}) == 1
    assert "±" in table[2]
    one = compare(sites()[:1], ComparisonPlan((Method("maxout"),), (1,), (), 1, 1), workers=1)
    assert "±" not in improvement_table(one, "pages", "seeds")
    spam = ComparedSite("spam", reference.network([[], []]), np.array([-1.0, -1.0]))
    worthless = compare([spam], ComparisonPlan((Method("maxout"),), (1,), (1,), 1, 1), workers=1)
    assert "–" in improvement_table(worthless, "value", "seeds")


@pytest.mark.slow
def test_figures_are_written_and_the_same_again(comparison: Comparison, tmp_path: Path) -> None:
    written = draw(comparison, tmp_path / "one")
    assert sorted(path.name for path in written) == sorted(
        f"{objective}-{axis}.{kind}"
        for objective in ("pages", "value")
        for axis in ("seeds", "hops")
        for kind in ("svg", "png")
    )
    again = draw(comparison, tmp_path / "two")
    assert [path.read_bytes() for path in written] == [path.read_bytes() for path in again]


def test_a_plan_without_seeds_and_a_comparison_without_sites() -> None:
    with pytest.raises(InputError, match="one seed at least"):
        ComparisonPlan((), (0, 1), (1,))
    with pytest.raises(InputError, match="no site"):
        compare([], ComparisonPlan((), (1,), (1,)))


def test_a_library_that_is_not_there_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "scipy.sparse", None)
    with pytest.raises(InputError, match=r"pagerank needs scipy: install sonde\[scipy\]"):
        scipy("sparse", "pagerank")
