"""A crawl whose visits a program cannot make: people, archives, laboratory tests.

Nobody drives here. ``ask`` names whom to contact next, ``tell`` records the answer, and days may
pass in between: each opens the run, does its one thing, and leaves. Explorer, logbook and run are
those of every other crawl; the one difference is that a lease in flight is not an accident. Whoever
was asked stays asked until the answer is told, so that asking twice names the same ones again.

A question is on the disk before it is put (``Run.close`` waits for the disk), so nothing that was
said can be lost, and nothing needs to be written off after a power cut.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypedDict, Unpack

from sonde.budgets import Budget
from sonde.crawling.logbook import Logbook
from sonde.crawling.retelling import explorer_of
from sonde.crawling.settings import Settings, spelt_out
from sonde.crawling.setup import raised
from sonde.errors import InputError
from sonde.estimators import Estimator
from sonde.estimators.builder import Strategy
from sonde.protocols import DROPPED, VISITED, WAITING, CustomEstimator, Objective, Source
from sonde.records import Failure, Lease, Link, Outcome, Skip, Spend
from sonde.sources.context import SourceContext
from sonde.sources.facts import PageFacts, PageVisit
from sonde.sources.kind import Kind, NoOptions
from sonde.store.forgetting import PREFIX, Forgotten
from sonde.store.run import Run


class InterviewSettings(TypedDict, total=False):
    """The settings that mean something here."""

    estimator: str | Estimator | CustomEstimator
    strategy: str | Strategy
    objective: str | Objective
    seed: int
    budget: int | Budget | None


SETTINGS = tuple(InterviewSettings.__annotations__)

LONGEST = 500
"""A name or a note has at most so many characters."""


class People(Kind[NoOptions]):
    """What a program cannot visit."""

    name = "people"
    summary = "people, or whatever a program cannot fetch: sonde ask, sonde tell"
    nouns = ("person", "people")
    units = ("question", "questions")

    def settled(self, options: NoOptions) -> NoOptions:
        raise InputError("people are not crawled: sonde ask RUN --seeds NAME,... begins a run")

    def make(self, options: NoOptions, context: SourceContext) -> Source:
        raise InputError("a run of people is driven by hand: sonde ask names who is next")


@dataclass(frozen=True, slots=True)
class Told:
    """What an answer brought."""

    lease: int
    name: str
    outcome: str
    gain: float
    total: float
    new: int  # names that were not known before


class Interview:
    """A run that is asked and told by hand. Use as a context manager, or ``close()`` it."""

    def __init__(self, run: Run, logbook: Logbook, waiting: Iterable[Lease]) -> None:
        self.run = run
        self.logbook = logbook
        self.explorer = logbook.explorer
        self.waiting = {str(lease.node): lease for lease in waiting}
        """Those who were asked and have not answered, in the order of asking."""

    # -- beginning -----------------------------------------------------------------------------

    @classmethod
    def begin(
        cls, path: str | Path | None, seeds: Iterable[str], **settings: Unpack[InterviewSettings]
    ) -> Interview:
        """Make a run. ``settings`` are those of ``SETTINGS``; the budget counts questions."""
        told = _settings(dict(settings))
        starts = list(dict.fromkeys(checked_name(seed) for seed in seeds))
        if not starts:
            raise InputError("nobody to begin with: name at least one seed")
        explorer = explorer_of(told, grouped=False)
        kind = {"grouped": False, "nouns": list(People.nouns), "units": list(People.units)}
        made = {"source": People.name, "options": {}, "seeds": starts, "kind": kind}
        run = Run.create(path, told.as_data() | made)
        try:
            logbook = Logbook(explorer, run, Spend(requests=1))
            logbook.add_seeds((seed, None) for seed in starts)
            return cls(run, logbook, ())
        except BaseException:
            run.close()
            raise

    @classmethod
    def resume(cls, path: str | Path, budget: int | str | Budget | None = None) -> Interview:
        """Open a run. ``budget`` is a new limit, or ``"+5"`` for so many more questions."""
        run = Run.open(path)
        try:
            config = run.config
            if config.get("source") != People.name:
                raise InputError(
                    f"{path}: not a run of people, but over {config.get('source', 'web')}:"
                    f" sonde crawl {path} --resume goes on with it"
                )
            told = _settings({name: config[name] for name in SETTINGS if name in config})
            logbook = Logbook(explorer_of(told, grouped=False), run, Spend(requests=1))
            waiting = logbook.catch_up()
            account = logbook.explorer.driver.account
            logbook.journal.sent = account.spent.requests + account.held.requests
            if not logbook.explorer.driver.known:  # killed before the first commit
                logbook.add_seeds((seed, None) for seed in config["seeds"])
            if budget is not None:
                logbook.raise_budget(raised(account.budget, budget))
            return cls(run, logbook, _remembered(logbook, waiting))
        except BaseException:
            run.close()
            raise

    # -- asking and telling --------------------------------------------------------------------

    def ask(self, count: int = 1) -> list[Lease]:
        """See to it that ``count`` are asked and have not answered; those who are asked anew."""
        if count < 1:
            raise InputError(f"at least one must be asked, not {count}")
        new = []
        while len(self.waiting) < count:
            lease = self.logbook.ask(None)
            if lease is None:
                break
            self.waiting[str(lease.node)] = lease
            new.append(lease)
        self.run.journal.meta("stop", None if self.waiting else self.explorer.stop_reason)
        self.logbook.commit()
        return new

    def tell(self, name: str, outcome: Outcome, note: str = "") -> Told:
        """Record what came of a question. ``note`` is what was said besides; a visit keeps it."""
        lease = self.waiting.get(name)
        if lease is None:
            raise InputError(self._not_asked(name))
        if isinstance(outcome, Failure | Skip):
            if note:
                raise InputError("a note belongs to an answer")
            if not outcome.reason:
                raise InputError("say why there is no answer")
            kind = "failure" if isinstance(outcome, Failure) else "skip"
        else:
            for link in outcome.links:
                checked_name(str(link.target))
            kind = "visit"
            facts = PageFacts(name, title=checked_note(note))
            outcome = PageVisit(
                outcome.score, outcome.links, outcome.records, outcome.spent, facts=facts
            )
            outcome = Forgotten.of(self.run.meta("forgotten")).left_out(outcome)
        known = self.explorer.driver.known
        gain = self.logbook.tell(lease, outcome)
        del self.waiting[name]
        self.logbook.commit()
        total = self.explorer.total
        return Told(lease.number, name, kind, gain, total, self.explorer.driver.known - known)

    def _not_asked(self, name: str) -> str:
        became = self.logbook.became(name)
        if became == VISITED:
            return f"{name!r} has answered already"
        if became == DROPPED:
            return f"{name!r} was asked, and there was no answer"
        if became == WAITING:
            why = f"{name!r} is known, but was not asked"
        else:
            known = [
                str(self.explorer.driver.node_of(n)) for n in range(self.explorer.driver.known)
            ]
            near = difflib.get_close_matches(name, known, 1)
            why = f"{name!r} is not known" + (f" (did you mean {near[0]!r}?)" if near else "")
        if not self.waiting:
            return f"{why}; nobody's answer is waited for: sonde ask names the next"
        return f"{why}; asked and waited for: {', '.join(map(repr, self.waiting))}"

    # -- the end -------------------------------------------------------------------------------

    def close(self) -> None:
        """Let go of the run, once all of it is on the disk."""
        self.run.close()

    def __enter__(self) -> Interview:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _remembered(logbook: Logbook, waiting: Iterable[Lease]) -> list[Lease]:
    """Those whose answer is still waited for; whoever was forgotten meanwhile is not."""
    kept = []
    for lease in waiting:
        if str(lease.node).startswith(PREFIX):
            logbook.tell(lease, Skip("forgotten"))
        else:
            kept.append(lease)
    return kept


def checked_name(text: str) -> str:
    """A name as a run keeps it, white space around it left out."""
    name = " ".join(text.split())
    if not name or len(name) > LONGEST or not name.isprintable():
        raise InputError(f"not a name: {text!r:.80} (1 to {LONGEST} printable characters)")
    return name


def checked_note(text: str) -> str:
    """A note in one line."""
    note = " ".join(text.split())
    if len(note) > LONGEST:
        raise InputError(f"a note has at most {LONGEST} characters, not {len(note)}")
    return note


def links_from(parts: Iterable[str], where: str = "--links") -> list[Link]:
    """Links, each written as ``Ana:2``; a name without a score counts 1."""
    found = []
    for part in parts:
        if not part.strip():
            continue
        name, colon, score = part.rpartition(":")
        if not colon:
            name, score = part, "1"
        try:
            value = float(score)
        except ValueError:
            raise InputError(f"{where}: {part.strip()!r} is not NAME or NAME:SCORE") from None
        if not 0 <= value < float("inf"):
            raise InputError(f"{where}: {part.strip()!r}: a score is a finite number of 0 or more")
        try:
            found.append(Link(checked_name(name), value))
        except InputError as error:
            raise InputError(f"{where}: {error}") from None
    return found


def _settings(values: dict[str, Any]) -> Settings:
    for name in values:
        if name not in SETTINGS:
            raise InputError(f"{name} is no setting of a run of people ({', '.join(SETTINGS)})")
    return Settings.told(spelt_out(values))
