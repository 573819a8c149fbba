"""URL significance as an explorer shows it: backtracking, quick hosts, features, texts."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

import sonde
from sonde.errors import EstimatorError, SpecError
from sonde.estimators import UrlSignificance, estimator_from
from sonde.link_words import link_words
from sonde.protocols import Floats
from sonde.records import Failure, Link, LinkColumns, UrlPlace, Visit
from sonde.testing import check_estimator

A, B = "http://s.example/a/", "http://s.example/b/"


Placed = tuple[str, UrlPlace | None]


def link(target: str, *, rfu: float = 1.0, bfu: float = 0.5) -> Placed:
    basename = target.rpartition("/")[0] + "/"
    return target, UrlPlace("s.example", basename, rfu, bfu)


def visit(explorer: sonde.Explorer, score: float, *links: Placed) -> str:
    (lease,) = explorer.ask()
    columns = LinkColumns(
        [target for target, _ in links],
        [0.0] * len(links),
        places=[place for _, place in links],
    )
    explorer.tell(lease, Visit(score, columns))
    return str(lease.node)


def estimate(explorer: sonde.Explorer, node: str) -> float:
    (opinion,) = explorer.opinions(node)
    return opinion.estimate


def test_a_path_that_goes_bad_lowers_its_siblings_at_once() -> None:
    """Dynamic backtracking: given a weight for ARF alone, the crawl leaves a branch that fails
    for the earlier one, and returns when that one is worse."""
    explorer = sonde.Explorer("url:arf=1", budget=20)
    explorer.add_seeds(["http://s.example/"])
    visit(explorer, 0.0, *(link(f"{place}{n}") for n in range(4) for place in (A, B)))
    assert visit(explorer, 3.0) == f"{A}0"  # all estimates are 0: the first discovered
    assert estimate(explorer, f"{A}1") == 3.0 + 3.0  # like it by basename and by domain
    assert estimate(explorer, f"{B}0") == 3.0  # by domain alone
    assert visit(explorer, 0.0) == f"{A}1"  # predicted 6: an error of -6
    assert estimate(explorer, f"{A}2") == -1.5 - 1.5
    assert estimate(explorer, f"{B}0") == -1.5
    assert visit(explorer, 1.0) == f"{B}0"  # back on the other branch: predicted -1.5
    assert estimate(explorer, f"{B}1") == 2.5 - 0.5 / 3
    assert visit(explorer, 1.0) == f"{B}1"


def test_feedback_reaches_links_of_pages_that_are_visited_later() -> None:
    explorer = sonde.Explorer("url:arf=1", budget=20)
    explorer.add_seeds(["http://s.example/", "http://s.example/late"])
    visit(explorer, 0.0, link(f"{A}0"))
    visit(explorer, 0.0)
    assert visit(explorer, 2.0, link("http://s.example/c/")) == f"{A}0"
    # A page that links to what was visited before: its other links hear of it.
    assert visit(explorer, 0.0, link(f"{A}0"), link(f"{A}1"), link(f"{B}1")).endswith("/c/")
    assert estimate(explorer, f"{A}1") == 4.0
    assert estimate(explorer, f"{B}1") == 2.0


def test_a_failure_tells_nothing_of_its_siblings() -> None:
    explorer = sonde.Explorer("url:arf=1", budget=20)
    explorer.add_seeds(["http://s.example/"])
    visit(explorer, 0.0, link(f"{A}0"), link(f"{A}1"))
    (lease,) = explorer.ask()
    explorer.tell(lease, Failure("http-404"))
    assert estimate(explorer, f"{A}1") == 0.0


def test_features_by_hand() -> None:
    features = ("rfu", "bfu", "id", "repeats", "hop")
    for name, expected in zip(features, (0.375, 0.3, math.log(3), math.log(3), 0.5), strict=True):
        explorer = sonde.Explorer(f"url:{name}=1", budget=9)
        explorer.add_seeds(["one", "two"])
        visit(explorer, 1.0, ("x", UrlPlace("d", "b", 0.5, 0.5, 2)))
        visit(explorer, 1.0, ("x", UrlPlace("d", "b", 0.25, 0.1, 0)))
        assert estimate(explorer, "x") == expected, name


def test_links_without_places_are_taken_as_they_are() -> None:
    explorer = sonde.Explorer("url", budget=9)
    explorer.add_seeds(["one"])
    visit(explorer, 1.0, ("x", None), link(f"{A}0"), ("y", None))
    assert [visit(explorer, 1.0), visit(explorer, 0.0), visit(explorer, 2.0)]
    assert explorer.stop_reason == "frontier"


def test_links_with_urls_are_measured_as_told() -> None:
    """Repeats count, a link of the page to itself does not, and spellings of one URL are one."""
    explorer = sonde.Explorer("url:rfu=1", budget=9)
    explorer.add_seeds(["home"])
    urls = [f"{A}0", "http://S.example/a/0#top", "http://t.example/"]
    (lease,) = explorer.ask()
    links = [Link(name, url=url) for name, url in zip("xxy", urls, strict=True)]
    explorer.tell(lease, Visit(0.0, [*links, Link("home", url=f"{A}home"), Link("z")]))
    told = explorer.driver.told.places
    assert told is not None
    x, again, y, home, z = told
    assert x == again == UrlPlace("s.example", A, 1 / 2 / 2, 1 / 2 / 2, 1)
    assert y == UrlPlace("t.example", "http://t.example/", 1 / 2 / 2, 1 / 2 / 2, 0)
    assert home is z is None
    assert estimate(explorer, "x") == estimate(explorer, "y") == 0.25


def test_what_is_no_url_is_refused_before_anything_changes() -> None:
    explorer = sonde.Explorer("url", budget=9)
    explorer.add_seeds(["home"])
    (lease,) = explorer.ask()
    with pytest.raises(sonde.InputError, match="visit of 'home': 'http://' is not a URL"):
        explorer.tell(lease, Visit(0.0, [Link("x", url="http://")]))
    assert explorer.driver.known == 1
    explorer.tell(lease, Visit(0.0, [Link("x", url="x/y"), Link("y", text="no URL at all")]))
    assert explorer.frontier_size == 2


def test_texts_lead_as_their_words_do() -> None:
    plain, prepared = (sonde.Explorer("auto", budget=40, seed=3) for _ in range(2))
    for explorer in (plain, prepared):
        explorer.add_seeds(["0"])
    for _ in range(40):
        (lease,), (same,) = plain.ask(), prepared.ask()
        assert lease == same
        number = int(str(lease.node))
        targets = [str(target) for target in range(3 * number + 1, 3 * number + 6)]
        texts = [f"tide {int(target) % 4}0" if int(target) % 3 else "" for target in targets]
        links = [Link(target, text=text) for target, text in zip(targets, texts, strict=True)]
        words = [link_words(text) for text in texts]
        score = float(number % 4 == 1)
        plain.tell(lease, Visit(score, links))
        prepared.tell(same, Visit(score, LinkColumns(targets, [0.0] * 5, words=words)))


# -- round-trip times ------------------------------------------------------------------------------


def hosted(explorer: sonde.Explorer, *links: tuple[str, str, float]) -> None:
    """The visit of a seed with links (target, host, rfu)."""
    (lease,) = explorer.ask()
    targets, hosts, rfus = zip(*links, strict=True)
    places = [UrlPlace("d", "b", rfu, 0.0) for rfu in rfus]
    columns = LinkColumns(targets, [0.0] * len(links), hosts, places=places)
    explorer.tell(lease, Visit(0.0, columns))


def timed(spec: str) -> sonde.Explorer:
    explorer = sonde.Explorer(spec, budget=50, grouped=True)
    explorer.add_seeds([Link("seed", group="home")])
    return explorer


def test_the_quicker_of_two_equal_candidates_goes_first() -> None:
    explorer = timed("url:rfu=1")
    assert explorer.driver.reads_times
    hosted(explorer, ("a", "home", 0.5), ("s1", "slow", 0.5), ("q1", "quick", 0.5))
    (lease,) = explorer.ask()
    assert lease.node == "a"  # a mean gain of nothing gives no bonus: discovered first
    explorer.tell(lease, Visit(1.0))
    for _ in range(4):
        explorer.driver.clock("slow", 2.0)
        explorer.driver.clock("quick", 0.02)
    assert [lease.node for lease in explorer.ask(2)] == ["q1", "s1"]


def test_slow_hosts_of_low_relevance_are_put_off_and_others_are_not() -> None:
    explorer = timed("url:rfu=1")
    hosted(
        explorer,
        ("a", "home", 1.0),
        ("q", "quick", 0.50),
        ("low", "slow", 0.55),  # a little better, and slow
        ("high", "slow", 0.75),
    )
    explorer.tell(explorer.ask()[0], Visit(1.0))
    for _ in range(4):
        explorer.driver.clock("slow", 2.0)
        explorer.driver.clock("quick", 0.02)
    assert [lease.node for lease in explorer.ask(3)] == ["high", "q", "low"]


def test_round_trip_times_are_smoothed_as_tcp_does() -> None:
    explorer = timed("url")
    hosted(explorer, ("a", "home", 1.0))
    mean, deviation = 0.4, 0.2
    explorer.driver.clock("home", 0.4)
    for seconds in (0.1, 0.9, 0.3):
        deviation += (abs(seconds - mean) - deviation) / 4
        mean += (seconds - mean) / 8
        explorer.driver.clock("home", seconds)
    quickness: Any = explorer._model.quickness
    assert (quickness.mean[0], quickness.deviation[0]) == (mean, deviation)
    explorer.driver.clock("never seen", 1.0)  # nothing to be said of it
    assert not timed("url:-rtt").driver.reads_times
    assert not sonde.Explorer("url").driver.reads_times  # no hosts, no round trips


@pytest.mark.parametrize("spec", ["url", "url+lnh", "url:bfu=1:arf=1:rtt=0.5"])
def test_picks_are_the_argmax_while_hosts_change_their_pace(spec: str) -> None:
    """Every pick is the best live row of the ready hosts, whatever clocks and failures say."""
    dice = np.random.default_rng(5)
    explorer = sonde.Explorer(spec, grouped=True)
    explorer.add_seeds([Link(str(n), group=str(n % 7)) for n in range(5)])
    frontier: Any = explorer._model.frontier
    leaf = frontier.leaves[0]
    for step in range(500):
        ready = None if step % 3 else {str(n) for n in dice.integers(0, 7, 3)}
        live = np.flatnonzero(np.asarray(frontier.row_live)[: frontier.rows])
        nodes = [str(explorer.driver.node_of(node)) for node in np.asarray(frontier.row_node)[live]]
        if ready is not None:
            live = live[np.array([str(int(node) % 7) in ready for node in nodes], dtype=bool)]
        values = np.array([leaf.estimate(slot) for slot in live])
        leases = explorer.ask(1, ready=ready)
        if leases and leases[0].arm >= 0:
            best = live[values == values.max()]
            first = best[np.argmin(np.asarray(frontier.row_seq)[best])]
            assert leases[0].node == explorer.driver.node_of(frontier.row_node[first])
            assert leases[0].predicted == values.max()
        for lease in leases:
            if dice.random() < 0.15:
                explorer.tell(lease, Failure("timeout", retry=dice.random() < 0.5))
                continue
            targets = dice.integers(0, 3000, 9).tolist()
            links = LinkColumns(
                [str(target) for target in targets],
                [float(target % 3) for target in targets],
                [str(target % 7) for target in targets],
                places=[
                    UrlPlace(target % 2, target % 11, 1 / (1 + target % 4), 1 / (1 + target % 5))
                    for target in targets
                ],
            )
            explorer.tell(lease, Visit(float(int(str(lease.node)) % 5 == 0), links))
        explorer.driver.clock(str(dice.integers(0, 7)), float(dice.exponential(0.3)))
    quickness: Any = explorer._model.quickness
    shown = np.asarray(quickness.shown)[:7]
    assert len(set(shown.tolist())) > 1
    group = np.asarray(frontier.node_group)
    live = np.flatnonzero(np.asarray(frontier.row_live)[: frontier.rows])
    for slot in live:
        assert frontier.features[slot, quickness.column] == shown[group[frontier.row_node[slot]]]


# -- texts -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("url", "url"),
        ("url+lnh", "url+lnh:sum"),
        ("url+lnh:max:-arf", "url+lnh:max:-arf"),
        ("url:arf=2:bfu=1", "url:bfu=1:arf=2"),
        ("url:rtt=0.5", "url:rtt=0.5"),
        ("url:-rtt", "url:-rtt"),
        ("mab:eps=0.1[url,url+lnh:avg:-hop]", "mab:eps=0.1[url,url+lnh:avg:-hop]"),
    ],
)
def test_texts_read_back(text: str, shown: str) -> None:
    assert str(estimator_from(text)) == shown
    assert estimator_from(shown) == estimator_from(text)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("url:max", "not understood"),
        ("url:-pagerank", "unknown measure"),
        ("url:n=1", "unknown measure"),
        ("url:bfu=x", "not a number"),
        ("url:bfu=inf", "finite"),
        ("url:rtt=-1", "rtt is 0 or more"),
        ("url:-rfu:-bfu:-id:-repeats:-hop:-arf", "no measure"),
        ("url+lnh:min", "not understood"),
    ],
)
def test_texts_that_make_no_sense(text: str, message: str) -> None:
    with pytest.raises(SpecError, match=message):
        estimator_from(text)


def test_an_aggregate_of_ones_own_making() -> None:
    with pytest.raises(SpecError, match="aggregate"):
        UrlSignificance(how="min")


# -- features for estimators of one's own ----------------------------------------------------------


class Backtracker:
    """The mean of a parent's bfu, raised or lowered by what its siblings brought."""

    features: Sequence[str] = ("bfu", "arf:basename+", "arf:basename-")

    def predict(self, features: Floats) -> Floats:
        return np.asarray(features[:, 0] + features[:, 1] - features[:, 2])

    def learn(self, features: Floats, gain: float) -> None: ...


def test_custom_estimators_have_the_features() -> None:
    check_estimator(Backtracker())
    explorer = sonde.Explorer(Backtracker(), budget=20)
    explorer.add_seeds(["http://s.example/"])
    visit(explorer, 0.0, link(f"{A}0", bfu=0.25), link(f"{A}1", bfu=0.25), link(f"{B}0", bfu=0.125))
    assert visit(explorer, 0.0) == f"{A}0"  # predicted 0.25
    assert estimate(explorer, f"{A}1") == 0.0
    assert visit(explorer, 9.0) == f"{B}0"

    class Wrong(Backtracker):
        features: Sequence[str] = ("arf",)

    with pytest.raises(EstimatorError, match="unknown feature"):
        sonde.Explorer(Wrong())


def test_an_error_flows_to_every_page_that_linked_there() -> None:
    explorer = sonde.Explorer("url:arf=1", budget=99)
    explorer.add_seeds([f"http://s.example/{n}" for n in range(20)])
    for number in range(20):
        visit(explorer, 0.0, link(f"{A}0"), link(f"{A}only{number}"))
    assert visit(explorer, 2.0) == f"{A}0"
    heard = [estimate(explorer, f"{A}only{number}") for number in range(20)]
    assert heard == [4.0] * 20
