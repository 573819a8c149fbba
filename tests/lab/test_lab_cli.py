"""``sonde lab`` from its command line."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from sonde.cli import main
from sonde.simulation import draw_seeds
from sonde.sources.graph import Graph, topical


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("graphs") / "made"
    topical(1_000, 6_000, seed=2, topics=10).save(path)
    return path


SMALL = ["--sets", "2", "--seed-nodes", "5", "--steps", "40", "--workers", "1"]


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("steering", ["--q", "0.5", "--zeta", "0.1,0.2"]),
        ("refresh", ["--intervals", "1,8"]),
        ("precision", ["--estimators", "n,hybrid[n,lnh,5]", "--window", "10"]),
        ("time", ["--estimators", "n,lnh"]),
        ("lead", ["--estimators", "n,lnh", "--objectives", "count"]),
        ("bandits", ["--estimators", "mab:var[n,e]", "--arms", "n,e"]),
        ("global", ["--estimators", "n,e", "--baseline", "random"]),
    ],
)
def test_every_experiment_runs(
    name: str, options: list[str], folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    line = ["lab", "run", name, str(folder), "-o", str(tmp_path), *SMALL, *options]
    assert main([*line, "--no-figures"]) == 0
    assert capsys.readouterr().out.split() == [str(tmp_path / f"{name}.md")]
    assert (tmp_path / f"{name}.parquet").exists()
    assert "made: 2 seed graphs of 5 nodes" in (tmp_path / f"{name}.md").read_text()


def test_compare_prints_a_table_and_a_verdict(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    line = ["lab", "compare", str(folder), "--estimators", "n,hybrid[n,lnh,5]", *SMALL]
    assert main(line) == 0
    lines = capsys.readouterr().out.splitlines()
    assert " ".join(lines[0].split()) == (
        "estimator made of the oracle behind the first harvest rate efficiency GPR"
    )
    assert "of the oracle's score" in lines[-1]
    assert main([*line, "--json", "-o", str(tmp_path)]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["pairs"] == 2
    assert {one["estimator"] for one in found["estimators"]} == {
        "n:sum",
        "hybrid[n:sum,lnh:sum,5]",
    }
    assert (tmp_path / "figures" / "compare-sum.png").exists()


def test_bound(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    graph = Graph.load(folder)
    names = ",".join(str(graph.name(node)) for node in draw_seeds(graph, 3, 0))
    assert main(["lab", "bound", str(folder), "--seeds", names, "--budget", "5", "--json"]) == 0
    named = json.loads(capsys.readouterr().out)
    line = ["lab", "bound", str(folder), "--random-seeds", "3", "--budget", "5"]
    assert main([*line, "--json"]) == 0
    drawn = json.loads(capsys.readouterr().out)
    assert named["uppers"] == drawn["uppers"]
    assert drawn["lower"] <= drawn["upper"]
    assert main([*line, "--exact-seconds", "0"]) == 0
    assert "% from optimal" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (["run", "lead", "GRAPH", "-o", "OUT", "--estimators", "nonsense"], "nonsense"),
        (["run", "lead", "GRAPH", "-o", "OUT", "--sets", "0"], "1 or more seed graphs"),
        (["run", "lead", "GRAPH", "-o", "OUT", "--objectives", "distinct"], "distinct"),
        (["run", "lead", "GRAPH", "-o", "OUT", "--workers", "0"], "--workers"),
        (["run", "steering", "GRAPH", "-o", "OUT", "--q", "x"], "--q"),
        (["run", "steering", "GRAPH", "-o", "OUT", "--q", "2"], "between 0 and 1"),
        (["run", "refresh", "GRAPH", "GRAPH", "-o", "OUT"], "same name"),
        (["run", "lead", "missing", "-o", "OUT"], "no such folder"),
        (["compare", "GRAPH", "--estimators", "n,,e"], "unknown estimator"),
        (["bound", "GRAPH", "--seeds", "nobody", "--budget", "5"], "nobody"),
        (["bound", "GRAPH", "--seeds", ",", "--budget", "5"], "at least one seed"),
        (["bound", "GRAPH", "--random-seeds", "9999", "--budget", "5"], "9999"),
        (["bound", "GRAPH", "--random-seeds", "3", "--budget", "0"], "budget"),
    ],
)
def test_bad_input_is_one_line(
    line: list[str], said: str, folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    places = {"GRAPH": str(folder), "OUT": str(tmp_path)}
    assert main(["lab", *(places.get(word, word) for word in line)]) == 2
    error = capsys.readouterr().err.splitlines()
    assert len(error) == 1
    assert said in error[0]


def test_stopping_leaves_a_word(
    folder: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def interrupted(*args: object, **options: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("sonde.cli.lab.conduct", interrupted)
    assert main(["lab", "run", "lead", str(folder), "-o", str(tmp_path)]) == 130
    assert "goes on from here" in capsys.readouterr().err


SLOW = """
import os
import pathlib
import time


class Slow:
    features = ["n:sum"]

    def predict(self, features):
        flag = pathlib.Path(os.environ["FLAG"])
        if flag.exists():
            flag.with_suffix(".met").touch()
            time.sleep(100_000)
        return features[:, 0]

    def learn(self, features, gain):
        pass
"""


@pytest.mark.slow
def test_a_stopped_experiment_ends_at_once_and_goes_on_to_the_same_end(
    folder: Path, tmp_path: Path
) -> None:
    (tmp_path / "slowness.py").write_text(SLOW, encoding="utf-8")
    flag = tmp_path / "flag"
    path = os.pathsep.join([str(tmp_path), *sys.path])
    environment = os.environ | {"PYTHONPATH": path, "FLAG": str(flag)}
    size = ["--sets", "3", "--seed-nodes", "5", "--steps", "40", "--workers", "2", "--no-figures"]
    line = [sys.executable, "-m", "sonde", "lab", "run", "lead", str(folder), *size]
    line += ["--estimators", "n,@slowness.Slow,e", "-o"]

    flag.touch()
    stopped = subprocess.Popen(
        [*line, str(tmp_path / "stopped")],
        stderr=subprocess.PIPE,
        text=True,
        env=environment,
        start_new_session=True,
    )
    try:
        while not flag.with_suffix(".met").exists():
            assert stopped.poll() is None
            time.sleep(0.02)
        os.killpg(stopped.pid, signal.SIGINT)  # as a terminal does: the workers hear it too
        said = stopped.communicate(timeout=3_000)[1]  # an end, however slow the machine is
    finally:
        stopped.kill()
    assert stopped.returncode == 130
    assert said.splitlines()[-1] == "sonde: stopped; the same command goes on from here"
    assert "Traceback" not in said

    flag.unlink()
    for name in ("stopped", "whole"):
        subprocess.run([*line, str(tmp_path / name)], check=True, env=environment)
    for file in ("lead.md", "lead.parquet"):
        assert (tmp_path / "stopped" / file).read_bytes() == (
            tmp_path / "whole" / file
        ).read_bytes()
