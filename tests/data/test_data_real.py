"""The builders on real sets, where the data folder is there; a part of each, to be quick."""

from __future__ import annotations

import bz2
import gzip
import io
import itertools
import lzma
import tarfile
from pathlib import Path
from typing import Any

import pytest
from data_making import made

from sonde.data import EdgeScores, Recipe, build

DATA = Path(__file__).parents[2].parent / "shared" / "data"


def real(name: str) -> Path:
    path = DATA / name
    if not path.exists():
        pytest.skip(f"the real set {name} is not there (see the README of the data folder)")
    return path


def beginning(name: str, target: Path, size: int) -> Path:
    """The first so many bytes of a set, unpacked."""
    opener: Any = {".xz": lzma.open, ".bz2": bz2.open, ".gz": gzip.open}[Path(name).suffix]
    with opener(real(name)) as file:
        target.write_bytes(file.read(size))
    return target


def test_the_beginning_of_a_wiki(tmp_path: Path) -> None:
    path = beginning("indieweb-export.xml.bz2", tmp_path / "wiki.xml", 3_000_000)
    nodes, edges, about = made(Recipe("mediawiki", path, ("indieweb",)), tmp_path / "g")
    text = path.read_text(encoding="utf-8", errors="replace")
    assert len(nodes) + about["counts"]["aliases"] > 0.9 * text.count("<title>")
    assert about["problems"]["pages cut short"] == 1  # where the beginning was cut off
    assert len(edges) > 200
    # "@-domain" lists [[Bridgy Fed]], "@user" is reached by its redirects.
    assert ("@-domain", "@user") in edges
    assert sum(score > 0 for score in nodes.values()) > len(nodes) / 4


def pages_of(name: str, count: int, target: Path) -> Path:
    """A tar archive of the first pages of another."""
    with tarfile.open(real(name), "r|*") as source, tarfile.open(target, "w") as out:
        files = (member for member in source if member.isfile())
        for member in itertools.islice(files, count):
            body = source.extractfile(member)
            assert body is not None
            out.addfile(member, io.BytesIO(body.read()))
    return target


def test_some_encyclopedia_pages(tmp_path: Path) -> None:
    path = pages_of("schools-wikipedia-html.tar.xz", 300, tmp_path / "pages.tar")
    built = build(Recipe("html", path, ("war", "software")), tmp_path / "g", jobs=1)
    war, software = (each["counts"] for each in built.about)
    assert war["nodes"] == 300
    assert war["edges"] > 200
    assert war["nonzero_nodes"] > 3 * software["nonzero_nodes"] > 0


def test_some_university_pages(tmp_path: Path) -> None:
    path = pages_of("webkb-html.tar.xz", 300, tmp_path / "pages.tar")
    nodes, edges, _ = made(Recipe("html", path, ("computer",)), tmp_path / "g")
    assert len(nodes) == 300
    assert sum(name.startswith("http://") for name in nodes) > 290
    assert edges
    assert sum(score > 0 for score in nodes.values()) > 100


def test_some_posts(tmp_path: Path) -> None:
    path = beginning("mentions-2017.tsv.xz", tmp_path / "posts.tsv", 1_000_000)
    nodes, edges, about = made(Recipe("posts", path, ("happy",)), tmp_path / "g")
    lines = path.read_text(encoding="utf-8", errors="replace").split("\n")[1:]
    assert about["counts"]["posts"] == sum(line.count("\t") == 2 for line in lines)
    assert all(name.lstrip("u").isdigit() for name in nodes if "u" in name[:1])
    assert len(edges) > 500


def test_some_mentions(tmp_path: Path) -> None:
    nodes = real("mentions-graph-nodes.tsv.xz")
    path = beginning("mentions-graph-edges.tsv.xz", tmp_path / "edges.tsv", 1_000_000)
    scores = EdgeScores(("column:happy", "column:jazz"), through_f=True)
    built = build(Recipe("edges", path, nodes=nodes, scores=scores), tmp_path / "g")
    happy, jazz = (each["counts"] for each in built.about)
    assert (happy["nonzero_nodes"], jazz["nonzero_nodes"]) == (8_082, 387)  # as its README says
    assert happy["nodes"] == 310_055
    assert happy["nonzero_edges"] > jazz["nonzero_edges"]


def test_a_timed_edge_list(tmp_path: Path) -> None:
    path = beginning("email-Eu-core-temporal.txt.gz", tmp_path / "mail.txt", 400_000)
    names = ("source", "target", "time")
    recipe = Recipe("edges", path, names=names, time="time")
    nodes, edges, _ = made(recipe, tmp_path / "g")
    rows = path.read_bytes().splitlines()
    pairs = {tuple(row.split()[:2]) for row in rows if len(row.split()) == 3}
    assert len(edges) == sum(a != b for a, b in pairs)
    assert len(nodes) == len({end for pair in pairs for end in pair})
