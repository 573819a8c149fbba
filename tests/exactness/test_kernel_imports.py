"""Kernels import NumPy and one another: no files, no clocks, no other room."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from sonde import kernels

FOLDER = Path(str(kernels.__file__)).parent
STANDARD = {"__future__", "collections", "math", "struct", "sys", "typing"}
COMPILER = {"cython", "cpython", "libc"}


def imported(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield str(node.module).removeprefix("cython.cimports.")


def allowed(name: str) -> bool:
    if name.startswith("sonde.kernels"):
        return True
    return name.partition(".")[0] in {"numpy", *STANDARD, *COMPILER}


def test_kernels_import_numpy_alone() -> None:
    files = [path for path in FOLDER.rglob("*.py") if path != FOLDER / "__init__.py"]
    strangers = {name for path in files for name in imported(path) if not allowed(name)}
    assert strangers == set()
