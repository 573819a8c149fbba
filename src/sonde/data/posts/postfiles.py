"""Posts as files: TSV, CSV, JSON lines, and SNAP's blocks of T, U and W lines.

A format is two functions: where a block of bytes may be cut, and which posts are in such a block.
The second runs in the workers.
"""

from __future__ import annotations

import csv
import io
import json
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from sonde.data.rowfiles import blocks
from sonde.data.streams import SUFFIXES, open_raw
from sonde.errors import InputError

BLOCK = 1 << 21
"""Bytes of posts in a batch, about."""

FIELDS = ("author", "text", "time", "mentions")

_BEGINNING = 1 << 16  # bytes that tell what a file is

_KNOWN = {
    "author": ("author", "user", "username", "screen_name", "account", "from"),
    "text": ("text", "body", "message", "content", "tweet", "selftext"),
    "time": ("time", "date", "created_at", "timestamp", "created_utc"),
    "mentions": ("mentions", "mentioned"),
}


class RecordedPost(NamedTuple):
    """A message. ``mentions`` is None where they have to be found in the text."""

    author: str
    text: str
    time: str
    mentions: list[str] | None


@dataclass(frozen=True)
class PostFormat:
    """How to read a file's posts. ``names`` are the columns or keys of the fields."""

    form: str  # tsv, csv, jsonl or snap
    names: Mapping[str, str] = field(default_factory=dict)
    header: tuple[str, ...] = ()

    def read(self, block: bytes, problems: Counter[str]) -> Iterator[RecordedPost]:
        """The posts of a block."""
        try:
            text = block.decode()
        except UnicodeDecodeError:
            text = block.decode(errors="replace")
            problems["posts with broken UTF-8"] += sum("\ufffd" in x for x in text.split("\n"))
        text = text.removeprefix("\ufeff")
        if self.form == "snap":
            yield from _snap(text, problems)
        elif self.form == "jsonl":
            yield from self._json(text, problems)
        else:
            yield from self._rows(text, problems)

    def _rows(self, text: str, problems: Counter[str]) -> Iterator[RecordedPost]:
        rows: Iterator[list[str]]
        if self.form == "csv":
            rows = _csv_rows(text, problems)
        else:
            rows = (line.rstrip("\r").split("\t") for line in text.split("\n") if line)
        places = {name: self.header.index(column) for name, column in self.names.items()}
        author, body = places["author"], places["text"]
        time, named = places.get("time"), places.get("mentions")
        width, header = len(self.header), list(self.header)
        for row in rows:
            if len(row) != width:
                problems["half-written rows"] += bool(row)
            elif name := row[author].strip():
                if row != header:
                    yield RecordedPost(
                        name,
                        row[body],
                        "" if time is None else row[time],
                        None if named is None else row[named].replace(",", " ").split(),
                    )
            else:
                problems["posts without an author or a text"] += 1

    def _json(self, text: str, problems: Counter[str]) -> Iterator[RecordedPost]:
        for line in text.split("\n"):
            if not line.strip():
                continue
            try:
                record = json.loads(line)
            except (ValueError, RecursionError):
                problems["half-written rows"] += 1
                continue
            values = {name: _within(record, path) for name, path in self.names.items()}
            yield from _post(values, problems)


def format_of(path: Path, names: Mapping[str, str]) -> PostFormat:
    """Look at a file's name and beginning; ``names`` are what the user says of the columns."""
    for name in names:
        if name not in FIELDS:
            raise InputError(f"--columns {name}=...: not one of {', '.join(FIELDS)}")
    suffix = path.suffix if path.suffix in SUFFIXES else ""
    with open_raw(path) as raw:
        start = next(blocks(raw, suffix, Counter(), size=_BEGINNING), b"")
    line = start.partition(b"\n")[0].decode(errors="replace").strip("\r\ufeff")
    form = (Path(path.stem).suffix if suffix else path.suffix).lstrip(".")
    if form not in ("tsv", "csv", "jsonl"):
        if line.lstrip().startswith("{"):
            form = "jsonl"
        elif start.startswith((b"T\t", b"total number:")) or b"\nT\t" in start[:10_000]:
            return PostFormat("snap")
        else:
            form = "tsv" if "\t" in line else "csv"
    if form == "jsonl":
        return PostFormat(form, _json_names(start, names))
    header = line.split("\t")
    if form == "csv":
        header = next(_csv_rows(line, Counter()), [])
    found = dict(names) | {
        name: column
        for name in FIELDS
        if name not in names and (column := _first(_KNOWN[name], header))
    }
    for name in ("author", "text"):
        if found.get(name) not in header:
            shown = ", ".join(header)[:200]
            raise InputError(
                f"{path}: no column for the {name} of a post (found: {shown}); "
                f"say which with --columns {name}=..."
            )
    missing = [column for column in found.values() if column not in header]
    if missing:
        raise InputError(f"{path}: no column {missing[0]!r} (found: {', '.join(header)[:200]})")
    return PostFormat(form, found, tuple(header))


def post_blocks(
    raw: BinaryIO, path: Path, form: str, problems: Counter[str], threads: int
) -> Iterator[bytes]:
    """Whole posts, about ``BLOCK`` bytes at a time."""
    suffix = path.suffix if path.suffix in SUFFIXES else ""
    lines = blocks(raw, suffix, problems, quoted=form == "csv", size=BLOCK, threads=threads)
    if form != "snap":
        yield from lines
        return
    rest = b""
    for block in lines:
        whole = rest + block
        cut = whole.rfind(b"\nT\t") + 1
        if cut:
            yield whole[:cut]
        rest = whole[cut:]
    if rest:
        yield rest


def _json_names(start: bytes, names: Mapping[str, str]) -> dict[str, str]:
    """The keys of the first whole record decide; the user's word comes first."""
    keys: list[str] = []
    for line in start.split(b"\n"):
        try:
            record = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if isinstance(record, dict):
            keys = list(record)
            break
    found = {name: _first(_KNOWN[name], keys) or name for name in FIELDS if name not in names}
    if found.get("time") not in keys:
        found.pop("time", None)  # such posts have no times, rather than unreadable ones
    return dict(names) | found


def _first(candidates: tuple[str, ...], present: list[str]) -> str:
    """The column that carries one of these names, whatever its case."""
    for candidate in candidates:
        for column in present:
            if column.strip().lower() == candidate:
                return column
    return ""


def _within(record: Any, path: str) -> Any:
    """A value by its key, or by keys with dots between."""
    if isinstance(record, dict) and path in record:
        return record[path]
    for key in path.split("."):
        if not isinstance(record, dict):
            return None
        record = record.get(key)
    return record


def _post(values: Mapping[str, Any], problems: Counter[str]) -> Iterator[RecordedPost]:
    author, text = values.get("author"), values.get("text")
    if not isinstance(author, str | int) or not str(author).strip() or not isinstance(text, str):
        problems["posts without an author or a text"] += 1
        return
    named = values.get("mentions")
    mentions: list[str] | None = None
    if isinstance(named, str):
        mentions = named.replace(",", " ").split()
    elif isinstance(named, list):
        mentions = [str(each) for each in named if isinstance(each, str | int)]
    time = values.get("time")
    yield RecordedPost(str(author).strip(), text, "" if time is None else str(time), mentions)


def _csv_rows(text: str, problems: Counter[str]) -> Iterator[list[str]]:
    reader = csv.reader(io.StringIO(text, newline=""))
    while True:
        try:
            yield next(reader)
        except StopIteration:
            return
        except csv.Error:
            problems["half-written rows"] += 1


def _snap(text: str, problems: Counter[str]) -> Iterator[RecordedPost]:
    fields: dict[str, str] = {}
    for line in (*text.split("\n"), "T\t"):
        mark, tab, rest = line.partition("\t")
        if line == "\0":  # a hole in the file: what follows belongs to another post
            mark, tab = "T", "\t"
        if not tab or mark not in ("T", "U", "W"):
            continue
        if mark == "T":
            if fields.keys() == {"T", "U", "W"}:
                author = fields["U"].rstrip("/").rpartition("/")[2]
                yield from _post(
                    {"author": author, "text": fields["W"], "time": fields["T"]}, problems
                )
            elif fields:
                problems["half-written rows"] += 1
            fields = {}
            if not rest:
                continue
        fields[mark] = rest.strip()
