"""Forgetting a node: its name and what it said leave the run folder, what was decided stays.

The node keeps its number, so that the log can still be told: only its name is gone, with its title,
its text, its records, its page in the WARC files, its address, the texts and records of others that
have its name in them, and what the source kept of it. If it is still on the frontier it is taken
off. Names that were forgotten are remembered as salted digests, by which a crawl that goes on knows
them and leaves them out.

The database is written anew afterwards: nothing of what was removed is left in unused pages.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import sqlite3
import struct
import time
import uuid
import zlib
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, BinaryIO

from sonde.errors import InputError
from sonde.records import LinkColumns, Outcome, Visit
from sonde.sources.facts import PageVisit
from sonde.store.log import CHECKPOINTS, clear_away, unpack_text
from sonde.store.run import Run
from sonde.store.summary import FRONTIER
from sonde.system import sync_file

PREFIX = "forgotten:"
"""What a node without a name is called, with its number."""
_CHUNK = 65_536
_HEAD = 16_384  # of a record: more than enough for its headers
_COMMENT = 16  # the flag of a gzip header that has one
_URI = re.compile(rb"^WARC-(?:Refers-To-)?Target-URI:\s*<?([^\s>]+)", re.IGNORECASE | re.MULTILINE)
_HAS = "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?"
_WORD = re.compile(r"\w+")
_ADDRESS = re.compile(r"[\w.@-]+")


class Forgotten:
    """The names that a run must not know any more."""

    def __init__(self, salt: str = "", digests: Iterable[str] = ()) -> None:
        self.salt = salt
        self.digests = set(digests)

    @classmethod
    def of(cls, kept: Mapping[str, Any] | None) -> Forgotten:
        """What a run has kept of them."""
        return cls(kept["salt"], kept["digests"]) if kept else cls()

    def digest(self, name: str) -> str:
        """A name, so that it can be recognised and not read."""
        sealed = hashlib.blake2b(name.encode(), key=self.salt.encode(), digest_size=16)
        return sealed.hexdigest()

    def __contains__(self, node: str) -> bool:
        return any(self.digest(name) in self.digests for name in spellings(node))

    def left_out(self, outcome: Outcome) -> Outcome:
        """An outcome without links to those who were forgotten."""
        if not self.digests or not isinstance(outcome, Visit):
            return outcome
        links = outcome.links
        kept = [place for place, link in enumerate(links) if str(link.target) not in self]
        changed: dict[str, Any] = {
            "links": links.at(kept)
            if isinstance(links, LinkColumns)
            else [links[place] for place in kept]
        }
        if isinstance(outcome, PageVisit) and outcome.facts is not None:
            facts = outcome.facts
            if isinstance(facts.text, str) and self._named_in(f"{facts.title} {facts.text}"):
                changed["facts"] = replace(facts, text=None, title="")
        if isinstance(outcome, PageVisit) and outcome.found:
            changed["found"] = [
                record
                for record in outcome.found
                if not self._named_in(f"{record.title} {record.text} {record.fields}")
            ]
        return replace(outcome, **changed)

    def _named_in(self, text: str) -> bool:
        """Whether a text has one of the names in it, as a word or as an address."""
        words = set(_WORD.findall(text)) | {name.strip(".@-") for name in _ADDRESS.findall(text)}
        return any(self.digest(word) in self.digests for word in words)


_BY_URL = """
SELECT t.name FROM sqlite_schema AS t, pragma_table_info(t.name) AS c
WHERE t.type = 'table' AND c.name = 'url' AND c.pk = 1
"""
"""The tables with a row for a URL: what was refused, and what the source keeps of URLs."""


def spellings(node: str) -> list[str]:
    """The names in a node: itself, and of ``NAME#ID`` both."""
    name, mark, number = node.rpartition("#")
    return [node, *([name, number] if mark and name and number else [])]


def forget(folder: Path, node: str) -> int:
    """Remove a node from a run; how many texts of others went with it."""
    with Run.open(folder) as run:
        database = run.database
        row = database.execute("SELECT number FROM nodes WHERE url = ?", (node,)).fetchone()
        refused = database.execute("SELECT 1 FROM refused WHERE url = ?", (node,)).fetchone()
        if row is None and refused is None:
            raise InputError(f"{folder}: knows nothing of {node!r:.200}")
        number = None if row is None else int(row[0])
        names = spellings(node)
        blanked = [] if number is None else _archived(run, number, node)
        run.journal.commit()
        database.execute("PRAGMA secure_delete = ON")
        database.execute("BEGIN IMMEDIATE")
        try:
            names += _parts(database, names)
            texts = 0
            if number is not None:
                _node(database, number, node)
                database.executemany(
                    "UPDATE pages SET warc = NULL WHERE warc = ?", [(place,) for place in blanked]
                )
                texts = _texts(database, names) + _records(database, number, names)
            for (table,) in database.execute(_BY_URL).fetchall():
                database.execute(f"DELETE FROM {table} WHERE url = ?", (node,))
            for table in ("sites", "unkept"):  # which may hold pages as they were read
                if database.execute(_HAS, (table,)).fetchone():
                    database.execute(f"DELETE FROM {table}")
            _meta(run, node, f"{PREFIX}{number}", names)
            database.execute("DELETE FROM checkpoints")  # which may name it: the log is told anew
            database.execute("COMMIT")
        except BaseException:
            database.execute("ROLLBACK")
            raise
        clear_away(folder / CHECKPOINTS, ())
        database.execute("VACUUM")
        database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        run.journal.seq = database.execute("SELECT coalesce(max(seq), 0) FROM log").fetchone()[0]
        return texts


def _archived(run: Run, number: int, node: str) -> list[str]:
    """Empty what the WARC files have of a page; where that was."""
    pages = run.database.execute(
        "SELECT final_url FROM pages WHERE node = ? AND warc IS NOT NULL", (number,)
    ).fetchall()
    if not pages or run.pages is None:
        return []
    return redact(run.pages, {node, *(final_url for (final_url,) in pages)})


def _node(database: sqlite3.Connection, number: int, node: str) -> None:
    """The node without its name and its page, and off the frontier."""
    waiting = database.execute(f"SELECT 1 FROM ({FRONTIER}) WHERE number = ?", (number,)).fetchone()
    database.execute("UPDATE nodes SET url = ? WHERE number = ?", (f"{PREFIX}{number}", number))
    database.execute(
        "UPDATE pages SET final_url = ?, language = '', title = '', sketch = NULL,"
        " digest = NULL, etag = NULL, modified = NULL, canonical = NULL, text = NULL"
        " WHERE node = ?",
        (f"{PREFIX}{number}", number),
    )
    database.execute("UPDATE pages SET final_url = '' WHERE final_url = ?", (node,))
    if waiting is None:
        return
    (parent,) = database.execute("SELECT parent FROM nodes WHERE number = ?", (number,)).fetchone()
    arm = -1 if parent is None else 0
    now = time.time()
    (lease,) = database.execute("SELECT coalesce(max(number), 0) + 1 FROM leases").fetchone()
    database.execute(
        "INSERT INTO leases (number, node, arm, chooser, asked, outcome, reason, gain, settled)"
        " VALUES (?, ?, ?, 'forget', ?, 'skip', 'forgotten', 0.0, ?)",
        (lease, number, arm, now, now),
    )
    hold = json.dumps({"hold": {"requests": 0}})
    for kind, data in (("lease", hold), ("settle", None)):
        database.execute(
            "INSERT INTO log (kind, lease, node, data) VALUES (?, ?, ?, ?)",
            (kind, lease, number, data),
        )


def _texts(database: sqlite3.Connection, names: list[str]) -> int:
    """Texts of others that have one of the names in them."""
    long_enough = [name.lower() for name in names if len(name) > 1 and not name.isdigit()]
    found = []
    for lease, title, packed in database.execute(
        "SELECT lease, title, text FROM pages WHERE text IS NOT NULL OR title <> ''"
    ):
        said = f"{title} {(unpack_text(packed) or '') if packed is not None else ''}".lower()
        if any(name in said for name in long_enough):
            found.append((lease,))
    database.executemany("UPDATE pages SET text = NULL, title = '' WHERE lease = ?", found)
    return len(found)


def _records(database: sqlite3.Connection, number: int, names: list[str]) -> int:
    """Records of the node, and those of others that have one of the names in them."""
    database.execute(
        "DELETE FROM records WHERE lease IN (SELECT number FROM leases WHERE node = ?)", (number,)
    )
    long_enough = [name.lower() for name in names if len(name) > 1 and not name.isdigit()]
    found = [
        (source, name)
        for source, name, *said in database.execute(
            "SELECT source, id, url, title, text, fields FROM records"
        )
        if any(each in f"{name} {' '.join(said)}".lower() for each in long_enough)
    ]
    database.executemany("DELETE FROM records WHERE source = ? AND id = ?", found)
    return len(found)


def _parts(database: sqlite3.Connection, names: list[str]) -> list[str]:
    """Take the names out of what the source kept; further names that stood beside them."""
    more: list[str] = []
    for part, state in database.execute(
        "SELECT part, state FROM snapshots WHERE part LIKE 'source:%'"
    ).fetchall():
        try:
            kept = json.loads(state)
        except ValueError:  # encrypted, or no text at all
            continue
        clean = _without(kept, names, more)
        if clean != kept:
            database.execute(
                "UPDATE snapshots SET state = ? WHERE part = ?", (json.dumps(clean).encode(), part)
            )
    return more


def _without(kept: Any, names: list[str], more: list[str]) -> Any:
    """Plain data without entries that are one of the names; what stood beside them is in `more`."""
    if isinstance(kept, list):
        return [_without(each, names, more) for each in kept if each not in names]
    if not isinstance(kept, dict):
        return kept
    clean = {}
    for key, value in kept.items():
        if key in names or (isinstance(value, str) and value in names):
            more += [each for each in (key, value) if isinstance(each, str) and each not in names]
        else:
            clean[key] = _without(value, names, more)
    return clean


def _meta(run: Run, node: str, instead: str, names: list[str]) -> None:
    """The configuration without the name, and the digests of all that it was known by."""
    config = run.config
    config["seeds"] = [instead if seed == node else seed for seed in config.get("seeds", ())]
    forgotten = Forgotten.of(run.meta("forgotten"))
    forgotten.salt = forgotten.salt or os.urandom(16).hex()
    forgotten.digests |= {forgotten.digest(name) for name in names}
    kept = {"salt": forgotten.salt, "digests": sorted(forgotten.digests)}
    for key, value in (("config", config), ("forgotten", kept)):
        run.database.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (key, json.dumps(value)))


# -- redaction of WARC files -----------------------------------------------------------------------
# Records are made empty where they stand: in the place of one that should go stands another of the
# same length, an empty ``metadata`` record, filled up by the comment that a gzip header may have.
# So all other records keep their places, and the file is still one that any archive tool reads.


def redact(folder: Path, urls: Collection[str]) -> list[str]:
    """Empty all records of these URLs, and those that refer to them; their places."""
    wanted = {url.encode() for url in urls}
    places = []
    for path in sorted(folder.glob("*.warc.gz")):
        try:
            with path.open("r+b") as file:
                for offset, length, head in _members(file):
                    if wanted & set(_URI.findall(head)):
                        file.seek(offset)
                        file.write(_empty(length, path))
                        places.append(f"{path.name}:{offset}")
                file.flush()
                sync_file(file.fileno())
        except (OSError, zlib.error) as error:
            raise InputError(f"{path}: cannot be changed: {error}") from None
    return places


def _members(file: BinaryIO) -> Iterator[tuple[int, int, bytes]]:
    """Offset, length and the headers of each record."""
    offset = 0
    while True:
        file.seek(offset)
        member = zlib.decompressobj(31)
        head = b""
        length = 0
        while not member.eof:
            chunk = file.read(_CHUNK)
            if not chunk:
                return  # the end, or a record that was cut off by a crash
            text = member.decompress(chunk)
            if len(head) < _HEAD:
                head += text[: _HEAD - len(head)]
            length += len(chunk) - len(member.unused_data)
        yield offset, length, head.partition(b"\r\n\r\n")[0]
        offset += length


def _empty(length: int, path: Path) -> bytes:
    """A member of exactly this length that says nothing."""
    date = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    record = (
        f"WARC/1.1\r\nWARC-Type: metadata\r\nWARC-Record-ID: <urn:uuid:{uuid.uuid4()}>\r\n"
        f"WARC-Date: {date}\r\nContent-Length: 0\r\n\r\n\r\n\r\n"
    ).encode()
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    packed = packer.compress(record) + packer.flush()
    filling = length - 10 - 1 - len(packed) - 8
    if filling < 0:
        raise InputError(f"{path}: a record of {length} bytes is too short to be emptied")
    header = struct.pack("<2sBBIBB", b"\x1f\x8b", 8, _COMMENT, 0, 2, 255)
    tail = struct.pack("<II", zlib.crc32(record), len(record))
    return header + b"-" * filling + b"\0" + packed + tail
