"""How a crawl begins: a new run, or one taken up where it was left."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from sonde.budgets import Budget
from sonde.crawling.keeper import RunArchive, RunKeeper
from sonde.crawling.logbook import Logbook, LogbookView
from sonde.crawling.retelling import replay, settle_interrupted
from sonde.crawling.settings import ENGINE, HEAD, SETTINGS, Settings, spelling
from sonde.crawling.source_hooks import SourceHooks
from sonde.errors import InputError
from sonde.explorer import Explorer
from sonde.net.client_settings import ClientSettings, client_settings
from sonde.protocols import Keeper, Source
from sonde.records import Spend
from sonde.scorers import scorer_from
from sonde.scorers.document import Scorer
from sonde.sources.context import SourceContext
from sonde.sources.kind import Kind
from sonde.sources.kinds import Chosen, CustomKind, chosen, kind_named
from sonde.sources.options import as_data, read_options
from sonde.sources.pseudonyms import HiddenKeeper, Pseudonymous, Pseudonyms, make_key
from sonde.store.forgetting import Forgotten
from sonde.store.run import Run


@dataclass(frozen=True)
class CrawlRequest:
    """What a user wants to crawl, checked as far as that goes without a run."""

    kind: Kind[Any]
    options: Any
    settings: Settings
    objects: dict[str, Any]
    seeds: list[str]
    scorer: Scorer | None = None
    client: ClientSettings | None = None

    @classmethod
    def of(cls, picked: Chosen, given: Mapping[str, Any]) -> CrawlRequest:
        """What was said for a new crawl. Whatever is wrong with it is found here."""
        kind = picked.kind
        plain, objects = _split(given)
        told = {spelling(name): value for name, value in plain.items() if value is not None}
        if not isinstance(kind, CustomKind):
            _heeded(kind, [*told, *objects])
        options = kind.settled(read_options(kind.options, picked.options, kind.name, noun="option"))
        told = {**kind.defaults, **told}
        planned = kind.rate(options)
        if planned and "duration" in told and "requests" not in told:
            told["requests"], told["per"] = planned
        settings = Settings.of(told)
        for name in kind.needs:
            if not getattr(settings, name):
                raise InputError(f"a crawl of {kind.name} needs a {name}")
        kind.check(options, settings)
        seeds = picked.seeds or list(kind.seeds(options, settings.topic))
        seeds = list(dict.fromkeys(kind.spelt(options, seed) for seed in seeds))
        intent = cls(kind, options, settings, objects, seeds).equipped()
        intent._explorer()
        return intent

    def equipped(self) -> CrawlRequest:
        """With the scorer and the client that the kind wants."""
        heeds = self.kind.heeds
        settings = self.settings
        scorer = client = None
        if "scorer" in heeds:
            scorer = scorer_from(
                settings.topic,
                self.objects.get("scorer", settings.scorer),
                allow_pickle=settings.allow_pickle,
            )
        if "allow_private" in heeds:
            client = client_settings(settings)
        return replace(self, scorer=scorer, client=client)

    @cached_property
    def pseudonyms(self) -> Pseudonyms | None:
        """What names are replaced by, where they are."""
        where = self.settings.pseudonymise
        return None if where is None else Pseudonyms.of(where)

    def called(self, seed: str) -> str:
        """A seed as the run may call it."""
        return seed if self.pseudonyms is None else self.pseudonyms.hidden(seed)

    def config(self) -> dict[str, Any]:
        """What a run keeps of it."""
        texts = {name: str(value) for name, value in self.objects.items() if name in _TEXTS}
        return {
            **self.settings.as_data(),
            **texts,
            "source": self.kind.name,
            "options": as_data(self.options),
            "seeds": [self.called(seed) for seed in self.seeds],
            "kind": {"grouped": self.kind.grouped, "nouns": list(self.kind.nouns)},
        }

    def begun(self, run: Run, explorer: Explorer | None = None) -> Session:
        """All pieces, put together over a run, with an explorer of its own if none is given."""
        settings = self.settings
        hold = Spend(requests=1)
        if settings.bytes is not None:
            hold = Spend(requests=1, bytes=settings.size_limit + 8 * HEAD)
        logbook = Logbook(explorer or self._explorer(), run, hold)
        keeper: Keeper = RunKeeper(run, self.kind.tables)
        if self.pseudonyms is not None:
            keeper = HiddenKeeper(keeper, self.pseudonyms)
        archive = None
        if "pages" in self.kind.heeds and settings.pages and run.pages is not None:
            archive = RunArchive(run)
        context = SourceContext(
            seeds=tuple(self.seeds),
            settings=settings,
            keeper=keeper,
            crawl=LogbookView(logbook),
            scorer=self.scorer,
            client=self.client,
            limits=settings.fetch_limits,
            archive=archive,
            objects=self.objects,
        )
        source = self.kind.make(self.options, context)
        if self.pseudonyms is not None:
            source = Pseudonymous(source, self.pseudonyms)
        forgotten = Forgotten.of(run.meta("forgotten"))
        return Session(run, logbook, self, SourceHooks(source, run.journal, forgotten, archive))

    def _explorer(self) -> Explorer:
        settings, objects = self.settings, self.objects
        budget = settings.limits
        if "cost" in objects:
            budget = budget & Budget(cost=objects["cost"])
        return Explorer(
            objects.get("estimator", settings.estimator),
            objects.get("strategy", settings.strategy),
            budget,
            objects.get("objective", settings.objective),
            settings.seed,
            grouped=self.kind.grouped,
        )


_TEXTS = ("estimator", "strategy", "objective", "scorer")


def _heeded(kind: Kind[Any], names: Iterable[str]) -> None:
    """A setting that a kind does not listen to is an error, not a wish that nobody hears."""
    for name in names:
        if name in SETTINGS and name not in ENGINE and name not in kind.heeds:
            raise InputError(f"{name.replace('_', '-')} says nothing to a crawl of {kind.name}")


@dataclass
class Session:
    """Everything that a driver needs, put together."""

    run: Run
    logbook: Logbook
    request: CrawlRequest
    hooks: SourceHooks
    resumed: bool = False
    notice: str = field(default="")

    @property
    def settings(self) -> Settings:
        """What the crawl was told."""
        return self.request.settings

    def add_seeds(self) -> None:
        """Put the seeds on the frontier."""
        kind, options = self.request.kind, self.request.options
        called = self.request.called
        self.logbook.add_seeds(
            (called(seed), kind.group(options, seed)) for seed in self.request.seeds
        )

    def connect(self, wake: Callable[[], None]) -> None:
        """Let the pace wake the driver, and know the groups that are waiting."""
        pace = self.hooks.pace
        pace.wake = wake
        self.logbook.on_group = pace.know
        for group in self.logbook.groups():
            pace.know(group)


def intended(
    source: str | Iterable[str] | Source,
    seeds: Iterable[str],
    options: Mapping[str, Any],
    settings: Mapping[str, Any],
) -> CrawlRequest:
    """What a call or a command line asks for."""
    if isinstance(source, Source):
        starts = list(seeds)
        if not starts:
            raise InputError("a crawl needs at least one seed")
        return CrawlRequest.of(Chosen(CustomKind(source), dict(options), starts), settings)
    starts = [source] if isinstance(source, str) else list(source)
    return CrawlRequest.of(chosen([*starts, *seeds], options), settings)


def new_run(
    source: str | Iterable[str] | Source,
    seeds: Iterable[str],
    options: Mapping[str, Any],
    path: str | Path | None,
    settings: Mapping[str, Any],
) -> Session:
    """Make a run and put its seeds on the frontier."""
    intent = intended(source, seeds, options, settings)
    if intent.settings.pseudonymise is not None:
        make_key(intent.settings.pseudonymise)
    run = Run.create(path, intent.config())
    try:
        begun = intent.begun(run)
        begun.add_seeds()
        run.journal.meta("stop", None)
        return begun
    except BaseException:
        run.discard()  # what is wrong with it should leave no folder behind
        raise


def resumed_run(
    path: str | Path,
    source: Source | None,
    options: Mapping[str, Any],
    budget: int | str | Budget | None,
    settings: dict[str, Any],
) -> Session:
    """Open a run and bring everything to where its log ends."""
    run = Run.open(path)
    try:
        begun = _intent_of(run, path, source, options, settings).begun(run)
        explorer = begun.logbook.explorer
        open_leases = replay(begun.logbook)
        settle_interrupted(begun.logbook, open_leases)
        if not explorer.known:  # killed before the first commit
            begun.add_seeds()
        if budget is not None:
            begun.logbook.raise_budget(raised(explorer.account.budget, budget))
        begun.notice = begun.hooks.recall()
        begun.resumed = True
        run.journal.meta("stop", None)
        run.journal.commit()
        return begun
    except BaseException:
        run.close()
        raise


@dataclass(frozen=True)
class OpenedRun:
    """A run, opened by another writer than a crawl."""

    run: Run
    settings: Settings
    seeds: list[str]
    objects: dict[str, Any]


def open_run(path: str | Path, source: str, settings: Mapping[str, Any]) -> OpenedRun:
    """Open a run for another writer than a crawl. Its source must be of the kind named; settings
    may change as on resume."""
    run = Run.open(path)
    try:
        kind = run.config["source"]
        if kind != source:
            raise InputError(f"{path}: not a crawl of {source}: its source is {kind}")
        run.journal.sent = run.journal.reserved  # it leases nothing
        told, objects = _kept_settings(run, path, settings)
        return OpenedRun(run, told, run.config["seeds"], objects)
    except BaseException:
        run.close()
        raise


def _intent_of(
    run: Run,
    path: str | Path,
    source: Source | None,
    options: Mapping[str, Any],
    settings: dict[str, Any],
) -> CrawlRequest:
    """What a run was made for, with what is told anew."""
    config = run.config
    seeds, name = config["seeds"], config["source"]
    kept_options = config.get("options", {})
    if name == "custom" and source is None:
        raise InputError(f"{path}: this run was made over a source of its own: give it again")
    kind = CustomKind(source) if name == "custom" else kind_named(name)
    told, objects = _kept_settings(run, path, settings)
    for option in options:
        if option.replace("-", "_") not in kind.changeable:
            raise InputError(f"{path}: {option} cannot be changed on resume")
    read: Any = read_options(kind.options, {**kept_options, **options}, str(path), noun="option")
    intent = CrawlRequest(kind, read, told, objects, seeds).equipped()
    if intent.pseudonyms is None:
        return intent
    return replace(intent, seeds=[intent.pseudonyms.revealed(seed) for seed in seeds])


def _kept_settings(
    run: Run, path: str | Path, settings: Mapping[str, Any]
) -> tuple[Settings, dict[str, Any]]:
    """The settings of a run, with those that may be told anew, and objects."""
    changes, objects = _split(settings)
    for name in changes:
        if name not in _CHANGEABLE:
            raise InputError(f"{path}: {name} cannot be changed on resume")
    kept = {
        name: value
        for name, value in run.config.items()
        if name not in objects and name not in ("seeds", "source", "options", "kind")
    }
    return Settings.of({**kept, **changes}, str(path)), objects


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
        "pseudonymise",
    ]
)
"""Settings that no decision in the log rests on."""


def raised(budget: Budget, by: int | str | Budget) -> Budget:
    """A budget under a new limit of requests, or with ``+N`` so many more."""
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


_OBJECTS = ("estimator", "strategy", "objective", "scorer", "renderer", "lookup")
"""Settings that may be objects, which a run cannot keep."""


def _split(settings: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
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
