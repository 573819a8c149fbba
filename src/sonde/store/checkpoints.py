"""Checkpoints: the state of a run's parts at positions of its log (snapshots).

Telling the log from its start gives the same state, and takes longer. A checkpoint is a file of
named arrays, which is mapped rather than read; reading one runs no code. The last ``KEPT`` stay.
A file counts only once the log up to its position is committed: the table ``checkpoints`` says so.
Whatever else is in the folder (outdated, or of a process that was killed) is cleared away when the
next one is written.

    run/checkpoints/<position>      a line of JSON (what stands where), then the arrays
"""

from __future__ import annotations

import json
import math
import mmap
import sqlite3
from collections.abc import Collection, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

Arrays: TypeAlias = Mapping[str, npt.NDArray[Any]]
"""What a part of a run is captured as."""

FOLDER = "checkpoints"
KEPT = 2

_ALIGNED = 64  # bytes


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
        "SELECT log_seq FROM checkpoints WHERE ?1 IS NULL OR log_seq < ?1 ORDER BY 1 DESC",
        (before,),
    )
    return [seq for (seq,) in found]


def checkpoints(
    database: sqlite3.Connection, folder: Path | None, before: int | None
) -> Iterator[tuple[int, dict[str, Arrays]]]:
    """The checkpoints of a run before a position of its log, the latest first."""
    for seq in positions(database, before) if folder is not None else ():
        assert folder is not None
        state = read_checkpoint(folder / FOLDER, seq)
        if state is not None:
            yield seq, state


def clear_away(folder: Path, kept: Collection[int]) -> None:
    """Remove all files of a folder but these."""
    names = set(map(str, kept))
    with suppress(FileNotFoundError):
        for path in list(folder.iterdir()):
            if path.name not in names:
                path.unlink(missing_ok=True)
