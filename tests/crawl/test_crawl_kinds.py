"""Sources that are named: kept in the run, resumed, dry-run, refused where they cannot be."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

import pytest

from sonde.cli import main
from sonde.crawling import Crawl
from sonde.errors import InputError, StoreError
from sonde.protocols import LEASED, Allowance
from sonde.records import Link, Outcome, Skip, Visit
from sonde.sources import Kind, kind_from, kinds
from sonde.sources.context import SourceContext, SourceSettings
from sonde.sources.kind import NoOptions
from sonde.store.reader import RunReader
from sonde.store.run import Run


class Numbers:
    """Whole numbers that link to their multiples."""

    nouns = ("number", "numbers")

    def __init__(self, most: int, factors: tuple[str, ...] = ("2", "3")) -> None:
        self.most = most
        self.factors = [int(factor) for factor in factors]

    async def visit(self, node: Any, allowance: Allowance) -> Outcome:
        number = int(node)
        targets = [number * factor for factor in self.factors]
        return Visit(float(number), [Link(str(t)) for t in targets if t <= self.most])


@dataclass(frozen=True)
class CounterOptions:
    start: int = 0


class Counter(Kind[CounterOptions]):
    """Keeps how often it was visited, by itself."""

    name = "counter"
    summary = "counts"
    options = CounterOptions
    defaults = {"concurrency": 1, "estimator": "bfs"}  # noqa: RUF012

    def seeds(self, options: CounterOptions, topic: str | None) -> list[str]:
        return [str(options.start)]

    def make(self, options: CounterOptions, context: SourceContext) -> CounterSource:
        return CounterSource(context)


class CounterSource:
    def __init__(self, context: SourceContext) -> None:
        self.keeper = context.keeper
        self.count = 0
        self.seen: list[str] = []
        self.closed = False

    def recall(self) -> str:
        self.count = int(self.keeper.recalled("count") or b"0")
        self.seen = [str(node) for node, _ in self.keeper.visits()]
        return "recalled"

    async def visit(self, node: Any, allowance: Allowance) -> Outcome:
        self.count += 1
        self.keeper.keep("count", str(self.count).encode())
        return Visit(1.0, [Link(str(int(node) + 1))])

    def facts(self) -> dict[str, Any]:
        return {"visits counted": self.count}

    async def close(self) -> None:
        self.closed = True


class Ledger(Kind[NoOptions]):
    """Has a table in the run, words for its reasons, and a plan."""

    name = "ledger"
    summary = "keeps a table"
    defaults = {"concurrency": 1, "estimator": "bfs"}  # noqa: RUF012
    heeds = ("pages", "delay")
    tables = {"sightings": "(node TEXT PRIMARY KEY, times INTEGER NOT NULL) WITHOUT ROWID"}  # noqa: RUF012
    reasons = {"odd": "odd numbers are left alone"}  # noqa: RUF012

    def check(self, options: NoOptions, settings: SourceSettings) -> None:
        if settings.delay > 60:
            raise InputError("a ledger cannot wait for so long")

    def plan(
        self,
        options: NoOptions,
        settings: SourceSettings,
        seeds: Sequence[str],
        requests: int | None,
    ) -> dict[str, Any]:
        return {"seconds_of_waiting": settings.delay * (requests or 0), "seeds_named": len(seeds)}

    def make(self, options: NoOptions, context: SourceContext) -> LedgerSource:
        return LedgerSource(context)


class LedgerSource:
    def __init__(self, context: SourceContext) -> None:
        self.context = context
        self.sightings: dict[str, int] = {}
        self.left = False

    def recall(self) -> None:
        rows = self.context.keeper.rows("sightings")
        self.sightings = {str(node): int(str(times)) for node, times in rows}

    async def visit(self, node: Any, allowance: Allowance) -> Outcome:
        targets = [str(int(node) + 1), str(int(node) + 2)]
        for target in targets:
            self.sightings[target] = self.sightings.get(target, 0) + 1
        self.context.keeper.write("sightings", [(t, self.sightings[t]) for t in targets])
        if int(node) % 2:
            return Skip("odd")
        assert self.context.crawl.became(node) == LEASED
        return Visit(1.0, [Link(target) for target in targets])

    def leave(self) -> None:
        self.left = True


@pytest.fixture
def plugins(monkeypatch: pytest.MonkeyPatch) -> None:
    points = {
        name: EntryPoint(name, f"{__name__}:{thing}", kinds.GROUP)
        for name, thing in (
            ("numbers", "Numbers"),
            ("counter", "Counter"),
            ("ledger", "Ledger"),
            ("broken", "Nothing"),
        )
    }
    monkeypatch.setattr(kinds, "offered", lambda: points)


@pytest.mark.usefixtures("plugins")
def test_a_class_with_one_method_is_a_kind(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    result = Crawl(
        "numbers:100", seeds=["1"], options={"factors": ["2", "5"]}, path=folder,
        estimator="n", budget=4, concurrency=1,
    ).run_to_end()  # fmt: skip
    assert result.frame()["node"].to_pylist() == ["1", "2", "4", "8"]
    more = Crawl.resume(folder, budget="+2").run_to_end()
    assert more.frame()["node"].to_pylist()[4:] == ["16", "32"]


@pytest.mark.usefixtures("plugins")
def test_what_a_source_keeps_is_there_on_resume(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    Crawl("counter:", options={"start": 7}, path=folder, budget=5).run_to_end()
    again = Crawl.resume(folder, budget="+5")
    again.run_to_end()
    assert again.session is not None
    assert again.session.notice == "recalled"
    source = again.session.hooks.source
    assert isinstance(source, CounterSource)
    assert source.count == 10
    assert source.closed
    assert source.seen == ["7", "8", "9", "10", "11"]


@pytest.mark.usefixtures("plugins")
def test_a_kind_has_tables_reasons_and_a_plan_as_the_web_has(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "run"
    assert main(["crawl", "ledger:", "0", "--delay", "3", "--budget", "40", "--dry-run"]) == 0
    said = capsys.readouterr().out
    assert "time of waiting: about 2 min" in said
    assert "seeds named: 1" in said
    first = Crawl("ledger:", seeds=["0"], path=folder, budget=3)
    first.run_to_end()
    assert first.session is not None
    source = first.session.hooks.source
    assert isinstance(source, LedgerSource)
    assert source.left
    assert source.context.archive is not None  # it heeds pages, and the run keeps them
    with RunReader(folder) as run:
        kept = dict(run.rows("SELECT node, times FROM sightings"))
        assert kept == source.sightings
        assert not run.has("hosts")  # the Web's own
    again = Crawl.resume(folder, budget="+1")
    again.run_to_end()
    assert again.session is not None
    resumed = again.session.hooks.source
    assert isinstance(resumed, LedgerSource)
    assert all(resumed.sightings[node] >= times for node, times in kept.items())
    assert resumed.sightings != kept
    assert main(["explain", str(folder), "1"]) == 0
    assert "(odd: odd numbers are left alone)" in capsys.readouterr().out
    assert main(["show", str(folder), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["hosts"] == []
    assert main(["crawl", "ledger:", "0", "--delay", "61", "--dry-run"]) == 2
    assert "cannot wait for so long" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["log", "Leases", "a b", "x; DROP TABLE log", ""])
def test_a_table_of_a_source_cannot_be_one_of_the_run(name: str) -> None:
    run = Run.create(None, {})
    with pytest.raises(InputError, match="not a name for a table"):
        run.declare(name, "(x)")
    with pytest.raises(InputError, match="not a table of a source"):
        run.declared(name)
    with pytest.raises(StoreError, match="cannot be made"):
        run.declare("fine", "not columns at all")
    run.declare("fine", "(x, y)")
    run.journal.extend("fine", [(1, 2), (3, 4)])
    run.journal.commit()
    assert list(run.declared("fine")) == [(1, 2), (3, 4)]
    run.close()


@pytest.mark.usefixtures("plugins")
def test_the_command_line_names_a_source(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = str(tmp_path / "run")
    words = ["crawl", "numbers:60", "1", "--option", "factors=2", "--option", "factors=3"]
    assert main([*words, "--budget", "9", "--dry-run", "--json"]) == 0
    plan = json.loads(capsys.readouterr().out)
    assert (plan["source"], plan["seeds"]) == ("numbers", ["1"])
    assert plan["options"] == {"most": 60, "factors": ["2", "3"]}
    assert main([*words, "--budget", "3", "--estimator", "n", "-o", folder]) == 0
    assert main(["crawl", folder, "--resume", "--budget", "+3"]) == 0
    capsys.readouterr()
    assert main(["show", folder, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["visits"] == 6
    assert main(["explain", folder, "2"]) == 0
    assert "visited" in capsys.readouterr().out
    assert main(["export", folder, "--graph", str(tmp_path / "graph")]) == 0


@pytest.mark.usefixtures("plugins")
def test_a_configuration_file_names_a_source(tmp_path: Path) -> None:
    config = tmp_path / "crawl.toml"
    config.write_text(
        'source = "numbers:50"\nseeds = ["3"]\nbudget = 2\nestimator = "n"\n'
        '[options]\nfactors = ["7"]\n'
    )
    assert main(["crawl", "--config", str(config), "-o", str(tmp_path / "run")]) == 0
    assert main(["explain", str(tmp_path / "run"), "21"]) == 0


@pytest.mark.usefixtures("plugins")
@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["gopher:a.example", "1"], "numbers:, counter:, ledger:, broken:)"),
        (["numbers:x", "1"], "most must be int"),
        (["numbers:9", "1", "--option", "factor=2"], "did you mean factors?"),
        (["numbers:", "1"], "the option most is needed"),
        (["numbers:9", "1", "--option", "most=8"], "given twice"),
        (["numbers:9"], "needs at least one seed"),
        (["numbers:9", "1", "--scope", "web"], "scope says nothing to a crawl of numbers"),
        (["broken:1"], "cannot be loaded"),
    ],
)
def test_what_cannot_be_is_said_in_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], words: list[str], message: str
) -> None:
    assert main(["crawl", *words, "--budget", "3", "-o", str(tmp_path / "run")]) == 2
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1
    assert not (tmp_path / "run").exists()


def test_an_option_must_be_plain() -> None:
    class Odd:
        def __init__(self, thing: dict[str, str]) -> None: ...

    with pytest.raises(InputError, match="must be annotated"):
        kind_from("odd", Odd)
    with pytest.raises(InputError, match="calls itself"):
        kind_from("other", Counter())
