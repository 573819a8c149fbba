"""People: asked and told by hand, over days, in a run folder like any other."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sonde import InputError, simulate
from sonde.cli import main
from sonde.crawling.interview import Interview, links_from
from sonde.records import Failure, Link, Skip, Visit
from sonde.sources.graph import Graph, topical
from sonde.store.reader import RunReader, trace
from sonde.store.run import Run
from sonde.store.summary import totals


def answer(graph: Graph, name: str) -> Visit:
    """What somebody in a recorded graph would say."""
    node = graph.index(name)
    part = slice(graph.indptr[node], graph.indptr[node + 1])
    links = [
        Link(str(graph.name(target)), float(score))
        for target, score in zip(graph.targets[part], graph.link_scores[part], strict=True)
    ]
    return Visit(float(graph.scores[node]), links)


def said(capsys: pytest.CaptureFixture[str], *words: str) -> dict[str, Any]:
    assert main([*words, "--json"]) == 0
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


def refused(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    assert main(list(words)) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.count("\n") == 1
    return err


@pytest.mark.slow
@pytest.mark.parametrize("estimator", ["n", "mab:eps=0.3[n,e,deg]", "hybrid[ne,lnh,10]"])
def test_the_same_people_as_a_simulation(tmp_path: Path, estimator: str) -> None:
    """Opened anew for every single question and answer, as by a person at a prompt."""
    graph = topical(300, 1500, seed=3, topics=3)
    seeds, budget = [5, 17], 25
    wanted = simulate(graph, seeds=seeds, estimator=estimator, budget=budget, seed=11)
    folder = tmp_path / "run"
    options: dict[str, Any] = {"estimator": estimator, "seed": 11, "budget": budget + len(seeds)}
    Interview.begin(folder, map(str, seeds), **options).close()
    asked = []
    while True:
        with Interview.resume(folder) as interview:
            interview.ask()
            if not interview.waiting:
                break
            (name,) = interview.waiting
        with Interview.resume(folder) as interview:
            asked.append(int(name))
            told = interview.tell(name, answer(graph, name))
    assert asked == [*seeds, *wanted.sequence]
    assert told.total == pytest.approx(wanted.total)
    with RunReader(folder) as reader:
        assert reader.stop == "budget"
        assert totals(reader).requests == budget + len(seeds)


@settings(max_examples=25, deadline=None)
@given(st.data())
def test_the_budget_is_exact_in_any_order_of_answers(data: st.DataObject) -> None:
    graph = topical(200, 800, seed=1, topics=2)
    budget = data.draw(st.integers(1, 15))
    with Interview.begin(None, ["5", "17"], budget=budget, estimator="e") as interview:
        spent = 0
        seen: set[str] = set()
        for _ in range(40):
            interview.ask(data.draw(st.integers(1, 4)))
            account = interview.explorer.driver.account
            assert account.spent.requests == spent
            assert account.held.requests == len(interview.waiting)
            assert spent + len(interview.waiting) <= budget
            if not interview.waiting:
                break
            name = data.draw(st.sampled_from(sorted(interview.waiting)))
            kind = data.draw(st.sampled_from(["visit", "failure", "skip", "later"]))
            if kind == "visit":
                assert name not in seen
                seen.add(name)
                interview.tell(name, answer(graph, name))
            elif kind == "skip":
                interview.tell(name, Skip("why not"))
            else:
                interview.tell(name, Failure("away", retry=kind == "later"))
            spent += kind != "skip"


def test_asking_twice_does_not_ask_two(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = str(tmp_path / "run")
    first = said(capsys, "ask", run, "--seeds", "Chi,Dee", "--budget", "4", "--estimator", "ne")
    assert [one["name"] for one in first["ask"]] == ["Chi"]
    assert said(capsys, "ask", run) == first
    told = said(capsys, "tell", run, "Chi", "--score", "3", "--links", "Ana:2, Bo", "--note", "ok")
    assert (told["gain"], told["new"], told["waiting"]) == (3.0, 2, 0)
    both = said(capsys, "ask", run, "-n", "2")["ask"]
    assert [one["name"] for one in both] == ["Dee", "Ana"]
    assert both[1]["predicted"] == 6.0
    assert both[1]["rank"] == 1
    assert both[1]["parents"] == [{"name": "Chi", "score": 3.0, "link_score": 2.0, "note": "ok"}]
    assert [one["name"] for one in said(capsys, "ask", run)["ask"]] == ["Dee", "Ana"]
    said(capsys, "tell", run, "Ana", "--failed", "not at home", "--retry")
    again = said(capsys, "ask", run, "-n", "2")["ask"]
    assert [(one["name"], one["earlier"]) for one in again] == [
        ("Dee", []),
        ("Ana", ["not at home"]),
    ]
    said(capsys, "tell", run, "Dee", "--skip", "a relative")
    said(capsys, "tell", run, "Ana", "--score", "1")
    assert said(capsys, "ask", run)["ask"][0]["name"] == "Bo"  # the skip cost nothing
    said(capsys, "tell", run, "Bo", "--score", "0", "--links", "Eve")
    assert said(capsys, "ask", run) == {"ask": [], "stop": "budget", "questions": 4, "budget": 4}
    assert said(capsys, "ask", run, "--budget", "+2")["ask"][0]["name"] == "Eve"
    said(capsys, "tell", run, "Eve", "--score", "0")
    assert said(capsys, "ask", run)["stop"] == "frontier"
    with RunReader(Path(run)) as reader:
        assert trace(reader, "Ana").state == "visited"
    assert main(["export", run, "--graph", str(tmp_path / "graph")]) == 0
    graph = Graph.load(tmp_path / "graph")
    assert graph.node_count == 5
    assert graph.scores[graph.index("Chi")] == 3.0


def test_what_is_printed_says_why(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = str(tmp_path / "run")
    assert main(["ask", run, "--seeds", "Chi"]) == 0
    assert "contact Chi\n  a seed\n" in capsys.readouterr().out
    words = "saw\x1b[31m red"
    assert main(["tell", run, "Chi", "--score", "2", "--links", "Ana:2", "--note", words]) == 0
    assert capsys.readouterr().out == "Chi: brought 2, 1 new name; 2 in all\n"
    assert main(["ask", run]) == 0
    out = capsys.readouterr().out
    assert "contact Ana\n  predicted 1.522 by auto, rank 1 of all who are known\n" in out
    assert "named by Chi (score 2, link 2): saw\\x1b[31m red" in out
    assert main(["show", run]) == 0
    assert "1 visit brought 2" in capsys.readouterr().out
    assert main(["explain", run, "Ana"]) == 0
    assert "Ana: being asked for now" in capsys.readouterr().out


def test_bad_input_is_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = str(tmp_path / "run")
    assert "--seeds says whom" in refused(capsys, "ask", run)
    assert "at least one seed" in refused(capsys, "ask", run, "--seeds", " , ")
    assert "number of questions" in refused(capsys, "ask", run, "--seeds", "Chi", "--budget", "x")
    assert "estimator" in refused(capsys, "ask", run, "--seeds", "Chi", "--estimator", "nope")
    assert "not a run folder" in refused(capsys, "tell", run, "Chi", "--score", "1")
    assert not Path(run).exists()
    assert main(["ask", run, "--seeds", "Chi"]) == 0
    capsys.readouterr()
    assert "is a run already: --seeds" in refused(capsys, "ask", run, "--seeds", "Bo")
    assert "1 or more" in refused(capsys, "ask", run, "-n", "0")
    tell = ("tell", run, "Chi")
    for words, why in [
        (("--score", "-1"), "scores must be finite"),
        (("--score", "nan"), "scores must be finite"),
        (("--score", "1", "--links", "Ana:x"), "'Ana:x' is not NAME or NAME:SCORE"),
        (("--score", "1", "--links", "Ana:-2"), "0 or more"),
        (("--score", "1", "--links", "Ana:inf"), "0 or more"),
        (("--score", "1", "--links", ":2"), "not a name"),
        (("--score", "1", "--links", "@missing"), "cannot read missing"),
        (("--score", "1", "--note", "x" * 501), "at most 500"),
        (("--score", "1", "--retry"), "--retry goes with"),
        (("--failed", "gone", "--links", "Ana"), "--links goes with --score"),
        (("--failed", ""), "say why"),
    ]:
        assert why in refused(capsys, *tell, *words)
    assert "did you mean 'Chi'" in refused(capsys, "tell", run, "Chii", "--score", "1")
    assert main([*tell, "--score", "1", "--links", "Ana"]) == 0
    capsys.readouterr()
    assert "has answered already" in refused(capsys, *tell, "--score", "2")
    assert "known, but was not asked; nobody" in refused(capsys, "tell", run, "Ana", "--score", "1")
    assert main(["ask", run]) == 0
    assert main(["tell", run, "Ana", "--skip", "no"]) == 0
    capsys.readouterr()
    assert "there was no answer" in refused(capsys, "tell", run, "Ana", "--score", "1")
    with Interview.resume(run):
        assert "another process" in refused(capsys, "ask", run)


def test_names_with_commas_come_from_a_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run, links = str(tmp_path / "run"), tmp_path / "links"
    links.write_text("Doe, Jane: 2\nlab 4:30:1\n\nBo\n", encoding="utf-8")
    said(capsys, "ask", run, "--seeds", "Chi")
    assert said(capsys, "tell", run, "Chi", "--score", "1", "--links", f"@{links}")["new"] == 3
    assert said(capsys, "ask", run)["ask"][0]["name"] == "Doe, Jane"
    assert links_from(["lab 4:30:1"]) == [Link("lab 4:30", 1.0)]


def test_a_program_does_not_crawl_people(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = str(tmp_path / "run")
    crawl = ("crawl", "people:", "Ana", "--budget", "3", "-o", run)
    assert "sonde ask RUN" in refused(capsys, *crawl)
    assert not Path(run).exists()
    said(capsys, "ask", run, "--seeds", "Chi")
    assert "driven by hand" in refused(capsys, "crawl", run, "--resume")
    assert [one["name"] for one in said(capsys, "ask", run)["ask"]] == ["Chi"]


def test_who_is_forgotten_is_not_asked(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = str(tmp_path / "run")
    said(capsys, "ask", run, "--seeds", "Chi,Dee", "--budget", "4")
    said(capsys, "tell", run, "Chi", "--score", "3", "--links", "Ana:2,Bo:1")
    said(capsys, "ask", run, "-n", "2")
    for name in ("Ana", "Bo"):  # asked and waited for; on the frontier
        said(capsys, "forget", run, name)
    assert [one["name"] for one in said(capsys, "ask", run)["ask"]] == ["Dee"]
    told = said(capsys, "tell", run, "Dee", "--score", "1", "--links", "Ana:4,Eve:1")
    assert told["new"] == 1
    assert [one["name"] for one in said(capsys, "ask", run, "-n", "3")["ask"]] == ["Eve"]
    assert said(capsys, "show", run)["requests"] == 2
    assert b"Ana" not in (tmp_path / "run" / "run.sqlite").read_bytes()


def test_other_runs_are_not_touched(tmp_path: Path) -> None:
    Run.create(tmp_path / "run", {"source": "web", "seeds": ["http://a.example/"]}).close()
    with pytest.raises(InputError, match="not a run of people"):
        Interview.resume(tmp_path / "run")


_VICTIM = """
import os, signal, sys
from sonde.cli import main
from sonde.store.journal import Journal

when, number = sys.argv[1], int(sys.argv[2])
write = Journal._write

def dying(self):
    global number
    number -= 1
    if number == 0 and when == "before":
        os.kill(os.getpid(), signal.SIGKILL)
    write(self)
    if number == 0 and when == "after":
        os.kill(os.getpid(), signal.SIGKILL)

Journal._write = dying
sys.exit(main(sys.argv[3:]))
"""


@pytest.mark.slow
@pytest.mark.parametrize("when", ["before", "after"])
def test_killed_while_asking_and_telling(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], when: str
) -> None:
    """Whatever was printed is kept, and doing the same thing again is always right."""
    run = str(tmp_path / "run")

    def killed(number: int, *words: str) -> None:
        process = subprocess.run(
            [sys.executable, "-c", _VICTIM, when, str(number), *words], capture_output=True
        )
        assert process.returncode == -signal.SIGKILL
        assert process.stdout == b""  # nothing is said before it is safe

    killed(1, "ask", run, "--seeds", "Chi,Dee", "--budget", "3")
    assert said(capsys, "ask", run)["ask"][0]["name"] == "Chi"
    killed(1, "tell", run, "Chi", "--score", "3", "--links", "Ana:2")
    if when == "before":
        said(capsys, "tell", run, "Chi", "--score", "3", "--links", "Ana:2")
    else:
        assert "answered already" in refused(capsys, "tell", run, "Chi", "--score", "3")
    killed(1, "ask", run, "-n", "2")
    waiting = said(capsys, "ask", run, "-n", "2")["ask"]
    assert [one["name"] for one in waiting] == ["Dee", "Ana"]
    assert said(capsys, "ask", run, "-n", "3")["ask"] == waiting  # the budget is held
    with RunReader(Path(run)) as reader:
        assert (totals(reader).visits, totals(reader).in_flight) == (1, 2)
        assert reader.count("SELECT count(*) FROM leases") == 3
