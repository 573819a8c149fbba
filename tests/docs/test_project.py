"""What stands about the project in several places is the same in all of them."""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from importlib.metadata import version
from pathlib import Path
from typing import Any

import sonde
from docs.pages import ROOT


def project() -> dict[str, Any]:
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def test_there_is_one_version() -> None:
    assert project()["project"]["dynamic"] == ["version"]
    assert version("sonde") == sonde.__version__
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert f"\nversion: {sonde.__version__}\n" in citation


def test_the_changelog_has_the_usual_form() -> None:
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    versions = re.findall(r"^## (.+)$", text, flags=re.MULTILINE)
    assert versions[0] == "[Unreleased]"
    assert all(re.fullmatch(r"\[\d+\.\d+\.\d+\] - \d{4}-\d\d-\d\d", each) for each in versions[1:])
    kinds = {"Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"}
    assert set(re.findall(r"^### (.+)$", text, flags=re.MULTILINE)) <= kinds
    assert sonde.__version__ in text


def test_every_python_that_is_claimed_is_built_and_tested() -> None:
    found = project()
    claimed = {
        each.rpartition(" ")[2]
        for each in found["project"]["classifiers"]
        if re.search(r"Python :: 3\.\d+$", each)
    }
    assert min(claimed) == found["project"]["requires-python"].removeprefix(">=")
    built = {f"3.{each[3:-2]}" for each in found["tool"]["cibuildwheel"]["build"]}
    workflow = (ROOT / ".github" / "workflows" / "test.yml").read_text(encoding="utf-8")
    matrix = re.search(r"python: \[(.+)\]", workflow)
    assert matrix is not None
    tested = set(re.findall(r'"(3\.\d+)"', matrix[1]))
    assert claimed <= built == tested


def imports(path: Path) -> set[str]:
    """The top names of what a file imports, wherever in it."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {each.name.partition(".")[0] for each in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found.add(node.module.partition(".")[0])
    return found


def test_types_do_not_depend_on_which_extras_are_installed() -> None:
    """No type checker looks into what may be missing, so that it says the same without it."""
    found = project()
    needed = {
        re.split(r"[\[<>=!~; ]", each)[0].lower().replace("-", "_")
        for each in (
            *found["project"]["dependencies"],
            *found["project"]["optional-dependencies"]["test"],
            *found["build-system"]["requires"],
        )
    }
    brought = {"yarl", "multidict", "re2", "Stemmer"}  # by aiohttp, google-re2 and PyStemmer
    skipped = {
        name.partition(".")[0]
        for override in found["tool"]["mypy"]["overrides"]
        if override.get("follow_imports") == "skip"
        for name in override["module"]
    }
    folders = ("src", "tests", "benchmarks")
    files = [path for folder in folders for path in (ROOT / folder).rglob("*.py")]
    own = {path.stem for path in files} | {path.parent.name for path in files} | {"sonde_modules"}
    known = needed | brought | skipped | own | {"sonde"} | set(sys.stdlib_module_names)
    kernels = ROOT / "src" / "sonde" / "kernels"
    unknown = {
        f"{path.relative_to(ROOT)}: {name}"
        for path in files
        if kernels not in path.parents
        for name in imports(path)
        if name not in known
    }
    assert unknown == set()
