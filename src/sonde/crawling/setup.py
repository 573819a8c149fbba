"""How a crawl begins: a new run, or one taken up where it was left."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from sonde.budgets import Budget
from sonde.crawling.keeper import RunArchive, RunKeeper
from sonde.crawling.logbook import Logbook, LogbookView
from sonde.crawling.progress import ProgressMeter, Settled
from sonde.crawling.retelling import explorer_of
from sonde.crawling.saturation import Saturation
from sonde.crawling.settings import (
    SETTINGS,
    Settings,
    for_question,
    heeded,
    kept_fields,
    objects_in,
    spelt_out,
    with_files,
)
from sonde.crawling.source_hooks import SourceHooks
from sonde.errors import InputError, SondeError
from sonde.net.client_settings import ClientSettings, client_settings
from sonde.protocols import Keeper, Source
from sonde.records import Failure, Lease, Spend
from sonde.scorers import scorer_from
from sonde.scorers.document import Scorer
from sonde.sources.context import SourceContext
from sonde.sources.kind import Kind
from sonde.sources.kinds import Chosen, CustomKind, chosen, kind_named
from sonde.sources.options import as_data, read_options
from sonde.sources.pseudonyms import HiddenKeeper, Pseudonymous, Pseudonyms, make_key
from sonde.store.forgetting import Forgotten
from sonde.store.log import interruptions
from sonde.store.memory_pages import MemoryPages
from sonde.store.run import Run

_MOST_INTERRUPTIONS = 4


@dataclass(frozen=True)
class CrawlRequest:
    """What a user wants to crawl, checked as far as that goes without a run."""

    kind: Kind[Any]
    options: Any
    settings: Settings
    seeds: list[str]
    scorer: Scorer | None = None
    client: ClientSettings | None = None

    @classmethod
    def of(cls, picked: Chosen, given: Mapping[str, Any]) -> CrawlRequest:
        """What was said for a new crawl. Whatever is wrong with it is found here."""
        kind = picked.kind
        told = spelt_out(given)
        if not isinstance(kind, CustomKind):
            _check_heeded(kind, told)
        options = kind.settled(read_options(kind.options, picked.options, kind.name, noun="option"))
        told = {**kind.defaults, **for_question(with_files(told))}
        planned = kind.rate(options)
        if planned and "duration" in told and "requests" not in told:
            told["requests"], told["per"] = planned
        settings = Settings.told(told)
        for name in kind.needs:
            if not getattr(settings, name):
                raise InputError(f"a crawl of {kind.name} needs a {name}")
        kind.check(options, settings)
        seeds = picked.seeds or list(kind.seeds(options, settings.topic))
        seeds = list(dict.fromkeys(kind.spelt(options, seed) for seed in seeds))
        explorer_of(settings, grouped=kind.grouped)  # says what is wrong with its settings
        return cls(kind, options, settings, seeds).equipped()

    def equipped(self) -> CrawlRequest:
        """With the scorer and the client that the kind wants."""
        heeds = heeded(self.kind.heeds)
        settings = self.settings
        scorer = client = None
        if "scorer" in heeds:
            scorer = scorer_from(
                settings.topic,
                settings.scorer,
                exact=settings.exact,
                allow_pickle=settings.allow_pickle,
                seconds=float(settings.scorer_seconds),
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
        return {
            **self.settings.as_data(),
            "source": self.kind.name,
            "options": as_data(self.options),
            "seeds": [self.called(seed) for seed in self.seeds],
            "kind": {
                "grouped": self.kind.grouped,
                "nouns": list(self.kind.nouns),
                "units": list(self.kind.units),
            },
        }

    def session(self, run: Run) -> Session:
        """All pieces, put together over a run."""
        settings = self.settings
        hold = Spend(requests=1)
        if settings.bytes is not None:
            hold = Spend(requests=1, bytes=settings.most_received)
        explorer = explorer_of(settings, grouped=self.kind.grouped)
        logbook = Logbook(explorer, run, hold)
        keeper: Keeper = RunKeeper(run, self.kind.tables)
        if self.pseudonyms is not None:
            keeper = HiddenKeeper(keeper, self.pseudonyms)
        archive: RunArchive | MemoryPages | None = None
        if "pages" in self.kind.heeds and settings.pages:
            archive = RunArchive(run) if run.page_store is None else run.page_store
        context = SourceContext(
            seeds=tuple(self.seeds),
            settings=settings,
            keeper=keeper,
            crawl=LogbookView(logbook),
            scorer=self.scorer,
            client=self.client,
            limits=settings.fetch_limits,
            archive=archive,
        )
        source = self.kind.make(self.options, context)
        if self.pseudonyms is not None:
            source = Pseudonymous(source, self.pseudonyms)
        kept = run.meta("forgotten")
        forgotten = None if kept is None else Forgotten.of(kept)
        meter = ProgressMeter(logbook.explorer, settings.harvest_over)
        logbook.parts.add("progress", meter)
        saturation = None if settings.question is None else Saturation()
        if saturation is not None:
            logbook.parts.add("saturation", saturation)
        hooks = SourceHooks(source, run.journal, forgotten, archive, self.kind.reading)
        notice = self.kind.notice(self.options, settings)
        return Session(run, logbook, self, hooks, meter, saturation, notice)


def _check_heeded(kind: Kind[Any], names: Iterable[str]) -> None:
    """A setting that a kind does not listen to is an error, not a wish that nobody hears."""
    heeds = heeded(kind.heeds)
    for name in names:
        if name in SETTINGS and not SETTINGS[name].engine and name not in heeds:
            raise InputError(f"{name.replace('_', '-')} says nothing to a crawl of {kind.name}")


@dataclass
class Session:
    """Everything that a driver needs, put together."""

    run: Run
    logbook: Logbook
    request: CrawlRequest
    hooks: SourceHooks
    meter: ProgressMeter
    saturation: Saturation | None = None
    notice: str = ""

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

    def take_up(self, nodes: Iterable[str]) -> None:
        """Put nodes on the frontier that had been left out."""
        group = self.request.kind.group
        self.logbook.add_seeds((node, group(self.request.options, node)) for node in nodes)

    def settle_interrupted(self, leases: list[Lease]) -> None:
        """What was in flight when the run was killed: it may have left, so it is spent. Its nodes
        are leased again first; one that was in flight whenever the run ended is given up, as it may
        be what ends it."""
        logbook, explorer = self.logbook, self.logbook.explorer
        before = interruptions(self.run.database)
        for lease in leases:
            held = explorer.driver.held(lease)
            number = explorer.driver.number_of(lease.node)
            if before.get(number, 0) >= _MOST_INTERRUPTIONS:
                logbook.tell(lease, Failure("crashed", spent=held))
                self.meter.add(
                    Settled(lease.number, lease.node, "failure", "crashed", requests=held.requests)
                )
                continue
            logbook.tell(lease, Failure("interrupted", retry=True, spent=held), interrupt=True)
            self.meter.add(Settled(lease.number, lease.node, "interrupt", requests=held.requests))
            if self.saturation is not None:
                self.saturation.add(held.requests, 0.0, ())
            logbook.again.append(lease)
        account = explorer.driver.account
        if self.run.power_lost:
            lost = self.run.journal.reserved - account.spent.requests
            lost = int(min(lost, account.left("requests")))
            if lost > 0:
                size = int(min(lost * logbook.hold.bytes, account.left("bytes")))
                logbook.spend(Spend(requests=lost, bytes=size), "lost")
        self.run.journal.sent = account.spent.requests

    def connect(self, wake: Callable[[], None]) -> None:
        """Let the pace wake the driver, and know the groups that are waiting."""
        pace = self.hooks.pace
        pace.wake = wake
        self.logbook.on_group = pace.know
        for group in self.logbook.groups():
            pace.know(group)


def requested(
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
    request = requested(source, seeds, options, settings)
    if request.settings.pseudonymise is not None:
        make_key(request.settings.pseudonymise)
    return _begun(request, path)


def _begun(request: CrawlRequest, path: str | Path | None) -> Session:
    run = Run.create(path, request.config())
    try:
        session = request.session(run)
        session.add_seeds()
        run.journal.meta("stop", None)
        return session
    except BaseException:
        run.discard()  # what is wrong with it should leave no folder behind
        raise


def resumed_run(
    path: str | Path,
    source: Source | None,
    options: Mapping[str, Any],
    budget: int | str | Budget | None,
    settings: Mapping[str, Any],
) -> Session:
    """Open a run and bring everything to where its log ends. One that ended without a visit and
    has nothing left to try begins anew: what kept it from its seeds may have changed."""
    run = Run.open(path)
    try:
        request = _request_of(run, path, source, options, settings)
        if run.vain and run.meta("stop") == "frontier":
            return _begun_anew(request, run, budget)
        session = request.session(run)
        explorer = session.logbook.explorer
        session.settle_interrupted(session.logbook.catch_up())
        if not explorer.driver.known:  # killed before the first commit
            session.add_seeds()
        if budget is not None or run.meta("stop") == "saturated":
            account = explorer.driver.account
            limit = account.budget if budget is None else raised(account.budget, budget)
            if limit.requests is not None and limit.requests < account.spent.requests:
                raise InputError(
                    f"{path}: {account.spent.requests:,} requests are spent, more than a budget of"
                    f" {limit.requests:,}: +N is N more"
                )
            session.logbook.raise_budget(limit)
            if session.saturation is not None:  # whoever resumes wants more; the log says so
                session.saturation.look_again()
        if run.meta("stop") == "harvest":  # else it would end again with the next request
            run.journal.log("harvest")
            session.meter.begin_harvest()
        session.notice = "; ".join(filter(None, (session.notice, session.hooks.recall())))
        session.take_up(session.hooks.allowed_now())
        run.journal.meta("stop", None)
        run.journal.commit()
        return session
    except SondeError:
        run.close()
        raise
    except Exception as error:  # whatever a damaged run makes of what is read back from it
        run.abandon()
        raise InputError(f"{path}: the run is damaged: {error!r:.200}") from error
    except BaseException:
        run.close()
        raise


def _begun_anew(request: CrawlRequest, run: Run, budget: int | str | Budget | None) -> Session:
    """A new run in the place of one that came to nothing, with what is left of its budget."""
    limit = request.settings.limits
    if budget is not None:
        limit = raised(limit, budget)
    if limit.requests is not None:
        left = max(0, limit.requests - run.requests)
        request = replace(request, settings=replace(request.settings, budget=left))
    run.close()
    assert run.path is not None
    session = _begun(request, run.path)
    anew = f"{run.path}: nothing had been fetched, so it begins anew"
    session.notice = "; ".join(filter(None, (anew, session.notice)))
    return session


def _request_of(
    run: Run,
    path: str | Path,
    source: Source | None,
    options: Mapping[str, Any],
    settings: Mapping[str, Any],
) -> CrawlRequest:
    """What a run was made for, with what is told anew."""
    config = run.config
    seeds, name = config["seeds"], config["source"]
    if name == "custom" and source is None:
        raise InputError(f"{path}: this run was made over a source of its own: give it again")
    kind = CustomKind(source) if name == "custom" else kind_named(name)
    told = _kept_settings(run, path, settings)
    for option in options:
        if option.replace("-", "_") not in kind.changeable:
            raise InputError(f"{path}: {option} cannot be changed on resume")
    kept: Any = kept_fields(kind.options, config["options"])
    if options:
        given = {**as_data(kept), **options}
        kept = read_options(kind.options, given, str(path), noun="option")
    request = CrawlRequest(kind, kept, told, seeds).equipped()
    if request.pseudonyms is None:
        return request
    return replace(request, seeds=[request.pseudonyms.revealed(seed) for seed in seeds])


def _kept_settings(run: Run, path: str | Path, changes: Mapping[str, Any]) -> Settings:
    """The settings of a run, with those that may be told anew, and objects."""
    told = spelt_out(changes)
    objects = objects_in(told)
    for name in told:
        if name not in objects and not (name in SETTINGS and SETTINGS[name].changeable):
            raise InputError(f"{path}: {name} cannot be changed on resume")
    settings = Settings.kept(run.config)
    return Settings.told(settings.as_data() | told, str(path)) if told else settings


@dataclass(frozen=True)
class OpenedRun:
    """A run, opened by another writer than a crawl."""

    run: Run
    settings: Settings
    seeds: list[str]


def open_run(path: str | Path, source: str, settings: Mapping[str, Any]) -> OpenedRun:
    """Open a run for another writer than a crawl. Its source must be of the kind named; settings
    may change as on resume."""
    run = Run.open(path)
    try:
        kind = run.config["source"]
        if kind != source:
            raise InputError(f"{path}: not a crawl of {source}: its source is {kind}")
        run.journal.sent = run.journal.reserved  # it leases nothing
        return OpenedRun(run, _kept_settings(run, path, settings), run.config["seeds"])
    except BaseException:
        run.close()
        raise


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
