"""People in a run: their names kept out of it, and one of them removed from it."""

from __future__ import annotations

import json
import re
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from crawl_sites import FAST as WEB
from crawl_sites import Site, tree
from hypothesis import example, given
from hypothesis import strategies as st
from social_server import Network
from warcio.archiveiterator import ArchiveIterator

from sonde.cli import main
from sonde.crawling import Crawl
from sonde.errors import InputError
from sonde.net.secret import Secret
from sonde.sources.pseudonyms import Pseudonyms

FAST: dict[str, Any] = {
    "topic": "tide gauge",
    "allow_private": True,
    "contact": "tests@localhost",
    "estimator": "n",
    "concurrency": 1,
}
SAID = [
    (f"u{5000 + n}", f"tide gauge {'tide gauge ' * (n % 3)}@u{5001 + 2 * n} @u{5002 + 2 * n}")
    for n in range(30)
]
NAME = re.compile(rb"u50\d\d")


def bytes_in(folder: Path) -> bytes:
    return b"".join(file.read_bytes() for file in folder.rglob("*") if file.is_file())


def scores(folder: Path) -> list[float]:
    with closing(sqlite3.connect(folder / "run.sqlite")) as database, database:
        rows = database.execute("SELECT score FROM leases WHERE outcome = 'visit'").fetchall()
    return [score for (score,) in rows]


@given(st.text(max_size=60))
@example("")
@example("\0")
@example("a.")
def test_a_pseudonym_is_the_same_each_time_and_turns_back_with_the_key_alone(name: str) -> None:
    pseudonyms = Pseudonyms(Secret("a key"))
    hidden = pseudonyms.hidden(name)
    assert hidden == pseudonyms.hidden(name)
    assert pseudonyms.revealed(hidden) == name
    with pytest.raises(InputError, match="not the one"):
        Pseudonyms(Secret("another key")).revealed(hidden)


def test_names_stay_out_of_the_run_folder_and_the_crawl_goes_on(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    key = tmp_path / "names.key"
    folder, plain = tmp_path / "run", tmp_path / "plain"
    with Site(Network(SAID)) as site:
        server = f"mastodon:{site.url('')}"
        words = ["crawl", server, "u5000", "--topic", "tide gauge", "--allow-private"]
        words += ["--estimator", "n", "--concurrency", "1"]
        assert main([*words, "--budget", "20", "-o", str(plain)]) == 0
        hide = ["--pseudonymise", f"file:{key}", "--budget", "9", "-o", str(folder)]
        assert main([*words, *hide, "--dry-run"]) == 0
        assert not key.exists()
        assert main([*words, *hide]) == 0
        assert key.stat().st_mode & 0o777 == 0o600
        assert main(["crawl", str(folder), "--resume", "--budget", "20"]) == 0
        key.rename(tmp_path / "away")
        assert main(["crawl", str(folder), "--resume", "--budget", "+1"]) == 2
        (tmp_path / "other").write_text("another\n")
        (tmp_path / "other").chmod(0o600)
        other = ["--pseudonymise", f"file:{tmp_path / 'other'}"]
        assert main(["crawl", str(folder), "--resume", "--budget", "+1", *other]) == 2
        (tmp_path / "away").rename(key)
    assert NAME.search(bytes_in(plain))
    assert not NAME.search(bytes_in(folder))
    assert scores(folder) == scores(plain)
    capsys.readouterr()
    assert main(["explain", str(folder), "u5001#5001"]) == 0  # the key is at hand
    assert "visited" in capsys.readouterr().out
    assert main(["forget", str(folder), "u5001#5001"]) == 0
    assert main(["explain", str(folder), "u5001#5001"]) == 1


def test_a_web_crawl_has_no_pseudonyms(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="pseudonymise says nothing to a crawl of web"):
        Crawl("http://a.example/", topic="x", pseudonymise="env:KEY").run_to_end()


@pytest.mark.parametrize("seen", ["visited", "waiting", "seed"])
def test_one_who_is_forgotten_is_gone_and_stays_away(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], seen: str
) -> None:
    folder = tmp_path / "run"
    network = Network(SAID)
    with Site(network) as site:
        server = f"mastodon:{site.url('')}"
        Crawl(server, seeds=["u5000"], path=folder, budget=8, **FAST).run_to_end()
        with closing(sqlite3.connect(folder / "run.sqlite")) as database, database:
            frontier = "SELECT url FROM nodes WHERE number NOT IN (SELECT node FROM leases)"
            visited = "SELECT url FROM nodes WHERE number IN (SELECT node FROM leases) AND parent"
            node = "u5000"
            if seen != "seed":
                query = visited if seen == "visited" else frontier
                (node,) = database.execute(query).fetchone()
        name = node.partition("#")[0]
        assert name.encode() in bytes_in(folder)
        before = scores(folder)
        capsys.readouterr()
        assert main(["forget", str(folder), node, "--json"]) == 0
        assert json.loads(capsys.readouterr().out)["forgotten"]
        assert name.encode() not in bytes_in(folder)
        assert scores(folder) == before
        assert main(["explain", str(folder), node]) == 1
        assert main(["forget", str(folder), node]) == 2
        # The crawl goes on, to its end, and neither asks for the name nor writes it down again.
        asked = len(network.asked)
        result = Crawl.resume(folder, budget=200).run_to_end()
        assert result.stop_reason == "frontier"
        number = name.removeprefix("u")
        assert not [path for _, path in network.asked[asked:] if f"/{number}/" in path]
        assert name.encode() not in bytes_in(folder)
        # What remains can still be told and shown.
        assert main(["show", str(folder)]) == 0
        assert main(["export", str(folder), "--graph", str(tmp_path / "graph")]) == 0


def test_a_page_is_forgotten_with_its_records_in_the_archive(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "run"
    with Site(tree(40)) as site:
        url = site.url("/3")
        Crawl(site.url("/0"), path=folder, budget=20, **{**WEB, "pages": True}).run_to_end()
        (archive,) = (folder / "pages").glob("*.warc.gz")
        before = archive.stat().st_size
        said = [record["text"] for record in exported(folder, tmp_path / "before.jsonl")]
        assert url in targets(archive)
        assert main(["forget", str(folder), url]) == 0
        assert archive.stat().st_size == before
        assert url not in targets(archive)
        assert len(targets(archive)) > 20  # all others are there, up to the end of the file
        left = [record["text"] for record in exported(folder, tmp_path / "after.jsonl")]
        assert len(left) == len(said)
        assert sum(text is None for text in left) == 1
        assert [text for text in left if text is not None] == [
            text for text, kept in zip(said, left, strict=True) if kept is not None
        ]
        assert Crawl.resume(folder, budget="+5").run_to_end().requests == 25
        assert url not in targets(archive)
        capsys.readouterr()
        assert main(["forget", str(folder), "http://a.example/"]) == 2
        assert "knows nothing" in capsys.readouterr().err


def exported(folder: Path, file: Path) -> list[dict[str, Any]]:
    assert main(["export", str(folder), "--jsonl", str(file)]) == 0
    return [json.loads(line) for line in file.read_text().splitlines()]


def targets(archive: Path) -> list[str | None]:
    with archive.open("rb") as file:
        return [
            record.rec_headers.get("WARC-Target-URI")
            for record in ArchiveIterator(file)
            if record.rec_type in ("response", "request", "revisit")
        ]
