"""Trap sites: three good hosts of real English text, and beside them a place that never ends.

``World(trap)`` answers for all hosts of a ``crawl_sites.Site``; ``spent`` counts what the trap got,
robots.txt included. A third of the good pages are on the topic; one good page in eight links to the
trap, where its pages link to each other, and never back.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pydoc_data.topics import topics

from aiohttp import web
from crawl_sites import html

TOPIC = "tide gauge"
GOOD = 3
"""Hosts that are worth their requests: the first ones."""

_PAGES = 430  # of each good host
_WORDS = 40
_MENU = " ".join(f'<a href="/section{number}">Section {number}</a>' for number in range(12))


@cache
def paragraphs() -> list[str]:
    """Real text, in pieces of equal length that have nothing to do with each other."""
    words = re.findall(r"[A-Za-z]+[,.]?", " ".join(text for _, text in sorted(topics.items())))
    return [" ".join(words[at : at + _WORDS]) for at in range(0, len(words) - _WORDS, _WORDS)]


def spare(number: int) -> str:
    """A piece that no good page has."""
    return paragraphs()[GOOD * _PAGES + number]


@cache
def vocabulary() -> list[str]:
    """Words of that text."""
    return sorted(
        set(" ".join(paragraphs()[:40]).lower().replace(",", "").replace(".", "").split())
    )


def page(title: str, text: str, links: Iterator[str] | list[str]) -> web.Response:
    """A page with a menu, a text and links."""
    listed = "".join(f'<li><a href="{link}">{_name(link)}</a></li>' for link in links)
    return html(
        f"<div class=top>{_MENU}</div><div class=body><h1>{title}</h1><p>{text}</p>"
        f"<ul>{listed}</ul></div><div class=foot>All rights reserved by us since long ago</div>",
        head=f"<title>{title}</title>",
    )


def _name(link: str) -> str:
    return " ".join(re.findall("[a-z]+", link.rpartition("/")[2].partition("?")[0])) or "more"


Answer = Callable[["World", int, str, dict[str, str]], web.Response]
"""By the host's number among the trap's (from 0), path and query."""


@dataclass(frozen=True)
class Trap:
    """A trap: how many hosts it has, how its pages are made, where good pages link to."""

    hosts: int
    answer: Answer
    entry: str = "/"
    original: bool = False
    """Whether its pages are worth their requests once, on whichever of its hosts."""
    shared: bool = False
    """Whether it is a folder of the first good host, below its entry, and no host of its own."""


class World:
    """All hosts, by number: good ones first."""

    def __init__(self, trap: Trap, port: Callable[[], int]) -> None:
        self.trap = trap
        self.spent = 0
        self._said: set[str] = set()
        self.dice = random.Random(5)
        self._port = port

    @property
    def hosts(self) -> int:
        """How many there are."""
        return GOOD + (0 if self.trap.shared else self.trap.hosts)

    def url(self, host: int, path: str) -> str:
        """An address on a host of the trap."""
        return f"http://127.0.0.{GOOD + 1 + host}:{self._port()}{path}"

    async def answer(self, request: web.Request) -> web.StreamResponse:
        """One request."""
        host = int(request.host.partition(":")[0].rpartition(".")[2]) - 1
        path, query = request.path, dict(request.query)
        trap = self.trap
        trapped = path.startswith(trap.entry) if trap.shared else host >= GOOD
        if trap.shared and host:
            trapped = False
        self.spent += trapped
        if trapped and trap.original and path != "/robots.txt" and path not in self._said:
            self._said.add(path)
            self.spent -= 1
        if path == "/robots.txt" or path.startswith("/section"):
            return web.Response(status=404)
        if trapped:
            return trap.answer(self, 0 if trap.shared else host - GOOD, path, query)
        return self._good(host, path)

    def _good(self, host: int, path: str) -> web.Response:
        found = re.fullmatch(r"/(?:page-(\d+))?", path)
        number = int(found[1] or 0) if found is not None else _PAGES
        if number >= _PAGES:
            return web.Response(status=404)
        dice = random.Random(host * _PAGES + number)
        text = paragraphs()[host * _PAGES + number]
        if number % 3 == 0:
            text = f"{text} The {TOPIC} of this place. {text[:200]} A {TOPIC} again."
        links = [f"/page-{dice.randrange(_PAGES)}" for _ in range(8)]
        if dice.random() < 0.125:
            if self.trap.shared:
                links.insert(3, f"http://127.0.0.1:{self._port()}{self.trap.entry}")
            else:
                which = dice.sample(range(self.trap.hosts), min(self.trap.hosts, 10))
                links[3:3] = [self.url(each, self.trap.entry) for each in which]
        return page(f"Page {number}", text, links)


def _calendar(world: World, host: int, path: str, query: dict[str, str]) -> web.Response:
    year, month = (
        int(part)
        for part in ([*re.findall(r"\d+", path), "11"] if path[9:] else ["2026", "11"])[:2]
    )
    month = (month - 1) % 12 + 1
    names = "January February March April May June July August September October November"
    names += " December"
    months = [
        (year + (month + step - 1) // 12, (month + step - 1) % 12 + 1) for step in (-1, 1, 12)
    ]
    days = [f"/calendar/{year}/{month:02}/{day:02}" for day in range(1, 29)]
    text = f"Events in {names.split()[month - 1]} {year}. There are no events in this month."
    text += " Mon Tue Wed Thu Fri Sat Sun " + " ".join(map(str, range(1, 29)))
    return page("Calendar", text, [f"/calendar/{y}/{m:02}" for y, m in months] + days)


def _facets(world: World, host: int, path: str, query: dict[str, str]) -> web.Response:
    names = {"colour": 5, "size": 4, "sort": 4, "brand": 6, "view": 3, "page": 9}
    dice = random.Random(repr(sorted(query.items())))
    links = []
    for name, values in names.items():
        for value in range(values):
            told = {**query, name: str(value)}
            links.append("/shop?" + "&".join(f"{key}={told[key]}" for key in told))
    items = dice.sample(range(80), 20)
    text = " ".join(f"Thing {spare(item)[:40]}." for item in items)
    return page("Shop", text, links)


def _sessions(world: World, host: int, path: str, query: dict[str, str]) -> web.Response:
    number = int((re.findall(r"\d+", path) or ["0"])[0]) % 30
    session = query.get("s", "")
    if not session or world.dice.random() < 0.3:
        session = f"{world.dice.getrandbits(64):016x}"
    links = [f"/view{world.dice.randrange(30)}?s={session}" for _ in range(8)]
    return page(f"View {number}", spare(number), links)


def _tokens(world: World, host: int, path: str, query: dict[str, str]) -> web.Response:
    number = int((re.findall(r"\d+", path) or ["0"])[0]) % 40
    links = [
        f"/p{world.dice.randrange(40)}?token={world.dice.getrandbits(48):x}" for _ in range(10)
    ]
    return page(f"Item {number}", spare(number), links)


def _paths(world: World, host: int, path: str, query: dict[str, str]) -> web.Response:
    links = ["about/", "contact/", "team/", "news/", "../"]
    return page("Our firm", spare(1), links)


def _missing(world: World, host: int, path: str, query: dict[str, str]) -> web.Response:
    words = vocabulary()
    links = [f"/{world.dice.choice(words)}-{world.dice.choice(words)}" for _ in range(6)]
    asked = path.strip("/").replace("-", " ")
    text = f"Sorry, the page {asked} could not be found. Perhaps one of these helps you along."
    return page(f"{asked} not found", text, links)


def _alike(world: World, host: int, path: str, query: dict[str, str]) -> web.Response:
    dice = random.Random(path)
    words = (" ".join(map(spare, range(5)))).split()[:200]
    for at in dice.sample(range(200), 4):
        words[at] = dice.choice(vocabulary())
    links = [
        f"{'/nd' * world.trap.shared}/{dice.choice(vocabulary())}/{dice.choice(vocabulary())}"
        for _ in range(8)
    ]
    return page("Offers", " ".join(words), links)


def _mirror(world: World, host: int, path: str, query: dict[str, str]) -> web.Response:
    number = int((re.findall(r"\d+", path) or ["0"])[0]) % 20
    dice = random.Random(number)
    links = [f"/copy-{dice.randrange(20)}" for _ in range(6)]
    links += [world.url(dice.randrange(world.trap.hosts), f"/copy-{number}") for _ in range(4)]
    text = f"{spare(number)} A {TOPIC}." if number % 3 == 0 else spare(number)
    return page(f"Copy {number}", text, links)


def _farm(world: World, host: int, path: str, query: dict[str, str]) -> web.Response:
    dice = random.Random(f"{host}{path}")
    words = vocabulary()
    text = " ".join(dice.choice(words) for _ in range(150))
    links = [
        world.url(dice.randrange(world.trap.hosts), f"/{dice.choice(words)}{dice.randrange(9999)}")
        for _ in range(12)
    ]
    return page(" ".join(dice.choice(words) for _ in range(3)), text, links)


def _spam(world: World, host: int, path: str, query: dict[str, str]) -> web.Response:
    dice = random.Random(path)
    words = [
        "best",
        "cheap",
        "buy",
        "offer",
        "now",
        "top",
        "sale",
        "price",
        "online",
        "shop",
        "new",
    ]
    text = " ".join(f"{' '.join(dice.sample(words, 3))} {TOPIC}" for _ in range(30))
    links = [f"/{dice.choice(words)}-tide-gauge-{dice.randrange(10**6)}" for _ in range(10)]
    return page(f"{dice.choice(words)} {TOPIC}", text, links)


def _generated(world: World, host: int, path: str, query: dict[str, str]) -> web.Response:
    dice = random.Random(path)
    words = vocabulary()[:300]
    said = [dice.choice(words) for _ in range(250)]
    said[dice.randrange(250)] = TOPIC
    links = [
        f"/{dice.choice(words)}/{dice.choice(words)}/{dice.randrange(10**6)}" for _ in range(8)
    ]
    return page(" ".join(said[:4]), " ".join(said), links)


TRAPS: dict[str, Trap] = {
    "calendar": Trap(1, _calendar, "/calendar"),
    "calendar of a good host": Trap(0, _calendar, "/calendar", shared=True),
    "facets": Trap(1, _facets, "/shop"),
    "facets of a good host": Trap(0, _facets, "/shop", shared=True),
    "sessions": Trap(1, _sessions, original=True),
    "tokens": Trap(1, _tokens, original=True),
    "infinite paths": Trap(1, _paths),
    "soft 404 at the root": Trap(1, _missing),
    "near-duplicates": Trap(1, _alike),
    "near-duplicates of a good host": Trap(0, _alike, "/nd", shared=True),
    "100 mirrors": Trap(101, _mirror, original=True),
    "link farm": Trap(1, _farm),
    "link farm on 20 hosts": Trap(20, _farm),
    "spam farm": Trap(1, _spam),
    "generated text": Trap(1, _generated),
}
