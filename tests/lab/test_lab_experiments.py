"""Experiments: the same numbers as plain simulations, resumable, scaled to the graph."""

from __future__ import annotations

import io
import math
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest

from sonde import extras
from sonde.errors import InputError
from sonde.lab import following, leading, steering
from sonde.lab.comparison import compared, comparing
from sonde.lab.crawls import Crawl
from sonde.lab.experiment import Experiment, conduct
from sonde.lab.findings import Findings
from sonde.lab.progress import UNITS, Shown
from sonde.lab.protocol import Protocol, draw, fingerprint, fit, marks
from sonde.lab.statistics import geometric, mean, share
from sonde.lab.units import Shelf, Unit
from sonde.simulation import draw_seeds, simulate
from sonde.sources.graph import Graph, topical

SMALL = Protocol(sets=3, seed_nodes=8, steps=60)
FEW = ("bfs", "n", "lnh", "hybrid[n,lnh,10]")


@pytest.fixture(scope="module")
def graph() -> Graph:
    return topical(2_000, 16_000, seed=4, topics=20)


def found(experiment: Experiment, graph: Graph, **options: Any) -> Findings:
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
    seeds = draw(graph, 8, 0.0, 3)
    assert seeds.tolist() == draw_seeds(graph, 8, 3).tolist()
    for estimator in ("lnh", "oracle", "mab:eps=0.1[n,e]"):
        crawl = Crawl(estimator, "altered:0.8,0.3", objective, refresh=3)
        gains, visited = crawl.gains(graph, seeds, 200, 3)
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
        assert visited.tolist() == plain.visited.tolist()
        assert gains.tolist() == plain.gains.tolist()


def test_lead_is_deterministic_in_any_number_of_workers(graph: Graph) -> None:
    experiment = leading.lead(SMALL, FEW)
    one, two = (found(experiment, graph, workers=workers) for workers in (1, 2))
    for (unit, label, columns), (same, name, others) in zip(one.rows, two.rows, strict=True):
        assert (unit, label) == (same, name)
        assert columns["gain"].tolist() == others["gain"].tolist()
    seeds = draw(graph, 8, 0.0, 1)
    gains, _ = Crawl("n").gains(graph, seeds, 60, 1)
    assert one.curves("made", "n:sum", "gain").last[1] == gains.sum()


def test_a_second_run_reads_what_the_first_has_finished(
    graph: Graph, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    experiment = leading.lead(SMALL, FEW, ("sum",))
    first = found(experiment, graph, folder=tmp_path, workers=1)
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
    second = found(experiment, graph, folder=tmp_path, workers=1)
    assert len(ran) == 1
    for (_, _, columns), (_, _, others) in zip(first.rows, second.rows, strict=True):
        assert columns["gain"].tolist() == others["gain"].tolist()
    # The league runs the same crawls: only its bounds are new.
    found(leading.league(SMALL, FEW), graph, folder=tmp_path, workers=1)
    assert {unit.task for unit in ran[1:]} == {"bound"}


def test_another_graph_or_parameter_is_another_unit(graph: Graph) -> None:
    setting = fit("made", graph, SMALL)
    unit = Unit("crawl", setting, 0, Crawl("n"))
    other = fit("made", topical(2_000, 16_000, seed=5, topics=20), SMALL)
    keys = {
        unit.key(),
        Unit("crawl", setting, 1, Crawl("n")).key(),
        Unit("crawl", setting, 0, Crawl("e")).key(),
        Unit("crawl", other, 0, Crawl("n")).key(),
        Unit("along", setting, 0, Crawl("n")).key(),
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
    findings = found(report, graph, workers=1)
    assert findings.labels == ["greedy", "altered:0.5,0.2"]
    table = report.report(findings).tables[0]
    assert table.heads == ["strategy", "10", "100", "200"]
    assert table.rows[0][1:] == ["1.000 ± 0.000"] * 3
    findings = found(steering.refresh(protocol, (2, 64)), graph, workers=1)
    assert findings.labels == ["1", "2", "64"]
    lost = [float(steering.degradation(findings, "made", str(r)).last.mean()) for r in (1, 2, 64)]
    assert lost[0] == 0.0
    assert lost[2] > 1.0
    overall = steering.report_refresh(findings).tables[0]
    assert overall.rows[2] == ["64", f"{lost[2]:.1f}"]
    with pytest.raises(InputError, match="refresh interval"):
        steering.refresh(protocol, (0,))


def test_precision_measures_what_a_pick_lacks(graph: Graph) -> None:
    setting = fit("made", graph, SMALL)
    seeds = setting.seeds(graph, 0)
    gains, sequence = Crawl("oracle").gains(graph, seeds, 60, 0)
    picks, clock = Crawl("oracle").follow(graph, seeds, sequence, np.array([0, 60]), 0)
    assert picks.tolist() == sequence.tolist()
    assert clock[1] > clock[0]
    # An estimator's first pick is the one that leads its own crawl.
    for estimator in ("n", "lnh", "hybrid[n,e,5]", "mab:eps=0.2[n,e]", "opic"):
        picks, _ = Crawl(estimator).follow(graph, seeds, sequence, np.array([0, 60]), 0)
        assert picks[0] == Crawl(estimator).gains(graph, seeds, 1, 0)[1][0]
        assert (graph.scores[picks] <= gains + 1e-12).all()
    experiment = following.precision(SMALL, ("n", "oracle"), window=1)
    findings = found(experiment, graph, workers=1)
    assert findings.labels == ["n:sum"]
    curves = findings.curves("made", "n:sum", "loss")
    picks, _ = Crawl("n").follow(graph, seeds, sequence, np.array([0, 60]), 0)
    assert curves.last[0] == pytest.approx(gains[-1] - graph.scores[picks[-1]])
    assert "n:sum" in experiment.report(findings).markdown()
    timing = following.timing(SMALL, FEW)
    report = timing.report(found(timing, graph, workers=1))
    assert "604,800 steps in a week" in report.markdown()
    with pytest.raises(InputError, match="window"):
        following.precision(SMALL, FEW, window=0)


def test_reports_are_written(graph: Graph, tmp_path: Path) -> None:
    for experiment in (
        leading.lead(SMALL, FEW),
        leading.bandits(SMALL, ("mab:eps=0.1[n,e]",), ("n", "e")),
        leading.league(SMALL, FEW),
        steering.steering(SMALL, (0.5,), (0.5,)),
    ):
        findings = found(experiment, graph, folder=tmp_path)
        findings.save(tmp_path / f"{experiment.name}.parquet")
        for path in experiment.report(findings).save(tmp_path):
            assert path.stat().st_size > 100
        table = pq.read_table(tmp_path / f"{experiment.name}.parquet")
        assert {"graph", "label", "objective", "seed_graph", "step"} <= set(table.column_names)
    league = (tmp_path / "global.md").read_text()
    assert "| bfs | 1.000 |" in league
    assert "at most from optimal" in league
    assert (tmp_path / "figures" / "lead-sum-relative.svg").read_text().startswith("<?xml")


def test_compare_is_paired_and_has_a_verdict(graph: Graph) -> None:
    experiment = comparing(Protocol(sets=4, seed_nodes=8, steps=300), ("random", "ne", "e"), "sum")
    comparison = compared(found(experiment, graph, workers=1), "sum")
    assert comparison.pairs == 4
    assert comparison.standings[-1].estimator == "random"
    assert comparison.standings[-1].told_apart
    first, last = comparison.standings[0], comparison.standings[-1]
    assert last.behind.value == pytest.approx(first.share.value - last.share.value)
    assert comparison.verdict.startswith(f"{first.estimator}: ")
    assert "pairs" in comparison.verdict
    assert comparison.as_json()["estimators"][0]["estimator"] == first.estimator


def test_an_estimator_of_ones_own(graph: Graph, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(Path(__file__).parent))
    name = f"@{Popular.__module__}.Popular"
    own, _ = Crawl(name).gains(graph, draw(graph, 8, 0.0, 0), 50, 0)
    built_in, _ = Crawl("deg").gains(graph, draw(graph, 8, 0.0, 0), 50, 0)
    assert own.tolist() == built_in.tolist()
    with pytest.raises(InputError, match="nothing"):
        leading.lead(SMALL, ("@nothing.here.Class",))


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
    crawl = Crawl(estimator, refresh=refresh)
    seeds = draw(graph, 8, 0.0, 1)
    whole, _ = crawl.gains(graph, seeds, graph.node_count, 1)
    gains, visited = crawl.gains(graph, seeds, graph.node_count, 1, idle=False)
    assert gains.tolist() == whole[: len(gains)].tolist()
    assert not whole[len(gains) :].any()
    assert len(gains) < len(whole)
    assert len(visited) == len(gains)


def test_progress_says_what_is_left(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sonde.lab.progress.EVERY", 0.0)
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


@pytest.mark.skipif(os.name != "posix", reason="needs processes of POSIX")
def test_workers_end_with_the_process_that_started_them() -> None:
    """Also when it is killed, and cannot tell them."""
    script = (
        "import os, time\n"
        "from sonde.lab.data.pool import in_order\n"
        "from pool_work import slowly\n"
        "for pid in in_order(slowly, range(100), 2): print(pid, flush=True)\n"
    )
    here = str(Path(__file__).parent)
    path = os.pathsep.join([here, *sys.path])
    with subprocess.Popen(
        [sys.executable, "-c", script],
        stdout=subprocess.PIPE,
        env=os.environ | {"PYTHONPATH": path},
        text=True,
    ) as parent:
        assert parent.stdout is not None
        worker = int(parent.stdout.readline())
        parent.kill()
    for _ in range(500):
        try:
            os.kill(worker, 0)
        except ProcessLookupError:
            return
        if Path(f"/proc/{worker}/stat").exists() and ") Z " in Path(
            f"/proc/{worker}/stat"
        ).read_text(encoding="utf-8"):
            return  # ended, and nobody has asked how
        time.sleep(0.02)
    pytest.fail("a worker is still there")


def test_what_is_not_installed_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sonde.extras.importlib.import_module", _missing)
    with pytest.raises(
        InputError, match=r"drawing figures needs matplotlib: install sonde\[matplotlib\]"
    ):
        extras.pyplot()


def _missing(name: str) -> None:
    raise ImportError(name)


def test_a_shelf_gives_back_what_it_was_given(graph: Graph, tmp_path: Path) -> None:
    unit = Unit("crawl", fit("made", graph, SMALL), 0, Crawl("n"))
    shelf = Shelf(tmp_path)
    assert shelf.get(unit) is None
    shelf.put(unit, {"step": np.array([1.0]), "gain": np.array([0.1])})
    kept = shelf.get(unit)
    assert kept is not None
    assert kept["gain"].tolist() == [0.1]
