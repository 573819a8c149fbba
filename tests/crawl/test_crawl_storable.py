"""Whatever a source says can be kept, and a page that breaks the run is passed by."""

from __future__ import annotations

import asyncio
import json
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from sonde.crawling import Crawl
from sonde.crawling.setup import resumed_run
from sonde.crawling.storable_outcome import UNSTORABLE, storable_outcome
from sonde.protocols import Allowance
from sonde.records import Failure, Link, Node, Outcome, Skip, Visit
from sonde.sources.facts import PageFacts, PageVisit, Record
from sonde.store.reader import DATABASE
from sonde.whole_text import is_whole, whole

HOSTILE = [
    "\ud800x",
    "\udcff",
    "a\x00b",
    "\udc00\ud800",
    "\U0001f600",
    "?",
    "\ufffd",
    "",
    "x" * 9,
]
"""Texts that no database takes, or that could be taken for another."""

TEXTS = st.text(st.characters(codec=None), max_size=8) | st.sampled_from(HOSTILE)


@given(TEXTS)
@example("\ud83d\ude00")
def test_text_is_made_whole_once(text: str) -> None:
    made = whole(text)
    assert is_whole(made)
    assert whole(made) == made
    if is_whole(text):
        assert made is text


class Said:
    """A source that says what it is told to say."""

    def __init__(self, outcomes: dict[str, Outcome]) -> None:
        self.outcomes = outcomes
        self.asked: list[str] = []

    async def visit(self, node: Node, allowance: Allowance) -> Outcome:
        assert allowance.take()
        self.asked.append(str(node))
        return self.outcomes.get(str(node)) or Visit(1.0)


FACTS = st.builds(
    PageFacts,
    final_url=TEXTS,
    status=st.integers(),
    media_type=TEXTS,
    language=TEXTS,
    title=TEXTS,
    digest=st.binary() | st.none(),
    etag=TEXTS | st.none(),
    modified=TEXTS | st.none(),
    rtt=st.floats() | st.none(),
    canonical=TEXTS | st.none(),
    flags=TEXTS,
    text=TEXTS | st.none(),
    warc=TEXTS | st.none(),
)
RECORDS = st.builds(
    Record,
    TEXTS,
    TEXTS,
    TEXTS,
    TEXTS,
    TEXTS,
    st.dictionaries(TEXTS, TEXTS | st.none() | st.lists(TEXTS, max_size=2), max_size=2),
)
LINKS = st.lists(st.builds(Link, TEXTS, st.just(1.0), st.none(), TEXTS), max_size=4)
SAID = (
    st.builds(
        PageVisit,
        st.just(1.0),
        LINKS,
        st.lists(TEXTS | st.integers(), max_size=3).map(tuple),
        facts=FACTS,
        refused=st.lists(st.tuples(TEXTS, TEXTS), max_size=2),
        found=st.lists(RECORDS, max_size=2),
    )
    | st.builds(Failure, TEXTS)
    | st.builds(Skip, TEXTS)
)


@settings(deadline=None, max_examples=60, suppress_health_check=list(HealthCheck))
@given(SAID)
def test_every_column_that_a_source_reaches_takes_what_it_says(
    tmp_path_factory: pytest.TempPathFactory, outcome: Outcome
) -> None:
    folder = tmp_path_factory.mktemp("runs") / "run"
    source = Said({"start": outcome})
    first = Crawl(source, seeds=["start"], path=folder, budget=4, concurrency=1).run_to_end()
    assert first.requests == len(source.asked) <= 4
    with closing(sqlite3.connect(folder / DATABASE)) as database, database:
        names = [name for (name,) in database.execute("SELECT url FROM nodes ORDER BY number")]
    assert len(set(names)) == len(names)
    assert set(source.asked) <= set(names)  # called alike in memory and on disk
    again = Said({})
    second = Crawl.resume(folder, source=again, budget="+4").run_to_end()
    if first.visits:  # a run that brought nothing is begun anew
        assert second.requests == first.requests + len(again.asked)
    assert not set(again.asked) & {name for name in source.asked if name != "start"}


ROUND: dict[str, Any] = {}
ROUND["again"] = ROUND


@pytest.mark.parametrize(
    "outcome",
    [
        PageVisit(1.0, facts=PageFacts("a", title=object())),  # type: ignore[arg-type]
        PageVisit(1.0, facts=PageFacts(None)),  # type: ignore[arg-type]
        PageVisit(1.0, facts=PageFacts("a", digest=[1])),  # type: ignore[arg-type]
        Visit(1.0, records=(b"bytes",)),
        Visit(1.0, records=(float("nan"),)),
        PageVisit(1.0, refused=[(1, "odd")]),  # type: ignore[list-item]
        PageVisit(1.0, found=[Record("a", "b", fields=ROUND)]),
        PageVisit(1.0, found=[Record("a", 1)]),  # type: ignore[arg-type]
    ],
)
def test_what_no_run_can_keep_is_a_failure_of_that_page(tmp_path: Path, outcome: Visit) -> None:
    assert storable_outcome(outcome) == Failure(UNSTORABLE, spent=outcome.spent)
    source = Said({"b": outcome, "a": Visit(1.0, [Link("c")])})
    found = Crawl(source, seeds=["a", "b"], path=tmp_path / "run", budget=9).run_to_end()
    assert (found.visits, found.requests, found.stop_reason) == (2, 3, "frontier")


# -- sources that repeat what strangers say ------------------------------------------------------


@contextmanager
def peer(answer: dict[str, Any]) -> Iterator[str]:
    """A peer that says this to whoever asks."""
    loop = asyncio.new_event_loop()
    line = json.dumps({"sonde": 1, **answer}).encode() + b"\n"

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readline()
        writer.write(line)
        await writer.drain()
        writer.close()

    server = loop.run_until_complete(asyncio.start_server(talk, "127.0.0.1", 0))
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    try:
        yield f"127.0.0.1:{server.sockets[0].getsockname()[1]}"
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        server.close()
        loop.run_until_complete(asyncio.sleep(0))
        loop.close()


def test_a_peer_with_half_characters_spoils_nothing(tmp_path: Path) -> None:
    said = {
        "score": 1.0,
        "neighbours": [["\ud800", 1.0], ["127.0.0.1:9\udc00", 1.0]],
        "files": ["\ud800x", "brest.txt"],
        "records": ["\ud800", "9f86"],
    }
    with peer(said) as name:
        crawl = Crawl("peers:", seeds=[name], path=tmp_path / "run", topic="tide", budget=3)
        first = crawl.run_to_end()
        assert (first.visits, first.stop_reason) == (1, "frontier")
        assert Crawl.resume(tmp_path / "run").run_to_end().visits == 1
    with closing(sqlite3.connect(tmp_path / "run" / DATABASE)) as database, database:
        (title,) = database.execute("SELECT title FROM pages").fetchone()
    assert title == "\ufffdx, brest.txt"


# -- a page that ends the process ----------------------------------------------------------------


def test_a_page_that_ends_every_crawl_is_passed_by(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    Crawl(Said({}), seeds=["a", "b"], path=folder, budget=1, concurrency=1).run_to_end()
    for _ in range(5):  # a process that ends while it visits b
        session = resumed_run(folder, Said({}), {}, "+1", {})
        lease = session.logbook.ask_again(None) or session.logbook.ask(None)
        assert lease is not None
        assert lease.node == "b"
        session.logbook.commit()
        session.run.abandon()
    source = Said({})
    result = Crawl.resume(folder, source=source, budget="+5").run_to_end()
    assert (result.stop_reason, source.asked) == ("frontier", [])
    with closing(sqlite3.connect(folder / DATABASE)) as database, database:
        rows = database.execute("SELECT outcome, reason, retry FROM leases ORDER BY number")
        assert rows.fetchall()[-1] == ("failure", "crashed", 0)
