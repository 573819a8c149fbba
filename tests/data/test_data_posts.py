"""Graphs out of posts: who mentions whom, and when."""

from __future__ import annotations

import bz2
import json
import lzma
import math
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from data_making import graph_in, made
from hypothesis import given, settings
from hypothesis import strategies as st

from sonde.data import Recipe, build
from sonde.data.posts.mentions import mentioned
from sonde.data.rowfiles import seconds_from
from sonde.errors import InputError
from sonde.sources.graph import Graph

POSTS = [
    ("1970-01-01T00:01:40Z", "Ada", "jazz with @bob and @Bob, jazz"),
    ("1970-01-01T00:00:50+00:00", "ada", "@bob hello @cy"),
    ("1970-01-01 00:02:00", "bob", "jazz jazz jazz @ada"),
    ("soon", "bob", "w/@ada @bob mail me at x@y.example or https://x.example/@cy/1"),
]
NODES = {"ada": 1 + math.log(2), "bob": 1 + math.log(3), "cy": 0.0}
EDGES = {
    ("ada", "bob"): 1 + math.log(2),
    ("ada", "cy"): 0.0,
    ("bob", "ada"): 1 + math.log(3),
}
TIMES = {("ada", "bob"): [50, 100], ("ada", "cy"): [50], ("bob", "ada"): [120]}


def recipe(path: Path, **further: object) -> Recipe:
    return Recipe("posts", path, ("jazz",), **further)  # type: ignore[arg-type]


def tsv() -> str:
    return "time\tauthor\ttext\n" + "".join(f"{t}\t{a}\t{w}\n" for t, a, w in POSTS)


def csv() -> str:
    rows = "".join(f'{a},"{w}\nsecond ""line""",{t}\n' for t, a, w in POSTS)
    return "\ufeffUser,Text,created_at\r\n" + rows


def jsonl() -> str:
    return "".join(
        json.dumps({"user": {"screen_name": a}, "text": w, "created_at": t}) + "\n"
        for t, a, w in POSTS
    )


def snap() -> str:
    blocks = (f"T\t{t}\nU\thttp://x.example/{a}\nW\t{w}\n\n" for t, a, w in POSTS)
    return "total number:4\n" + "".join(blocks)


@pytest.mark.parametrize(
    ("name", "text", "columns"),
    [
        ("posts.tsv", tsv(), {}),
        ("posts.csv", csv(), {}),
        ("posts.jsonl", jsonl(), {"author": "user.screen_name"}),
        ("posts.txt", snap(), {}),
        ("posts.tsv.xz", tsv(), {}),
        ("posts.txt.bz2", snap(), {}),
    ],
)
def test_formats(tmp_path: Path, name: str, text: str, columns: dict[str, str]) -> None:
    data = text.encode()
    pack: Any = {".xz": lzma.compress, ".bz2": bz2.compress}.get(Path(name).suffix, bytes)
    path = tmp_path / name
    path.write_bytes(pack(data))
    nodes, edges, about = made(recipe(path, columns=columns), tmp_path / "g")
    assert nodes == pytest.approx(NODES)
    assert edges == pytest.approx(EDGES)
    rows = pq.read_table(tmp_path / "g" / "edges.parquet").to_pylist()
    assert {(row["source"], row["target"]): row["times"] for row in rows} == TIMES
    assert about["problems"] == {"posts without a readable time": 1}
    counts = about["counts"]
    assert (counts["posts"], counts["self_links"], counts["parallel_links_merged"]) == (4, 1, 2)
    graph = Graph.load(tmp_path / "g")
    assert graph.edge_columns.column_names == ["times"]


def test_blocks_may_be_small(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sonde.data.posts.postfiles.BLOCK", 16)
    monkeypatch.setattr("sonde.data.streams.STEP", 7)
    for name, text in (("a.tsv", tsv()), ("a.csv", csv()), ("a.txt", snap())):
        (tmp_path / name).write_text(text, encoding="utf-8", newline="")
        assert made(recipe(tmp_path / name), tmp_path / f"g-{name}")[0] == pytest.approx(NODES)


def test_half_written_rows(tmp_path: Path) -> None:
    path = tmp_path / "posts.tsv"
    path.write_bytes(tsv().encode() + b"1970\tada\n5\t\tnobody\n6\teve\tcaf\xe9 jazz @ada\n7\te")
    nodes, edges, about = made(recipe(path), tmp_path / "g")
    assert nodes["eve"] == 1.0
    assert edges["eve", "ada"] == 1.0
    assert about["problems"] == {
        "half-written rows": 2,
        "posts with broken UTF-8": 1,
        "posts without a readable time": 1,
        "posts without an author or a text": 1,
    }
    bad = tmp_path / "posts.jsonl"
    bad.write_text('{"author": "a", "text": "jazz"}\n{"author": "b", "te', encoding="utf-8")
    assert made(recipe(bad), tmp_path / "h")[2]["problems"] == {"half-written rows": 1}
    cut = tmp_path / "posts.txt"
    cut.write_text(snap() + "T\t2009-06-01 00:00:00\nU\thttp://x.example/eve\n", encoding="utf-8")
    assert made(recipe(cut), tmp_path / "i")[2]["problems"]["half-written rows"] == 1


def test_mentions_may_have_a_column_of_their_own(tmp_path: Path) -> None:
    path = tmp_path / "links.tsv"
    path.write_text("time\tsource\ttarget\tcontext\n9\ta\tb\tjazz @c\n", encoding="utf-8")
    columns = {"author": "source", "mentions": "target", "text": "context"}
    nodes, edges, _ = made(recipe(path, columns=columns), tmp_path / "g")
    assert (nodes, edges) == ({"a": 1.0, "b": 0.0}, {("a", "b"): 1.0})
    lists = tmp_path / "lists.jsonl"
    record = {"author": 7, "text": "jazz", "mentions": ["@B", 8, None]}
    lists.write_text(json.dumps(record), encoding="utf-8")
    assert set(made(recipe(lists), tmp_path / "h")[1]) == {("7", "b"), ("7", "8")}


def test_text_is_kept_on_request(tmp_path: Path) -> None:
    path = tmp_path / "posts.tsv"
    path.write_text(tsv(), encoding="utf-8")
    build(recipe(path, keep_text=True), tmp_path / "g", jobs=1)
    edges = pq.read_table(tmp_path / "g" / "edges.parquet").to_pylist()
    assert edges[0]["context"] == f"{POSTS[0][2]}\n{POSTS[1][2]}"
    nodes = pq.read_table(tmp_path / "g" / "nodes.parquet").to_pylist()
    assert [row["text"].count("\n") for row in nodes] == [1, 1, 0]


@pytest.mark.parametrize(
    ("columns", "words"),
    [
        ({}, "no column for the author"),
        ({"author": "who", "text": "nothing"}, "no column for the text"),
        ({"author": "who", "text": "what", "time": "when"}, "no column 'when'"),
        ({"writer": "who"}, "--columns writer="),
    ],
)
def test_columns_that_are_not_there(tmp_path: Path, columns: dict[str, str], words: str) -> None:
    path = tmp_path / "posts.tsv"
    path.write_text("who\twhat\n", encoding="utf-8")
    with pytest.raises(InputError, match=words):
        build(recipe(path, columns=columns), tmp_path / "g", jobs=1)


def test_no_posts(tmp_path: Path) -> None:
    path = tmp_path / "posts.tsv"
    path.write_text("author\ttext\n", encoding="utf-8")
    with pytest.raises(InputError, match="no posts in it"):
        build(recipe(path), tmp_path / "g", jobs=1)


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("86400", 86400),
        ("12.9", 12),
        ("1970-01-02", 86400),
        ("1970-01-01T01:00:00+01:00", 0),
        ("Thu Jan 01 00:00:10 +0000 1970", 10),
        ("Thu, 01 Jan 1970 00:00:20 GMT", 20),
        ("", None),
        ("yesterday", None),
    ],
)
def test_times(text: str, seconds: int | None) -> None:
    assert seconds_from(text) == seconds


def test_mentions_in_texts() -> None:
    assert mentioned(".@a, (@b) @c's @d@host.example x@e https://x.example/@f w/@g @@h") == [
        "a",
        "b",
        "c",
        "d@host.example",
        "g",
    ]


names = st.sampled_from(["a", "b", "c", "d"])
post = st.tuples(names, st.lists(names, max_size=3), st.integers(0, 4), st.integers(0, 99))


@settings(max_examples=40)
@given(st.lists(post, min_size=1, max_size=30))
def test_against_the_definition(
    tmp_path_factory: pytest.TempPathFactory,
    posts: list[tuple[str, list[str], int, int]],
) -> None:
    folder = tmp_path_factory.mktemp("posts")
    rows = [
        f"{time}\t{author}\t{'jazz ' * count}{' '.join('@' + name for name in named)}\n"
        for author, named, count, time in posts
    ]
    (folder / "p.tsv").write_text("time\tauthor\ttext\n" + "".join(rows), encoding="utf-8")
    build(recipe(folder / "p.tsv"), folder / "g", jobs=1)
    nodes, edges = graph_in(folder / "g")
    totals: dict[object, int] = {}
    for author, named, count, _ in posts:
        for key in (author, *((author, name) for name in set(named) if name != author)):
            totals[key] = totals.get(key, 0) + count
        for name in named:
            totals.setdefault(name, 0)
    expected = {key: 1 + math.log(count) if count else 0.0 for key, count in totals.items()}
    assert nodes | edges == pytest.approx(expected)
