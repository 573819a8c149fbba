"""Experiments: the same numbers as plain simulations, resumable, scaled to the graph."""

from __future__ import annotations

import io
import math
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest

from sonde import extras
from sonde.errors import InputError
from sonde.lab.experiments import lead, precision, steering
from sonde.lab.experiments.compare import compared, comparing
from sonde.lab.experiments.experiment import Experiment, conduct
from sonde.lab.protocol import Protocol, fingerprint, fit, marks
from sonde.lab.results import Results, geometric, mean, share
from sonde.lab.units import CrawlSpec, FinishedUnits, Unit
from sonde.meter import UNITS, Shown
from sonde.simulation import draw_seeds, follow, simulate
from sonde.sources.graph import Graph, topical

SMALL = Protocol(sets=3, seed_nodes=8, steps=60)
FEW = ("bfs", "n", "lnh", "hybrid[n,lnh,10]")


@pytest.fixture(scope="module")
def graph() -> Graph:
    return topical(2_000, 16_000, seed=4, topics=20)


def conducted(experiment: Experiment, graph: Graph, **options: Any) -> Results:
    return conduct(experiment, {"made": lambda: graph}, quiet=True, **options)


class Popular:
    """An estimator of one's own."""

    features = ("deg",)

    def predict(self, rows: Any) -> Any:
        return rows[:, 0]

    def learn(self, row: Any, gain: float) -> None:
        pass


@pytest.mark.parametrize("objective", ["sum", "count"])
def test_a_crawl_is_the_simulation(graph: Graph, objective: str) -> None:
    seeds = draw_seeds(graph, 8, 3)
    for estimator in ("lnh", "oracle", "mab:eps=0.1[n,e]"):
        crawl = CrawlSpec(estimator, "altered:0.8,0.3", objective, refresh=3)
        found = crawl.simulate(graph, seeds, 200, 3)
        plain = simulate(
            graph,
            random_seeds=8,
            seed=3,
            estimator=estimator,
            strategy="altered:0.8,0.3",
            objective=objective,
            budget=200,
            refresh=3,
        )
        assert found.visited.tolist() == plain.visited.tolist()
        assert found.gains.tolist() == plain.gains.tolist()


def test_lead_is_deterministic_in_any_number_of_workers(graph: Graph) -> None:
    experiment = lead.lead(SMALL, FEW)
    one, two = (conducted(experiment, graph, workers=workers) for workers in (1, 2))
    for (unit, label, columns), (same, name, others) in zip(one.rows, two.rows, strict=True):
        assert (unit, label) == (same, name)
        assert columns["gain"].tolist() == others["gain"].tolist()
    crawl = simulate(graph, random_seeds=8, estimator="n", budget=60, seed=1)
    assert one.curves("made", "n:sum", "gain").last[1] == crawl.gains.sum()


def test_a_second_run_reads_what_the_first_has_finished(
    graph: Graph, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    experiment = lead.lead(SMALL, FEW, ("sum",))
    first = conducted(experiment, graph, folder=tmp_path, workers=1)
    files = sorted((tmp_path / "units").iterdir())
    assert len(files) == experiment.size == 3 * 5
    files[0].unlink()
    (tmp_path / "units" / "crawl-0.123").write_bytes(b"half a file")
    ran: list[Unit] = []
    run = Unit.run

    def counted(unit: Unit, graph: Graph) -> Any:
        ran.append(unit)
        return run(unit, graph)

    monkeypatch.setattr(Unit, "run", counted)
    second = conducted(experiment, graph, folder=tmp_path, workers=1)
    assert len(ran) == 1
    for (_, _, columns), (_, _, others) in zip(first.rows, second.rows, strict=True):
        assert columns["gain"].tolist() == others["gain"].tolist()
    # The league runs the same crawls: only its bounds are new.
    conducted(lead.league(SMALL, FEW), graph, folder=tmp_path, workers=1)
    assert {unit.task for unit in ran[1:]} == {"bound"}


def test_another_graph_or_parameter_is_another_unit(graph: Graph) -> None:
    setting = fit("made", graph, SMALL)
    unit = Unit("crawl", setting, 0, CrawlSpec("n"))
    other = fit("made", topical(2_000, 16_000, seed=5, topics=20), SMALL)
    keys = {
        unit.key(),
        Unit("crawl", setting, 1, CrawlSpec("n")).key(),
        Unit("crawl", setting, 0, CrawlSpec("e")).key(),
        Unit("crawl", other, 0, CrawlSpec("n")).key(),
        Unit("follow", setting, 0, CrawlSpec("n")).key(),
    }
    assert len(keys) == 5
    assert fingerprint(graph) == setting.fingerprint != other.fingerprint


def test_protocols_are_scaled_to_the_graph(graph: Graph) -> None:
    setting = fit("made", graph, Protocol(sets=2, seed_nodes=1_000, above=1.5, steps=100_000))
    eligible = int((graph.scores > 1.5).sum())
    assert setting.seed_nodes == eligible // 2
    assert 0 < setting.steps <= graph.node_count // 2
    assert len(setting.notes) == 2
    assert setting.seeds(graph, 0).tolist() != setting.seeds(graph, 1).tolist()
    assert (graph.scores[setting.seeds(graph, 1)] > 1.5).all()
    with pytest.raises(InputError, match="no node scores above 99"):
        fit("made", graph, Protocol(above=99.0))
    with pytest.raises(InputError, match="1 or more seed graphs"):
        Protocol(sets=0)
    with pytest.raises(InputError, match="links to nothing"):
        fit("one", Graph.from_edges([(1, 0, 0.0)], {0: 1.0}), SMALL)


def test_marks_hold_the_milestones_and_the_end() -> None:
    assert {1, 100, 1_000, 5_000} <= set(marks(5_000).tolist())
    assert marks(1).tolist() == [1]


def test_steering_and_refresh(graph: Graph) -> None:
    protocol = Protocol(sets=2, seed_nodes=10, steps=200)
    report = steering.steering(protocol, (0.5,), (0.2,))
    results = conducted(report, graph, workers=1)
    assert results.labels == ["greedy", "altered:0.5,0.2"]
    table = report.report(results).tables[0]
    assert table.heads == ["strategy", "10", "100", "200"]
    assert table.rows[0][1:] == ["1.000 ± 0.000"] * 3
    results = conducted(steering.refresh(protocol, (2, 64)), graph, workers=1)
    assert results.labels == ["1", "2", "64"]
    lost = [float(steering.degradation(results, "made", str(r)).last.mean()) for r in (1, 2, 64)]
    assert lost[0] == 0.0
    assert lost[2] > 1.0
    overall = steering.report_refresh(results).tables[0]
    assert overall.rows[2] == ["64", f"{lost[2]:.1f}"]
    with pytest.raises(InputError, match="refresh interval"):
        steering.refresh(protocol, (0,))


def test_precision_measures_what_a_pick_lacks(graph: Graph) -> None:
    setting = fit("made", graph, SMALL)
    seeds = setting.seeds(graph, 0)
    oracle = simulate(graph, seed_numbers=seeds, estimator="oracle", budget=60)
    marks = np.array([0, 60])
    found = follow(oracle, estimator="oracle", marks=marks)
    assert found.picks.tolist() == oracle.visited.tolist()
    assert found.nanoseconds[1] > found.nanoseconds[0]
    # An estimator's first pick is the one that leads its own crawl.
    for estimator in ("n", "lnh", "hybrid[n,e,5]", "mab:eps=0.2[n,e]", "opic"):
        picks = follow(oracle, estimator=estimator, marks=marks).picks
        own = simulate(graph, seed_numbers=seeds, estimator=estimator, budget=1)
        assert picks[0] == own.visited[0]
        assert (graph.scores[picks] <= oracle.gains + 1e-12).all()
    experiment = precision.precision(SMALL, ("n", "oracle"), window=1)
    results = conducted(experiment, graph, workers=1)
    assert results.labels == ["n:sum"]
    curves = results.curves("made", "n:sum", "loss")
    picks = follow(oracle, estimator="n", marks=marks).picks
    assert curves.last[0] == pytest.approx(oracle.gains[-1] - graph.scores[picks[-1]])
    assert "n:sum" in experiment.report(results).markdown()
    timing = precision.timing(SMALL, FEW)
    report = timing.report(conducted(timing, graph, workers=1))
    assert "604,800 steps in a week" in report.markdown()
    with pytest.raises(InputError, match="window"):
        precision.precision(SMALL, FEW, window=0)


@pytest.mark.slow
def test_reports_are_written(graph: Graph, tmp_path: Path) -> None:
    for experiment in (
        lead.lead(SMALL, FEW),
        lead.bandits(SMALL, ("mab:eps=0.1[n,e]",), ("n", "e")),
        lead.league(SMALL, FEW),
        steering.steering(SMALL, (0.5,), (0.5,)),
    ):
        results = conducted(experiment, graph, folder=tmp_path)
        results.save(tmp_path / f"{experiment.name}.parquet")
        for path in experiment.report(results).save(tmp_path):
            assert path.stat().st_size > 100
        table = pq.read_table(tmp_path / f"{experiment.name}.parquet")
        assert {"graph", "label", "objective", "seed_graph", "step"} <= set(table.column_names)
    league = (tmp_path / "global.md").read_text()
    assert "| bfs | 1.000 |" in league
    assert "at most from optimal" in league
    assert (tmp_path / "figures" / "lead-sum-relative.svg").read_text().startswith("<?xml")


def test_compare_is_paired_and_has_a_verdict(graph: Graph) -> None:
    experiment = comparing(Protocol(sets=4, seed_nodes=8, steps=300), ("random", "ne", "e"), "sum")
    comparison = compared(conducted(experiment, graph, workers=1), "sum")
    assert comparison.pairs == 4
    assert comparison.ranking[-1].estimator == "random"
    assert comparison.ranking[-1].told_apart
    first, last = comparison.ranking[0], comparison.ranking[-1]
    assert last.behind.value == pytest.approx(first.share.value - last.share.value)
    assert comparison.verdict.startswith(f"{first.estimator}: ")
    assert "pairs" in comparison.verdict
    assert comparison.as_json()["estimators"][0]["estimator"] == first.estimator


def test_an_estimator_of_ones_own(graph: Graph, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(Path(__file__).parent))
    name = f"@{Popular.__module__}.Popular"
    own = CrawlSpec(name).simulate(graph, draw_seeds(graph, 8, 0), 50, 0)
    built_in = simulate(graph, random_seeds=8, estimator="deg", budget=50)
    assert own.visited.tolist() == built_in.visited.tolist()
    with pytest.raises(InputError, match="nothing"):
        lead.lead(SMALL, ("@nothing.here.Class",))


def test_statistics() -> None:
    values = np.array([1.0, 2.0, 3.0, 4.0])
    assert mean(values).value == 2.5
    assert mean(values).half == pytest.approx(3.182446 * np.std(values, ddof=1) / 2, rel=1e-6)
    assert mean(values[:1]).shown(1) == "1.0"
    assert str(mean(values)).startswith("2.500 ± ")
    assert mean(values[:0]).shown(1) == "-"
    assert share(np.array([1.0, 0.0, 1.0]), np.array([2.0, 0.0, 0.0])).tolist()[:2] == [0.5, 1.0]
    assert geometric([1.0, 4.0, math.nan]) == pytest.approx(2.0)
    assert geometric([0.0, 4.0]) == 0.0
    assert math.isnan(geometric([]))


@pytest.mark.parametrize("estimator", ["oracle", "n", "lnh", "hybrid[n,lnh,10]"])
@pytest.mark.parametrize("refresh", [1, 7])
def test_a_crawl_that_has_found_everything_may_end(
    graph: Graph, estimator: str, refresh: int
) -> None:
    crawl = CrawlSpec(estimator, refresh=refresh)
    seeds = draw_seeds(graph, 8, 1)
    whole = crawl.simulate(graph, seeds, graph.node_count, 1)
    short = crawl.simulate(graph, seeds, graph.node_count, 1, idle=False)
    length = len(short.visited)
    assert short.gains.tolist() == whole.gains[:length].tolist()
    assert not whole.gains[length:].any()
    assert length < len(whole.visited)
    assert short.stop_reason == "found"
    assert whole.stop_reason == "frontier"


def test_progress_says_what_is_left(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sonde.meter.EVERY", 0.0)
    with Shown("lead", 3, UNITS) as shown:
        shown.say("a notice")
        shown.spare()
        shown.advance()
        shown.advance()
    lines = capsys.readouterr().err.splitlines()
    assert lines[0] == "a notice"
    assert lines[1].startswith("lead: 1 of 2 (50%), about 0:0")
    assert lines[2] == "lead: 2 of 2 (100%), about 0:00 left"


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_progress_is_a_bar_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    terminal = Terminal()
    with Shown("lead", 3, UNITS, terminal) as shown:
        shown.say("a notice")
        shown.spare()
        shown.advance()
        shown.advance()
    said = terminal.getvalue()
    assert "a notice" in said
    assert "2/2" in said
    assert "\u2501" in said  # a bar


def test_what_is_not_installed_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sonde.extras.importlib.import_module", _missing)
    with pytest.raises(
        InputError, match=r"drawing figures needs matplotlib: install sonde\[matplotlib\]"
    ):
        extras.pyplot()


def _missing(name: str) -> None:
    raise ImportError(name)


def test_finished_units_are_given_back(graph: Graph, tmp_path: Path) -> None:
    unit = Unit("crawl", fit("made", graph, SMALL), 0, CrawlSpec("n"))
    finished = FinishedUnits(tmp_path)
    assert finished.get(unit) is None
    finished.put(unit, {"step": np.array([1.0]), "gain": np.array([0.1])})
    kept = finished.get(unit)
    assert kept is not None
    assert kept["gain"].tolist() == [0.1]


def test_simulations_refuse_what_makes_no_sense(graph: Graph) -> None:
    seeds = draw_seeds(graph, 2, 0)
    with pytest.raises(InputError, match="either seeds or"):
        simulate(graph, seed_numbers=seeds, random_seeds=2)
    with pytest.raises(InputError, match="nobody knows when all is found"):
        simulate(graph, random_seeds=2, objective="distinct", stop_when_all_found=True)
    with pytest.raises(InputError, match="0 nodes have a score above 99"):
        draw_seeds(graph, 2, 0, above=99.0)
    names = [graph.name(node) for node in seeds]
    by_name = simulate(graph, seeds=names, budget=30)
    assert simulate(graph, seed_numbers=seeds, budget=30).sequence == by_name.sequence
