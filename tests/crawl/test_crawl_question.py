"""Questions: a crawl stops when new pages add nothing, and quotes what answers."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from crawl_sites import Handler, Site, html, prose

import sonde
from sonde import cli
from sonde.crawling import Crawl
from sonde.crawling.saturation import OVER, Saturation
from sonde.errors import InputError
from sonde.scorers.question import WORDS, Question, tokens_of
from sonde.store.answer import written

ASKED = "How is a tide gauge read?"
FAST: dict[str, Any] = {"delay": 0, "allow_private": True, "concurrency": 1, "question": ASKED}


def sentence(number: int) -> str:
    dice = random.Random(number)
    words = ["".join(dice.choices("bcdfghklmnprstvz", k=6)) for _ in range(8)]
    return f"A tide gauge {' '.join(words)} is read {number}."


def library(telling: int = 30, pages: int = 400) -> Handler:
    """Page n links to n + 1 and n + 2. The first ones each say something new of the question, all
    others what was said before."""

    async def answer(request: web.Request) -> web.StreamResponse:
        if request.path == "/robots.txt":
            return web.Response(status=404)
        number = int(request.path.strip("/") or 0)
        if number >= pages:
            return web.Response(status=404)
        other = prose(number, 120)
        said = " ".join(sentence((number * 3 + more) % (3 * telling)) for more in range(3))
        links = "".join(f"<a href=/{number + step}>tide {number + step}</a> " for step in (1, 2))
        return html(
            f"<p>{said}</p><p>{other} {number}.</p>{links}", head=f"<title>P{number}</title>"
        )

    return answer


def nodes(result: sonde.CrawlResult) -> list[str]:
    found: list[str] = result.frame()["node"].to_pylist()
    return found


def test_it_stops_when_new_pages_add_nothing(tmp_path: Path) -> None:
    with Site(library()) as site:
        result = sonde.crawl(site.url(), budget=300, path=tmp_path / "run", **FAST)
    assert result.stop_reason == "saturated"
    assert 30 <= result.visits <= 30 + OVER + 5
    assert result.requests < 300


def test_it_goes_on_while_pages_add(tmp_path: Path) -> None:
    with Site(library(telling=400)) as site:
        result = sonde.crawl(site.url(), budget=120, **FAST)
    assert result.stop_reason == "budget"


def test_nothing_found_is_not_enough(tmp_path: Path) -> None:
    with Site(library()) as site:
        told = FAST | {"question": "Where do penguins sleep?"}
        result = sonde.crawl(site.url(), budget=90, **told)
    assert (result.stop_reason, result.total) == ("budget", 0)
    assert result.answer().passages == []
    assert result.answer().missing == ["penguins", "sleep"]


@pytest.mark.parametrize("after", [3, 33, 50])
def test_a_crawl_that_was_cut_stops_where_it_would_have(tmp_path: Path, after: int) -> None:
    with Site(library()) as site:
        whole = sonde.crawl(site.url(), budget=300, path=tmp_path / "whole", **FAST)
        count = 0

        def heard(event: object) -> None:
            nonlocal count
            count += 1
            if count == after:
                crawl.stop()

        crawl = Crawl(site.url(), budget=300, path=tmp_path / "cut", on_event=heard, **FAST)
        assert crawl.run_to_end().stop_reason == "interrupted"
        resumed = Crawl.resume(tmp_path / "cut").run_to_end()
    assert resumed.stop_reason == whole.stop_reason == "saturated"
    assert nodes(resumed) == nodes(whole)
    assert resumed.total == whole.total


def test_whoever_resumes_wants_more(tmp_path: Path) -> None:
    with Site(library()) as site:
        first = sonde.crawl(site.url(), budget=300, path=tmp_path / "run", **FAST)
        more = Crawl.resume(tmp_path / "run").run_to_end()
    assert more.stop_reason == "saturated"
    assert more.requests >= first.requests + OVER // 2


def test_saturation_is_found_again() -> None:
    dice = random.Random(7)
    told = [(1, 1.0, tuple(dice.choices(range(40), k=3))) for _ in range(60)]
    one, other = Saturation(), Saturation()
    for each in told[:30]:
        one.add(*each)
    assert other.restore(one.capture(), None)  # type: ignore[arg-type]
    for each in told[30:]:
        assert one.add(*each) == other.add(*each)
    assert one.coverage == other.coverage
    assert one.reached == other.reached


def test_passages_are_cited_word_for_word_within_the_budget(tmp_path: Path) -> None:
    with Site(library()) as site:
        result = sonde.crawl(site.url(), budget=60, tokens=600, path=tmp_path / "run", **FAST)
    found = result.answer()
    texts = {page.url: " ".join((page.text or "").split()) for page in result.pages()}
    assert found.passages
    assert found.used <= 600
    for passage in found.passages:
        assert passage.text in texts[passage.url]
        assert "gauge" in passage.text
    assert len({passage.text for passage in found.passages}) == len(found.passages)
    more = result.answer(tokens=6_000)
    assert len(more.passages) > len(found.passages)
    assert more.used <= 6_000
    assert found.passages[0].source == 1
    lines = written(found, Path("x.jsonl")).splitlines()
    assert [json.loads(line)["text"] for line in lines] == [each.text for each in found.passages]


def test_the_command_writes_them(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    run = str(tmp_path / "run")
    with Site(library()) as site:
        words = ["crawl", site.url(), "--question", ASKED, "--tokens", "500", "--budget", "40"]
        assert cli.main([*words, "--delay", "0", "--allow-private", "-o", run]) == 0
    assert "passages of" in capfd.readouterr().err
    said = (tmp_path / "run" / "passages.md").read_text()
    assert said.startswith("# How is a tide gauge read?\n")
    assert "## Sources\n\n1. P" in said
    target = tmp_path / "other.md"
    assert cli.main(["export", run, "--passages", str(target), "--question", "tide gauge"]) == 0
    assert "rows to" in capfd.readouterr().err


@pytest.mark.parametrize(
    ("told", "message"),
    [
        ({"question": "?!"}, "no words"),
        ({"question": "why", "objective": "sum"}, "objective of its own"),
        ({"question": "tides", "text": False}, "made of texts"),
        ({"topic": "tides", "tokens": 500}, "give one"),
        ({"question": "tides", "tokens": 5}, "tokens must be 100 or more"),
    ],
)
def test_what_cannot_be_meant(told: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        sonde.crawl("http://a.example", budget=3, **told)


# -- the question itself ---------------------------------------------------------------------------


def test_terms_are_what_it_asks_about() -> None:
    assert Question("What is the mean sea-level?").words == ("mean", "sea", "level")
    assert Question("潮位とは何ですか").words[0] == "潮位"
    assert Question("what is that").words == ("what", "is", "that")  # better than nothing


def test_facts_are_what_sentences_say_of_terms() -> None:
    question = Question("tide gauges")
    one = question.facts("The tide gauge broke in Brest.")
    same = question.facts("In Brest, gauges of the tide broke! Something else happened there.")
    assert set(one) == set(same)
    assert not set(one) & set(question.facts("Nothing of that sort broke in Brest."))
    assert set(one) < set(question.facts("The tide gauge broke in Brest and Calais."))


def test_passages_hold_whole_sentences() -> None:
    text = " ".join(f"Sentence {n} says that the tide is high." for n in range(80))
    found = list(Question("tide").passages(text))
    assert len(found) > 3
    for passage in found:
        said = text[passage.start : passage.end]
        assert said.startswith("Sentence")
        assert said.endswith("high.")
        assert passage.words <= 1.5 * WORDS
    assert sum(passage.words for passage in found) == 80 * 8


def test_tokens_are_not_too_few() -> None:
    assert tokens_of("word " * 100) >= 100
    assert tokens_of("潮位計") == 3
    assert tokens_of("") == 0
