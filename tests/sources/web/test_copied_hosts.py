"""Hosts that copy others, hosts whose words are drawn by dice, and how new hosts begin."""

from __future__ import annotations

import json
import random
import re
from pydoc_data.topics import topics

import numpy as np
import pytest

from sonde.kernels.text.boilerplate import Imprint
from sonde.net.hosts import Hosts
from sonde.sources.main_text import MainText
from sonde.sources.web.copied_hosts import CopiedHosts, Newcomers
from sonde.sources.web.staleness import Finding
from sonde.sources.web.word_salad import WordSalad

COPY, OWN = Finding(True, False, 600, True), Finding(True, False, 600)
_PIECES = np.array([[0, 128, 0]], dtype=np.intc)
_NODES = np.empty((0, 4), dtype=np.uint64)


def url(host: int, path: str = "") -> str:
    return f"http://h{host}.example/{path}"


def let_in(hosts: CopiedHosts, numbers: range) -> int:
    return sum(hosts.verdict(url(number), f"h{number}.example") is None for number in numbers)


def test_when_new_hosts_are_copies_few_of_them_are_tried() -> None:
    hosts = CopiedHosts([url(0)])
    assert hosts.observe(url(0), OWN) is False
    for number in range(1, 9):
        assert hosts.observe(url(number), COPY) is True
    few = let_in(hosts, range(100, 1_100))
    assert few < 100
    for number in range(20, 26):
        assert hosts.observe(url(number), OWN) is False
    assert let_in(hosts, range(100, 1_100)) == 1_000


def test_a_host_that_brings_copies_alone_is_sampled_and_a_named_one_never() -> None:
    hosts = CopiedHosts([url(0)])
    for page in range(5):
        hosts.observe(url(0, str(page)), COPY)
        hosts.observe(url(1, str(page)), COPY)
    paths = [str(page) for page in range(100, 1_100)]
    assert all(hosts.verdict(url(0, path), "h0.example") is None for path in paths)
    assert sum(hosts.verdict(url(1, path), "h1.example") is None for path in paths) < 20
    hosts.observe(url(1, "own"), OWN)
    assert all(hosts.verdict(url(1, path), "h1.example") is None for path in paths)


def test_new_hosts_begin_slowly() -> None:
    turns = Newcomers(Hosts(delay=0.0), None, [url(0)])
    groups = [f"h{number}.example" for number in range(40)]
    for group in groups:
        turns.know(group)
    waiting: dict[object, int] = dict.fromkeys(groups, 1)

    def tried() -> list[str]:
        begun = []
        for _ in range(40):
            ready = turns.ready(waiting)
            left = [group for group in groups if ready is None or group in ready]
            new = [group for group in left if group in waiting and group != "h0.example"]
            if not new:
                break
            turns.reserve(new[0])
            begun.append(new[0])
            waiting.pop(new[0])
        return begun

    first = tried()
    assert len(first) == 3
    for group in first:
        turns.heard(group, False)
    second = tried()
    assert len(second) == 6
    for group in second:
        turns.heard(group, True)
    assert len(tried()) == 1
    assert "h0.example" in (turns.ready(waiting) or groups)


WORDS = re.findall(r"[A-Za-z]+", " ".join(text for _, text in sorted(topics.items())))


def page(said: list[str]) -> MainText:
    text = " ".join(said)
    made = Imprint(text.encode(), _PIECES, _NODES)
    return MainText(text, text.encode(), made, np.ones(made.words, dtype=np.uint8))


def written(number: int) -> MainText:
    return page(WORDS[number * 150 : number * 150 + 150])


def drawn(seed: int, words: int = 300) -> MainText:
    dice = random.Random(seed)
    return page([dice.choice(WORDS[:words]) for _ in range(200)])


def test_a_host_of_drawn_words_is_told_from_one_that_is_written() -> None:
    salad = WordSalad()
    for number in range(16):
        salad.observe(url(1), written(number))
        salad.observe(url(2), drawn(number))
        salad.observe(url(3), drawn(number) if number < 6 else written(number))
    assert salad.bits("h3.example") == 0  # odd once, and not again
    assert salad.bits("h1.example") == 0
    assert salad.bits("h2.example") >= 2
    again = WordSalad()
    again.restore(json.loads(json.dumps(salad.state())))
    assert again.bits("h2.example") == salad.bits("h2.example")


def test_where_everything_is_drawn_nothing_is_suspicious() -> None:
    salad = WordSalad()
    for number in range(30):
        salad.observe(url(number % 3), drawn(number))
    assert [salad.bits(f"h{number}.example") for number in range(4)] == [0, 0, 0, 0]


def test_a_farm_of_many_hosts_is_seen_by_their_first_pages() -> None:
    salad = WordSalad([url(0)])
    for number in range(12):
        salad.observe(url(0), written(number))
    for number in range(1, 30):
        salad.observe(url(number), drawn(number))
    assert salad.bits("unseen.example") > 0
    assert salad.bits("h0.example") == 0
    for number in range(30, 60):
        salad.observe(url(number), written(number))
    assert salad.bits("unseen.example") == 0


@pytest.mark.parametrize("words", [["name"], ["a", "b"]])
def test_too_little_text_says_nothing(words: list[str]) -> None:
    salad = WordSalad()
    for number in range(40):
        salad.observe(url(1), page([*words, str(number)]))
    assert salad.bits("h1.example") == 0
