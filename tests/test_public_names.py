"""Every public name can be imported both ways, and no name hides a module."""

from __future__ import annotations

import importlib
import pkgutil
import subprocess
import sys
from types import ModuleType

import pytest

import sonde


def modules() -> list[str]:
    """Every module of the package, by its dotted name."""
    found = pkgutil.walk_packages(sonde.__path__, "sonde.")
    return sorted(each.name for each in found if not each.name.endswith("__main__"))


MODULES = modules()


def bound(module: str) -> ModuleType:
    """What ``import a.b as m`` binds, which is what the parent calls so."""
    names: dict[str, ModuleType] = {}
    exec(f"import {module} as m", names)
    return names["m"]


@pytest.mark.parametrize("module", MODULES)
def test_no_name_hides_a_module(module: str) -> None:
    importlib.import_module(module)
    assert getattr(bound(module), "__name__", None) == module


@pytest.mark.parametrize("module", ["sonde", *MODULES])
def test_every_public_name_can_be_imported_both_ways(module: str) -> None:
    for name in getattr(importlib.import_module(module), "__all__", ()):
        names: dict[str, object] = {}
        exec(f"from {module} import {name} as one\nimport {module} as m\ntwo = m.{name}", names)
        assert names["one"] is names["two"], name


def test_names_that_are_imported_when_used_can_be_listed() -> None:
    for module in ("sonde", "sonde.crawling"):
        found = bound(module)
        assert set(found.__all__) <= set(dir(found))
        with pytest.raises(AttributeError):
            found.nothing_of_that_name  # noqa: B018


def test_the_crawl_can_be_had_from_a_fresh_interpreter() -> None:
    code = (
        "import sonde.crawling as c; c.Interview; import sonde; sonde.crawling.Crawl; sonde.crawl"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)


def test_whoever_explains_a_run_waits_for_no_http_client() -> None:
    code = (
        "import sys, sonde.cli.explain\n"
        "heavy = {'aiohttp', 'rich', 'pyarrow', 'selectolax'} & set(sys.modules)\n"
        "assert not heavy, heavy"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)
