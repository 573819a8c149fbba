"""`sonde simulate`, `budget` and `doctor` as a user calls them."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from sonde.cli import main


@pytest.fixture
def graph(tmp_path: Path) -> Path:
    """a -> b, c; b -> d; c -> d, e; scores make c and e worth having."""
    (tmp_path / "nodes.tsv").write_text("node\tscore\na\t1\nb\t0\nc\t2\nd\t0\ne\t3\n")
    (tmp_path / "edges.tsv").write_text(
        "source\ttarget\tscore\na\tb\t0\na\tc\t1\nb\td\t0\nc\td\t0\nc\te\t2\ne\te\t1\n"
    )
    return tmp_path


def called(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str, str]:
    try:
        status = main([str(argument) for argument in arguments])
    except SystemExit as stop:
        status = int(str(stop.code))
    out, err = capsys.readouterr()
    return status, out, err


def test_one_run_as_json(graph: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status, out, err = called(
        capsys, "simulate", graph, "--estimator", "e", "--seeds", "a", "--budget", 3, "--json"
    )
    assert status == 0
    assert json.loads(out) == {
        "seeds": ["a"],
        "sequence": ["c", "e", "b"],
        "scores": [2.0, 3.0, 0.0],
        "gain": 5.0,
        "total": 6.0,
        "estimator": "e:sum",
        "strategy": "greedy",
        "budget_spent": 3,
        "frontier_size": 1,
        "stop_reason": "budget",
        "merit": {"harvest_rate": 2 / 3, "efficiency": (2 + 5 + 5) / (3 + 5 + 5), "gpr": 1.0},
    }
    assert err == "sonde: dropped 1 self-loop\n"


def test_repeated_runs_have_a_mean(graph: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status, out, _ = called(
        capsys, "simulate", graph, "--random-seeds", 2, "--repeat", 3, "--seed", 7, "--json"
    )
    found = json.loads(out)
    assert status == 0
    assert len(found["runs"]) == 3
    for key in ("gain", "total", "budget_spent"):
        assert found["mean"][key] == pytest.approx(sum(run[key] for run in found["runs"]) / 3)
    single = json.loads(
        called(capsys, "simulate", graph, "--random-seeds", 2, "--seed", 8, "--json")[1]
    )
    assert single == found["runs"][1]


def test_people_get_a_chart(graph: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status, out, _ = called(capsys, "simulate", graph, "--seeds", "a", "--engine", "python")
    assert status == 0
    assert "●" in out
    assert "frontier" in out.splitlines()[2]


@pytest.mark.parametrize("estimator", ["deg", "oracle"])
def test_distinct_records_count_once(
    graph: Path, capsys: pytest.CaptureFixture[str], estimator: str
) -> None:
    (graph / "nodes.tsv").write_text(
        "node\tscore\trecords\na\t1\tx|y\nb\t2\ty|z\nc\t1\tx\nd\t0\t\ne\t3\tp|q|z\n"
    )
    status, out, _ = called(
        capsys,
        "simulate",
        graph,
        *("--seeds", "a", "--objective", "distinct", "--estimator", estimator, "--json"),
    )
    found = json.loads(out)
    assert status == 0
    assert (found["total"], found["gain"]) == (5.0, 3.0)  # x, y, then z, p and q
    if estimator == "oracle":
        assert found["sequence"][0] == "b"  # it alone brings a new record


def test_seeds_from_a_file(graph: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (graph / "start.txt").write_text("a\n\nb\n")
    status, out, _ = called(capsys, "simulate", graph, "--seeds", f"@{graph}/start.txt", "--json")
    assert status == 0
    assert json.loads(out)["seeds"] == ["a", "b"]


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["--seeds", "a,zz"], "--seeds: unknown node 'zz'"),
        (["--seeds", "@nowhere.txt"], "cannot read the seeds file nowhere.txt"),
        (["--seeds", ""], "at least one seed"),
        (["--random-seeds", 9], "3 nodes have a positive score"),
        (["--seeds", "a", "--estimator", "pagerank"], "unknown estimator 'pagerank'"),
        (["--seeds", "a", "--estimator", "mab:eps=2[n]"], "epsilon must be above 0"),
        (["--seeds", "a", "--estimator", "hybrid[n,lnh]"], "hybrid takes two estimators"),
        (["--seeds", "a", "--estimator", "mab:eps-first=0.1[n,e]"], "needs a budget of requests"),
        (["--seeds", "a", "--estimator", "hybrid[n,lnh,5"], "brackets do not match"),
        (["--seeds", "a", "--strategy", "altered:2,0"], "q must be between 0 and 1"),
        (["--seeds", "a", "--objective", "maximum"], "unknown objective 'maximum'"),
        (["--seeds", "a", "--objective", "distinct"], "needs a column 'records'"),
        (["--seeds", "a", "--budget", -1], "budget of -1"),
        (["--seeds", "a", "--refresh", 0], "refresh must be a whole number of 1 or more"),
        (["--seeds", "a", "--repeat", 0], "--repeat must be 1 or more"),
        (["--budget", 5], "one of the arguments --seeds --random-seeds is required"),
    ],
)
def test_bad_input_is_one_line_and_status_2(
    graph: Path, capsys: pytest.CaptureFixture[str], arguments: list[Any], complaint: str
) -> None:
    status, out, err = called(capsys, "simulate", graph, *arguments)
    assert status == 2
    assert out == ""
    assert complaint in err
    assert err.count("\n") == 1


def test_a_seeds_file_names_the_row(graph: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (graph / "start.txt").write_text("a\nzz\n")
    status, _, err = called(capsys, "simulate", graph, "--seeds", f"@{graph}/start.txt")
    assert status == 2
    assert "start.txt, line 2: unknown node 'zz'" in err


def test_a_bad_graph_names_file_and_row(graph: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (graph / "nodes.tsv").write_text("node\tscore\na\t1\nb\t-2\n")
    status, _, err = called(capsys, "simulate", graph, "--seeds", "a")
    assert status == 2
    assert "nodes.tsv" in err
    assert "3" in err
    assert err.count("\n") == 1


def test_budget_plans(capsys: pytest.CaptureFixture[str]) -> None:
    plan = ["budget", "--requests", 300, "--per", "15m", "--for", "7d"]
    assert called(capsys, *plan)[1].splitlines()[0].endswith("= 201600")
    assert json.loads(called(capsys, *plan, "--json")[1])["requests"] == 201600
    status, _, err = called(capsys, "budget", "--requests", 3, "--per", "soon", "--for", "7d")
    assert (status, err.count("\n")) == (2, 1)


def test_doctor_says_what_runs(capsys: pytest.CaptureFixture[str]) -> None:
    status, out, _ = called(capsys, "doctor", "--json")
    found = json.loads(out)
    assert status == 0
    assert found["healthy"]
    assert found["kernels"] in ("compiled", "uncompiled")
    assert "numpy" in found["packages"]
    assert "kernels" in called(capsys, "doctor")[1]


def test_a_closed_pipe_is_no_error(graph: Path) -> None:
    command = f"{sys.executable} -m sonde simulate {graph} --seeds a --json | true"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=False)
    assert "Traceback" not in done.stderr
