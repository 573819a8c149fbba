"""``sonde show`` and ``sonde explain``, as a person and as a program see them."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from store_runs import Recorder, Web, make_run, told_again, url

from sonde import cli
from sonde.budgets import Budget
from sonde.cli._print import amount, harmless, number, print_table
from sonde.crawling.retelling import moments
from sonde.errors import InputError
from sonde.records import Failure, Spend
from sonde.store.reader import RunReader


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("runs") / "run"
    make_run(path, budget=5, estimator="mab:eps=0.2[n,lnh,random]")
    return path


def command(*arguments: str) -> int:
    args = cli.parser(arguments[:1]).parse_args(arguments)
    status: int = args.run(args)
    return status


def said(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    command(*arguments)
    return capsys.readouterr().out


def told(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, Any]:
    command(*arguments, "--json")
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


# -- show ------------------------------------------------------------------------------------------


def test_show(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = said(capsys, "show", str(folder))
    assert f"{folder}: stopped: the budget is spent" in text
    assert "4 visits brought 8.500 for 5 of 5 requests" in text
    assert "http-404" in text
    assert "of all" in text
    assert "robots 1, scope 1" in text
    assert text.index("/tides/gauge") < text.index("\\x1b[31m")  # the best page first


def test_show_prints_nothing_that_a_terminal_obeys(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = said(capsys, "show", str(folder))
    assert all(line.isprintable() for line in text.splitlines())


def test_show_on_a_terminal(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    terminal = Terminal()
    monkeypatch.setattr(sys, "stdout", terminal)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "200")
    command("show", str(folder))
    assert "best pages" in terminal.getvalue()
    assert "\x1b[31m" not in terminal.getvalue()


def test_show_json(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = told(capsys, "show", str(folder), "--top", "1")
    assert (found["visits"], found["requests"], found["stop"]) == (4, 5, "budget")
    assert [page["url"] for page in found["best"]] == [url("/tides/gauge")]
    assert found["harvest"][-1] == {"visits": 4, "requests": 5, "value": 8.5}
    assert found["ranks"]["picks"] < 4  # a pick at random has no rank


def test_show_of_a_run_that_has_just_begun(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    recorder = Recorder(tmp_path / "run", 5)
    recorder.run.journal.commit()
    assert "not finished" in said(capsys, "show", str(tmp_path / "run"))
    assert recorder.logbook.ask(None) is not None
    recorder.run.journal.commit()
    assert "1 request in flight" in said(capsys, "show", str(tmp_path / "run"))
    recorder.abandon()


def test_what_a_power_cut_took_counts_as_spent(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    recorder = Recorder(tmp_path / "run", 5)
    recorder.step()
    recorder.logbook.spend(Spend(requests=2), "lost")
    recorder.logbook.raise_budget(Budget(requests=50))
    recorder.close()
    found = told(capsys, "show", str(tmp_path / "run"))
    assert (found["requests"], found["budget"]) == (3, 50)
    assert found["spend"][-1]["outcome"] == "lost"
    assert sum(row["requests"] for row in found["spend"]) == 3
    told(capsys, "explain", str(tmp_path / "run"), url("/tides"))  # such a log can be told anew


# -- explain ---------------------------------------------------------------------------------------


def test_explain_a_visit(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = said(capsys, "explain", str(folder), url("/tides/gauge"))
    assert text.startswith(f"{url('/tides/gauge')}: visited\nfirst seen on {url('/tides')}\n")
    assert "predicted 5.100, rank 1 of all" in text
    assert "scored 4" in text


def test_explain_json_has_what_the_ledger_has(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = told(capsys, "explain", str(folder), url("/tides/gauge"))
    (attempt,) = found["attempts"]
    before = found["estimates"][-1]["opinions"]
    chosen = next(each for each in before if each["chooser"] == attempt["chooser"])
    assert chosen["estimate"] == attempt["predicted"]
    assert chosen["rank"] == attempt["rank"] == 1
    assert found["parents"] == [{"url": url("/tides"), "score": 3.0, "link_score": 2.5, "lease": 2}]


@pytest.mark.parametrize(
    ("address", "words"),
    [
        (url("/news") + "#top", "still on the frontier, rank 2 by n:sum, 2 by lnh:sum; the run"),
        (url("/gone"), "asked for, and failed (http-404)"),
        ("http://c.example", "not taken (scope: outside"),
        (url("/gone"), "for 1 request, 100 B"),
        ("http://a.example/private", "not taken (robots: the site's robots.txt"),
        (url("b/home"), "never a link of its own"),
        (url("/"), "a seed"),
        (url("b/"), f"redirected to {url('b/home')}"),
    ],
)
def test_explain_the_rest(
    folder: Path, capsys: pytest.CaptureFixture[str], address: str, words: str
) -> None:
    assert command("explain", str(folder), address) == 0
    assert words in capsys.readouterr().out


def test_explain_a_url_never_seen(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert command("explain", str(folder), "http://nowhere.example/\x1b[31m") == 1
    text = capsys.readouterr().out
    assert "never seen" in text
    assert "\x1b" not in text


def test_explain_at_an_earlier_time(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    then = told(capsys, "explain", str(folder), url("/news"), "--at", "3")["estimates"][-1]
    now = told(capsys, "explain", str(folder), url("/news"))["estimates"][-1]
    assert (then["visits"], now["visits"]) == (2, 4)
    assert then["opinions"][0]["rank"] == 3
    assert now["opinions"][0]["rank"] == 2
    text = said(capsys, "explain", str(folder), url("/tides/gauge"), "--at", "1")
    assert "not on the frontier before lease 1" in text
    with pytest.raises(InputError, match="no lease 77"):
        command("explain", str(folder), url("/"), "--at", "77")


def test_explain_a_page_to_be_asked_again(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    recorder = Recorder(tmp_path / "run", 9)
    recorder.step()
    lease = recorder.logbook.ask(None)
    assert lease is not None
    recorder.logbook.tell(lease, Failure("timeout", retry=True, spent=Spend(requests=1)))
    recorder.close(stop="interrupted")
    text = said(capsys, "explain", str(tmp_path / "run"), str(lease.node))
    assert "still on the frontier" in text
    assert "last attempt: timeout" in text
    assert "to be asked again" in text


def test_explain_where_the_model_was_a_programs_own(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    recorder = Recorder(tmp_path / "run", 3)
    recorder.step()
    recorder.run.journal.meta("config", {"estimator": "mine"})
    recorder.close()
    assert command("explain", str(tmp_path / "run"), url("/tides")) == 0
    output = capsys.readouterr()
    assert "still on the frontier" in output.out
    assert "without estimates" in output.err


@pytest.mark.parametrize("estimator", ["n", "lnh", "mab:eps=0.3[n,e,lnh]", "random", "opic", "bfs"])
def test_the_log_told_anew_is_the_explorer_that_wrote_it(tmp_path: Path, estimator: str) -> None:
    pages = {
        f"/{number}": (number % 5 / 2, [(f"/{number * step % 40}", step / 3) for step in (2, 3, 7)])
        for number in range(40)
    }
    web = Web({"/": (1.0, [("/1", 1.0), ("/3", 0.5)]), **pages})
    written = make_run(tmp_path / "run", budget=15, web=web, estimator=estimator).explorer
    with RunReader(tmp_path / "run") as run:
        explorer, entries = told_again(run)
        asked = [entry for entry in entries if entry.kind == "lease"]
        assert len(asked) == 15
        assert explorer.driver.dice == written.driver.dice
        assert (explorer.total, explorer.visits) == (written.total, written.visits)
        assert explorer.frontier_size == written.frontier_size
        for entry in asked:
            lease, number = entry.lease, entry.number
            assert lease is not None
            assert number is not None
            if lease.arm >= 0 and lease.predicted is not None:
                last = moments(run, number, before=entry.seq)[0][-1]
                assert last.opinions[lease.arm].estimate == lease.predicted


# -- printing --------------------------------------------------------------------------------------


@given(st.text())
def test_whatever_a_page_says_is_one_harmless_line(text: str) -> None:
    assert harmless(text).replace("\u200c", "").replace("\u200d", "").isprintable()
    assert len(harmless(text, 20)) <= 20
    if text.isprintable():
        assert harmless(text) == text


def test_joiners_stay_where_they_join() -> None:
    family = "\U0001f468\u200d\U0001f469\u200d\U0001f467"
    persian = "\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645"
    assert harmless(f"{family} {persian}") == f"{family} {persian}"
    assert harmless("soft\u00adhyphen") == "softhyphen"
    for hiding in (
        "pay\u200dpal",
        "\u200da",
        "a\u200d",
        "\u200d\u200d",
        "a\u200bb",
        "\u0645\u200d",
    ):
        assert "\\u200" in harmless(hiding)


def test_spaces_of_other_widths_are_spaces() -> None:
    assert harmless("a\u00a0b\u3000c") == "a b c"
    assert harmless("a\tb\nc\x85d") == "a\\tb\\nc\\x85d"


def test_numbers() -> None:
    assert [number(value) for value in (None, 3.0, 0.25, 12345.0)] == ["-", "3", "0.250", "12,345"]
    assert [amount(value) for value in (5, 1500, 2.5e6, 7e12)] == [
        "5 B", "1.5 kB", "2.5 MB", "7.0 TB",
    ]  # fmt: skip


def test_a_table_without_rows(capsys: pytest.CaptureFixture[str]) -> None:
    print_table(("a", ">b"), [])
    assert capsys.readouterr().out == "a  b\n"
