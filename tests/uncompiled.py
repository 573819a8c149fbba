"""Kernels as the source files that they are, beside the compiled ones."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType
from typing import Any

from sonde.kernels import as_python


def uncompiled(module: ModuleType) -> Any:
    """The kernel module, run as Python."""
    name = module.__name__.rpartition(".")[2]
    source = Path(str(module.__file__)).parent / f"{name}.py"
    spec = importlib.util.spec_from_file_location(f"uncompiled_{name}", source)
    assert spec is not None
    assert spec.loader is not None
    loaded = importlib.util.module_from_spec(spec)
    with as_python():
        spec.loader.exec_module(loaded)
    return loaded
