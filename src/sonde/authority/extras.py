"""Libraries that the base install does not bring, asked for by name when they are needed."""

from __future__ import annotations

import importlib
from typing import Any

from sonde.errors import InputError


def _need(module: str, extra: str, what: str) -> Any:
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise InputError(f"{what} needs {extra}: install sonde[{extra}]") from error


def scipy_sparse(what: str) -> Any:
    return _need("scipy.sparse", "scipy", what)


def scipy_csgraph(what: str) -> Any:
    return _need("scipy.sparse.csgraph", "scipy", what)


def pyplot(what: str) -> Any:
    """Matplotlib's figures, drawn without a display and the same on every run."""
    matplotlib = _need("matplotlib", "matplotlib", what)
    matplotlib.use("Agg")
    matplotlib.rcParams["svg.hashsalt"] = "sonde"
    matplotlib.rcParams["svg.fonttype"] = "none"
    return importlib.import_module("matplotlib.pyplot")
