"""Graphs out of folders, tar archives, WARC and WACZ files of web pages."""

from __future__ import annotations

import gzip
import io
import math
import tarfile
import zipfile
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from data_making import made
from hypothesis import given
from hypothesis import strategies as st

from sonde.data import Recipe, build
from sonde.data.topics import Topics
from sonde.errors import InputError
from sonde.scorers import KeywordScorer
from sonde.sources.page import read_page

PAGES = {
    "index.html": "<p>Jazz and <a href='a/one.html'>more jazz</a> <a href='a/'>folder</a>",
    "a/one.html": "<nav>jazz</nav><p>no <a href='../index.html'>back</a> <a href='two (2).htm'>2",
    "a/two (2).htm": "<p><a href='/a/one.html#x'>jazz</a> <a href='caf%C3%A9.html'>c</a>",
    "a/café.html": "<a href='http://elsewhere.example/'>out</a><a href='café.html'>self</a>",
    "a/index.htm": "<p>nothing",
    "a/style.css": "jazz",
}
EDGES = {
    ("index.html", "a/one.html"): 1 + math.log(2),
    ("index.html", "a/index.htm"): 1 + math.log(2),
    ("a/one.html", "index.html"): 0.0,  # what navigation says is no promise
    ("a/one.html", "a/two (2).htm"): 0.0,
    ("a/two (2).htm", "a/one.html"): 1.0,
    ("a/two (2).htm", "a/café.html"): 1.0,
}
NODES = {
    "index.html": 1 + math.log(2),
    "a/one.html": 0.0,  # navigation is not the page's own text
    "a/two (2).htm": 1.0,
    "a/café.html": 0.0,
    "a/index.htm": 0.0,
}

quiet_fastwarc = pytest.mark.filterwarnings("ignore:Use the new Reader:DeprecationWarning")


def folder_of(tmp_path: Path) -> Path:
    for name, body in PAGES.items():
        path = tmp_path / "site" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(body, encoding="utf-8")
    return tmp_path / "site"


def recipe(path: Path, *keywords: str, **further: object) -> Recipe:
    return Recipe("html", path, keywords or ("jazz",), **further)  # type: ignore[arg-type]


def test_a_folder(tmp_path: Path) -> None:
    nodes, edges, about = made(recipe(folder_of(tmp_path)), tmp_path / "g")
    assert nodes == pytest.approx(NODES)
    assert edges == pytest.approx(EDGES)
    # elsewhere.example; a page's link to itself is no link to its reader.
    assert about["counts"]["links_to_missing_pages"] == 1
    assert about["problems"] == {}


@quiet_fastwarc
def test_a_run_is_its_pages_and_not_its_lock(tmp_path: Path) -> None:
    (tmp_path / "run" / "pages").mkdir(parents=True)
    for name in ("run.lock", "run.sqlite", "passages.html"):
        (tmp_path / "run" / name).write_text("jazz 4711\n")
    with pytest.raises(InputError, match="a run that kept no pages; sonde export"):
        made(recipe(tmp_path / "run"), tmp_path / "g")
    body = b"<p>Jazz"
    head = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n"
    record = (
        b"WARC/1.1\r\nWARC-Type: response\r\nWARC-Target-URI: http://a.example/\r\n"
        b"WARC-Date: 2026-01-01T00:00:00Z\r\nWARC-Record-ID: <urn:uuid:1>\r\n"
        b"Content-Type: application/http; msgtype=response\r\n"
        + f"Content-Length: {len(head + body)}\r\n\r\n".encode()
        + head + body + b"\r\n\r\n"
    )  # fmt: skip
    (tmp_path / "run" / "pages" / "pages-00001.warc.gz").write_bytes(gzip.compress(record))
    nodes, _, about = made(recipe(tmp_path / "run"), tmp_path / "g")
    assert nodes == {"http://a.example/": 1.0}
    assert about["problems"] == {}


@pytest.mark.parametrize(
    ("link", "page"),
    [
        ("/a", "a/index.html"),
        ("/a/", "a/index.html"),
        ("/a/index.html?x", None),
        ("/b/index.html", "http:^^folder.invalid^b^"),
        ("/b", "http:^^folder.invalid^b^"),
        ("/c.html", None),
    ],
)
def test_spellings_of_a_folder(tmp_path: Path, link: str, page: str | None) -> None:
    site = tmp_path / "site"
    (site / "a").mkdir(parents=True)
    (site / "a" / "index.html").write_text("x", encoding="utf-8")
    (site / "http:^^folder.invalid^b^").write_text("x", encoding="utf-8")
    (site / "from.html").write_text(f"<a href='{link}'>x</a>", encoding="utf-8")
    _, edges, _ = made(recipe(site), tmp_path / "g")
    found = "b/" if page and "^" in page else page
    assert list(edges) == ([("from.html", found)] if found else [])


@pytest.mark.parametrize("suffix", ["", ".xz", ".gz", ".bz2"])
def test_a_tar_archive(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"site.tar{suffix}"
    mode = f"w:{suffix[1:]}"
    with tarfile.open(path, mode) as archive:  # type: ignore[call-overload]
        archive.add(folder_of(tmp_path), ".")
    nodes, edges, _ = made(recipe(path), tmp_path / "g")
    assert nodes == pytest.approx(NODES)
    assert edges == pytest.approx(EDGES)


def test_a_truncated_tar_archive(tmp_path: Path) -> None:
    whole = io.BytesIO()
    with tarfile.open(fileobj=whole, mode="w") as archive:
        for number in range(4):
            body = b"<p>jazz " + b"x" * 2_000
            member = tarfile.TarInfo(f"{number}.html")
            member.size = len(body)
            archive.addfile(member, io.BytesIO(body))
    path = tmp_path / "site.tar"
    path.write_bytes(whole.getvalue()[: 2 * 3072 + 700])
    nodes, _, about = made(recipe(path), tmp_path / "g")
    assert {"0.html", "1.html"} <= set(nodes)
    assert sum(about["problems"].values()) >= 1


def test_with_an_address(tmp_path: Path) -> None:
    nodes, edges, _ = made(recipe(folder_of(tmp_path), base="http://x.example"), tmp_path / "g")
    assert "http://x.example/a/caf%C3%A9.html" in nodes
    assert len(edges) == len(EDGES)
    with pytest.raises(InputError, match="--base ftp"):
        build(recipe(tmp_path / "site", base="ftp://x.example"), tmp_path / "h", jobs=1)


def test_urls_in_file_names_and_headers_in_front(tmp_path: Path) -> None:
    folder = tmp_path / "kb" / "course" / "x"
    folder.mkdir(parents=True)
    (folder / "http:^^www.x.example^~ada^").write_bytes(
        b"Date: Fri, 13 Dec 1996 14:49:15 GMT\nContent-type: text/html\nX: jazz\n\n"
        b"<h1>Jazz caf\xe9</h1><A HREF=two.html>2</A>"
    )
    (folder / "http:^^www.x.example^~ada^two.html").write_bytes(
        b"HTTP/1.0 200 OK\r\nContent-Type: text/html; charset=latin-1\r\n\r\n<a href='/~ada/'>up"
    )
    (folder / "http:^^www.x.example^paper.ps").write_bytes(
        b"Content-type: application/postscript\n\njazz"
    )
    nodes, edges, _ = made(recipe(tmp_path / "kb"), tmp_path / "g")
    one, two = "http://www.x.example/~ada/", "http://www.x.example/~ada/two.html"
    assert nodes == {one: 1.0, two: 0.0}
    assert edges == {(one, two): 1.0, (two, one): 0.0}


def record(url: str, status: str, headers: str, body: bytes) -> bytes:
    block = f"HTTP/1.1 {status}\r\n{headers}\r\n\r\n".encode() + body
    head = (
        f"WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: {url}\r\n"
        "WARC-Date: 2026-01-01T00:00:00Z\r\nWARC-Record-ID: <urn:uuid:0>\r\n"
        f"Content-Type: application/http;msgtype=response\r\nContent-Length: {len(block)}\r\n\r\n"
    )
    return head.encode() + block + b"\r\n\r\n"


RECORDS = [
    record("http://x.example/", "200 OK", "Content-Type: text/html", b"<a href=/old>jazz</a>"),
    record("http://x.example/old", "301 Moved", "Location: /new", b""),
    record(
        "http://x.example/new",
        "200 OK",
        "Content-Type: text/html\r\nContent-Encoding: gzip",
        gzip.compress(b"<p>jazz jazz <a href=/>home</a>"),
    ),
    record("http://x.example/pic", "200 OK", "Content-Type: image/png", b"jazz"),
    record("http://x.example/gone", "404 Not Found", "Content-Type: text/html", b"jazz"),
    record("http://x.example/", "200 OK", "Content-Type: text/html", b"again"),
]


@quiet_fastwarc
def test_files_that_are_no_text_are_no_pages(tmp_path: Path) -> None:
    folder = tmp_path / "site"
    folder.mkdir()
    (folder / "tide").write_text("<p>tide", encoding="utf-8")
    (folder / "wide.html").write_text("<p>tide", encoding="utf-16")
    (folder / "nodes.parquet").write_bytes(b"PAR1\x15\x04\0 <p>tide")
    built = build(recipe(folder, "tide"), tmp_path / "g")
    assert built.about[0]["counts"]["nodes"] == 2


@pytest.mark.parametrize("form", ["warc", "warc.gz", "wacz"])
def test_web_archives(tmp_path: Path, form: str) -> None:
    path = tmp_path / f"site.{form}"
    plain, packed = b"".join(RECORDS), b"".join(map(gzip.compress, RECORDS))
    if form == "wacz":
        with zipfile.ZipFile(path, "w") as bundle:
            bundle.writestr("archive/one.warc.gz", packed)
            bundle.writestr("datapackage.json", "{}")
    else:
        path.write_bytes(packed if form == "warc.gz" else plain)
    nodes, edges, about = made(recipe(path), tmp_path / "g")
    home, new = "http://x.example/", "http://x.example/new"
    assert nodes == pytest.approx({home: 1.0, new: 1 + math.log(2)})
    assert edges == pytest.approx({(home, new): 1.0, (new, home): 1 + math.log(2)})
    assert about["problems"] == {"pages whose name was there before": 1}


@quiet_fastwarc
def test_a_truncated_web_archive(tmp_path: Path) -> None:
    path = tmp_path / "site.warc.gz"
    path.write_bytes(b"".join(map(gzip.compress, RECORDS))[:-30])
    nodes, _, _ = made(recipe(path), tmp_path / "g")
    assert set(nodes) == {"http://x.example/", "http://x.example/new"}
    (tmp_path / "bad.wacz").write_bytes(b"not a zip")
    with pytest.raises(InputError, match="1 truncated archives"):
        build(recipe(tmp_path / "bad.wacz"), tmp_path / "h", jobs=1)


def test_words_are_kept_on_request(tmp_path: Path) -> None:
    built = build(recipe(folder_of(tmp_path), keep_text=True), tmp_path / "g", jobs=1)
    nodes = pq.read_table(built.folders[0] / "nodes.parquet").to_pylist()
    assert {row["node"]: row["text"] for row in nodes}["a/one.html"] == "no back 2"
    edges = pq.read_table(built.folders[0] / "edges.parquet").to_pylist()
    first = next(row for row in edges if row["target"] == "a/two (2).htm")
    assert (first["anchor"], first["context"]) == ("2", "jazz no back 2")


def test_nothing_to_read(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match="no HTML pages in it"):
        build(recipe(tmp_path / "empty"), tmp_path / "g", jobs=1)
    with pytest.raises(InputError, match="no such file or folder"):
        build(recipe(tmp_path / "nowhere"), tmp_path / "g", jobs=1)


words = st.sampled_from(["jazz", "Jazz", "sea-level", "sea", "level", "é", "x" * 30, "jazzy", "—"])
piece = st.tuples(st.booleans(), st.lists(words, min_size=1, max_size=6))


@given(st.lists(piece, max_size=12))
def test_scores_are_those_of_the_live_crawl(pieces: list[tuple[bool, list[str]]]) -> None:
    """Several topics at once, against the live scorer for each of them."""
    body = " ".join(
        f"<a href='/{n}'>{' '.join(text)}</a>" if linked else " ".join(text)
        for n, (linked, text) in enumerate(pieces)
    )
    page = read_page(f"<nav>jazz</nav><p>{body}".encode(), "http://x.example/")
    keywords = ["jazz", "sea level, level", "level, jazz", "e"]
    topics = Topics(keywords)
    links = [(link.url, link.start, link.end) for link in page.links]
    counts, alphas = topics.around(page.text, links, page.window, page.main)
    for number, keyword in enumerate(keywords):
        scores = KeywordScorer(keyword, exact=True).score(page)
        found = [alphas[link][number] if link in alphas else 0.0 for link in range(len(links))]
        assert found == list(scores.alphas)
        count = counts[number]
        assert (1 + math.log(count) if count else 0.0) == scores.beta
