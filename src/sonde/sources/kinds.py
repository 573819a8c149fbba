"""The registry of kinds of sources: those built in, and those that installed packages offer.

A source is named by its kind and, after a colon, its place: ``mastodon:mastodon.example``. A URL
names the Web. A package offers a kind by an entry point in the group ``sonde.sources``, whose name
is the kind's and whose object is a ``Kind`` or a class with ``visit`` (see ``sources.kind``).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from typing import Any, NamedTuple

from sonde.errors import InputError
from sonde.net.urls import meant
from sonde.protocols import Source
from sonde.sources.context import SourceContext
from sonde.sources.kind import NAME, Kind, NoOptions, kind_from
from sonde.sources.options import read_options, texts_to_data
from sonde.sources.pseudonyms import Pseudonyms

GROUP = "sonde.sources"
"""The group of entry points."""

BUILT_IN = {
    "web": "sonde.sources.web.kind:Web",
    "mastodon": "sonde.sources.social:Mastodon",
    "bluesky": "sonde.sources.social:Bluesky",
    "api": "sonde.sources.social:Api",
    "form": "sonde.sources.form:Form",
    "peers": "sonde.sources.peers.source:Peers",
    "people": "sonde.crawling.interview:People",
    "scrapy": "sonde.scrapy.kind:Spiders",
}
"""Where the built-in kinds are; a kind is imported when it is used."""


class Chosen(NamedTuple):
    """A kind, with what was said for it: options as plain data, and where to start."""

    kind: Kind[Any]
    options: dict[str, Any]
    seeds: list[str]


def built_in(name: str) -> Kind[Any]:
    """A kind that comes with sonde."""
    module, _, attribute = BUILT_IN[name].partition(":")
    kind: Kind[Any] = getattr(import_module(module), attribute)()
    return kind


def offered() -> dict[str, EntryPoint]:
    """What installed packages offer, by name; a built-in kind cannot be replaced."""
    found = {point.name: point for point in entry_points(group=GROUP)}
    return {name: point for name, point in sorted(found.items()) if name not in BUILT_IN}


def loaded(point: EntryPoint) -> Kind[Any]:
    """The kind that a package offers."""
    try:
        thing = point.load()
    except Exception as error:  # whatever its import raises
        raise InputError(
            f"the source {point.name} ({point.value}) cannot be loaded: {error}"
        ) from None
    return kind_from(point.name, thing)


def kind_named(name: str) -> Kind[Any]:
    """The kind of this name."""
    if name in BUILT_IN:
        return built_in(name)
    points = offered()
    if name not in points:
        known = ", ".join([*BUILT_IN, *points])
        raise InputError(f"unknown source {name!r} (known: {known})")
    return loaded(points[name])


def chosen(starts: Iterable[str], options: Mapping[str, Any]) -> Chosen:
    """What a user named: a source and nodes to start from, or nothing but URLs."""
    names = list(starts)
    told = dict(options)
    if not names or not isinstance(names[0], str):
        return Chosen(built_in("web"), told, names)
    name, colon, place = names[0].partition(":")
    if not colon or name in ("http", "https") or not NAME.fullmatch(name):
        return Chosen(built_in("web"), told, names)
    if name not in BUILT_IN and name not in offered():
        known = ", ".join(f"{kind}:" for kind in [*BUILT_IN, *offered()] if kind != "web")
        hint = meant(names[0]) or f", nor a source ({known})"
        raise InputError(f"not an http or https URL: {names[0]!r:.200}{hint}")
    kind = kind_named(name)
    if place:
        if kind.place is None:
            raise InputError(f"nothing stands after {name}: ({place!r} does)")
        if kind.place in told:
            raise InputError(f"{kind.place} is given twice: as {place!r} and as an option")
        told |= texts_to_data(kind.options, [f"{kind.place}={place}"])
    return Chosen(kind, told, names[1:])


class CustomKind(Kind[NoOptions]):
    """An object that a program brought along: a run keeps that there was one."""

    name = "custom"
    summary = "an object of a program's own"

    def __init__(self, source: Source | None) -> None:
        self._source = source

    def make(self, options: NoOptions, context: SourceContext) -> Source:
        assert self._source is not None
        return self._source


def possible_names(config: Mapping[str, Any], name: str) -> list[str]:
    """What a run may call a node that a person calls so: the name itself, its one spelling, and
    its pseudonym where the key is at hand."""
    names = [name]
    kind: Kind[Any] | None = None
    with suppress(InputError):  # a source that is not installed, or an object of a program's own
        kind = kind_named(config.get("source", "web"))
    if kind is not None:
        with suppress(InputError):
            options: Any = read_options(kind.options, config.get("options", {}), kind.name)
            names.append(kind.spelt(options, name))
    if config.get("pseudonymise"):
        with suppress(InputError):  # without the key a run speaks of pseudonyms alone
            names.append(Pseudonyms.of(str(config["pseudonymise"])).hidden(name))
    return list(dict.fromkeys(names))
