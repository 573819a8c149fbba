"""Graph folders on disk, one for each topic, written batch by batch.

Files take their final names only when all of them are complete: a build that is stopped leaves
what was there before.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from sonde.data.topics import Floats, folder_names
from sonde.errors import InputError
from sonde.interruption import check
from sonde.sources.graph.folder import candidates

ROWS = 1 << 17
"""Rows that are written together at least."""


def places(target: Path, labels: Sequence[str]) -> list[Path]:
    """The folder of each label: ``target`` itself for one, folders inside it for several."""
    if len(labels) == 1:
        return [target]
    return [target / name for name in folder_names(labels)]


class Folders:
    """Graph folders that share all rows but for the scores. Use as a context manager."""

    def __init__(self, folders: Sequence[Path]) -> None:
        self.folders = list(folders)
        self.notes: list[str] = []  # what a reader of the folders may not expect
        self._writers: dict[tuple[int, str], pq.ParquetWriter] = {}
        self._pending: dict[str, list[tuple[pa.Table, Floats]]] = {}
        self._rows: dict[str, int] = {}
        self._made: list[Path] = []  # folders that were not there, the outer ones first
        try:
            for folder in self.folders:
                self._made += [p for p in (*reversed(folder.parents), folder) if not p.exists()]
                folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise InputError(f"{error.filename}: {error.strerror}") from None
        for folder in self.folders:
            for stem in ("nodes", "edges"):
                kept = folder / f"{stem}.parquet"
                others = [path for path in candidates(folder, stem) if path != kept]
                if others:
                    raise InputError(f"{others[0]}: already there, and {kept} would contradict it")

    def add(self, stem: str, rows: pa.Table, scores: Floats) -> None:
        """Rows of ``nodes`` or ``edges``, with a column of scores for each folder."""
        check()
        waiting = self._pending.setdefault(stem, [])
        waiting.append((rows, scores))
        self._rows[stem] = self._rows.get(stem, 0) + rows.num_rows
        if self._rows[stem] >= ROWS:
            self._flush(stem)

    def finish(self, about: Sequence[dict[str, Any]]) -> None:
        """Complete all files and give them their names."""
        for stem in self._pending:
            self._flush(stem)
        self._close()
        for folder, facts in zip(self.folders, about, strict=True):
            text = json.dumps(facts, indent=2, ensure_ascii=False) + "\n"
            (folder / "about.json.part").write_text(text, encoding="utf-8")
        for folder in self.folders:
            for name in ("nodes.parquet", "edges.parquet", "about.json"):
                (folder / f"{name}.part").replace(folder / name)

    def __enter__(self) -> Folders:
        return self

    def __exit__(self, *_: object) -> None:
        try:
            self._close()
        finally:  # a full disk cannot even take what is pending
            for folder in self.folders:
                for name in ("nodes.parquet", "edges.parquet", "about.json"):
                    (folder / f"{name}.part").unlink(missing_ok=True)
            for made in reversed(self._made):
                with suppress(OSError):  # it holds what was built
                    made.rmdir()

    def _flush(self, stem: str) -> None:
        waiting = self._pending[stem]
        if not waiting:
            return
        rows = pa.concat_tables([table for table, _ in waiting])
        names = 1 if stem == "nodes" else 2
        for number in range(len(self.folders)):
            scores = pa.concat_arrays([pa.array(part[:, number]) for _, part in waiting])
            self._writer(number, stem, whole := rows.add_column(names, "score", scores))
            self._writers[number, stem].write_table(whole)
        waiting.clear()
        self._rows[stem] = 0

    def _writer(self, number: int, stem: str, rows: pa.Table) -> None:
        if (number, stem) not in self._writers:
            file = self.folders[number] / f"{stem}.parquet.part"
            self._writers[number, stem] = pq.ParquetWriter(file, rows.schema, compression="zstd")

    def _close(self) -> None:
        for writer in self._writers.values():
            writer.close()
        self._writers.clear()
