"""The logbook: an explorer and the log of its run, kept in step (a write-ahead log).

Every call that changes the explorer writes its row of the log in the same breath, so that the log
can be told to a fresh explorer (``retelling``) and gives the same state. Nothing here waits, and
the driver says when to commit. In a long run a commit leaves a checkpoint now and then.
"""

from __future__ import annotations

import json
import math
import time
from array import array
from collections.abc import Callable, Collection, Iterable
from dataclasses import replace
from typing import Any

import numpy as np

from sonde.budgets import Budget
from sonde.crawling.retelling import Entry, Nodes, Parts
from sonde.errors import InputError
from sonde.explorer import Explorer
from sonde.protocols import DROPPED, LEASED, VISITED, WAITING
from sonde.records import Failure, Group, Lease, Link, LinkColumns, Node, Outcome, Spend, Visit
from sonde.sources.facts import Correction, PageFacts, PageVisit, Record
from sonde.store.log import (
    Arrays,
    facts_from_array,
    facts_to_array,
    nodes_since,
    open_leases,
    pack_places,
    pack_targets,
    pack_text,
    pack_words,
    units_of,
)
from sonde.store.run import Run
from sonde.whole_text import is_whole

_MOST_DEEP = 65_535
_NOWHERE = (None, None)
_LONGEST_ID = 2_000

CHECKPOINT_EVERY = 5_000
"""Visits between two checkpoints: telling that many takes a good part of a second."""

_GROWN_BY = 20  # a later one is due when the run has grown by this part: their cost stays a share


class Logbook:
    """An explorer whose every change is in the log."""

    def __init__(self, explorer: Explorer, run: Run, hold: Spend) -> None:
        self.explorer = explorer
        self.driver = explorer.driver
        self.run = run
        self.journal = run.journal
        self.hold = hold
        self.depths = array("H")  # by number of node
        self.status = bytearray()
        self.waiting: dict[Group, int] = {}  # nodes on the frontier, by group
        self.on_group: Callable[[Group], None] = lambda group: None
        """Called with each group that is seen for the first time."""
        self.again: list[Lease] = []  # in flight when the run was killed
        self.last_lease = 0
        self._groups: dict[Group, int] = {}
        self._group_names: list[Group] = []
        self._trips: dict[int, list[tuple[Group, int]]] = {}  # of open leases, in microseconds
        self._hold_units = units_of(hold)
        self._dice = self.driver.dice
        self._ready: set[Group] | None = None
        self._greedy = explorer.strategy.certain == 1.0
        self.parts = Parts(explorer, logbook=self)
        """All that follows from the log, and is captured with a checkpoint."""
        self._checked = 0  # visits at the last checkpoint

    # -- nodes ---------------------------------------------------------------------------------

    def know(self, node: Node, group: Group, depth: int) -> None:
        """The next node in order of discovery, as it is read back or told for the first time."""
        self.depths.append(min(depth, _MOST_DEEP))
        self.status.append(WAITING)
        if group not in self._groups:
            self._groups[group] = len(self._groups)
            self._group_names.append(group)
            self.on_group(group)
        self.waiting[group] = self.waiting.get(group, 0) + 1

    def groups(self) -> Iterable[Group]:
        """All groups, in order of discovery."""
        return self._groups

    def became(self, node: Node) -> int | None:
        """What became of a node; ``None`` for one never seen."""
        number = self.driver.number_of(node)
        return None if number is None else self.status[number]

    def add_seeds(self, seeds: Iterable[tuple[str, Group]]) -> int:
        """Name nodes to begin with, or to take up again that were dropped; how many these are."""
        count = 0
        for node, group in seeds:
            if not isinstance(node, str):
                raise InputError(f"a run keeps nodes as text; {node!r} is not")
            if not is_whole(node):
                raise InputError(f"a node's name is text in Unicode; {node!r:.200} is not")
            known = self.driver.number_of(node)
            number = self.driver.known if known is None else known
            if known is not None and self.status[known] != DROPPED:
                continue
            self.explorer.add_seeds([Link(node, group=group)])
            if known is None:
                self.know(node, group, 0)
                self.journal.add("nodes", (number, node, group or "", None, 0))
            else:
                self._take_up(number, group)
            self.journal.log("seed", None, number)
            count += 1
        return count

    def _take_up(self, number: int, group: Group) -> None:
        self.status[number] = WAITING
        self.waiting[group] += 1

    # -- asking --------------------------------------------------------------------------------

    def ask(self, ready: Collection[Group] | None) -> Lease | None:
        """Lease the best node, among the ready groups where they are given."""
        explorer = self.explorer
        leases = explorer.ask(1, ready=ready, hold=self.hold)
        turned = {} if self.driver.dice == self._dice else {"dice": list(self.driver.dice)}
        self._dice = self.driver.dice
        if not leases:
            if turned:
                self.journal.log("dice", data=turned)
            return None
        self._leased(leases[0], ready, turned)
        return leases[0]

    def ask_again(self, ready: Collection[Group] | None) -> Lease | None:
        """Lease a node once more that was in flight when the run was killed.

        It was chosen then: the dice are not turned for it a second time, so that a run that was
        killed goes on as one that was not.
        """
        for lease in self.again:
            if ready is None or lease.group in ready:
                break
        else:
            return None
        account = self.driver.account
        if not account.hold(self.hold):
            return None
        account.settle(self.hold, Spend())  # there is enough: to relet holds it again
        self.again.remove(lease)
        repeated = replace(lease, number=self.last_lease + 1)
        self.driver.relet(repeated, self.hold)
        self._leased(repeated, ready, {})
        return repeated

    def _leased(
        self, lease: Lease, ready: Collection[Group] | None, turned: dict[str, Any]
    ) -> None:
        explorer = self.explorer
        number = self.driver.number_of(lease.node)
        assert number is not None
        self.last_lease = lease.number
        rank = 1 if ready is None and self._greedy else explorer.rank(lease)
        data: dict[str, Any] = self._change_of(ready) | turned
        if self._hold_units is not None:
            data["hold"] = self._hold_units
        self.journal.log("lease", lease.number, number, data)
        self.journal.add(
            "leases",
            (
                lease.number,
                number,
                lease.arm,
                lease.chooser,
                lease.predicted,
                rank,
                len(self._groups) if ready is None else len(ready),
                time.time(),
            ),
        )
        self.journal.sent += self.hold.requests
        self.status[number] = LEASED
        self.waiting[lease.group] -= 1

    def _change_of(self, ready: Collection[Group] | None) -> dict[str, Any]:
        """How the ready groups differ from those of the lease before."""
        before = self._ready
        if ready is None:
            self._ready = None
            return {} if before is None else {"all": True}
        now = set(ready)
        self._ready = now
        if now == before:
            return {}
        place = self._groups
        came = now if before is None else now - before
        went: set[Group] = set() if before is None else before - now
        return {
            name: sorted(place[group] for group in groups)
            for name, groups in (("on", came), ("off", went))
            if groups
        }

    def extend(self, lease: Lease) -> bool:
        """Hold as much again for a lease; ``False`` when there is not that much."""
        if not self.explorer.extend(lease, self.hold):
            return False
        number = self.driver.number_of(lease.node)
        self.journal.log("extend", lease.number, number, self._hold_units)
        self.journal.sent += self.hold.requests
        return True

    # -- telling -------------------------------------------------------------------------------

    def tell(
        self, lease: Lease, outcome: Outcome, seconds: float = 0.0, *, interrupt: bool = False
    ) -> float:
        """Settle a lease; the gain."""
        explorer = self.explorer
        data: dict[str, Any] = {}
        trips = self._clocked(lease) if lease.number in self._trips else ""
        gain = explorer.tell(lease, outcome)
        number = self.driver.number_of(lease.node)
        assert number is not None
        spent = outcome.spent
        if spent.cost:
            data["cost"] = spent.cost
        retry = False
        reason: str | None = None
        score: float | None = None
        if isinstance(outcome, Visit):
            kind = "visit"
            score = outcome.score
            self.status[number] = VISITED
            self._page(lease, number, outcome, data)
        else:
            kind = "failure" if isinstance(outcome, Failure) else "skip"
            reason, retry = outcome.reason, outcome.retry
            self.status[number] = WAITING if retry else DROPPED
            if retry:
                self.waiting[lease.group] += 1
        if trips and data:
            data["rtt"] = json.loads(trips)
        self.journal.log(
            "interrupt" if interrupt else "settle",
            lease.number,
            number,
            data,
            f'{{"rtt":{trips}}}' if trips else None,
        )
        self.journal.add(
            "settled",
            (
                "interrupt" if interrupt else kind,
                reason,
                int(retry),
                score,
                gain,
                spent.requests,
                spent.bytes,
                seconds,
                time.time(),
                lease.number,
            ),
        )
        if isinstance(outcome, PageVisit):
            for correction in outcome.corrections:
                self._correct(correction)
        return gain

    def _correct(self, correction: Correction) -> None:
        """A page that was visited has another score now, or another main text."""
        lease, text = correction.lease, correction.text
        if correction.score != correction.told:
            gain = self.driver.correct(correction.node, correction.told, correction.score)
            number = self.driver.number_of(correction.node)
            said = {"told": correction.told, "score": correction.score}
            self.journal.log("correct", lease, number, said)
            self.journal.add("corrected", (correction.score, gain, lease))
        packed = None if text is None else pack_text(text)
        self.journal.add("rejudged", (correction.main, packed, lease))

    def _page(self, lease: Lease, number: int, visit: Visit, data: dict[str, Any]) -> None:
        facts = None
        if isinstance(visit, PageVisit):
            facts = visit.facts
            for node, reason in visit.refused:
                if self.driver.number_of(node) is None:
                    self.journal.refuse(node, reason, lease.number)
        links = self.driver.told
        if links.places is not None and (facts is None or links is not visit.links):
            # What a page's URLs say of themselves need not be kept; this does.
            data["places"] = [(place or _NOWHERE)[:2] for place in links.places]
        if facts is None:
            facts = PageFacts(str(lease.node))
        elif facts.stale is not None:
            data["stale"] = list(facts.stale)
        if visit.records:
            data["records"] = list(visit.records)
        if isinstance(visit, PageVisit) and visit.found:
            self.journal.extend("records", [_row(lease, record) for record in visit.found])
        targets, scores = self._links(lease, number, links, 0 if facts.level else 1)
        self.journal.add(
            "pages",
            (
                lease.number,
                number,
                facts.final_url,
                facts.status,
                facts.media_type,
                facts.language,
                facts.title,
                facts.sketch,
                facts.twin,
                facts.jaccard,
                facts.containment,
                facts.digest,
                facts.etag,
                facts.modified,
                facts.rtt,
                facts.canonical,
                facts.flags,
                facts.main,
                pack_text(facts.text) if isinstance(facts.text, str) else facts.text,
                facts.warc,
                facts.rendered,
                targets,
                scores,
                None if links.places is None else pack_places(links.places),
                None if links.words is None else pack_words(links.words),
            ),
        )

    def _links(
        self, lease: Lease, number: int, links: LinkColumns, step: int
    ) -> tuple[bytes, bytes]:
        """The links as arrays; nodes seen for the first time become known."""
        depth = self.depths[number] + step
        targets = self.driver.linked
        known = len(self.status)
        new = []
        for place, target in enumerate(targets):
            if target == known:  # numbers follow the order of the links
                node = links.targets[place]
                group = None if links.groups is None else links.groups[place]
                if not isinstance(node, str):
                    raise InputError(f"a run keeps nodes as text; {node!r} is not")
                self.know(node, group, depth)
                new.append((target, node, group or "", lease.number, depth))
                known += 1
        if new:
            self.journal.extend("nodes", new)
        return pack_targets(targets, links.scores)

    def clock(self, lease: Lease, group: Group, seconds: float) -> None:
        """A request for this lease was answered after so many seconds by this group: the model
        hears of it, where it listens, when the lease is settled."""
        if self.driver.reads_times:
            self._trips.setdefault(lease.number, []).append((group, round(1e6 * seconds)))

    def _clocked(self, lease: Lease) -> str:
        """Tell the model the round trips of a lease; what the log says of them, as JSON."""
        told: list[str] = []
        for group, micros in self._trips.pop(lease.number):
            self.driver.clock(group, micros / 1e6)
            told.append(str(micros) if group == lease.group else json.dumps([group, micros]))
        return f"[{','.join(told)}]"

    def spend(self, spent: Spend, kind: str = "time") -> None:
        """Book what went outside any lease."""
        self.explorer.spend(spent)
        self.journal.log(kind, data=units_of(spent) or {"requests": 1})

    def raise_budget(self, budget: Budget) -> None:
        """Go on under another limit."""
        self.driver.account.budget = budget
        units = {
            unit: getattr(budget, unit)
            for unit in ("requests", "bytes", "seconds", "cost")
            if getattr(budget, unit) is not None
        }
        self.journal.log("budget", data=units)

    # -- safe, and found again -----------------------------------------------------------------

    def commit(self) -> None:
        """Make safe all that was told."""
        visits = self.explorer.visits
        if visits - self._checked >= max(CHECKPOINT_EVERY, self._checked // _GROWN_BY):
            self._checked = visits
            state = self.parts.captured()
            if state is not None:
                self.run.checkpoint(state)
        self.journal.commit()

    def capture(self) -> Arrays:
        """What became of nodes, as numbers."""
        place = self._groups
        facts = {
            "groups": list(place),
            "waiting": [self.waiting[group] for group in place],
            "ready": None if self._ready is None else sorted(place[each] for each in self._ready),
            "last_lease": self.last_lease,
        }
        return {
            "depths": np.frombuffer(self.depths, dtype=np.uint16).copy(),
            "status": np.frombuffer(self.status, dtype=np.uint8).copy(),
            "facts": facts_to_array(facts),
        }

    def restore(self, arrays: Arrays, nodes: Nodes) -> bool:
        """Take on what was captured."""
        facts = facts_from_array(arrays["facts"])
        groups: list[Group] = facts["groups"]
        self.depths = array("H", arrays["depths"].tobytes())
        self.status = bytearray(arrays["status"].tobytes())
        self._groups = {group: number for number, group in enumerate(groups)}
        self._group_names = groups
        self.waiting = dict(zip(groups, facts["waiting"], strict=True))
        ready = facts["ready"]
        self._ready = None if ready is None else {groups[number] for number in ready}
        self.last_lease = facts["last_lease"]
        self._checked = self.explorer.visits
        return True

    def catch_up(self) -> list[Lease]:
        """Bring all parts to where the log of the run ends; the leases that are open then."""
        database = self.run.database
        nodes = Nodes(database, grouped=self.driver.grouped)
        since = self.parts.restore(self.run, nodes)
        for row in nodes_since(database, len(self.status)):
            self.know(row.name, row.group or None, row.depth)
        for _ in self.parts.retell(self.run, nodes, since):
            pass
        self._dice = self.driver.dice
        return [nodes.lease(row) for row in open_leases(database)]

    def hear(self, entry: Entry) -> None:
        """Follow what the log says of a lease; its node is known already."""
        if entry.number is not None and entry.kind == "seed":
            if self.status[entry.number] == DROPPED:
                self._take_up(entry.number, entry.group)
            return
        if entry.lease is None or entry.number is None:
            return
        if entry.kind == "lease":
            self.last_lease = entry.lease.number
            self.status[entry.number] = LEASED
            self.waiting[entry.lease.group] -= 1
            self._ready_were(entry.data)
        elif isinstance(entry.outcome, Visit):
            self.status[entry.number] = VISITED
        elif entry.outcome is not None:
            self.status[entry.number] = WAITING if entry.outcome.retry else DROPPED
            self.waiting[entry.lease.group] += entry.outcome.retry

    def _ready_were(self, data: dict[str, Any]) -> None:
        """What the log says of the ready groups at a lease."""
        if data.get("all"):
            self._ready = None
        elif "on" in data or "off" in data:
            names = self._group_names
            now = set() if self._ready is None else self._ready
            now |= {names[place] for place in data.get("on", ())}
            self._ready = now - {names[place] for place in data.get("off", ())}


def _row(lease: Lease, record: Record) -> tuple[str | int, ...]:
    """A record as its table has it."""
    fields = json.dumps(dict(record.fields), ensure_ascii=False, default=str)
    source, name, title = record.source, record.id[:_LONGEST_ID], record.title[:500]
    return source, name, lease.number, record.url, title, record.text, fields


class LogbookView:
    """What a source sees of a logbook (a ``CrawlView``)."""

    def __init__(self, logbook: Logbook) -> None:
        driver = logbook.driver
        self._logbook = logbook
        self.register = driver.register
        self.number_of = driver.number_of
        self.became = logbook.became
        self.refuse = logbook.journal.refuse
        self.clock = logbook.clock
        self.reads_words = driver.reads_words
        self.reads_urls = driver.reads_urls

    @property
    def requests_left(self) -> int | None:
        """How many requests may still be sent."""
        left = self._logbook.driver.account.left("requests")
        return None if math.isinf(left) else int(left)

    @property
    def status(self) -> bytearray:
        """What became of each node, by number."""
        return self._logbook.status
