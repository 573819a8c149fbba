"""Data sets: each text once, by an exact measure, with what is known of it."""

from __future__ import annotations

import io
import json
import random
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
import zstandard
from store_runs import Web, make_run

from sonde.errors import InputError
from sonde.store import dataset
from sonde.store.export import export
from sonde.store.near_texts import FEWEST, near_texts, shingles_of
from sonde.store.page_content import PageContent
from sonde.store.run_pages import RunPage


def rows_of(folder: Path) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    for path in sorted(folder.glob("data-*")):
        if path.suffix == ".parquet":
            found += pq.read_table(path).to_pylist()
        else:
            with path.open("rb") as file, zstandard.ZstdDecompressor().stream_reader(file) as raw:
                found += [json.loads(line) for line in io.TextIOWrapper(raw, encoding="utf-8")]
    return found


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("runs") / "run"
    names = [f"/{number}" for number in range(12)]
    pages = {"/": (1.0, [(name, 1.0) for name in names])}
    make_run(path, budget=13, web=Web(pages | {name: (1.0, []) for name in names}))
    return path


@pytest.mark.parametrize("form", ["jsonl.zst", "parquet"])
def test_texts_that_are_nearly_alike_stand_once(folder: Path, tmp_path: Path, form: str) -> None:
    (written,) = export(folder, dataset=tmp_path / "out", shards=form)
    rows = rows_of(tmp_path / "out")
    # All pages of this run say the same two hundred words, and their own name.
    assert written.rows == len(rows) == 1
    assert written.left_out == {"near-duplicate": 12}
    left = [
        json.loads(line) for line in (tmp_path / "out" / "left_out.jsonl").read_text().splitlines()
    ]
    assert {each["of"] for each in left} == {rows[0]["url"]}
    assert all(each["similarity"] >= 0.9 for each in left)
    assert rows[0]["language"] == "en"
    assert rows[0]["licence"] == []
    assert rows[0]["words"] == len(rows[0]["text"].split())


def test_equal_texts_alone(folder: Path, tmp_path: Path) -> None:
    (written,) = export(folder, dataset=tmp_path / "out", near=None)
    assert (written.rows, written.left_out) == (13, {})
    assert len({row["id"] for row in rows_of(tmp_path / "out")}) == 13


def test_shards(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dataset, "SHARD", 3_000)
    export(folder, dataset=tmp_path / "out", near=None)
    names = sorted(path.name for path in (tmp_path / "out").glob("data-*"))
    assert len(names) > 2
    assert names[0] == "data-00000.jsonl.zst"
    assert len(rows_of(tmp_path / "out")) == 13


def test_the_datasheet_says_what_there_is(folder: Path, tmp_path: Path) -> None:
    export(folder, dataset=tmp_path / "out")
    sheet = (tmp_path / "out" / "README.md").read_text()
    assert sheet.startswith('---\nlanguage: ["en"]\n')
    for said in ("## Composition", "1 texts", "| `a.example` | 1 | 100.0% |", "near-duplicate"):
        assert said in sheet
    for heading in ("Motivation", "Collection", "Processing", "Licences", "Uses"):
        assert f"\n## {heading}" in sheet


def test_a_run_without_texts(tmp_path: Path) -> None:
    make_run(tmp_path / "run", keep="nothing")
    (written,) = export(tmp_path / "run", dataset=tmp_path / "out")
    assert written.rows == 0
    assert list(written.left_out.values()) == [5]


def test_the_language_is_declared_or_detected() -> None:
    made = dataset.Dataset()
    said = "Le marégraphe mesure la hauteur de la mer au-dessus d'un repère, jour et nuit."
    for language, told in (("", "fr"), ("pt-br", "pt-br")):
        content = PageContent(said, None, None, "text/html", "", None, lambda *_: None)
        moment = datetime(2026, 1, 2, tzinfo=UTC)
        values = (1, "n", "http://a.example/", "T", 1.0, 1.0, None, 0, 200, "text/html", language)
        page = RunPage(*values, "", moment, "", content)
        assert dataset._row(page, made)["language"] == told
    assert dict(made.languages) == {"fr": 1, "pt": 1}


def test_what_cannot_be_meant(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="unknown format of shards 'csv'"):
        export(folder, dataset=tmp_path / "x", shards="csv")
    with pytest.raises(InputError, match="to 1 alike"):
        export(folder, dataset=tmp_path / "x", near=0.1)


# -- near texts ------------------------------------------------------------------------------------


def changed(words: list[str], dice: random.Random, changes: int) -> list[str]:
    words = list(words)
    for _ in range(changes):
        words[dice.randrange(len(words))] = f"new{dice.randrange(10**6)}"
    return words


@pytest.mark.parametrize("similar", [0.6, 0.8, 0.9])
def test_every_pair_that_is_alike_is_found_and_no_other(similar: float) -> None:
    dice = random.Random(similar)
    shared = [f"menu{n}" for n in range(40)]  # stands on all of them
    texts: list[list[str]] = []
    for _ in range(120):
        if texts and dice.random() < 0.5:
            texts.append(changed(dice.choice(texts), dice, dice.randrange(8)))
        else:
            texts.append([*shared, *(f"word{dice.randrange(10**6)}" for _ in range(60))])
    sets = [set(shingles_of(" ".join(words)).tolist()) for words in texts]
    kept: list[int] = []
    expected: dict[int, int] = {}
    for number, mine in enumerate(sets):
        twins = [
            other for other in kept if len(mine & sets[other]) >= similar * len(mine | sets[other])
        ]
        if twins:
            expected[number] = twins[0]
        else:
            kept.append(number)
    found = list(near_texts((shingles_of(" ".join(words)) for words in texts), similar))
    assert {twin.number: twin.of for twin in found} == expected
    for twin in found:
        mine, theirs = sets[twin.number], sets[twin.of]
        assert twin.similarity == pytest.approx(len(mine & theirs) / len(mine | theirs))


def test_short_texts_are_nobodys_twins() -> None:
    text = shingles_of(" ".join(f"w{n}" for n in range(FEWEST + 1)))
    assert len(text) == FEWEST - 1
    assert list(near_texts([text, text], 0.9)) == []


def test_texts_without_spaces_have_shingles() -> None:
    assert len(shingles_of("潮位計は海面の高さを測る装置です")) > 8
    assert len(shingles_of("one two")) == 0
