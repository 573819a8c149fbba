"""How a crawl begins: a new run, or one taken up where it was left."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from sonde.budgets import Budget
from sonde.crawling.attached import Attached
from sonde.crawling.book import Book
from sonde.crawling.equipment import CrawlEquipment, Custom, split
from sonde.crawling.keeping import RunKeeper
from sonde.crawling.kinds import Chosen, chosen, kind_named
from sonde.crawling.presentation import client_settings
from sonde.crawling.resume import replay, settle_interrupted
from sonde.crawling.settings import ENGINE, HEAD, SETTINGS, Settings, spelling
from sonde.errors import InputError
from sonde.explorer import Explorer
from sonde.protocols import Keeper, Source
from sonde.records import Spend
from sonde.scorers import scorer_from
from sonde.sources.kind import Kind
from sonde.sources.options import as_data, read_options
from sonde.sources.pseudonyms import HiddenKeeper, Pseudonymous, Pseudonyms, make_key
from sonde.store.forgetting import Forgotten
from sonde.store.run import Run


@dataclass(frozen=True)
class Intent:
    """What a user wants to crawl, checked as far as that goes without a run."""

    kind: Kind
    options: Any
    settings: Settings
    objects: dict[str, Any]
    seeds: list[str]
    scorer: Any = None
    client: Any = None

    @classmethod
    def of(cls, picked: Chosen, given: Mapping[str, Any]) -> Intent:
        """What was said for a new crawl. Whatever is wrong with it is found here."""
        kind = picked.kind
        plain, objects = split(given)
        told = {spelling(name): value for name, value in plain.items() if value is not None}
        if not isinstance(kind, Custom):
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
        seeds = picked.seeds or list(kind.seeds(options, settings.topic))
        seeds = list(dict.fromkeys(kind.spelt(options, seed) for seed in seeds))
        intent = cls(kind, options, settings, objects, seeds).equipped()
        intent._explorer()
        return intent

    def equipped(self) -> Intent:
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

    def begun(self, run: Run, explorer: Explorer | None = None) -> Beginning:
        """All pieces, put together over a run, with an explorer of its own if none is given."""
        settings = self.settings
        hold = Spend(requests=1)
        if settings.bytes is not None:
            hold = Spend(requests=1, bytes=settings.size_limit + 8 * HEAD)
        book = Book(explorer or self._explorer(), run, hold)
        keeper: Keeper = RunKeeper(run)
        if self.pseudonyms is not None:
            keeper = HiddenKeeper(keeper, self.pseudonyms)
        equipment = CrawlEquipment(
            seeds=tuple(self.seeds),
            keeper=keeper,
            topic=settings.topic,
            scorer=self.scorer,
            client=self.client,
            seed=settings.seed,
            delay=settings.delay,
            limits=settings.fetch_limits,
            retries=settings.retries,
            concurrency=settings.concurrency,
            rate=settings.rate,
            text=settings.text,
            settings=settings,
            book=book,
            objects=self.objects,
        )
        source = self.kind.make(self.options, equipment)
        if self.pseudonyms is not None:
            source = Pseudonymous(source, self.pseudonyms)
        forgotten = Forgotten.of(run.meta("forgotten"))
        return Beginning(run, book, self, Attached(source, run.journal, forgotten))

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


def _heeded(kind: Kind, names: Iterable[str]) -> None:
    """A setting that a kind does not listen to is an error, not a wish that nobody hears."""
    for name in names:
        if name in SETTINGS and name not in ENGINE and name not in kind.heeds:
            raise InputError(f"{name.replace('_', '-')} says nothing to a crawl of {kind.name}")


@dataclass
class Beginning:
    """Everything that a driver needs, put together."""

    run: Run
    book: Book
    intent: Intent
    attached: Attached
    resumed: bool = False
    notice: str = field(default="")

    @property
    def settings(self) -> Settings:
        """What the crawl was told."""
        return self.intent.settings

    def add_seeds(self) -> None:
        """Put the seeds on the frontier."""
        kind, options = self.intent.kind, self.intent.options
        called = self.intent.called
        self.book.add_seeds((called(seed), kind.group(options, seed)) for seed in self.intent.seeds)

    def connect(self, wake: Callable[[], None]) -> None:
        """Let the pace wake the driver, and know the groups that are waiting."""
        pace = self.attached.pace
        pace.wake = wake
        self.book.on_group = pace.know
        for group in self.book.groups():
            pace.know(group)


def intended(
    source: str | Iterable[str] | Source,
    seeds: Iterable[str],
    options: Mapping[str, Any],
    settings: Mapping[str, Any],
) -> Intent:
    """What a call or a command line asks for."""
    if isinstance(source, Source):
        starts = list(seeds)
        if not starts:
            raise InputError("a crawl needs at least one seed")
        return Intent.of(Chosen(Custom(source), dict(options), starts), settings)
    starts = [source] if isinstance(source, str) else list(source)
    return Intent.of(chosen([*starts, *seeds], options), settings)


def new_run(
    source: str | Iterable[str] | Source,
    seeds: Iterable[str],
    options: Mapping[str, Any],
    path: str | Path | None,
    settings: Mapping[str, Any],
) -> Beginning:
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
) -> Beginning:
    """Open a run and bring everything to where its log ends."""
    run = Run.open(path)
    try:
        begun = _intent_of(run, path, source, options, settings).begun(run)
        explorer = begun.book.explorer
        open_leases = replay(begun.book)
        settle_interrupted(begun.book, open_leases)
        if not explorer.driver.known:  # killed before the first commit
            begun.add_seeds()
        if budget is not None:
            begun.book.raise_budget(raised(explorer.driver.account.budget, budget))
        begun.notice = begun.attached.recall()
        begun.resumed = True
        run.journal.meta("stop", None)
        run.journal.commit()
        return begun
    except BaseException:
        run.close()
        raise


def opened_run(path: str | Path, kind: Kind, settings: dict[str, Any]) -> Beginning:
    """Open a run for the sake of its source, which another kind than its own may make: its
    explorer is told nothing, and leases nothing."""
    run = Run.open(path)
    try:
        if run.config["source"] != kind.name:
            raise InputError(
                f"{path}: not a crawl of the Web: its source is {run.config['source']}"
            )
        if run.power_lost and not run.meta("track_open"):
            raise InputError(
                f"{path}: the machine went down during the crawl: resume it first, so that the"
                " requests that may have left are booked"
            )
        run.journal.sent = run.journal.reserved
        told = {**settings, "scorer": lambda page: 0.0}
        intent = _intent_of(run, path, None, {}, told, kind)
        begun = intent.begun(run, Explorer("deg", grouped=kind.grouped))
        begun.notice = begun.attached.recall()
        return begun
    except BaseException:
        run.close()
        raise


def _intent_of(
    run: Run,
    path: str | Path,
    source: Source | None,
    options: Mapping[str, Any],
    settings: dict[str, Any],
    made_by: Kind | None = None,
) -> Intent:
    """What a run was made for, with what is told anew."""
    config = run.config
    seeds, name = config.pop("seeds"), config.pop("source")
    kept_options = config.pop("options", {})
    config.pop("kind", None)
    if name == "custom" and source is None:
        raise InputError(f"{path}: this run was made over a source of its own: give it again")
    kind = made_by or (Custom(source) if name == "custom" else kind_named(name))
    changes, objects = split(settings)
    fixed = [name for name in changes if name not in _CHANGEABLE]
    fixed += [name for name in options if name.replace("-", "_") not in kind.changeable]
    if fixed:
        raise InputError(f"{path}: {fixed[0]} cannot be changed on resume")
    kept = {name: value for name, value in config.items() if name not in objects}
    told = Settings.of({**kept, **changes}, str(path))
    read: Any = read_options(kind.options, {**kept_options, **options}, str(path), noun="option")
    intent = Intent(kind, read, told, objects, seeds).equipped()
    if intent.pseudonyms is None:
        return intent
    return replace(intent, seeds=[intent.pseudonyms.revealed(seed) for seed in seeds])


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
