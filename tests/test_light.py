"""What is imported: no more than is asked for. Modules are counted, not seconds."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

import sonde
from sonde import cli

HEAVY = frozenset(
    {
        "numpy", "pyarrow", "scipy", "matplotlib", "networkx", "aiohttp", "asyncio", "ssl",
        "sqlite3", "rich", "selectolax", "can_ada", "fastwarc", "protego", "publicsuffixlist",
        "Stemmer", "brotli", "zstandard", "multiprocessing", "importlib.metadata", "cython",
    }
)  # fmt: skip
"""What takes time to import, or memory, or opens a door."""


def imported(code: str, *, env: dict[str, str] | None = None) -> set[str]:
    """The modules that a new process has imported after some code."""
    tail = "\nimport json, sys; sys.stderr.write(json.dumps(list(sys.modules)))"
    done = subprocess.run(
        [sys.executable, "-c", code + tail],
        capture_output=True,
        text=True,
        check=True,
        env=os.environ | (env or {}),
    )
    return set(json.loads(done.stderr.splitlines()[-1]))


def heavy(code: str) -> set[str]:
    return imported(code) & HEAVY


def command(*words: str) -> str:
    """Code that runs a command as far as it goes."""
    return f"""
import contextlib
from sonde.cli import main
with contextlib.suppress(SystemExit):
    main({list(words)!r})
"""


def test_the_package_alone_is_nothing() -> None:
    assert heavy("import sonde") == set()


def test_the_explorer_is_numpy_and_the_kernels_that_it_needs() -> None:
    code = """
import sonde
explorer = sonde.Explorer(estimator="n", budget=3, seed=7)
explorer.add_seeds(["a"])
for lease in explorer.ask():
    explorer.tell(lease, sonde.Visit(score=1.0, links=[sonde.Link("b", score=0.5)]))
"""
    found = imported(code)
    assert found & HEAVY == {"numpy"}
    kernels = {name.split(".")[2] for name in found if name.startswith("sonde.kernels.")}
    assert kernels - {"_cyutility", "text"} == {"model"}


@pytest.mark.parametrize("words", [["--help"], ["--version"], [], ["no-such-command"]])
def test_help_and_version_import_no_command(words: list[str]) -> None:
    found = imported(command(*words))
    assert found & HEAVY == set()
    assert not {f"sonde.cli.{name}" for name in cli.COMMANDS} & found


def test_every_public_name_is_found_at_home() -> None:
    homes = [name for names in sonde._HOMES.values() for name in names]
    assert sorted(homes) == sorted(sonde.__all__)
    for home, names in sonde._HOMES.items():
        module = __import__(f"sonde.{home}", fromlist=names)
        for name in names:
            assert getattr(sonde, name) is getattr(module, name)


def test_a_name_that_is_not_there_is_missed() -> None:
    with pytest.raises(AttributeError, match="no attribute 'Nonsense'"):
        sonde.Nonsense  # type: ignore[attr-defined]  # noqa: B018


# What a command's help must not import, because the command can do without: those that touch no
# network, no run, no graph.
NETWORK = frozenset({"aiohttp", "asyncio", "protego", "selectolax"})
WITHOUT = {
    "simulate": NETWORK | {"sqlite3"},
    "authority": NETWORK | {"sqlite3"},
    "data": NETWORK | {"sqlite3", "numpy"},
    "lab": NETWORK - {"asyncio"} | {"sqlite3"},
    "budget": HEAVY,
    "doctor": HEAVY - {"importlib.metadata"},
    "show": NETWORK,
    "explain": NETWORK,
    "export": NETWORK - {"selectolax"},
    "forget": NETWORK,
    "seeds": NETWORK,
}


@pytest.mark.parametrize("name", WITHOUT)
def test_a_command_imports_what_it_needs(name: str) -> None:
    assert heavy(command(name, "--help")) & WITHOUT[name] == set()


def test_no_command_draws_figures_or_needs_cython_before_it_is_asked() -> None:
    found = imported("from sonde.cli import parser; parser()")
    assert {f"sonde.cli.{name}" for name in cli.COMMANDS} <= found
    assert found & {"matplotlib", "scipy", "networkx", "cython"} == set()


@pytest.mark.skipif(not os.path.exists("/proc/self/task"), reason="needs Linux's /proc")  # noqa: PTH110
def test_numpy_starts_no_threads_in_a_command_unless_the_user_asks_for_them() -> None:
    code = command("--version") + "import numpy, os; print(len(os.listdir('/proc/self/task')))"
    env = {name: value for name, value in os.environ.items() if not name.endswith("_THREADS")}

    def threads(**further: str) -> int:
        done = subprocess.run(
            [sys.executable, "-c", code],
            capture_output=True,
            text=True,
            check=True,
            env=env | further,
        )
        return int(done.stdout.splitlines()[-1])

    assert threads() == 1
    assert threads(OPENBLAS_NUM_THREADS="2") >= threads()
