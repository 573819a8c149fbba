"""The log of a run: its rows read back, the columns in them, and its checkpoints.

A row of a settled visit brings along what the ledger and the pages say of it, as the run keeps it.
What the rows mean to an explorer is told by ``crawling.retelling``.

Links are columns: the numbers of their targets as little-endian int32, their scores as float64.
Words are two bytes each: first how many each link has, in the order of the links, then all of
them; nothing is kept where no link has any. Places are records of RFU and BFU, float64, and further
links to the same target, int32. A text is packed with zstd.

A *checkpoint* (snapshot) is the state of a run's parts at a position of the log. Telling the log
from its start gives the same state, and takes longer. It is a file of named arrays, which is mapped
rather than read; reading one runs no code. It counts only once the log up to its position is
committed: the table ``checkpoints`` says so. The last ``KEPT`` stay; whatever else is in the folder
(outdated, or of a process that was killed) is cleared away when the next one is written.

    run/checkpoints/<position>      a line of JSON (what stands where), then the arrays
"""

from __future__ import annotations

import json
import math
import mmap
import sqlite3
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
import zstandard

from sonde.kernels.model.significance import packed
from sonde.records import Spend, UrlPlace

Arrays: TypeAlias = Mapping[str, npt.NDArray[Any]]
"""What a part of a run is captured as."""

CHECKPOINTS = "checkpoints"
"""Their folder."""
KEPT = 2

_PACKER = zstandard.ZstdCompressor(level=1)
_WORDS = "<u2"
_PLACES = np.dtype([("rfu", "<f8"), ("bfu", "<f8"), ("repeats", "<i4")])
_NO_PLACE = (-1.0, -1.0, -1)
_ALIGNED = 64  # bytes

# -- rows ------------------------------------------------------------------------------------------

_ROWS = """
SELECT log.seq, log.kind, log.lease, log.node, log.data, arm, chooser, predicted, outcome, reason,
    retry, coalesce(told_score, score), coalesce(told_gain, gain), requests, bytes, title, targets,
    scores, places, words
FROM log LEFT JOIN leases ON leases.number = log.lease
LEFT JOIN pages ON pages.lease = log.lease AND log.kind = 'settle'
WHERE log.seq > ? ORDER BY log.seq
"""


class LogRow(NamedTuple):
    """One row of the log, with its lease's row of the ledger, and with the page that settled it."""

    seq: int
    kind: str
    lease: int | None
    node: int | None
    data: str | None
    arm: int
    chooser: str
    predicted: float | None
    outcome: str | None
    reason: str | None
    retry: int
    score: float | None
    gain: float | None
    requests: int
    size: int
    title: str | None
    targets: bytes | None
    scores: bytes | None
    places: bytes | None
    words: bytes | None


class LeaseRow(NamedTuple):
    """A lease as it was given."""

    number: int
    node: int
    predicted: float | None
    chooser: str
    arm: int


class NodeRow(NamedTuple):
    """A node as the run knows it."""

    name: str
    group: str
    depth: int


def rows_since(database: sqlite3.Connection, seq: int) -> Iterator[LogRow]:
    """The log after a position, in order."""
    return map(LogRow._make, database.execute(_ROWS, (seq,)))


def nodes_since(database: sqlite3.Connection, number: int = 0) -> Iterator[NodeRow]:
    """The nodes from this number on, by their numbers."""
    found = database.execute(
        "SELECT url, host, depth FROM nodes WHERE number >= ? ORDER BY number", (number,)
    )
    return map(NodeRow._make, found)


def node_count(database: sqlite3.Connection) -> int:
    """How many nodes the run knows."""
    found = database.execute("SELECT coalesce(max(number), -1) + 1 FROM nodes").fetchone()
    return int(found[0])


def position_of(database: sqlite3.Connection, lease: int) -> int | None:
    """Where in the log a lease was given; ``None`` for a lease that there is not."""
    found = database.execute(
        "SELECT seq FROM log WHERE kind = 'lease' AND lease = ?", (lease,)
    ).fetchone()
    return None if found is None else int(found[0])


def open_leases(database: sqlite3.Connection) -> list[LeaseRow]:
    """The leases that are not settled, in their order."""
    found = database.execute(
        "SELECT number, node, predicted, chooser, arm FROM leases WHERE outcome IS NULL"
        " ORDER BY number"
    )
    return list(map(LeaseRow._make, found))


def brought_by_group(
    database: sqlite3.Connection,
) -> Iterator[tuple[str, int, float, float]]:
    """How often each group was visited or failed on a prediction, what the predictions came to,
    and what came."""
    return iter(
        database.execute(
            "SELECT host, count(*), sum(max(predicted, 0.0)), sum(coalesce(gain, 0.0))"
            " FROM leases JOIN nodes ON nodes.number = leases.node"
            " WHERE outcome IN ('visit', 'failure') AND predicted IS NOT NULL"
            " GROUP BY host ORDER BY min(leases.number)"
        ).fetchall()
    )


def interruptions(database: sqlite3.Connection) -> dict[int | None, int]:
    """How often nodes were in flight when the run ended, by their numbers."""
    found = database.execute(
        "SELECT node, count(*) FROM leases WHERE outcome = 'interrupt' GROUP BY node"
    )
    return dict(found.fetchall())


# -- texts -----------------------------------------------------------------------------------------


def pack_text(text: str) -> bytes:
    """Pack a text."""
    return _PACKER.compress(text.encode("utf-8", "replace"))


def unpack_text(blob: bytes) -> str | None:
    """The text of a blob; ``None`` where it is damaged."""
    try:
        return zstandard.ZstdDecompressor().decompress(blob).decode("utf-8")
    except (zstandard.ZstdError, UnicodeDecodeError):
        return None


# -- links -----------------------------------------------------------------------------------------


def pack_targets(targets: Sequence[int], scores: Sequence[float]) -> tuple[bytes, bytes]:
    """The numbers of the targets, and the scores of the links."""
    return np.array(targets, dtype="<i4").tobytes(), np.array(scores, dtype="<f8").tobytes()


def pack_places(places: Sequence[UrlPlace | None]) -> bytes:
    """The URL measures of links."""
    return packed(places)


def pack_words(lists: Sequence[bytes]) -> bytes | None:
    """The words of links, or ``None`` where there are none."""
    words = b"".join(lists)
    if not words:
        return None
    return (np.array(list(map(len, lists))) // 2).astype(_WORDS).tobytes() + words


def unpack_words(packed: bytes | None, links: int) -> list[bytes]:
    """The words of each of N links."""
    if not packed:
        return [b""] * links
    words = []
    place = 2 * links
    for count in np.frombuffer(packed, dtype=_WORDS, count=links).tolist():
        words.append(packed[place : place + 2 * count])
        place += 2 * count
    return words


def unpack_measures(packed: bytes) -> list[tuple[float, float, int] | None]:
    """RFU, BFU and repeats of each link; ``None`` for one that has no place."""
    measures = np.frombuffer(packed, dtype=_PLACES).tolist()
    return [None if told == _NO_PLACE else told for told in measures]


# -- spends ----------------------------------------------------------------------------------------


def spend_of(units: dict[str, Any] | None) -> Spend:
    """The units as the log writes them; one request where it writes nothing."""
    return Spend(requests=1) if not units else Spend(**units)


def units_of(spend: Spend) -> dict[str, Any] | None:
    """What the log writes for a spend: only what is not 0, nothing for one request."""
    if spend == Spend(requests=1):
        return None
    units = {
        unit: value
        for unit in ("requests", "bytes", "seconds", "cost")
        if (value := getattr(spend, unit))
    }
    return units or {"requests": 0}


# -- checkpoints -----------------------------------------------------------------------------------


def facts_to_array(facts: dict[str, Any]) -> npt.NDArray[np.uint8]:
    """Plain data as an array."""
    return np.frombuffer(json.dumps(facts).encode(), dtype=np.uint8)


def facts_from_array(array: npt.NDArray[Any]) -> dict[str, Any]:
    """Plain data that was made an array."""
    facts: dict[str, Any] = json.loads(array.tobytes())
    return facts


def write_checkpoint(folder: Path, seq: int, parts: Mapping[str, Arrays]) -> Path:
    """Write the state of all parts at a position of the log; the file."""
    folder.mkdir(exist_ok=True)
    path = folder / str(seq)
    arrays = {
        f"{part}/{name}": np.asarray(array, order="C")
        for part, captured in parts.items()
        for name, array in captured.items()
    }
    places: dict[str, tuple[str, list[int], int]] = {}
    end = 0
    for name, array in arrays.items():
        places[name] = (array.dtype.str, list(array.shape), end)
        end += -(-array.nbytes // _ALIGNED) * _ALIGNED
    head = json.dumps(places).encode()
    head += b" " * (-(len(head) + 1) % _ALIGNED) + b"\n"
    partial = path.with_suffix(".partial")
    try:
        with partial.open("wb") as file:
            file.write(head)
            for array in arrays.values():
                file.write(array.data)
                file.write(bytes(-array.nbytes % _ALIGNED))
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)
    return path


def read_checkpoint(folder: Path, seq: int) -> dict[str, Arrays] | None:
    """The state at a position, by part; what is changed in an array stays in memory. ``None`` where
    the file is gone (its run is being written, and has later ones) or was not copied whole."""
    try:
        with (folder / str(seq)).open("rb") as file:
            places: dict[str, tuple[str, list[int], int]] = json.loads(file.readline())
            start = file.tell()
            mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_COPY)
        parts: dict[str, dict[str, npt.NDArray[Any]]] = {}
        for name, (kind, shape, offset) in places.items():
            part, _, rest = name.partition("/")
            size = math.prod(shape)
            array = np.frombuffer(mapped, kind, size, start + offset) if size else np.empty(0, kind)
            parts.setdefault(part, {})[rest] = array.reshape(shape)
    except (FileNotFoundError, ValueError):
        return None
    return dict(parts)


def positions(database: sqlite3.Connection, before: int | None = None) -> list[int]:
    """Where checkpoints were taken before a position of the log, the latest first."""
    found = database.execute(
        "SELECT log_seq FROM checkpoints WHERE log_seq < coalesce(?, log_seq + 1) ORDER BY 1 DESC",
        (before,),
    )
    return [seq for (seq,) in found]


def checkpoints(
    database: sqlite3.Connection, folder: Path | None, before: int | None
) -> Iterator[tuple[int, dict[str, Arrays]]]:
    """The checkpoints of a run before a position of its log, the latest first."""
    for seq in positions(database, before) if folder is not None else ():
        assert folder is not None
        state = read_checkpoint(folder / CHECKPOINTS, seq)
        if state is not None:
            yield seq, state


def clear_away(folder: Path, kept: Collection[int]) -> None:
    """Remove all files of a folder but these."""
    names = set(map(str, kept))
    with suppress(FileNotFoundError):
        for path in list(folder.iterdir()):
            if path.name not in names:
                path.unlink(missing_ok=True)
