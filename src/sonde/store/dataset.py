"""A data set for language models: the texts of a run in shards, each text once, with a datasheet.

out/
    README.md              the datasheet
    data-00000.jsonl.zst   one object a page; or data-00000.parquet
    left_out.jsonl         every page that is not in it, with the reason
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pyarrow as pa
import pyarrow.parquet as pq
import zstandard

from sonde.errors import InputError
from sonde.language_detection import detected
from sonde.store.datasheet import datasheet
from sonde.store.near_texts import Shingles, near_texts, shingles_of
from sonde.store.page_content import text_hash
from sonde.store.reader import RunReader
from sonde.store.run_pages import RunPage, run_pages

FORMATS = ("jsonl.zst", "parquet")
SHARD = 100_000_000
"""Bytes of text in one shard, about."""

_SCHEMA = pa.schema(
    [
        ("id", pa.string()),
        ("url", pa.string()),
        ("title", pa.string()),
        ("text", pa.large_string()),
        ("language", pa.string()),
        ("licence", pa.list_(pa.string())),
        ("score", pa.float64()),
        ("visited", pa.string()),
        ("media_type", pa.string()),
        ("words", pa.int64()),
    ]
)


@dataclass(frozen=True, slots=True)
class DatasetPlan:
    """The format of shards, and the similarity from which texts are near duplicates (``None``: only
    equal ones are left out)."""

    shards: str = FORMATS[0]
    near: float | None = 0.9

    def __post_init__(self) -> None:
        if self.shards not in FORMATS:
            raise InputError(
                f"unknown format of shards {self.shards!r} (one of: {', '.join(FORMATS)})"
            )
        if self.near is not None and not 0.5 <= self.near <= 1.0:
            raise InputError(f"near duplicates are from 0.5 to 1 alike, not {self.near}")


@dataclass
class Dataset:
    """What went into a data set."""

    rows: int = 0
    words: int = 0
    characters: int = 0
    shards: int = 0
    languages: Counter[str] = field(default_factory=Counter)
    hosts: Counter[str] = field(default_factory=Counter)
    licences: Counter[str] = field(default_factory=Counter)
    media_types: Counter[str] = field(default_factory=Counter)
    left_out: dict[str, int] = field(default_factory=dict)
    first: str = ""
    last: str = ""


@dataclass(frozen=True, slots=True)
class _Twin:
    reason: str
    of: str = ""
    similarity: float | None = None


def write_dataset(
    run: RunReader,
    folder: Path,
    plan: DatasetPlan,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> Dataset:
    """Write shards, what was left out, and the datasheet into a folder."""
    total = 2 * run.count("SELECT count(*) FROM pages")
    left_out = _left_out(run, plan, lambda done: progress(done, total))
    made = Dataset()
    reasons: Counter[str] = Counter()
    with (
        _Shards(folder, plan.shards) as shards,
        (folder / "left_out.jsonl").open("w", encoding="utf-8") as log,
    ):
        for number, page in enumerate(run_pages(run), 1):
            twin = left_out.get(page.lease)
            if twin is None:
                shards.add(_row(page, made))
            else:
                reasons[twin.reason] += 1
                told: dict[str, Any] = {"url": page.node, "reason": twin.reason}
                if twin.of:
                    told |= {"of": twin.of, "similarity": twin.similarity}
                log.write(json.dumps(told, ensure_ascii=False) + "\n")
            progress(total // 2 + number, total)
    made.shards = shards.count
    made.left_out = dict(reasons.most_common())
    (folder / "README.md").write_text(datasheet(run, made, plan), encoding="utf-8")
    return made


def _left_out(
    run: RunReader, plan: DatasetPlan, progress: Callable[[int], None]
) -> dict[int, _Twin]:
    """The visits that have no place in the data set, with the reason."""
    found: dict[int, _Twin] = {}
    seen: dict[str, str] = {}
    leases: list[int] = []
    names: list[str] = []
    prints: list[Shingles] = []
    for number, page in enumerate(run_pages(run), 1):
        progress(number)
        text = page.text
        if text is None or not text.strip():
            found[page.lease] = _Twin(page.missing or "no words")
            continue
        key = text_hash(" ".join(text.split()))
        if key in seen:
            found[page.lease] = _Twin("duplicate", seen[key], 1.0)
            continue
        seen[key] = page.node
        if plan.near is not None:
            leases.append(page.lease)
            names.append(page.node)
            prints.append(shingles_of(text))
    if plan.near is not None:
        for twin in near_texts(prints, plan.near):
            found[leases[twin.number]] = _Twin(
                "near-duplicate", names[twin.of], round(twin.similarity, 4)
            )
    return found


def _row(page: RunPage, made: Dataset) -> dict[str, Any]:
    text = page.text or ""
    reading = page.content.reading
    licences = [] if reading is None else list(reading.licences)
    words = len(text.split())
    visited = f"{page.visited:%Y-%m-%dT%H:%M:%SZ}"
    made.rows += 1
    made.words += words
    made.characters += len(text)
    language = page.language or detected(text) or ""
    made.languages[language.partition("-")[0] or "unknown"] += 1
    made.hosts[urlsplit(page.url).hostname or page.node] += 1
    made.licences.update(licences or ["none stated"])
    made.media_types[page.media_type or "unknown"] += 1
    made.first = min(made.first or visited, visited)
    made.last = max(made.last, visited)
    return {
        "id": text_hash(f"{page.node}\n{text}")[:32],
        "url": page.url,
        "title": page.title,
        "text": text,
        "language": language,
        "licence": licences,
        "score": page.score,
        "visited": visited,
        "media_type": page.media_type,
        "words": words,
    }


class _Shards:
    """Rows, a new file whenever one is full."""

    def __init__(self, folder: Path, form: str) -> None:
        self._folder = folder
        self._form = form
        self._size = 0
        self._rows: list[dict[str, Any]] = []
        self.count = 0

    def add(self, row: dict[str, Any]) -> None:
        """Add a row."""
        self._rows.append(row)
        self._size += len(row["text"])
        if self._size >= SHARD:
            self._end()

    def _end(self) -> None:
        path = self._folder / f"data-{self.count:05}.{self._form}"
        if self._form == "parquet":
            pq.write_table(pa.Table.from_pylist(self._rows, _SCHEMA), path, compression="zstd")
        else:
            with (
                path.open("wb") as file,
                zstandard.ZstdCompressor(level=6).stream_writer(file) as out,
            ):
                for line in self._packed():
                    out.write(line)
        self.count += 1
        self._rows, self._size = [], 0

    def _packed(self) -> Iterator[bytes]:
        for row in self._rows:
            yield json.dumps(row, ensure_ascii=False).encode("utf-8", "replace") + b"\n"

    def __enter__(self) -> _Shards:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is None and (self._rows or not self.count):
            self._end()
