"""Graphs out of MediaWiki exports, against counts made by hand."""

from __future__ import annotations

import bz2
import io
import math
import random
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pyarrow.parquet as pq
import pytest
import zstandard
from data_making import SITEINFO, export, graph_in, made, page
from hypothesis import given, settings
from hypothesis import strategies as st

from sonde.data import Recipe, build, bzip
from sonde.data.wiki import wikipages
from sonde.errors import InputError
from sonde.kernels import load
from sonde.simulation import simulate
from sonde.sources.graph import Graph

FAR = "x " * 40  # more than a window's worth of other words

WIKI = export(
    page("Jazz", f"Jazz is music. {FAR} See [[blues]] and jazz. {FAR} jazz"),
    page("Blues", "Near jazz, [[jazz]] and [[Jass|jazz]]: [[Missing]] [[Blues]] [[user:ada]]"),
    page("Jass", "#REDIRECT [[Jazz]]", extra="<redirect title='Jazz'/>"),
    page("Old", "#redirect:[[Jass]]"),
    page("Loop", "#REDIRECT [[Loop2]]"),
    page("Loop2", "#REDIRECT [[Loop]]"),
    page("Swing", "{{Infobox|genre=[[old]]}} [[loop]] [[Category:Jazz]]"),
    page("User:Ada", "I like [[Swing]]", ns=2),
    page("Category:Jazz", "all of it", ns=14),
)


def recipe(path: Path, *keywords: str, **further: object) -> Recipe:
    return Recipe("mediawiki", path, keywords or ("jazz",), **further)  # type: ignore[arg-type]


def write(folder: Path, text: str | bytes, name: str = "wiki.xml") -> Path:
    path = folder / name
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def f(count: int) -> float:
    return 1 + math.log(count)


def test_pages_links_redirects(tmp_path: Path) -> None:
    nodes, edges, about = made(recipe(write(tmp_path, WIKI)), tmp_path / "g")
    # "Jazz" once as a title is not text; in the text thrice; Blues has three.
    assert nodes == pytest.approx({"Jazz": f(3), "Blues": f(3), "Swing": 0.0})
    assert edges == pytest.approx(
        {
            ("Jazz", "Blues"): f(1),
            # Two links: [[jazz]] and the redirect [[Jass|jazz]]; both windows hold all three.
            ("Blues", "Jazz"): 2 * f(3),
            ("Swing", "Jazz"): 0.0,
        }
    )
    counts = about["counts"]
    assert (counts["nodes"], counts["edges"], counts["aliases"]) == (3, 3, 4)
    assert counts["parallel_links_merged"] == 1
    assert counts["self_links"] == 1
    # Missing, user:ada (not a chosen namespace), loop, Category:Jazz
    assert counts["links_to_missing_pages"] == 4
    assert (counts["nonzero_nodes"], counts["nonzero_edges"]) == (2, 2)
    assert about["problems"] == {}
    assert (about["kind"], about["source"], about["keyword"]) == ("mediawiki", "wiki.xml", "jazz")
    assert about["parameters"] == {"text": False, "namespaces": [0]}


def test_namespaces_are_chosen(tmp_path: Path) -> None:
    path = write(tmp_path, WIKI)
    nodes, edges, _ = made(recipe(path, namespaces=frozenset((0, 2))), tmp_path / "two")
    assert set(nodes) == {"Jazz", "Blues", "Swing", "User:Ada"}
    assert ("User:Ada", "Swing") in edges
    nodes, edges, _ = made(recipe(path, namespaces=None), tmp_path / "all")
    assert ("Swing", "Category:Jazz") in edges


def test_several_keywords_are_several_folders_of_one_graph(tmp_path: Path) -> None:
    path = write(tmp_path, WIKI)
    built = build(recipe(path, "jazz", "music, see", "Jazz"), tmp_path / "g", jobs=1)
    assert [folder.name for folder in built.folders] == ["jazz", "music-see", "Jazz-2"]
    one, two, three = (graph_in(folder) for folder in built.folders)
    assert one == three
    assert list(one[0]) == list(two[0])
    assert list(one[1]) == list(two[1])
    assert two[0]["Jazz"] == pytest.approx(f(2))  # music, See
    alone, edges, _ = made(recipe(path), tmp_path / "alone")
    assert (alone, edges) == one


def test_the_graph_is_ready_to_crawl(tmp_path: Path) -> None:
    built = build(recipe(write(tmp_path, WIKI)), tmp_path / "g", jobs=1)
    graph = Graph.load(built.folders[0])
    assert (graph.self_loops, graph.merged) == (0, 0)
    assert simulate(graph, seeds=["Swing"], budget=5).sequence == ["Jazz", "Blues"]


def test_text_is_kept_on_request(tmp_path: Path) -> None:
    built = build(recipe(write(tmp_path, WIKI), keep_text=True), tmp_path / "g", jobs=1)
    nodes = pq.read_table(built.folders[0] / "nodes.parquet").to_pylist()
    assert nodes[1]["text"] == "Near jazz, jazz and jazz: Missing Blues user:ada"
    edges = pq.read_table(built.folders[0] / "edges.parquet").to_pylist()
    assert edges[0]["anchor"] == "blues"
    start = edges[0]["context"].index("blues")
    assert edges[0]["context"][start - 4 : start] == "See "
    assert len(edges[0]["context"]) == 50 + len("blues") + 50
    assert Graph.load(built.folders[0]).edge_columns.column_names == ["anchor", "context"]


def test_the_window_is_fifty_characters(tmp_path: Path) -> None:
    inside = "jazz" + "." * 46 + "[[B|b]]" + "." * 46 + "jazz"
    outside = "jazz" + "." * 47 + "[[B|b]]" + "." * 47 + "jazz"
    text = export(page("A", inside), page("C", outside), page("B", "b"))
    _, edges, _ = made(recipe(write(tmp_path, text)), tmp_path / "g")
    assert edges == pytest.approx({("A", "B"): f(2), ("C", "B"): 0.0})


@pytest.mark.parametrize("suffix", [".bz2", ".zst"])
def test_compressed(tmp_path: Path, suffix: str) -> None:
    pack = bz2.compress if suffix == ".bz2" else zstandard.compress
    path = write(tmp_path, pack(WIKI.encode()), f"wiki.xml{suffix}")
    found = made(recipe(path), tmp_path / "g")
    plain = made(recipe(write(tmp_path, WIKI)), tmp_path / "h")
    assert found[:2] == plain[:2]


def many(count: int) -> list[str]:
    return [page(f"P{n}", f"jazz [[P{n + 1}]] {n * 7919} " * 20) for n in range(count)]


def test_truncated_bz2_keeps_what_can_be_read(tmp_path: Path) -> None:
    streams = [bz2.compress("".join(many(300)[at : at + 50]).encode()) for at in range(0, 300, 50)]
    path = write(tmp_path, b"".join(streams)[: -len(streams[-1]) // 2], "wiki.xml.bz2")
    nodes, _, about = made(recipe(path), tmp_path / "g")
    assert len(nodes) == 250
    assert about["problems"] == {"truncated compressed files": 1}


def test_a_damaged_stream_costs_itself_alone(tmp_path: Path) -> None:
    pages = many(150)
    streams = [
        bytearray(bz2.compress("".join(pages[at : at + 50]).encode())) for at in (0, 50, 100)
    ]
    streams[1][len(streams[1]) // 2] ^= 0xFF
    path = write(tmp_path, b"".join(streams), "wiki.xml.bz2")
    nodes, _, about = made(recipe(path), tmp_path / "g")
    assert list(nodes) == [f"P{n}" for n in (*range(50), *range(100, 150))]
    assert about["problems"] == {"damaged compressed blocks": 1}


def test_malformed_pages_are_counted(tmp_path: Path) -> None:
    text = export(
        page("A", "jazz [[B]]"),
        page("Bad", "<b>never closed"),
        "<page><title>Cut</title><revision><text>jazz",
        page("B", "jazz \ufffdx").replace("\ufffd", "@@"),
        page("", "no title"),
        page("A", "again"),
        "<page><title>Last</title>",
    ).encode()
    path = write(tmp_path, text.replace(b"@@", b"\xff\xfe"))
    nodes, edges, about = made(recipe(path), tmp_path / "g")
    assert nodes == {"A": 1.0, "B": 1.0}
    assert edges == {("A", "B"): 1.0}
    assert about["problems"] == {
        "pages cut short": 2,
        "pages of malformed XML": 1,
        "pages whose name was there before": 1,
        "pages with broken UTF-8": 1,
        "pages without a title": 1,
    }


def test_entities_are_not_expanded(tmp_path: Path) -> None:
    bomb = "<!DOCTYPE mediawiki [<!ENTITY a 'jazz'><!ENTITY b '&a;&a;&a;&a;'>]>\n"
    text = bomb + export(page("A", "&b;"), page("B", "jazz &amp; [[A]]"))
    inner = page("C", "x").replace("<page>", "<page><!DOCTYPE p [<!ENTITY a 'jazz'>]>")
    nodes, _, about = made(recipe(write(tmp_path, text + inner)), tmp_path / "g")
    assert nodes == {"B": 1.0}
    assert about["problems"] == {"pages of malformed XML": 2}


def test_nothing_left_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"nothing is left.*1 pages cut short"):
        build(recipe(write(tmp_path, "<mediawiki><page><title>A")), tmp_path / "g", jobs=1)
    with pytest.raises(InputError, match="no pages in it"):
        build(recipe(write(tmp_path, "hello")), tmp_path / "g", jobs=1)
    assert not (tmp_path / "g").exists()


def test_the_number_of_processes_does_not_matter(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sonde.data.wiki.mediawiki.BATCH", 5_000)
    monkeypatch.setattr("sonde.data.streams.STEP", 1_000)
    monkeypatch.setattr("sonde.data.recipe.SMALL", 0)
    path = write(tmp_path, f"<mediawiki>{SITEINFO}{''.join(many(200))}</mediawiki>")
    one = build(recipe(path), tmp_path / "one", jobs=1)
    two = build(recipe(path), tmp_path / "two", jobs=2)
    for name in ("nodes.parquet", "edges.parquet"):
        first, second = (pq.read_table(b.folders[0] / name) for b in (one, two))
        assert first.equals(second)
    assert one.about[0]["counts"]["nodes"] == 200


@pytest.mark.slow
@pytest.mark.parametrize("damage", ["none", "middle", "first", "cut"])
@pytest.mark.parametrize("jobs", [1, 2])
def test_blocks_give_the_pages_of_the_stream(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, damage: str, jobs: int
) -> None:
    """Pages over several blocks and groups, some of them longer than a block; one block broken."""
    monkeypatch.setattr("sonde.data.bzip._GROUP_BITS", 400_000)
    monkeypatch.setattr("sonde.data.recipe.SMALL", 0)
    noise = random.Random(3)
    words = [str(noise.random()) for _ in range(40_000)]
    pages = [
        page(f"P{n}", f"jazz [[P{n + 1}]] [[user:x]] {' '.join(noise.choices(words, k=size))}")
        for n, size in enumerate([20, 9_000, 3, 700, 12_000, 40_000] * 6)
    ]
    packed = bytearray(bz2.compress(export(page("User:X", "x", ns=2), *pages).encode(), 1))
    if damage == "cut":
        del packed[len(packed) * 2 // 3 :]
    elif damage != "none":
        packed[len(packed) // 2 if damage == "middle" else 100] ^= 0xFF
    stream = io.BytesIO(packed)
    plain_xml = write(tmp_path, b"".join(bzip.decompressed(stream, Counter())), "plain.xml")
    everything = frozenset((0, 2))
    expected = made(recipe(plain_xml, namespaces=everything), tmp_path / "plain")
    packed_xml = write(tmp_path, bytes(packed), "wiki.xml.bz2")
    built = build(recipe(packed_xml, namespaces=everything), tmp_path / "g", jobs=jobs)
    nodes, edges = graph_in(built.folders[0])
    about = built.about[0]
    assert (nodes, edges) == expected[:2]
    assert len(nodes) > (0 if damage == "first" else 15)
    problems = dict(expected[2]["problems"])
    if damage == "cut":
        problems["truncated compressed files"] = 1
    elif damage != "none":
        problems["damaged compressed blocks"] = 1
    assert about["problems"] == problems


titles = st.sampled_from("ABCDEFG")
entry = st.tuples(st.booleans(), st.lists(st.tuples(titles, st.integers(0, 2)), max_size=5))


@settings(max_examples=40)
@given(st.dictionaries(titles, entry, min_size=1))
def test_against_the_definition(
    tmp_path_factory: pytest.TempPathFactory,
    wiki: dict[str, tuple[bool, list[tuple[str, int]]]],
) -> None:
    """Random pages and redirects; links stand so far apart that no window holds two."""
    redirects = {
        title: links[0][0] for title, (is_redirect, links) in wiki.items() if is_redirect and links
    }
    texts = {title: links for title, (_, links) in wiki.items() if title not in redirects}

    def leads_to(title: str) -> str | None:
        for _ in range(10):
            title = redirects.get(title, title)
        return title if title in texts else None

    edges: dict[tuple[str, str], float] = {}
    for title, links in texts.items():
        for target, count in links:
            page_of = leads_to(target)
            if page_of is not None and page_of != title:
                edges.setdefault((title, page_of), 0.0)
                edges[title, page_of] += f(count) if count else 0.0
    counts = {title: sum(count for _, count in links) for title, links in texts.items()}
    pages = [
        page(title, f"#REDIRECT [[{redirects[title]}]]")
        if title in redirects
        else page(title, FAR.join(f"[[{t}|x]] {'jazz ' * n}" for t, n in texts[title]))
        for title in wiki
    ]
    folder = tmp_path_factory.mktemp("wiki")
    source = write(folder, export(*pages))
    if not texts:
        with pytest.raises(InputError, match=r"no pages|nothing is left"):
            build(recipe(source), folder / "g", jobs=1)
        return
    nodes, found, _ = made(recipe(source), folder / "g")
    assert nodes == pytest.approx({t: f(n) if n else 0.0 for t, n in counts.items()})
    assert found == pytest.approx(edges)


def test_the_last_revision_counts(tmp_path: Path) -> None:
    text = export(
        "<page><title>A</title><revision><text>jazz</text></revision>"
        "<revision><text>jazz jazz</text></revision></page>",
        "<page><title>S</title>"
        "<revision><model>css</model><text>jazz [[A]]</text></revision></page>",
    )
    nodes, edges, _ = made(recipe(write(tmp_path, text)), tmp_path / "g")
    assert nodes == pytest.approx({"A": f(2), "S": 1.0})
    assert edges == {}


XML = [
    "<page>", "</page>", "<title>A</title>", "<title>", "</title>", "<ns>0</ns>", "<ns/>", "<text>",
    "</text>", "<text/>", '<text bytes="1" xml:space="preserve">', '<text a="1" a="2">',
    '<redirect title="B" />', '<redirect title="A&amp;B"/>', "<redirect/>", "<model>css</model>",
    "<revision>", "</revision>", "<b>", "</b>", "[[B]]", "jazz", "&lt;", "&amp;lt;", "&quot;",
    "&apos;", "&gt;", "&#65;", "&b;", "&", "<", ">", "]]>", "<!-- c -->", "<?x?>", "<![CDATA[d]]>",
    "\r", "\t", "\n", " ", "\x02", "é", "\ufffe", "\ufffd", "字", '"', "'", "=", "/", 'x="&lt;"',
]  # fmt: skip


@settings(max_examples=400)
@given(st.lists(st.sampled_from(XML), max_size=14).map("".join))
def test_the_scanner_reads_a_page_as_a_parser_does_or_not_at_all(inner: str) -> None:
    data = f"..<page>{inner}</page>..".encode()
    begin, end = 2, len(data) - 2
    uncompiled = load("python").wikidump
    found = wikipages._scan(data, begin, end)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(wikipages, "wikidump", uncompiled)
        patch.setattr(wikipages, "_scanner", uncompiled.Scanner())
        assert wikipages._scan(data, begin, end) == found
    if found is not None:
        parsed = wikipages._parse(data[begin:end])
        assert text_of(found) == text_of(parsed)
        assert replace(found, text="", begin=0, end=0) == replace(parsed, text="")
        assert wikipages._redirect(found) == wikipages._redirect(parsed)


def text_of(page: wikipages._Page) -> bytearray:
    text, size = page.wikitext()
    return text[:size]


def test_the_scanner_reads_what_mediawiki_writes() -> None:
    text = "a &lt;b&gt; &quot;c&quot; &amp;nbsp; d's\n\n\té"
    data = (
        "<page>\n    <title>A &amp; B</title>\n    <ns>0</ns>\n    <id>7</id>\n    <revision>\n"
        "      <id>9</id>\n      <contributor>\n        <username>Ada</username>\n"
        "      </contributor>\n      <minor />\n      <model>wikitext</model>\n"
        f'      <text bytes="9" xml:space="preserve">{text}</text>\n      <sha1>x</sha1>\n'
        "    </revision>\n  </page>"
    ).encode()
    found = wikipages._scan(data, 0, len(data))
    assert found is not None
    assert (found.title, found.ns, found.model) == ("A & B", "0", "wikitext")
    assert text_of(found).decode() == '\na <b> "c" &nbsp; d\'s\n\n\té\n'
