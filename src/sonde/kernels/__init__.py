"""Kernels: the hot loops, in Cython's pure-Python mode.

Each file is ordinary Python that also runs uncompiled, with the same results to the last bit:
doubles are summed in one documented order, randomness is an explicit generator (``dice``), and node
numbers are integers. A ``.pxd`` file beside a module gives its C types. Of other packages kernels
import NumPy alone, and of sonde one another. They read no file and no clock. Most take and give
arrays and numbers. What reads texts takes and gives texts; ``html.links`` and ``html.urls`` work on
lists and dictionaries, and ask the caller, by functions, what only the caller can decide.

``model``: what an exploration knows. ``Dice`` draws; a ``Register`` numbers nodes; the ``Frontier``
is the table of rows that may be visited, ``Boxes`` bound its blocks; a ``Leaf`` ranks it
(``Tournament``, ``Chance``, ``Custom``, ``Linear``, ``Regression``, ``Wealth``, ``Expectation``,
``Foresight``, ``Relevance``); a ``Chooser`` says which leaf picks, as one of several ``experts`` or
alone; ``Links`` with their ``LinkWords`` remember what was seen; a ``Signal`` turns what is told
into features (``Neighbourhood`` and ``SecondLevel``; ``Cash`` and ``Navigation`` in ``flow``;
``Yields`` with its ``Vocabulary`` and ``Ratios``, and a ``Forecast`` from its parts; ``Places``,
``Feedback`` and ``Quickness`` in ``significance``); the ``Model`` ties them together; ``replay``
runs a model over a recorded graph.

``html``: ``wellformed`` says whether a page is in order as it stands, ``depth_limit`` how much of
another one a parser may be given, ``scan`` what it says, ``links`` where its links lead, ``urls``
which of them are alike; ``tags`` are the names that these know. ``text``: ``utf8`` is what all
read, ``folding`` makes texts comparable, ``link_words`` numbers the words of links, ``simhash``
makes fingerprints, ``wikidump``, ``wikimarks`` and ``wikitext`` read wikis.

``graphs``: ``adjacency`` and ``naming`` build recorded graphs, ``coverage`` chooses seeds,
``harvest`` judges crawls; ``dominance``, ``lagrangian`` and ``paths`` bound what a crawl can bring.
``citations``: an ``Expansion`` finds the most cited, ``Recrawl`` keeps up with them.

``byte`` has the codes of characters, and what kernels ask of bytes: a ``.pxd`` of inline functions,
and the same as Python. Compiled, no index is checked: kernels that read texts refuse with a
``ValueError`` what would lead them out of bounds; those of models, graphs and citations trust the
rooms that make their arrays.

What a kernel object has learned, and a snapshot keeps, its class declares: ``LEARNED`` names its
arrays and numbers, ``PARTS`` the kernel objects within it that have learned themselves. A class
that declares nothing cannot be captured.

A model is built for one engine: ``load("compiled")`` or ``load("python")``. Compiled kernels need
NumPy alone; uncompiled ones need Cython too, whose ``cython`` module gives their types a meaning.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from importlib.machinery import PathFinder, SourceFileLoader
from importlib.util import find_spec, spec_from_file_location, spec_from_loader
from pathlib import Path
from types import ModuleType, SimpleNamespace

from sonde.errors import UncompiledError

_FOLDER = Path(__file__).parent

PACKAGES = ("model", "text", "citations")
"""The sub-packages whose kernels a caller asks for by engine."""


def compiled() -> bool:
    """Whether the kernels were compiled when this package was installed."""
    return find_spec("sonde.kernels._cyutility") is not None


if not compiled() and find_spec("cython") is None:
    raise UncompiledError(
        "sonde was installed without a C compiler, and its kernels need Cython then: pip install"
        " 'sonde[uncompiled]' (slow), or install a compiler and sonde again"
    )


class _Cimports:
    """What a kernel cimports, as a module: ``cython.cimports.sonde.kernels.x`` is the module
    ``sonde.kernels.x`` to a kernel that runs as Python."""

    PREFIX = "cython.cimports."

    @classmethod
    def install(cls):
        importlib.import_module("cython.cimports").__spec__ = None  # it has none, and is asked
        sys.meta_path.insert(0, cls)

    @classmethod
    def find_spec(cls, fullname, path=None, target=None):
        named = fullname.startswith(f"{cls.PREFIX}sonde")
        return spec_from_loader(fullname, cls, is_package=True) if named else None

    @staticmethod
    def create_module(spec):
        return None

    @classmethod
    def exec_module(cls, module):
        name = module.__name__
        sys.modules[name] = importlib.import_module(name.removeprefix(cls.PREFIX))


@contextmanager
def as_python() -> Iterator[None]:
    """While it lasts, kernels can be run as the Python that they are also written in."""
    _Cimports.install()
    try:
        yield
    finally:
        sys.meta_path.remove(_Cimports)
        for name in [name for name in sys.modules if name.startswith(f"{_Cimports.PREFIX}sonde")]:
            del sys.modules[name]


if not compiled():
    _Cimports.install()


class _SourceOnly(PathFinder):
    """Finds kernels as source files, even where a compiled module lies beside them."""

    @classmethod
    def find_spec(cls, fullname, path=None, target=None):
        if not fullname.startswith(f"{__name__}."):
            return None
        source = _FOLDER.joinpath(*fullname.removeprefix(f"{__name__}.").split("."))
        if source.is_dir():
            return None
        source = source.with_suffix(".py")
        if not source.exists():
            return None
        loader = SourceFileLoader(fullname, str(source))
        return spec_from_file_location(fullname, source, loader=loader)


def names(package: str) -> list[str]:
    """The kernels of a sub-package."""
    files = (_FOLDER / package).glob("*.py")
    return sorted(path.stem for path in files if path.stem != "__init__")


@cache
def _homes() -> dict[str, str]:
    """The kernels that there are, with the names of their modules."""
    return {name: f"{__name__}.{package}.{name}" for package in PACKAGES for name in names(package)}


class _Installed(SimpleNamespace):
    """The kernels as they were installed, each imported when it is first asked for."""

    def __getattr__(self, name: str) -> ModuleType:
        if name not in _homes():
            raise AttributeError(f"there is no kernel {name!r}")
        module = importlib.import_module(_homes()[name])
        setattr(self, name, module)
        return module


@cache
def load(engine: str) -> SimpleNamespace:
    """The kernel modules by name. "python" gives the uncompiled ones, which are slow."""
    if engine == "compiled" or not compiled():
        return _Installed()
    # The modules import one another by name: set the compiled ones aside while the sources load.
    prefix = f"{__name__}."
    aside = {name: sys.modules.pop(name) for name in list(sys.modules) if name.startswith(prefix)}
    sys.meta_path.insert(0, _SourceOnly)
    try:
        with as_python():
            modules = {name: importlib.import_module(home) for name, home in _homes().items()}
    finally:
        sys.meta_path.remove(_SourceOnly)
        for name in [name for name in sys.modules if name.startswith(prefix)]:
            del sys.modules[name]
        sys.modules.update(aside)
    return SimpleNamespace(**modules)
