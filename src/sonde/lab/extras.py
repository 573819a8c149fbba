"""Libraries that the lab needs and the base install does not bring: the extra named `lab`."""

from __future__ import annotations

import importlib
from typing import Any

from sonde.errors import InputError


def _need(module: str, what: str) -> Any:
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise InputError(f"{what} needs {module.split('.')[0]}: install sonde[lab]") from error


def pyplot() -> Any:
    """Matplotlib's figures, drawn without a display and the same on every run."""
    matplotlib = _need("matplotlib", "drawing figures")
    matplotlib.use("Agg")
    matplotlib.rcParams["svg.hashsalt"] = "sonde"
    matplotlib.rcParams["svg.fonttype"] = "none"
    return importlib.import_module("matplotlib.pyplot")


def special() -> Any:
    """SciPy's special functions."""
    return _need("scipy.special", "an interval")


def optimize() -> Any:
    """SciPy's optimisers, HiGHS among them."""
    return _need("scipy.optimize", "the exact optimum")


def sparse() -> Any:
    """SciPy's sparse matrices."""
    return _need("scipy.sparse", "the exact optimum")
