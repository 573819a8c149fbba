"""The explorer's promises: exact budget, exact greedy over ready groups, nothing told is lost."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sonde
from exactness import reference
from exactness.test_sequences import graph_of, worlds
from sonde.explorer import driver_view
from sonde.protocols import Floats
from sonde.records import Failure, Lease, Link, LinkColumns, Skip, Spend, UrlPlace, Visit
from sonde.simulation import recorded_visits
from sonde.store.forgetting import Forgotten

SPECS = [
    "n",
    "lnh",
    "opic:n",
    "ne2:max",
    "nr",
    "nr:exact",
    "bfs",
    "random",
    "auto",
    "yield:k=2",
    "hybrid[n,auto,3]",
    "auto:nr=0.2:ahead=1",
    "ucb",
    "posterior",
    "hurdle",
    "hedge[n,auto,lnh]",
    "mab:thompson=4[n,ridge,random]",
    "hybrid[n,lnh,3]",
    "mab:eps=0.4[n,lnh,random]",
    "mab:var:eps=0.5[n,e]",
    "url+lnh",
    "hybrid[url,mab:eps=0.4[url:bfu=1:arf=2,n],3]",
]

World = tuple[reference.World, list[int]]


def grouped(visit: Visit) -> Visit:
    """The same visit, with the parity of a target as its group, and a place for it."""
    assert isinstance(visit.links, LinkColumns)
    targets = [int(str(target)) for target in visit.links.targets]
    groups = [target % 3 for target in targets]
    places = [UrlPlace(target % 2, target % 5, 0.5, 0.3, target % 4) for target in targets]
    return replace(visit, links=replace(visit.links, groups=groups, places=places))


class Schedule:
    """A driver whose every decision Hypothesis draws: batches, order, failures, ready groups."""

    def __init__(self, data: st.DataObject, world: World, **explorer: Any) -> None:
        self.data = data
        self.visits = recorded_visits(graph_of(world[0]))
        self.explorer = sonde.Explorer(grouped=True, **explorer)
        self.explorer.add_seeds([Link(node, group=node % 3) for node in world[1]])
        self.flying: list[Lease] = []
        self.log: list[tuple[Any, ...]] = [
            ("seeds", [Link(node, group=node % 3) for node in world[1]])
        ]
        self.spent = 0

    def ask(self) -> list[Lease]:
        count = self.data.draw(st.integers(1, 4))
        ready = self.data.draw(st.none() | st.sets(st.integers(0, 2)))
        leases = self.explorer.ask(count, ready=ready)
        for lease in leases:
            assert ready is None or lease.group in ready
            self.log.append(("lease", lease))
        self.flying += leases
        return leases

    def extend(self) -> None:
        lease = self.data.draw(st.sampled_from(self.flying))
        if self.explorer.extend(lease):
            self.log.append(("extend", lease))

    def tell(self) -> None:
        lease = self.flying.pop(self.data.draw(st.integers(0, len(self.flying) - 1)))
        kind = self.data.draw(st.sampled_from(["visit", "visit", "failure", "retry", "skip"]))
        outcome: Any = grouped(self.visits(lease.node))
        if kind == "failure":
            outcome = Failure("broken")
        elif kind == "retry":
            outcome = Failure("timeout", retry=True)
        elif kind == "skip":
            outcome = Skip("robots")
        self.explorer.tell(lease, outcome)
        self.spent += outcome.spent.requests
        self.log.append(("tell", lease, outcome))

    def steps(self, most: int) -> Iterator[None]:
        for _ in range(most):
            actions = ["ask"] + (["tell", "tell", "extend"] if self.flying else [])
            getattr(self, self.data.draw(st.sampled_from(actions)))()
            yield

    def retold(self, **explorer: Any) -> sonde.Explorer:
        """A fresh explorer that was told the log."""
        other = sonde.Explorer(grouped=True, **explorer)
        for kind, *rest in self.log:
            if kind == "seeds":
                other.add_seeds(rest[0])
            elif kind == "lease":
                other.driver.relet(rest[0])
            elif kind == "extend":
                assert other.extend(rest[0])
            else:
                other.tell(rest[0], rest[1])
        other.driver.dice = self.explorer.driver.dice
        return other


@settings(max_examples=150, deadline=None)
@given(data=st.data(), world=worlds(), budget=st.integers(0, 8), spec=st.sampled_from(SPECS))
def test_the_budget_is_exact_in_any_schedule(
    data: st.DataObject, world: World, budget: int, spec: str
) -> None:
    schedule = Schedule(data, world, estimator=spec, budget=budget)
    account = schedule.explorer.driver.account
    for _ in schedule.steps(40):
        assert account.spent.requests == schedule.spent
        assert account.spent.requests + account.held.requests <= budget
        assert account.held.requests >= len(schedule.flying)


def same(one: Any, other: Any) -> bool:
    """Whether two snapshots hold the same, to the last bit."""
    return one.keys() == other.keys() and all(
        np.array_equal(one[name], other[name], equal_nan=one[name].dtype.kind == "f")
        for name in one
    )


def kept(explorer: sonde.Explorer) -> dict[str, Any]:
    """A snapshot that does not change when the explorer goes on."""
    arrays = explorer.driver.capture()
    assert arrays is not None
    return {name: array.copy() for name, array in arrays.items()}


def test_a_snapshot_of_another_form_is_passed_over(monkeypatch: pytest.MonkeyPatch) -> None:
    one, two = sonde.Explorer(), sonde.Explorer()
    one.add_seeds(["a"])
    one.tell(one.ask()[0], sonde.Visit(1.0, [sonde.Link("b")]))
    fresh = kept(two)
    monkeypatch.setattr(driver_view, "FORM", 1)
    old = kept(one)
    monkeypatch.undo()
    assert not two.driver.restore(old, ["a", "b"])
    assert same(kept(two), fresh)


@pytest.mark.slow
@settings(max_examples=150, deadline=None)
@given(data=st.data(), world=worlds(), spec=st.sampled_from(SPECS), seed=st.integers(0, 3))
def test_a_retold_log_and_a_snapshot_go_on_alike(
    data: st.DataObject, world: World, spec: str, seed: int
) -> None:
    settings: dict[str, Any] = {"estimator": spec, "budget": 60, "seed": seed}
    schedule = Schedule(data, world, **settings)
    for _ in schedule.steps(data.draw(st.integers(0, 40))):
        pass
    retold = schedule.retold(**settings)
    restored = sonde.Explorer(grouped=True, **settings)
    state = kept(schedule.explorer)
    original = schedule.explorer
    nodes = [original.driver.node_of(number) for number in range(original.driver.known)]
    assert restored.driver.restore(kept(original), nodes)
    assert same(kept(restored), state)
    for lease in schedule.flying:
        for explorer in (original, retold, restored):
            explorer.tell(lease, grouped(schedule.visits(lease.node)))
    while True:
        asked = [explorer.ask(2) for explorer in (original, retold, restored)]
        assert asked[0] == asked[1] == asked[2]
        if not asked[0]:
            break
        for lease in asked[0]:
            for explorer in (original, retold, restored):
                explorer.tell(lease, grouped(schedule.visits(lease.node)))
    assert original.spent == retold.spent == restored.spent
    assert original.stop_reason == retold.stop_reason == restored.stop_reason


@pytest.mark.slow
@pytest.mark.parametrize("spec", ["n", "lnh", "opic", "bfs", "ne2", "nr:exact", "auto"])
@settings(max_examples=60, deadline=None)
@given(data=st.data(), world=worlds(30), seed=st.integers(0, 3))
def test_greedy_is_exact_over_the_ready_groups(
    spec: str, data: st.DataObject, world: World, seed: int
) -> None:
    """Each pick is the argmax of the reference over the ready part of the frontier."""
    graph, seeds = world
    visits = recorded_visits(graph_of(graph))
    explorer = sonde.Explorer(spec, grouped=True, seed=seed)
    explorer.add_seeds([Link(node, group=node % 3) for node in seeds])
    gains = reference.Gains(graph, "sum")
    leaf = reference.build(spec, None, 0, gains)
    seen = reference.Seen(graph)
    leaf.begin(seen, seeds)
    for _ in range(25):
        ready = data.draw(st.sets(st.integers(0, 2), min_size=1))
        leases = explorer.ask(1, ready=ready)
        if not leases:
            continue
        (lease,) = leases
        if lease.chooser != "seed":
            waiting = [v for v in seen.frontier() if v % 3 in ready and v not in seeds]
            known = {v: leaf.estimate(seen, v) for v in waiting}
            best = next(v for v in waiting if known[v] == max(known.values()))
            assert (lease.node, lease.predicted) == (best, known[best])
            everywhere = {v: leaf.estimate(seen, v) for v in seen.frontier() if v not in seeds}
            order = sorted(everywhere, key=lambda v: -everywhere[v])
            assert explorer.rank(lease) == order.index(best) + 1
            leaf.learn(leaf.sample(seen, lease.node), gains.preview(lease.node))  # type: ignore[arg-type]
        explorer.tell(lease, grouped(visits(lease.node)))
        seen.visit(lease.node)  # type: ignore[arg-type]
        leaf.visited(seen, lease.node)


def test_a_lease_is_settled_once() -> None:
    explorer = sonde.Explorer("n", budget=3)
    explorer.add_seeds(["a"])
    (lease,) = explorer.ask()
    explorer.tell(lease, Visit(1.0, [Link("b", 2.0)]))
    with pytest.raises(sonde.LeaseError, match="lease 1 of 'a' is not open"):
        explorer.tell(lease, Visit(1.0))


def test_spending_more_than_held_is_refused_and_loses_nothing() -> None:
    explorer = sonde.Explorer("n", budget=sonde.Requests(2) & sonde.Bytes(100))
    explorer.add_seeds(["a"])
    (lease,) = explorer.ask(hold=Spend(requests=1, bytes=60))
    with pytest.raises(sonde.LeaseError, match="held 1 requests cannot spend 2"):
        explorer.tell(lease, Visit(1.0, spent=Spend(requests=2)))
    assert explorer.in_flight == 1
    assert not explorer.extend(lease, Spend(bytes=60))
    assert explorer.extend(lease)
    explorer.tell(lease, Visit(1.0, [Link("b")], spent=Spend(requests=2, bytes=10)))
    assert explorer.driver.account.spent == Spend(requests=2, bytes=10)
    assert explorer.ask() == []
    assert explorer.stop_reason == "budget"


def test_seconds_are_told_by_the_driver() -> None:
    explorer = sonde.Explorer("n", budget=sonde.Seconds(10))
    explorer.add_seeds(["a", "b"])
    (lease,) = explorer.ask()
    explorer.tell(lease, Visit(0.0))
    explorer.spend(Spend(seconds=10.5))
    assert explorer.ask() == []
    assert explorer.stop_reason == "budget"


def test_an_exhausted_frontier_says_so() -> None:
    explorer = sonde.Explorer("n", budget=5)
    explorer.add_seeds(["a"])
    (lease,) = explorer.ask(4)
    assert explorer.stop_reason is None
    explorer.tell(lease, Failure("gone"))
    assert explorer.ask() == []
    assert explorer.stop_reason == "frontier"


def test_a_dropped_node_does_not_come_back() -> None:
    explorer = sonde.Explorer("opic:n", budget=9)
    explorer.add_seeds(["a", "b"])
    first, second = explorer.ask(2)
    explorer.tell(first, Visit(1.0, [Link("c", 1.0), Link("d", 1.0)]))
    (lease,) = [lease for lease in explorer.ask() if lease.node == "c"]
    explorer.tell(lease, Skip("robots"))
    explorer.tell(second, Visit(1.0, [Link("c", 1.0)]))
    assert [lease.node for lease in explorer.ask(5)] == ["d"]


def test_half_a_word_is_refused_before_anything_changes() -> None:
    explorer = sonde.Explorer("auto", budget=2)
    explorer.add_seeds(["a"])
    (lease,) = explorer.ask()
    with pytest.raises(sonde.InputError, match="visit of 'a': words of links have two bytes each"):
        explorer.tell(lease, Visit(1.0, LinkColumns(["b"], [0.0], words=[b"odd"])))
    assert explorer.tell(lease, Visit(1.0, LinkColumns(["b"], [0.0], words=[b"even"]))) == 1.0


def test_columns_of_different_lengths_are_refused_before_anything_changes() -> None:
    explorer = sonde.Explorer("auto", budget=2)
    explorer.add_seeds(["a"])
    (lease,) = explorer.ask()
    with pytest.raises(sonde.InputError, match="visit of 'a': the columns of its links"):
        explorer.tell(lease, Visit(1.0, LinkColumns(["b", "c"], [0.0, 1.0], words=[b"xy"])))
    assert explorer.driver.known == 1
    assert explorer.tell(lease, Visit(1.0, LinkColumns(["b", "c"], [0.0, 1.0]))) == 1.0


COLUMNS = st.lists(
    st.tuples(
        st.sampled_from("abc"),
        st.sampled_from([0.0, 0.5]),
        st.sampled_from("gh"),
        st.sampled_from([b"", b"xy"]),
        st.sampled_from([None, UrlPlace("d", "b", 0.5)]),
    ),
    max_size=5,
)


@given(rows=COLUMNS, start=st.integers(-6, 6), end=st.integers(-6, 6))
def test_columns_are_a_sequence_of_links(rows: list[tuple[Any, ...]], start: int, end: int) -> None:
    columns = LinkColumns(*map(list, zip(*rows, strict=True))) if rows else LinkColumns([], [])
    links = [Link(*row[:3]) for row in rows]
    assert list(columns) == links
    assert len(columns) == len(links)
    assert [columns[place] for place in range(len(columns))] == links
    part = columns[start:end]
    assert list(part) == links[start:end]
    assert list(part.words or ()) == [row[3] for row in rows[start:end]]
    assert list(part.places or ()) == [row[4] for row in rows[start:end]]
    bare = LinkColumns(columns.targets, columns.scores)
    assert list(bare) == [Link(*row[:2]) for row in rows]


def test_what_was_forgotten_is_left_out_of_columns_too() -> None:
    forgotten = Forgotten("salt")
    forgotten = Forgotten("salt", [forgotten.digest("b")])
    words, places = [b"aa", b"bb", b"cc"], [UrlPlace(name, "") for name in "abc"]
    links = LinkColumns(["a", "b", "c"], [1.0, 2.0, 3.0], None, words, places)
    left = forgotten.left_out(Visit(0.0, links))
    assert isinstance(left, Visit)
    assert left.links == LinkColumns(
        ["a", "c"], [1.0, 3.0], None, [b"aa", b"cc"], [places[0], places[2]]
    )


def test_a_part_of_ones_own_cannot_be_captured() -> None:
    class Mine:
        features: Sequence[str] = ("deg",)

        def predict(self, features: Floats) -> Floats:
            return np.asarray(features[:, 0])

        def learn(self, features: Floats, gain: float) -> None: ...

    assert sonde.Explorer(Mine()).driver.capture() is None
    assert sonde.Explorer("n", objective=Shrinking()).driver.capture() is None
    tuples = sonde.Explorer("n", grouped=True)
    tuples.add_seeds([Link("a", group=("of", "two"))])
    assert tuples.driver.capture() is None


@pytest.mark.parametrize("score", [-1.0, math.nan, math.inf])
def test_impossible_scores_are_refused_before_anything_changes(score: float) -> None:
    explorer = sonde.Explorer("n", budget=2)
    explorer.add_seeds(["a"])
    (lease,) = explorer.ask()
    with pytest.raises(sonde.InputError, match="visit of 'a'"):
        explorer.tell(lease, Visit(score))
    with pytest.raises(sonde.InputError, match="visit of 'a'"):
        explorer.tell(lease, Visit(1.0, [Link("b", score)]))
    assert explorer.in_flight == 1
    assert explorer.frontier_size == 0


class Shrinking:
    """Not monotone: the second visit takes away."""

    def __init__(self) -> None:
        self.visits = 0

    def gain(self, node: object, visit: Visit) -> float:
        return 1.0 - 2 * self.visits

    def add(self, node: object, visit: Visit) -> None:
        self.visits += 1


def test_a_decreasing_objective_is_caught() -> None:
    explorer = sonde.Explorer("n", objective=Shrinking())
    explorer.add_seeds(["a", "b"])
    first, second = explorer.ask(2)
    explorer.tell(first, Visit(1.0))
    with pytest.raises(sonde.ObjectiveError, match=r"changes by -1\.0 when 'b' is added"):
        explorer.tell(second, Visit(1.0))


def test_ready_needs_groups() -> None:
    with pytest.raises(sonde.InputError, match="grouped=True"):
        sonde.Explorer("n").ask(ready=["a.example"])


def test_the_oracle_needs_the_truth() -> None:
    with pytest.raises(sonde.SpecError, match="recorded graphs only"):
        sonde.Explorer("oracle")
