"""How a crawl begins: a new run, or one taken up where it was left."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from sonde.budgets import Budget
from sonde.crawl.book import Book
from sonde.crawl.driver import Hooks
from sonde.crawl.pace import NoPace, Pace
from sonde.crawl.presentation import client_settings
from sonde.crawl.resume import replay, settle_interrupted
from sonde.crawl.scope import Scope
from sonde.crawl.settings import HEAD, Settings
from sonde.crawl.web import WebSource
from sonde.errors import InputError
from sonde.explorer import Explorer
from sonde.protocols import Source
from sonde.records import Group, Spend
from sonde.scorers import scorer_from
from sonde.sources.web.address import group_of, normalise
from sonde.store.run import Run

_OBJECTS = ("estimator", "strategy", "objective", "scorer", "renderer", "lookup")
"""Settings that may be objects, which a run cannot keep."""


@dataclass
class Beginning:
    """Everything that a driver needs, put together."""

    run: Run
    book: Book
    source: Source
    pace: Pace
    settings: Settings
    concurrency: int
    hooks: Hooks | None = None
    resumed: bool = False
    notice: str = ""

    def connect(self, wake: Callable[[], None]) -> None:
        """Let the pace wake the driver, and know the hosts that are waiting."""
        if isinstance(self.source, WebSource):
            pace = self.source.pace
            pace.wake = wake

            def know(group: Group) -> None:
                assert isinstance(group, str)
                pace.know(group)

            self.book.on_group = know
            for group in self.book.groups():
                know(group)
                assert isinstance(group, str)
                if self.source.hosts.exhausted(group) is not None:
                    pace.closed.add(group)

    def snapshot(self) -> dict[str, bytes]:
        """What to leave the run with."""
        return self.source.snapshot() if isinstance(self.source, WebSource) else {}

    async def close(self) -> None:
        """Let go of the source."""
        if isinstance(self.source, WebSource):
            await self.source.close()


def new_run(
    source: str | Iterable[str] | Source,
    seeds: Iterable[str],
    path: str | Path | None,
    settings: dict[str, Any],
) -> Beginning:
    """Make a run and put its seeds on the frontier."""
    plain, objects = _split(settings)
    told = Settings.of(plain)
    web = not isinstance(source, Source)
    starts = list(seeds)
    if web:
        starts += [source] if isinstance(source, str) else list(source)  # type: ignore[arg-type]
        starts = addresses(starts)
    if not starts:
        raise InputError("a crawl needs at least one seed")
    if web:  # before a folder is made: what is wrong with them should leave nothing behind
        _scorer(told, objects)
        client_settings(told)
    kept = told.as_data() | {name: str(value) for name, value in objects.items() if name in _TEXTS}
    config = {**kept, "source": "web" if web else "custom", "seeds": starts}
    explorer = _explorer(told, objects, web)
    run = Run.create(path, config)
    try:
        begun = _assembled(run, explorer, told, objects, starts, None if web else source)
        begun.book.add_seeds((seed, group_of(seed) if web else None) for seed in starts)
        run.journal.meta("stop", None)
        return begun
    except BaseException:
        run.close()
        raise


_TEXTS = ("estimator", "strategy", "objective", "scorer")


def resumed_run(
    path: str | Path,
    source: Source | None,
    budget: int | str | Budget | None,
    settings: dict[str, Any],
) -> Beginning:
    """Open a run and bring everything to where its log ends."""
    run = Run.open(path)
    try:
        seeds, web, told, objects = _kept(path, run, settings)
        if not web and source is None:
            raise InputError(f"{path}: this run was made over a source of its own: give it again")
        explorer = _explorer(told, objects, web)
        begun = _assembled(run, explorer, told, objects, seeds, source)
        open_leases = replay(begun.book)
        settle_interrupted(begun.book, open_leases)
        if not explorer.known:  # killed before the first commit
            begun.book.add_seeds((seed, group_of(seed) if web else None) for seed in seeds)
        if budget is not None:
            begun.book.raise_budget(_raised(explorer.account.budget, budget))
        if isinstance(begun.source, WebSource):
            begun.notice = begun.source.recall()
        begun.resumed = True
        run.journal.meta("stop", None)
        run.journal.commit()
        return begun
    except BaseException:
        run.close()
        raise


def opened_run(path: str | Path, kind: type[WebSource], settings: dict[str, Any]) -> Beginning:
    """Open a run for the sake of its source: its explorer is told nothing, and leases nothing."""
    run = Run.open(path)
    try:
        seeds, web, told, objects = _kept(path, run, settings)
        if not web:
            raise InputError(f"{path}: not a crawl of the Web, but of a source of its own")
        if run.power_lost and not run.meta("track_open"):
            raise InputError(
                f"{path}: the machine went down during the crawl: resume it first, so that the"
                " requests that may have left are booked"
            )
        run.journal.sent = run.journal.reserved
        objects |= {"scorer": lambda page: 0.0}
        begun = _assembled(run, Explorer("deg", grouped=True), told, objects, seeds, None, kind)
        assert isinstance(begun.source, WebSource)
        begun.notice = begun.source.recall()
        return begun
    except BaseException:
        run.close()
        raise


def _kept(
    path: str | Path, run: Run, settings: dict[str, Any]
) -> tuple[list[str], bool, Settings, dict[str, Any]]:
    """What a run was made with and is told now: seeds, whether it is of the Web, settings, and
    what was given as objects."""
    config = run.config
    seeds = config.pop("seeds")
    web = config.pop("source") == "web"
    changes, objects = _split(settings)
    fixed = [name for name in changes if name not in _CHANGEABLE]
    if fixed:
        raise InputError(f"{path}: {fixed[0]} cannot be changed on resume")
    kept = {name: value for name, value in config.items() if name not in objects}
    return seeds, web, Settings.of({**kept, **changes}, str(path)), objects


_CHANGEABLE = frozenset(
    [
        "delay",
        "concurrency",
        "per_host",
        "retries",
        "timeout",
        "contact",
        "user_agent",
        "headers",
        "cookies",
        "auth",
        "proxy",
        "ca_file",
        "allow_private",
    ]
)
"""Settings that no decision in the log rests on."""


def _split(settings: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Plain settings, and those that are objects."""
    plain = dict(settings)
    objects = {
        name: plain.pop(name)
        for name in _OBJECTS
        if plain.get(name) is not None and not isinstance(plain[name], str)
    }
    for name in ("renderer", "lookup"):
        plain.pop(name, None)
    budget = plain.get("budget")
    if isinstance(budget, Budget):
        if budget.cost is not None:
            objects["cost"] = budget.cost
        del plain["budget"]
        plain |= {
            name: value
            for name, value in (
                ("budget", budget.requests),
                ("bytes", budget.bytes),
                ("seconds", budget.seconds),
            )
            if value is not None
        }
    return plain, objects


def _raised(budget: Budget, by: int | str | Budget) -> Budget:
    if isinstance(by, Budget):
        return by
    text = str(by).strip()
    number = text.removeprefix("+")
    if not (number.isascii() and number.isdigit()):
        raise InputError(f"{by!r} is not a budget (a number of requests, or +500 for so many more)")
    if text.startswith("+"):
        if budget.requests is None:
            raise InputError("this run has no limit of requests that could be raised")
        return replace(budget, requests=budget.requests + int(number))
    return replace(budget, requests=int(number))


def addresses(seeds: Iterable[str]) -> list[str]:
    """Seeds in their one spelling, each once."""
    found = []
    for seed in seeds:
        address = normalise(seed)
        if address is None:
            raise InputError(f"not an http or https URL: {seed!r:.200}")
        found.append(address)
    return list(dict.fromkeys(found))


def _explorer(settings: Settings, objects: dict[str, Any], web: bool) -> Explorer:
    budget = settings.limits
    if "cost" in objects:
        budget = budget & Budget(cost=objects["cost"])
    return Explorer(
        objects.get("estimator", settings.estimator),
        objects.get("strategy", settings.strategy),
        budget,
        objects.get("objective", settings.objective),
        settings.seed,
        grouped=web,
    )


def _scorer(settings: Settings, objects: dict[str, Any]) -> Any:
    return scorer_from(
        settings.topic,
        objects.get("scorer", settings.scorer),
        allow_pickle=settings.allow_pickle,
    )


def _assembled(
    run: Run,
    explorer: Explorer,
    settings: Settings,
    objects: dict[str, Any],
    seeds: list[str],
    source: Any,
    kind: type[WebSource] = WebSource,
) -> Beginning:
    hold = Spend(requests=1)
    if settings.bytes is not None:
        hold = Spend(requests=1, bytes=settings.size_limit + 8 * HEAD)
    book = Book(explorer, run, hold)
    if source is not None:
        return Beginning(run, book, source, NoPace(), settings, settings.concurrency)
    named = settings.hosts or settings.domains or settings.prefixes
    scope = (
        Scope(hosts=settings.hosts, domains=settings.domains, prefixes=settings.prefixes)
        if named
        else Scope.of_seeds(seeds, settings.scope)
    )
    web = kind(
        settings,
        _scorer(settings, objects),
        scope,
        book,
        renderer=objects.get("renderer"),
        **({"lookup": objects["lookup"]} if "lookup" in objects else {}),
    )
    return Beginning(run, book, web, web.pace, settings, settings.concurrency, hooks=web)
