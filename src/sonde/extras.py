"""Libraries that the base install does not bring, asked for when they are needed."""

from __future__ import annotations

import importlib
from typing import Any

from sonde.errors import InputError


def _needed(module: str, what: str) -> Any:
    try:
        return importlib.import_module(module)
    except ImportError as error:
        extra = module.partition(".")[0]
        raise InputError(f"{what} needs {extra}: install sonde[{extra}]") from error


def scipy(part: str, what: str) -> Any:
    """A part of SciPy, for something that a user wants."""
    return _needed(f"scipy.{part}", what)


def mcp(what: str) -> Any:
    """The library of the Model Context Protocol."""
    return _needed("mcp", what)


def pyplot() -> Any:
    """Matplotlib's figures, drawn without a display and the same on every run."""
    matplotlib = _needed("matplotlib", "drawing figures")
    matplotlib.use("Agg")
    matplotlib.rcParams["svg.hashsalt"] = "sonde"
    matplotlib.rcParams["svg.fonttype"] = "none"
    return importlib.import_module("matplotlib.pyplot")
