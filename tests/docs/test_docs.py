"""The documentation is true: its examples run, its links resolve, and it leaves nothing out."""

from __future__ import annotations

import argparse
import importlib.util
import inspect
import re
import sys
import tomllib
from dataclasses import fields
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import sonde
import sonde.crawling
from docs.pages import ROOT, Block, blocks, commands, matches, pages, run_page
from sonde import cli, crawling, explorer, records, testing
from sonde.crawling.progress import STOPS
from sonde.crawling.settings import Settings
from sonde.net.exchange import REASONS
from sonde.sources.social.description import read_description
from sonde.sources.web.fields import read_rules

DOCS = ROOT / "docs"
MOST_NOT_RUN = 40
"""How many blocks may be left out because they need a network, a server or a file of the user's."""

PAGES = pytest.mark.parametrize("page", pages(), ids=lambda page: str(page.relative_to(ROOT)))


def script(name: str) -> ModuleType:
    """A script that lies in docs/, as a module."""
    spec = importlib.util.spec_from_file_location(f"docs_{name}", DOCS / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def all_blocks() -> list[Block]:
    return [block for page in pages() for block in blocks(page)]


@PAGES
def test_examples_run(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    module = ModuleType("page")
    monkeypatch.setitem(sys.modules, "page", module)
    monkeypatch.chdir(tmp_path)
    run_page(page, module)


def test_few_blocks_are_left_out() -> None:
    left_out = [block.place for block in all_blocks() if "not run" in block.notes]
    assert len(left_out) <= MOST_NOT_RUN, left_out


def test_every_language_is_known() -> None:
    known = {"python", "console", "output", "text", "toml", "cython", "tsv"}
    assert [block.place for block in all_blocks() if block.language not in known] == []


def test_commands_that_are_not_run_can_be_read() -> None:
    """Also where an example needs a network, its options must be those that there are."""
    parser = cli.parser()
    for block in all_blocks():
        if block.language == "console" and "not run" in block.notes:
            for command in commands(block):
                for arguments in command.sonde:
                    assert readable(parser, arguments), f"{block.place}: {command.line}"


def readable(parser: argparse.ArgumentParser, arguments: list[str]) -> bool:
    try:
        parser.parse_args(arguments)
    except SystemExit as end:
        return end.code == 0
    return True


def test_configurations_can_be_read() -> None:
    for block in all_blocks():
        if block.language == "toml":
            values = tomllib.loads(block.text)
            if "posts" in values:  # an API, described
                read_description(block.text, block.place)
                continue
            if all(isinstance(value, dict) for value in values.values()):  # a file of fields
                read_rules(block.text, block.place)
                continue
            for name in ("seeds", "source", "options"):
                values.pop(name, None)
            Settings.of(values, block.place)


# -- nothing is left out -------------------------------------------------------------------------


def test_every_command_and_option_is_in_the_reference() -> None:
    reference = script("cli_reference")
    sections = _sections((DOCS / "reference" / "cli.md").read_text(encoding="utf-8"))
    for words, parser in reference.commands():
        section = sections[f"sonde {' '.join(words)}"]
        for action in reference.arguments(parser):
            for name in action.option_strings or [action.metavar or action.dest]:
                assert re.search(rf"`[^`]*{re.escape(name)}\b", section), f"{words}: {name}"


def test_the_command_line_reference_is_up_to_date() -> None:
    reference = script("cli_reference")
    page = (DOCS / "reference" / "cli.md").read_text(encoding="utf-8")
    assert page == reference.text(), "run: python docs/cli_reference.py"


PUBLIC = (sonde, explorer, records, crawling, testing)
"""The rooms that docs/reference/api.md lists; others have pages of their own."""


def test_the_reference_lists_exactly_what_is_public() -> None:
    page = (DOCS / "reference" / "api.md").read_text(encoding="utf-8")
    listed = re.findall(r"^### `(\w+)`$", page, flags=re.MULTILINE)
    public = {name for room in PUBLIC for name in room.__all__}
    assert len(listed) == len(set(listed))
    assert set(listed) == public


@pytest.mark.parametrize("room", PUBLIC, ids=lambda room: room.__name__)
def test_public_names_are_explained_with_their_parameters(room: ModuleType) -> None:
    sections = _sections((DOCS / "reference" / "api.md").read_text(encoding="utf-8"))
    for name in room.__all__:
        thing = getattr(room, name)
        if not callable(thing) or (isinstance(thing, type) and issubclass(thing, Exception)):
            continue
        if name in ("CrawlSettings", "DriverView", "Interview", "Settings"):
            parameters = []  # their page explains them, or nobody makes one
        else:
            parameters = [each for each in inspect.signature(thing).parameters if each != "self"]
        for each in parameters:
            assert re.search(rf"\b{each}\b", sections[name]), f"{name}: {each} is not explained"
        if isinstance(thing, type) and name != "Settings":
            for member in _members(thing):
                assert re.search(rf"\b{member}\b", sections[name]), f"{name}.{member}"


def test_every_name_of_a_live_crawl_is_in_the_reference() -> None:
    page = (DOCS / "reference" / "api.md").read_text(encoding="utf-8")
    for name in sonde.crawling.__all__:
        assert re.search(rf"^###.*`{name}`|`{name}`", page, flags=re.MULTILINE), name


def _members(thing: type[Any]) -> list[str]:
    return [
        name
        for name, member in vars(thing).items()
        if not name.startswith("_")
        and (inspect.isfunction(member) or isinstance(member, property | classmethod))
    ]


def _sections(text: str) -> dict[str, str]:
    """What stands under each heading, by the heading without backquotes."""
    parts = re.split(r"^#+ (.+)$", text, flags=re.MULTILINE)
    return dict(zip((title.replace("`", "") for title in parts[1::2]), parts[2::2], strict=True))


def test_every_dependency_is_explained() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    requirements = [
        *project["build-system"]["requires"],
        *project["project"]["dependencies"],
        *(each for extra in project["project"]["optional-dependencies"].values() for each in extra),
    ]
    page = (DOCS / "dependencies.md").read_text(encoding="utf-8").partition("## Owners")[0]
    explained = set(re.findall(r"^\| `([^`]+)` \|", page, flags=re.MULTILINE))
    wanted = {re.split(r"[\[<>=!~; ]", each)[0] for each in requirements} - {"sonde"}
    assert wanted == explained


def test_every_setting_and_reason_of_a_crawl_is_explained() -> None:
    page = (DOCS / "guides" / "crawl.md").read_text(encoding="utf-8")
    told = set(re.findall(r"`([\w-]+)`", page))
    settings = {each.name for each in fields(Settings)}
    assert settings - told == set()
    assert {*REASONS, *STOPS} - told == set()


@pytest.mark.parametrize("estimator", ["random", "bfs", "oracle", "deg", "opic", "nr", "mab:var"])
def test_every_estimator_is_explained(estimator: str) -> None:
    assert f"`{estimator}" in (DOCS / "concepts" / "estimators.md").read_text(encoding="utf-8")


def test_tests_that_pages_name_exist() -> None:
    for page in linked_pages():
        for file, name in re.findall(
            r"`(tests/[\w/]+\.py)(?:::(\w+))?`", page.read_text(encoding="utf-8")
        ):
            assert (ROOT / file).exists(), f"{page.name}: {file}"
            assert f"def {name}" in (ROOT / file).read_text(encoding="utf-8"), f"{file}: {name}"


# -- links ---------------------------------------------------------------------------------------

_LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)\)|(?:src|href)=\"([^\"]+)\"")


def linked_pages() -> list[Path]:
    return [*pages(), *(ROOT / f"{name}.md" for name in ("CONTRIBUTING", "CHANGELOG", "SECURITY"))]


@pytest.mark.parametrize("page", linked_pages(), ids=lambda page: str(page.relative_to(ROOT)))
def test_links_resolve(page: Path) -> None:
    text = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.M | re.S)
    for found in _LINK.finditer(text):
        target = found[1] or found[2]
        if re.match(r"[a-z]+:", target):
            continue
        path, _, anchor = target.partition("#")
        file = (page.parent / path).resolve() if path else page
        assert file.exists(), f"{page.name}: {target}"
        if anchor:
            assert anchor in _anchors(file), f"{page.name}: {target}"


def _anchors(page: Path) -> set[str]:
    titles = re.findall(r"^#+ (.+)$", page.read_text(encoding="utf-8"), flags=re.MULTILINE)
    plain = (re.sub(r"[^\w\- ]", "", title.lower()) for title in titles)
    return {title.strip().replace(" ", "-") for title in plain}


def test_every_page_can_be_found_from_the_index() -> None:
    index = (DOCS / "index.md").read_text(encoding="utf-8")
    for page in sorted(DOCS.rglob("*.md")):
        nested = page.parent.parent == DOCS / "results"  # found from the result that they belong to
        if page.name != "index.md" and not nested:
            assert f"({page.relative_to(DOCS)})" in index, page.name


# -- the test's own tools ------------------------------------------------------------------------


def test_figures_can_be_drawn(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    drawn = script("figures").draw_harvest(tmp_path / "harvest.svg", nodes=2_000, budget=200)
    assert "<svg" in (tmp_path / "harvest.svg").read_text(encoding="utf-8")
    assert drawn["oracle"] >= drawn["bfs"]


def test_dots_stand_for_anything() -> None:
    assert matches(["a", "...", "c 1... s"], ["a", "b", "b", "c 1.25 s"])
    assert matches(["a", "...", "c"], ["a", "c"])
    assert not matches(["a", "c"], ["a", "b", "c"])
    assert not matches(["a ... c"], ["a", "c"])


def test_the_tests_that_hold_promises_exist() -> None:
    page = (DOCS / "concepts" / "security.md").read_text(encoding="utf-8")
    named = re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", page)
    assert len(named) > 30
    for file, name in named:
        source = (ROOT / file).read_text(encoding="utf-8")
        assert f"\ndef {name}(" in source, (file, name)
    promises = [
        line for line in page.splitlines() if line.startswith("| ") and "promise" not in line
    ]
    assert all("::" in line for line in promises)
