"""A kind of source: how one is named, told its options, and made.

A ``Kind`` makes sources from plain data, so that a run can keep what it was made of and be taken
up again. Most of what it offers has a default that suits a source without needs.
"""

from __future__ import annotations

import inspect
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import MISSING, dataclass, field, fields, make_dataclass
from types import GenericAlias
from typing import Any, ClassVar, Generic, TypeVar

from sonde.errors import InputError
from sonde.protocols import Source
from sonde.records import Group
from sonde.sources.context import ArchivedPage, Reading, SourceContext, SourceSettings

FETCHING = frozenset(["fetching"])
"""All settings of the HTTP client: a kind heeds them whose source fetches with it."""

NAME = re.compile(r"[a-z][a-z0-9_-]*")


@dataclass(frozen=True)
class NoOptions:
    """Nothing can be said."""


Options = TypeVar("Options")


class Kind(ABC, Generic[Options]):
    """A kind of source. Subclass it, or let ``kind_from`` make one from a class with ``visit``."""

    name: str = ""
    summary: str = ""
    """One line, for lists."""
    nouns: tuple[str, str] = ("node", "nodes")
    """What its nodes are called, one and several."""
    units: tuple[str, str] = ("request", "requests")
    """What a budget counts."""
    options: type[Any] = NoOptions
    """A frozen dataclass: what a user can say besides the settings of every crawl."""
    place: str | None = None
    """The option that stands after the name, as in ``mastodon:SERVER``."""
    heeds: Collection[str] = ()
    """The settings that it listens to, besides those of every crawl (see ``crawling.settings``)."""
    needs: Collection[str] = ()
    """Those of them without which it can do nothing."""
    defaults: Mapping[str, Any] = {}
    """Settings that it is usually crawled with."""
    changeable: Collection[str] = ()
    """Options that may be given anew on resume: no decision in the log rests on them."""
    grouped: bool = False
    """Whether its links have groups that its pace tells apart."""
    tables: ClassVar[Mapping[str, str]] = {}
    """Tables that its sources keep with the run (``Keeper.rows`` and ``write``): by name, what
    stands after it in SQL, such as ``(host TEXT PRIMARY KEY, delay REAL) WITHOUT ROWID``."""
    reasons: ClassVar[Mapping[str, str]] = {}
    """What the reasons of its failures, skips and refusals mean, for people."""

    def settled(self, options: Options) -> Options:
        """The options as the run keeps them; called once, when the crawl is made. Whatever a file
        says is read here, so that the run does not depend on the file."""
        return options

    def seeds(self, options: Options, topic: str | None) -> Sequence[str]:
        """Where to start when the user does not say."""
        raise InputError(f"a crawl of {self.name} needs at least one seed")

    def spelt(self, options: Options, seed: str) -> str:
        """A seed in its one spelling; ``InputError`` for what cannot be a node."""
        return seed

    def group(self, options: Options, node: str) -> Group:
        """The group of a seed."""
        return None

    def rate(self, options: Options) -> tuple[int, float] | None:
        """The k and d of n = kT/d, where the source states them itself."""
        return None

    def check(self, options: Options, settings: SourceSettings) -> None:
        """``InputError`` for settings that it heeds and that cannot be meant."""

    def notice(self, options: Options, settings: SourceSettings) -> str:
        """What a user should know before the first request, in one line; mostly nothing."""
        return ""

    def plan(
        self,
        options: Options,
        settings: SourceSettings,
        seeds: Sequence[str],
        requests: int | None,
    ) -> Mapping[str, Any]:
        """What ``--dry-run`` should say besides options, seeds and budget, as plain data; a name
        that begins with ``seconds`` is a time. ``requests`` is what the budget allows."""
        return {}

    def reading(
        self, archived: ArchivedPage, media_type: str, main: bytes | None = None
    ) -> Reading | None:
        """How an answer that the run has kept is read, with where its main text stands
        (``PageFacts.main``); ``None`` where the kind keeps none."""
        return None

    @abstractmethod
    def make(self, options: Options, context: SourceContext) -> Source:
        """A source. Nothing is sent yet."""


class ClassKind(Kind[Any]):
    """The kind of a class whose constructor takes its options by name, and its ``context`` if it
    has a parameter of that name."""

    def __init__(self, name: str, made: Callable[..., Source]) -> None:
        self.name = name
        self.summary = (inspect.getdoc(made) or "").partition("\n")[0]
        self.nouns = getattr(made, "nouns", self.nouns)
        self._made = made
        parameters = _parameters(made)
        self._told = parameters.pop("context", None) is not None
        self.place = next(iter(parameters), None)
        self.options = make_dataclass(
            f"{name}_options",
            [_field(name, parameter) for parameter in parameters.values()],
            frozen=True,
            kw_only=True,
        )

    def make(self, options: Any, context: SourceContext) -> Source:
        values = {field.name: getattr(options, field.name) for field in fields(self.options)}
        if self._told:
            values["context"] = context
        source = self._made(**values)
        if not isinstance(source, Source):
            raise InputError(f"{self.name}: {type(source).__name__} has no visit method")
        return source


def kind_from(name: str, offered: Any) -> Kind[Any]:
    """What an entry point offers, as a kind: a ``Kind``, or a class with ``visit``."""
    if isinstance(offered, type) and issubclass(offered, Kind):
        offered = offered()
    if isinstance(offered, Kind):
        if offered.name != name:
            raise InputError(f"the source {name} calls itself {offered.name!r}")
        return offered
    if not callable(offered):
        raise InputError(f"the source {name} is neither a Kind nor a class with a visit method")
    return ClassKind(name, offered)


_PLAIN = {"str", "int", "float", "bool", "None", "tuple[str, ...]"}


def _parameters(made: Callable[..., Source]) -> dict[str, inspect.Parameter]:
    try:
        return dict(inspect.signature(made).parameters)
    except (TypeError, ValueError):
        return {}


def _field(name: str, parameter: inspect.Parameter) -> Any:
    """A parameter of a constructor as a field of a dataclass."""
    written = parameter.annotation
    kind = getattr(written, "__name__", None) if isinstance(written, type) else str(written)
    if isinstance(written, GenericAlias):
        kind = str(written)
    if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD) or set(
        str(kind).split(" | ")
    ).difference(_PLAIN):
        raise InputError(
            f"{name}: the option {parameter.name} must be annotated as str, int, float, bool or"
            f" tuple[str, ...]"
        )
    default = MISSING if parameter.default is parameter.empty else parameter.default
    return parameter.name, kind, field(default=default)
