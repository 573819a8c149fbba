"""The settings of a crawl: what a file, a command line or a call can say, each declared once.

A field of ``Settings`` is the declaration: its type, its default, and a ``Setting`` with all else
that is said of it (its option on the command line, its bounds, whether it may change on resume).
``CrawlSettings`` has the same names and types for calls, so that a type checker sees them.

A run keeps settings as plain data. An object (an estimator, a scorer) is kept as what it calls
itself, and is given again on resume. Secrets are not among them: ``headers``, ``cookies``,
``auth``, ``login`` and ``proxy`` may say where a secret comes from (``env:NAME`` or ``file:PATH``);
that alone is kept.
"""

# ruff: noqa: RUF009 (a declaration is a call that makes a field)

from __future__ import annotations

import math
import re
import tomllib
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any, NamedTuple, TypedDict, TypeVar

from sonde.budgets import Budget, planned_requests
from sonde.durations import seconds_from
from sonde.errors import InputError
from sonde.estimators import DEFAULT, Estimator
from sonde.estimators.builder import Strategy
from sonde.net.exchange import Limits
from sonde.protocols import CustomEstimator, Objective
from sonde.scorers.document import Scorer
from sonde.scorers.limits import SECONDS
from sonde.scorers.question import Question
from sonde.sources.context import DUPLICATES, REACHES, RECORD_KINDS, SITEMAPS
from sonde.sources.options import as_data, read_options, text_of_file

HEAD = 32_768
"""The longest line of a response head."""

HEADS = 8
"""A whole head may have so many times that."""

KEY = "~/.config/sonde/pseudonyms.key"
"""Where the key of pseudonyms is, unless somebody says otherwise."""


@dataclass(frozen=True, slots=True)
class Setting:
    """What is declared of a setting besides its type and its default."""

    family: str
    """What it is about: the heading that its option stands under."""
    help: str | None = None
    metavar: str | None = None
    flag: str | None = ""
    """Its option; empty for its own name, ``None`` for none."""
    choices: Sequence[str] | None = None
    const: str | None = None
    """What the option says when nothing stands behind it."""
    engine: bool = False
    """Whether it holds for every source; others speak to those kinds that heed them."""
    fetching: bool = False
    """Whether it is heeded by all kinds that fetch with the HTTP client."""
    changeable: bool = False
    """Whether it may be given anew on resume: no decision in the log rests on it."""
    objects: bool = False
    """Whether it may be an object, which is given again on resume."""
    kept: bool = True
    """Whether a run keeps it."""
    least: float | None = None
    form: tuple[str, str] | None = None
    """A pattern for each of its texts, and what such a text looks like."""
    duration: bool = False
    """Whether a text such as ``15m`` stands for seconds."""
    spelt: str = ""
    """What it is also called in a file."""
    file: bool = False
    """Whether it names a file, whose text the run keeps in its place."""


def _setting(
    default: Any, family: str, said: str | None = None, metavar: str | None = None, **declared: Any
) -> Any:
    setting = Setting(family, said, metavar, **declared)
    return field(default=default, metadata={"setting": setting})


_BRING = "what to bring"
_COST = "what it may cost"
_WHERE = "what belongs to it"
_HOW = "how to ask"
_KEEP = "what to keep"

_ENGINE: dict[str, Any] = {"engine": True}
_OBJECT: dict[str, Any] = {"engine": True, "objects": True}
_PART: dict[str, Any] = {"flag": None, "objects": True, "kept": False}
_CLIENT: dict[str, Any] = {"fetching": True, "changeable": True}
_TIME: dict[str, Any] = {"engine": True, "duration": True}
_LANGUAGE = (r"[A-Za-z]{2,3}(-[A-Za-z0-9]{1,8})*", "en or pt-br")
_MEDIA = (r"[A-Za-z0-9_.+-]+/[A-Za-z0-9_.+-]+", "text/html")


@dataclass(frozen=True)
class Settings:
    """All that a crawl can be told. Times are seconds or texts such as ``15m``."""

    topic: str | None = _setting(
        None, _BRING, 'phrases with commas between: tide gauge, "sea level", corout*, tide^2, -jazz'
    )
    exact: bool = _setting(False, _BRING, "count the topic's words only as they stand")
    question: str | None = _setting(
        None,
        _BRING,
        "bring what answers it, stop when new pages add nothing, write cited passages",
        "TEXT",
    )
    tokens: int = _setting(
        20_000, _BRING, "with --question: of all passages", "N", changeable=True, least=100
    )
    scorer: str | Scorer | Callable[[Any], Any] | None = _setting(
        None,
        _BRING,
        "what scores pages: keywords, bm25, regex:PATTERN, classifier:PATH, embedding:PATH,"
        " python:MODULE:FUNCTION (default: keywords)",
        "SPEC",
        objects=True,
    )
    scorer_seconds: float | str = _setting(
        SECONDS,
        _BRING,
        "that a python: or regex: scorer may take for a page, in a process of its own;"
        " 0: in this process, without a limit",
        "T",
        changeable=True,
        duration=True,
        least=0,
    )
    allow_pickle: bool = _setting(False, _BRING, "load a classifier from a pickle: runs its code")
    estimator: str | Estimator | CustomEstimator = _setting(
        DEFAULT, _BRING, "what predicts the worth of links", "SPEC", **_OBJECT
    )
    strategy: str | Strategy = _setting(
        "greedy", _BRING, "what to visit of it: greedy, or altered:q,zeta", "SPEC", **_OBJECT
    )
    objective: str | Objective = _setting(
        "sum", _BRING, "what scores add up to: sum, count or distinct", "NAME", **_OBJECT
    )
    seed: int = _setting(0, _BRING, "the seed of the dice", "N", **_ENGINE)

    budget: int | None = _setting(None, _COST, "requests; +N on resume for N more", "N", **_ENGINE)
    bytes: int | None = _setting(None, _COST, "bytes received", "N", **_ENGINE)
    seconds: float | str | None = _setting(None, _COST, "time, such as 90s or 2h", "T", **_TIME)
    cost: float | None = _setting(None, _COST, flag=None, **_ENGINE)
    requests: int | None = _setting(None, _COST, "a rate plan: K requests a host", "K", **_ENGINE)
    per: float | str | None = _setting(None, _COST, "... in each window, such as 15m", "D", **_TIME)
    duration: float | str | None = _setting(
        None, _COST, "... for a time such as 7d", "T", flag="--for", spelt="for", **_TIME
    )
    host_budget: int | None = _setting(None, _COST, "requests to one host", "N", least=1)
    domain_budget: int | None = _setting(
        None, _COST, "requests to one registrable domain", "N", least=1
    )
    # Both by one option, --stop-when-harvest-below.
    harvest_below: float | None = _setting(
        None, _COST, flag=None, changeable=True, least=0, **_ENGINE
    )
    harvest_over: int = _setting(200, _COST, flag=None, changeable=True, least=1, **_ENGINE)

    scope: str = _setting(
        "domain", _WHERE, "what seeds span, where no host is named", choices=REACHES
    )
    hosts: tuple[str, ...] = _setting(
        (), _WHERE, "a host that belongs to it", "HOST", flag="--host", spelt="host"
    )
    domains: tuple[str, ...] = _setting(
        (), _WHERE, "a domain, with all its hosts", "DOMAIN", flag="--domain", spelt="domain"
    )
    prefixes: tuple[str, ...] = _setting((), _WHERE, "all under a URL", "URL", flag="--prefix")
    include: tuple[str, ...] = _setting(
        (), _WHERE, "only URLs that fit: a glob, ?PARAMETER=VALUE or re:EXPRESSION", "PATTERN"
    )
    exclude: tuple[str, ...] = _setting((), _WHERE, "no URLs that fit", "PATTERN")
    skip: tuple[str, ...] = _setting(
        (), _WHERE, "a preset of URLs to exclude; --skip list names them", "PRESET"
    )
    sitemaps: str = _setting(
        "auto",
        _WHERE,
        "auto: read sitemaps and feeds that sites name, as choices among others",
        choices=SITEMAPS,
    )
    languages: tuple[str, ...] = _setting(
        (), _WHERE, "of pages", "CODE", flag="--language", spelt="language", form=_LANGUAGE
    )
    types: tuple[str, ...] = _setting(
        (),
        _WHERE,
        "a media type to read, and no other that is not named",
        "MIME",
        flag="--type",
        form=_MEDIA,
    )
    depth: int | None = _setting(None, _WHERE, "links from a seed at most", "N", least=0)
    nofollow: bool = _setting(
        True, _WHERE, "follow what asks not to be followed", flag="--ignore-nofollow"
    )

    duplicates: str = _setting(
        "zero",
        _WHERE,
        "what a page counts that nearly repeats another (default: zero)",
        choices=DUPLICATES,
    )
    traps: str = _setting(
        "on",
        _WHERE,
        "sample places that bring nothing new, or visit all (default: on)",
        choices=("on", "off"),
        changeable=True,
    )
    allow: tuple[str, ...] = _setting(
        (), _WHERE, "URLs that are no trap, whatever they bring", "PATTERN", changeable=True
    )

    delay: float = _setting(
        1.0, _HOW, "seconds between requests to a host", "S", changeable=True, least=0
    )
    longest_delay: float | str = _setting(
        60.0,
        _HOW,
        "seconds; hosts that ask for longer pauses are put off",
        "T",
        changeable=True,
        duration=True,
    )
    patience: float | str = _setting(
        5.0,
        _HOW,
        "wait for a better host than is ready",
        "T",
        changeable=True,
        duration=True,
        least=0,
    )
    concurrency: int = _setting(
        32, _HOW, "requests in flight at most", "N", changeable=True, least=1, **_ENGINE
    )
    per_host: int = _setting(1, _HOW, "connections to one host", "N", changeable=True, least=1)
    retries: int = _setting(
        2, _HOW, "how often to try again what failed and may pass", "N", least=0, **_CLIENT
    )
    redirects: int = _setting(5, _HOW, "redirects to follow at most", "N", fetching=True, least=0)
    timeout: float = _setting(
        60.0, _HOW, "seconds that one fetch may take", "S", least=0.001, **_CLIENT
    )
    max_size: int = _setting(
        10_000_000, _HOW, "bytes of one page at most", "BYTES", fetching=True, least=1_024
    )
    contact: str | None = _setting(
        None, _HOW, "a URL or an e-mail address for servers", "WHO", **_CLIENT
    )
    user_agent: str | None = _setting(None, _HOW, "instead of sonde's own", "TEXT", **_CLIENT)
    headers: tuple[str, ...] = _setting(
        (), _HOW, "a header to send", "[HOST ]NAME: VALUE", flag="--header", **_CLIENT
    )
    cookies: tuple[str, ...] = _setting(
        (), _HOW, "a cookie to send", "HOST NAME=SECRET", flag="--cookie", **_CLIENT
    )
    login: Mapping[str, Any] | Sequence[Mapping[str, Any]] | None = _setting(
        None, _HOW, flag=None, changeable=True
    )
    auth: tuple[str, ...] = _setting((), _HOW, "a login at one host", "HOST USER:SECRET", **_CLIENT)
    proxy: str | None = _setting(None, _HOW, "a proxy to fetch through", "URL", **_CLIENT)
    ca_file: str | None = _setting(
        None, _HOW, "certificates to trust beside the system's", "FILE", **_CLIENT
    )
    allow_private: bool = _setting(
        False, _HOW, "also loopback and private addresses: for one's own network", **_CLIENT
    )
    render: str = _setting(
        "never",
        _HOW,
        "draw pages that need a browser",
        choices=("auto", "always", "never"),
        changeable=True,
    )
    browser: str = _setting(
        "chromium", _HOW, "a name, a path or a ws:// address", "WHICH", changeable=True
    )
    lookup: Callable[..., Any] | None = _setting(None, _HOW, **_PART)

    pages: bool = _setting(True, _KEEP, "keep no WARC files", flag="--no-pages")
    text: bool = _setting(True, _KEEP, "keep no text of pages", flag="--no-text")
    records: tuple[str, ...] = _setting(
        (),
        _KEEP,
        f"collect structured data of pages: {', '.join(RECORD_KINDS)} or all",
        "KIND",
        form=(f"{'|'.join(RECORD_KINDS)}|all", f"{', '.join(RECORD_KINDS)} or all"),
    )
    fields: str | None = _setting(
        None,
        _KEEP,
        "collect the records that this file describes by CSS selectors",
        "TOML",
        file=True,
    )
    pseudonymise: str | None = _setting(
        None,
        _KEEP,
        "keep names out of the run folder; the key is env:VARIABLE or file:PATH, which is made if"
        f" it is not there (default: {KEY})",
        "KEY",
        const=f"file:{KEY}",
        changeable=True,
    )

    def __post_init__(self) -> None:
        for name, declared in SETTINGS.items():
            value = getattr(self, name)
            if declared.duration and isinstance(value, str):
                value = seconds_from(value)
                object.__setattr__(self, name, value)
            least = declared.least
            if least is not None and value is not None and not least <= value < math.inf:
                raise InputError(f"{name} must be {least:g} or more, not {value}")
            if declared.form is not None:
                pattern, such = declared.form
                for text in value:
                    if not re.fullmatch(pattern, text):
                        raise InputError(f"{name} must be such as {such}, not {text!r:.200}")
            if declared.choices is not None and value not in declared.choices:
                known = ", ".join(declared.choices)
                raise InputError(f"unknown {name} {value!r} (one of: {known})")
        if self.bytes is not None and 0 < self.bytes < self.most_received:
            raise InputError(
                f"bytes must be {self.most_received:,} or more, which one page may take, not"
                f" {self.bytes:,}"
            )
        plan = (self.requests, self.per, self.duration)
        if any(part is not None for part in plan) and None in plan:
            raise InputError("a rate plan needs all of requests, per and for")

    @classmethod
    def of(cls, values: Mapping[str, Any], where: str = "settings") -> Settings:
        """Settings from plain data; an unknown name or a wrong kind of value is an error."""
        return read_options(cls, values, where, spelt=_SPELT)

    @classmethod
    def kept(cls, config: Mapping[str, Any]) -> Settings:
        """The settings among all that a run keeps of what it was made of."""
        return kept_fields(cls, {name: config[name] for name in SETTINGS if name in config})

    @classmethod
    def told(cls, values: Mapping[str, Any], where: str = "settings") -> Settings:
        """Settings as a call gives them: some may be objects."""
        objects = objects_in(values)
        plain = {name: value for name, value in values.items() if name not in objects}
        return replace(cls.of(plain, where), **objects)

    def as_data(self) -> dict[str, Any]:
        """What differs from the defaults, as plain data; objects as what they call themselves."""
        told = as_data(self, defaults=False)
        told |= {name: str(value) for name, value in objects_in(told).items()}
        return {name: value for name, value in told.items() if SETTINGS[name].kept}

    @property
    def rate(self) -> tuple[int, float] | None:
        """The rate plan: k requests per host within d seconds."""
        if self.requests is None:
            return None
        return self.requests, float(self.per or 0.0)

    @property
    def limits(self) -> Budget:
        """The budget, with what a rate plan allows."""
        seconds = None if self.seconds is None else float(self.seconds)
        budget = Budget(self.budget, self.bytes, seconds, self.cost)
        if self.requests is not None:
            duration = float(self.duration or 0.0)
            planned = planned_requests(self.requests, float(self.per or 0.0), duration)
            budget = budget & Budget(requests=planned, seconds=duration)
        return budget

    @property
    def record_kinds(self) -> tuple[str, ...]:
        """The kinds of structured data to collect: those that were named, and all where records
        are what counts and nobody says which."""
        counted = self.objective == "distinct" and self.question is None
        if "all" in self.records or (counted and not self.records and self.fields is None):
            return RECORD_KINDS
        return self.records

    @property
    def fetch_limits(self) -> Limits:
        """The bounds of one fetch."""
        return Limits(
            total=self.timeout,
            connect=min(10.0, self.timeout),
            first_byte=min(20.0, self.timeout),
            head=self.head_limit,
            body=self.size_limit,
            redirects=self.redirects,
        )

    @property
    def head_limit(self) -> int:
        """The longest line of a response head; shorter under a small budget in bytes."""
        return HEAD if self.bytes is None else min(HEAD, max(self.bytes // 80, HEAD // 4))

    @property
    def most_received(self) -> int:
        """What one request may bring at most: so much is held for it."""
        return self.size_limit + HEADS * self.head_limit

    @property
    def size_limit(self) -> int:
        """The most of a body that is read: under a budget in bytes, no more than its twentieth."""
        if self.bytes is None:
            return self.max_size
        return min(self.max_size, max(self.bytes // 20, 65_536))


SETTINGS: dict[str, Setting] = {each.name: each.metadata["setting"] for each in fields(Settings)}
"""All settings, by name."""

_SPELT = {declared.spelt: name for name, declared in SETTINGS.items() if declared.spelt}
_OBJECTS = tuple(name for name, declared in SETTINGS.items() if declared.objects)


class ResumeSettings(TypedDict, total=False):
    """What a call may say on resume: what no decision rests on, and objects."""

    scorer: str | Scorer | Callable[[Any], Any] | None
    scorer_seconds: float | str
    estimator: str | Estimator | CustomEstimator
    strategy: str | Strategy
    objective: str | Objective
    harvest_below: float | None
    harvest_over: int
    traps: str
    allow: Sequence[str]
    delay: float
    longest_delay: float | str
    patience: float | str
    concurrency: int
    per_host: int
    retries: int
    timeout: float
    contact: str | None
    user_agent: str | None
    headers: Sequence[str]
    cookies: Sequence[str]
    login: Mapping[str, Any] | Sequence[Mapping[str, Any]] | None
    auth: Sequence[str]
    proxy: str | None
    ca_file: str | None
    allow_private: bool
    tokens: int
    render: str
    browser: str
    lookup: Callable[..., Any] | None
    pseudonymise: str | None


class CrawlSettings(ResumeSettings, total=False):
    """What a call may say for a new crawl: every setting, a budget also as a ``Budget``."""

    topic: str | None
    exact: bool
    question: str | None
    allow_pickle: bool
    seed: int
    budget: int | Budget | None
    bytes: int | None
    seconds: float | str | None
    cost: float | None
    requests: int | None
    per: float | str | None
    duration: float | str | None
    host_budget: int | None
    domain_budget: int | None
    scope: str
    hosts: Sequence[str]
    domains: Sequence[str]
    prefixes: Sequence[str]
    include: Sequence[str]
    exclude: Sequence[str]
    skip: Sequence[str]
    sitemaps: str
    languages: Sequence[str]
    types: Sequence[str]
    depth: int | None
    nofollow: bool
    duplicates: str
    redirects: int
    max_size: int
    pages: bool
    text: bool
    records: Sequence[str]
    fields: str | None


_Kept = TypeVar("_Kept")


def kept_fields(cls: type[_Kept], values: Mapping[str, Any]) -> _Kept:
    """A dataclass of settings or options from what a run keeps of it: it was checked before."""
    return cls(
        **{
            name: tuple(value) if isinstance(value, list) else value
            for name, value in values.items()
        }
    )


def with_files(told: Mapping[str, Any]) -> dict[str, Any]:
    """Settings with the texts of files in the place of their names."""
    return {
        name: text_of_file(value)
        if name in SETTINGS and SETTINGS[name].file and "\n" not in str(value)
        else value
        for name, value in told.items()
    }


def for_question(told: Mapping[str, Any]) -> dict[str, Any]:
    """Settings as a question wants them: its words are the topic, unless there is one, and what
    counts are facts that nobody has said before."""
    if not told.get("question"):
        if "tokens" in told:
            raise InputError("tokens are those of the passages that answer a question: give one")
        return dict(told)
    if "objective" in told:
        raise InputError("a question has an objective of its own: leave out objective")
    if told.get("text") is False:
        raise InputError("passages that answer a question are made of texts: leave out --no-text")
    asked = Question(str(told["question"]))
    default = {} if "scorer" in told or "topic" in told else {"scorer": "bm25"}
    topic = (
        {}
        if "topic" in told or not isinstance(told.get("scorer", ""), str)
        else {"topic": asked.topic}
    )
    return {**default, **topic, **told, "objective": "distinct"}


def objects_in(values: Mapping[str, Any]) -> dict[str, Any]:
    """Those settings that are objects."""
    return {
        name: values[name]
        for name in _OBJECTS
        if values.get(name) is not None and not isinstance(values[name], str)
    }


def spelt_out(values: Mapping[str, Any]) -> dict[str, Any]:
    """What a call says, under the settings' own names: without those that say nothing, and a
    ``Budget`` as the limits that it has."""
    told = {
        _SPELT.get(name, name.replace("-", "_")): value
        for name, value in values.items()
        if value is not None
    }
    budget = told.get("budget")
    if isinstance(budget, Budget):
        del told["budget"]
        limits = {
            "budget": budget.requests,
            "bytes": budget.bytes,
            "seconds": budget.seconds,
            "cost": budget.cost,
        }
        told |= {name: limit for name, limit in limits.items() if limit is not None}
    return told


def heeded(names: Collection[str]) -> frozenset[str]:
    """The settings that a kind of source heeds, where ``fetching`` stands for all of the client."""
    fetching = [name for name, declared in SETTINGS.items() if declared.fetching]
    return frozenset(names).difference(["fetching"]).union(fetching if "fetching" in names else ())


class Config(NamedTuple):
    """What a TOML file says: where to start (a source that is not the Web is named first), the
    options of the source, and the settings."""

    starts: list[str]
    options: dict[str, Any]
    settings: dict[str, Any]


def read_config(path: str | Path) -> Config:
    """The configuration that a TOML file holds."""
    try:
        with Path(path).open("rb") as file:
            values = tomllib.load(file)
    except OSError as error:
        raise InputError(f"{path}: {error.strerror or error}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: not TOML: {error}") from None
    seeds = values.pop("seeds", [])
    if not isinstance(seeds, list) or not all(isinstance(seed, str) for seed in seeds):
        raise InputError(f"{path}: seeds must be a list of URLs, or of nodes of the source")
    source = values.pop("source", None)
    if source is not None and not isinstance(source, str):
        raise InputError(f"{path}: source must be a text such as mastodon:mastodon.example")
    options = values.pop("options", {})
    if not isinstance(options, dict):
        raise InputError(f"{path}: options must be a table")
    Settings.of(values, str(path))
    return Config(seeds if source is None else [source, *seeds], options, values)
