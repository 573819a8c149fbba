"""The folder that a graph lives in: one file for `nodes`, one for `edges`."""

from __future__ import annotations

from pathlib import Path

from sonde.errors import GraphError
from sonde.sources.graph.compression import COMPRESSIONS
from sonde.sources.graph.lines import CSV, TSV
from sonde.sources.graph.parquet import ParquetTable
from sonde.sources.graph.tables import Table
from sonde.sources.graph.text import TextTable

FORMATS = (".parquet", ".tsv", ".csv")


def open_folder(folder: Path) -> tuple[Table | None, Table | None]:
    """The tables `nodes` and `edges`. Either may be missing, but not both."""
    if not folder.exists():
        raise GraphError(f"{folder}: no such folder")
    if not folder.is_dir():
        raise GraphError(f"{folder}: not a folder; a graph is a folder with `nodes` and `edges`")
    files = [_only(candidates(folder, stem)) for stem in ("nodes", "edges")]
    if files == [None, None]:
        formats = ", ".join(FORMATS)
        hint = ""
        if any(folder.glob("*.sqlite")):
            hint = f"; if it is a run: sonde export {folder} --graph GRAPH makes a graph of it"
        raise GraphError(f"{folder}: holds neither `nodes` nor `edges` ({formats}){hint}")
    nodes, edges = (None if file is None else _open(file) for file in files)
    return nodes, edges


def candidates(folder: Path, stem: str) -> list[Path]:
    """The files of the folder that could be the table `stem`."""
    paths = [folder / f"{stem}{form}{packed}" for form in FORMATS for packed in ("", *COMPRESSIONS)]
    return [path for path in paths if path.exists()]


def _only(paths: list[Path]) -> Path | None:
    if len(paths) > 1:
        raise GraphError(f"{paths[0]} and {paths[1]}: two files for the same table, keep one")
    return paths[0] if paths else None


def _open(path: Path) -> Table:
    suffixes = [suffix for suffix in path.suffixes if suffix not in COMPRESSIONS]
    if suffixes[-1] == ".parquet":
        return ParquetTable(path)
    return TextTable(path, TSV if suffixes[-1] == ".tsv" else CSV)
