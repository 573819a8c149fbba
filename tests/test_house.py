"""The house keeps its order: a name stands once, and means what the field means by it."""

from __future__ import annotations

import ast
import re
import tomllib
from collections import defaultdict
from pathlib import Path

import sonde

PACKAGE = Path(sonde.__file__).parent
SHARED = {"__init__", "__main__", "source", "kind"}
"""Names that each room or kind of source may have."""

RETIRED = [
    "sheaf",
    "mind",
    "purse",
    "shelf",
    "hindsight",
    "ending",
    "beginning",
    "approach",
    "ticket",
    "attached",
    "along",
    "reach",
    "summit",
    "presentation",
    "utils",
    "helpers",
    "common",
    "manager",
]
"""Words that explain nothing, or less than the usual one."""


def _modules() -> list[Path]:
    return sorted(PACKAGE.rglob("*.py"))


def _room(path: Path) -> str:
    return path.relative_to(PACKAGE).parts[0]


def test_a_module_name_stands_once() -> None:
    # A command may be called as its room, and a kernel as the estimator that it serves.
    places = defaultdict(list)
    for path in _modules():
        if path.stem not in SHARED and _room(path) not in ("cli", "kernels"):
            places[path.stem].append(str(path.relative_to(PACKAGE)))
    assert {name: found for name, found in places.items() if len(found) > 1} == {}


def test_a_class_name_stands_once() -> None:
    places = defaultdict(list)
    for path in _modules():
        if _room(path) == "kernels":
            continue
        for node in ast.parse(path.read_text()).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                places[node.name].append(str(path.relative_to(PACKAGE)))
    assert {name: found for name, found in places.items() if len(found) > 1} == {}


def test_no_module_has_a_name_that_needs_explaining() -> None:
    assert [path.name for path in _modules() if path.stem in RETIRED] == []


def test_every_module_says_what_it_is() -> None:
    mute = [str(path) for path in _modules() if not ast.get_docstring(ast.parse(path.read_text()))]
    assert mute == []


def test_the_glossary_names_what_exists() -> None:
    page = (PACKAGE.parent.parent / "docs" / "concepts" / "glossary.md").read_text()
    rows = [line.strip("|").split("|") for line in page.splitlines() if line.startswith("| ")][1:]
    assert len(rows) > 30
    for row in rows:
        name, file = row[2].strip(" `"), row[3].strip(" `")
        source = (PACKAGE / file).read_text()
        assert re.search(rf"^(class|def) {name}\b|^{name}\b", source, re.M), (name, file)
    words = [row[0].strip() for row in rows]
    assert words == sorted(words, key=str.lower)


def test_the_owners_of_dependencies_are_those_of_the_contracts() -> None:
    project = tomllib.loads((PACKAGE.parent.parent / "pyproject.toml").read_text())
    held = {}
    for contract in project["tool"]["importlinter"]["contracts"]:
        if contract["name"].endswith(" has its owners"):
            rooms = {each.partition(" -> ")[0] for each in contract.get("ignore_imports", ())}
            held[contract["forbidden_modules"][0]] = {
                room.removeprefix("sonde.").rstrip(".*") for room in rooms
            }
    page = (PACKAGE.parent.parent / "docs" / "dependencies.md").read_text()
    rows = re.findall(r"^\| `(\w+)` \| (.*) \|$", page.partition("## Owners")[2], re.M)
    assert {name: set(re.findall(r"`([\w.]+)`", rooms)) for name, rooms in rows} == held
