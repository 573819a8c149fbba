"""Overlays of peers that share real text, for benchmarks/peers.py.

The text is a selection of Wikipedia as HTML (``schools-wikipedia-html.tar.xz``). A peer shares an
article, or several; the links between articles make the overlay; what a peer remembers of a
neighbour is the neighbour's profile, as real peers exchange it.
"""

from __future__ import annotations

import posixpath
import re
import tarfile
from collections import deque
from dataclasses import dataclass
from pathlib import Path

from sonde.peers.shared_folder import SharedFolder, promise
from sonde.sources.graph import Graph
from sonde.sources.page import read_page


@dataclass(frozen=True)
class Article:
    """One page: its text, and the articles that it links to."""

    name: str
    text: str
    links: tuple[str, ...]


def articles(archive: Path) -> dict[str, Article]:
    """The articles of the archive that another one links to."""
    found: dict[str, Article] = {}
    with tarfile.open(archive) as files:
        for member in files:
            if not re.search(r"/wp/.+\.htm$", member.name):
                continue
            body = files.extractfile(member)
            assert body is not None
            page = read_page(body.read(), f"http://wiki/{member.name}")
            links = [posixpath.basename(link.url.partition("#")[0]) for link in page.links]
            name = posixpath.basename(member.name)
            found[name] = Article(name, page.content, tuple(dict.fromkeys(links)))
    named = {link for article in found.values() for link in article.links}
    kept = {name: article for name, article in found.items() if name in named}
    return {
        name: Article(
            name,
            article.text,
            tuple(link for link in article.links if link in kept and link != name),
        )
        for name, article in kept.items()
    }


def shared_folders(folder: Path, held: dict[str, list[Article]]) -> dict[str, SharedFolder]:
    """A folder of files for each peer."""
    made = {}
    for name, owned in held.items():
        place = folder / name
        if not place.exists():
            place.mkdir(parents=True)
            for article in owned:
                text = place / f"{article.name.removesuffix('.htm')}.txt"
                text.write_text(article.text, encoding="utf-8")
        made[name] = SharedFolder(place)
    return made


def overlay_graph(
    folders: dict[str, SharedFolder], neighbours: dict[str, list[str]], topic: str
) -> Graph:
    """The overlay as a recorded graph: what each peer would answer for a topic."""
    scores = {name: shared.holding(topic).score for name, shared in folders.items()}
    promised = {name: promise(shared.profile, topic) for name, shared in folders.items()}
    edges = [
        (name, other, promised[other]) for name, others in neighbours.items() for other in others
    ]
    return Graph.from_edges(edges, scores)


def neighbourhood(
    found: dict[str, Article], start: str, size: int, degree: int, files: int
) -> tuple[dict[str, list[Article]], dict[str, list[str]]]:
    """So many peers around an article, breadth first: who holds what, and who knows whom.

    A peer holds its article and others that it links to; its neighbours are the peers whose
    articles it links to, at most ``degree`` of them, and those that chose it.
    """
    chosen: dict[str, None] = {start: None}
    waiting = deque([start])
    while waiting and len(chosen) < size:
        for link in found[waiting.popleft()].links:
            if link not in chosen and len(chosen) < size:
                chosen[link] = None
                waiting.append(link)
    held = {}
    neighbours: dict[str, dict[str, None]] = {name: {} for name in chosen}
    for name in chosen:
        others = [link for link in found[name].links if link not in chosen][: files - 1]
        held[name] = [found[name], *(found[other] for other in others)]
        for link in [link for link in found[name].links if link in chosen][:degree]:
            neighbours[name][link] = None
            neighbours[link][name] = None
    return held, {name: list(others) for name, others in neighbours.items()}
