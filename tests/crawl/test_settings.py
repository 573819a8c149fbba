"""A setting is declared once: calls, resume, files and the command line follow its declaration."""

from __future__ import annotations

import argparse
import dataclasses
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any, get_type_hints

import pytest

from sonde.budgets import Budget
from sonde.cli import crawl as command
from sonde.crawling import Crawl, Settings, open_run, read_config
from sonde.crawling.interview import InterviewSettings
from sonde.crawling.settings import (
    SETTINGS,
    CrawlSettings,
    ResumeSettings,
    heeded,
    objects_in,
    spelt_out,
)
from sonde.errors import InputError
from sonde.estimators import estimator_from
from sonde.sources.kinds import BUILT_IN, built_in
from sonde.store.run import Run

NAMES = [each.name for each in dataclasses.fields(Settings)]
PLAIN = [name for name in NAMES if SETTINGS[name].kept]
DEFAULTS: dict[str, Any] = {each.name: each.default for each in dataclasses.fields(Settings)}


def sample(name: str) -> Any:
    """A value that is not the default, as a file would say it."""
    by_name = {
        "scorer": "bm25",
        "estimator": "lnh",
        "strategy": "altered:0.9,0.1",
        "objective": "count",
        "scope": "host",
        "sitemaps": "no",
        "languages": ["en"],
        "login": {"page": "https://a.example/in", "fields": {"user": "me"}},
        "types": ["text/html"],
        "records": ["json-ld"],
        "pseudonymise": "env:KEY",
    }
    if name in by_name:
        return by_name[name]
    if choices := SETTINGS[name].choices:
        return next(choice for choice in choices if choice != DEFAULTS[name])
    default, kind = DEFAULTS[name], str(Settings.__dataclass_fields__[name].type)
    if (choices := SETTINGS[name].choices) is not None:
        return next(choice for choice in choices if choice != default)
    if isinstance(default, bool):
        return not default
    if isinstance(default, tuple):
        return ["a.example"]
    if SETTINGS[name].duration:
        return "15m"
    if "int" in kind.split(" | "):
        return (default or 0) + 200_000
    return 2.5 if "float" in kind.split(" | ") else "words"


# -- calls -----------------------------------------------------------------------------------------


def expected(name: str) -> Any:
    """The type that a call may give, by the declared one."""
    declared = get_type_hints(Settings)[name]
    if declared == tuple[str, ...]:
        return Sequence[str]
    return declared | Budget if name == "budget" else declared


def test_calls_have_the_declared_names_and_types() -> None:
    hints = get_type_hints(CrawlSettings)
    assert set(hints) == set(NAMES)
    for name in NAMES:
        assert hints[name] == expected(name), name


def test_resume_takes_what_is_declared_changeable_and_objects() -> None:
    may = {name for name in NAMES if SETTINGS[name].changeable or SETTINGS[name].objects}
    assert set(get_type_hints(ResumeSettings)) == may


def test_an_interview_takes_some_of_them() -> None:
    hints = get_type_hints(InterviewSettings)
    assert all(SETTINGS[name].engine for name in hints)
    assert all(hints[name] == expected(name) for name in hints)


def never_called() -> None:
    """What mypy must complain of: an ignored error that is none is an error of its own."""
    Crawl("https://a.example", budgets=3)  # type: ignore[call-arg]
    Crawl("https://a.example", delay="slow")  # type: ignore[arg-type]
    Crawl("https://a.example", hosts=3)  # type: ignore[arg-type]
    Crawl.resume("run", topic="tides")  # type: ignore[call-arg]
    Crawl.resume("run", delay=0.5)


def test_an_object_is_kept_as_what_it_calls_itself() -> None:
    lnh = estimator_from("lnh")
    settings = Settings.told({"estimator": lnh, "lookup": print, "topic": "tides"})
    assert settings.estimator is lnh
    assert settings.as_data() == {"estimator": str(lnh), "topic": "tides"}
    assert set(objects_in(vars(settings))) == {"estimator", "lookup"}


def test_a_budget_is_its_limits() -> None:
    told = spelt_out({"budget": Budget(5, 600, 7.0, 8.0), "topic": None, "for": "1h"})
    assert told == {"budget": 5, "bytes": 600, "seconds": 7.0, "cost": 8.0, "duration": "1h"}
    assert Settings.told(spelt_out({"budget": Budget(cost=8.0)})).limits == Budget(cost=8.0)


# -- runs and files --------------------------------------------------------------------------------


@pytest.mark.parametrize("name", PLAIN)
def test_what_a_run_keeps_is_read_back(name: str) -> None:
    given = {name: sample(name)}
    if name in ("requests", "per", "duration"):
        given = {"requests": 5, "per": 60.0, "duration": 900.0}
    settings = Settings.of(given)
    assert getattr(settings, name) != DEFAULTS[name]
    assert Settings.kept(settings.as_data() | {"seeds": [], "source": "web"}) == settings


@pytest.mark.parametrize("name", PLAIN)
def test_resume_refuses_what_decisions_rest_on(name: str, tmp_path: Path) -> None:
    Run.create(tmp_path / "run", {"source": "web", "seeds": [], "options": {}}).close()
    if SETTINGS[name].changeable:
        opened = open_run(tmp_path / "run", "web", {name: sample(name)})
        opened.run.close()
        assert getattr(opened.settings, name) == getattr(Settings.of({name: sample(name)}), name)
    else:
        with pytest.raises(InputError, match="cannot be changed on resume"):
            open_run(tmp_path / "run", "web", {name: sample(name)})


def test_another_writer_opens_the_run_of_a_source(tmp_path: Path) -> None:
    Run.create(tmp_path / "run", {"source": "form", "seeds": ["a"], "options": {}}).close()
    with pytest.raises(InputError, match="not a crawl of web: its source is form"):
        open_run(tmp_path / "run", "web", {})
    opened = open_run(tmp_path / "run", "form", {"lookup": print})
    opened.run.close()
    assert (opened.seeds, opened.settings.lookup) == (["a"], print)


@pytest.mark.parametrize("name", [name for name in PLAIN if SETTINGS[name].spelt])
def test_a_file_may_spell_it_otherwise(name: str, tmp_path: Path) -> None:
    file = tmp_path / "crawl.toml"
    value = '"15m"\nper = 60\nrequests = 5' if name == "duration" else '["en"]'
    file.write_text(f"{SETTINGS[name].spelt} = {value}\n")
    read = Settings.of(read_config(file).settings)
    assert getattr(read, name) != DEFAULTS[name]


@pytest.mark.parametrize(
    ("name", "bad", "message"),
    [
        (name, declared.least - 1, f"{name} must be")
        for name, declared in SETTINGS.items()
        if declared.least is not None
    ]
    + [
        (name, ["?"], f"{name} must be such as")
        for name, declared in SETTINGS.items()
        if declared.form is not None
    ]
    + [
        (name, "?", f"unknown {name}")
        for name, declared in SETTINGS.items()
        if declared.choices is not None
    ],
)
def test_bounds_and_forms(name: str, bad: Any, message: str) -> None:
    if isinstance(DEFAULTS[name], int) and isinstance(bad, float):
        bad = int(bad)
    with pytest.raises(InputError, match=message):
        Settings.kept({name: bad})
    with pytest.raises(InputError):
        Settings(delay=math.inf)


# -- kinds and the command line --------------------------------------------------------------------


@pytest.mark.parametrize("kind", BUILT_IN)
def test_kinds_heed_settings_that_there_are(kind: str) -> None:
    assert heeded(built_in(kind).heeds) <= set(NAMES)
    assert set(built_in(kind).defaults) <= set(NAMES)


def test_fetching_stands_for_every_setting_of_the_client() -> None:
    assert heeded(["fetching"]) == {name for name in NAMES if SETTINGS[name].fetching}
    assert heeded(["topic"]) == {"topic"}


def options() -> dict[str, argparse.Action]:
    parser = argparse.ArgumentParser()
    command.add_settings(parser)
    return {each.dest: each for each in parser._actions}


def test_every_setting_has_its_option() -> None:
    found = options()
    for name, declared in SETTINGS.items():
        assert (name in found) == (declared.flag is not None), name
        if declared.flag is not None:
            assert found[name].help, name
            assert found[name].default is None, name


@pytest.mark.parametrize("name", [name for name in PLAIN if SETTINGS[name].flag is not None])
def test_an_option_says_what_a_file_would(name: str) -> None:
    action = options()[name]
    value = sample(name)
    words = [action.option_strings[0]]
    if action.nargs != 0:
        words.append(value[0] if isinstance(value, list) else str(value))
    parser = argparse.ArgumentParser()
    command.add_settings(parser)
    said = vars(parser.parse_args(words))
    assert {key for key, told in said.items() if told is not None} == {name}
    read = int(said[name]) if name == "budget" else said[name]
    assert read == value
