"""The configuration of a crawl: what a file, a command line or a call can say.

Every field is plain data, so that it can be written down in TOML and kept with the run. Secrets are
not in it: ``headers``, ``cookies``, ``auth`` and ``proxy`` may say where a secret comes from
(``env:NAME`` or ``file:PATH``), and only that is kept.
"""

from __future__ import annotations

import math
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, NamedTuple

from sonde.budgets import Budget, planned_requests
from sonde.durations import seconds_from
from sonde.errors import InputError
from sonde.estimators import DEFAULT
from sonde.net.exchange import Limits
from sonde.sources.options import as_data, read_options

HEAD = 32_768
"""The longest line of a response head; a whole head may have eight times that."""


@dataclass(frozen=True)
class Settings:
    """All that a crawl can be told. Times are seconds or texts such as ``15m``. What is not in
    ``ENGINE`` speaks to those kinds of sources that heed it: to the Web, all of it."""

    # What to bring.
    topic: str | None = None
    scorer: str | None = None
    allow_pickle: bool = False
    # How to choose.
    estimator: str = DEFAULT
    strategy: str = "greedy"
    objective: str = "sum"
    seed: int = 0
    # What it may cost.
    budget: int | None = None
    bytes: int | None = None
    seconds: float | str | None = None
    requests: int | None = None  # a rate plan: so many requests per host ...
    per: float | str | None = None  # ... in each of these
    duration: float | str | None = None  # ... for so long ("for" in a file)
    host_budget: int | None = None
    domain_budget: int | None = None
    harvest_below: float | None = None
    harvest_over: int = 200
    # What belongs to it.
    scope: str = "domain"
    hosts: tuple[str, ...] = ()
    domains: tuple[str, ...] = ()
    prefixes: tuple[str, ...] = ()
    languages: tuple[str, ...] = ()
    types: tuple[str, ...] = ()
    depth: int | None = None
    nofollow: bool = True  # whether what pages and links say about following is heeded
    # How to ask.
    delay: float = 1.0
    concurrency: int = 32
    per_host: int = 1
    retries: int = 2
    redirects: int = 5
    timeout: float = 60.0
    max_size: int = 10_000_000
    contact: str | None = None
    user_agent: str | None = None
    headers: tuple[str, ...] = ()
    cookies: tuple[str, ...] = ()
    auth: tuple[str, ...] = ()
    proxy: str | None = None
    ca_file: str | None = None
    allow_private: bool = False
    # What to keep.
    pages: bool = True
    text: bool = True
    pseudonymise: str | None = None

    def __post_init__(self) -> None:
        for name in ("seconds", "per", "duration"):
            value = getattr(self, name)
            if isinstance(value, str):
                object.__setattr__(self, name, seconds_from(value))
        for name, least in _LEAST.items():
            value = getattr(self, name)
            if value is not None and not least <= value < math.inf:
                raise InputError(f"{name} must be {least:g} or more, not {value}")
        for name, (pattern, such) in _FORMS.items():
            for value in getattr(self, name):
                if not pattern.fullmatch(value):
                    raise InputError(f"{name} must be such as {such}, not {value!r:.200}")
        plan = (self.requests, self.per, self.duration)
        if any(part is not None for part in plan) and None in plan:
            raise InputError("a rate plan needs all of requests, per and for")

    @classmethod
    def of(cls, values: Mapping[str, Any], where: str = "settings") -> Settings:
        """Settings from plain data; an unknown name or a wrong kind of value is an error."""
        return read_options(cls, values, where, spelt=_SPELT)

    def as_data(self) -> dict[str, Any]:
        """What differs from the defaults, as plain data."""
        return as_data(self, defaults=False)

    @property
    def rate(self) -> tuple[int, float] | None:
        """So many requests per host within so many seconds."""
        if self.requests is None:
            return None
        return self.requests, float(self.per or 0.0)

    @property
    def limits(self) -> Budget:
        """The budget, with what a rate plan allows."""
        budget = Budget(self.budget, self.bytes, _number(self.seconds))
        if self.requests is not None:
            duration = float(self.duration or 0.0)
            planned = planned_requests(self.requests, float(self.per or 0.0), duration)
            budget = budget & Budget(requests=planned, seconds=duration)
        return budget

    @property
    def fetch_limits(self) -> Limits:
        """The bounds of one fetch."""
        return Limits(
            total=self.timeout,
            connect=min(10.0, self.timeout),
            first_byte=min(20.0, self.timeout),
            head=HEAD,
            body=self.size_limit,
            redirects=self.redirects,
        )

    @property
    def size_limit(self) -> int:
        """The most of a body that is read: under a budget in bytes, no more than its twentieth."""
        if self.bytes is None:
            return self.max_size
        return min(self.max_size, max(self.bytes // 20, 65_536))


SETTINGS = frozenset(field.name for field in fields(Settings))
"""The names of all settings."""

ENGINE = frozenset(
    [
        "estimator",
        "strategy",
        "objective",
        "seed",
        "budget",
        "bytes",
        "seconds",
        "requests",
        "per",
        "duration",
        "harvest_below",
        "harvest_over",
        "concurrency",
    ]
)
"""Settings of the engine: they hold for every source."""

_LEAST = {
    "delay": 0.0,
    "concurrency": 1,
    "per_host": 1,
    "retries": 0,
    "redirects": 0,
    "timeout": 0.001,
    "max_size": 1_024,
    "depth": 0,
    "host_budget": 1,
    "domain_budget": 1,
    "harvest_over": 1,
    "harvest_below": 0.0,
}
_FORMS = {
    "languages": (re.compile(r"[A-Za-z]{2,3}(-[A-Za-z0-9]{1,8})*"), "en or pt-br"),
    "types": (re.compile(r"[\w.+-]+/[\w.+-]+", re.ASCII), "text/html"),
}
_SPELT = {"for": "duration", "host": "hosts", "domain": "domains", "language": "languages"}


def spelling(name: str) -> str:
    """The one spelling of a setting's name: files may use dashes, and say ``for``."""
    return _SPELT.get(name, name.replace("-", "_"))


def _number(value: float | str | None) -> float | None:
    return None if value is None else float(value)


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
