"""Time graphs, recrawl policies, and the simulation of tracking."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import authority_reference as reference
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sonde import kernels
from sonde.authority import TimeGraph, Tracker, compare_tracking, rate_from, track
from sonde.authority.tracking import RECRAWLS
from sonde.data import Recipe, build
from sonde.errors import GraphError, InputError, SpecError

ENGINES = ("compiled", "python")


@st.composite
def arrivals(draw: st.DrawFn) -> list[reference.Arrival]:
    """Links among a few nodes at whole times; all nodes appear, in node order, at time 0."""
    count = draw(st.integers(2, 6))
    node = st.integers(0, count - 1)
    rows = draw(st.lists(st.tuples(node, node, st.integers(0, 24)), max_size=30))
    return [(n, (n + 1) % count, 0.0) for n in range(count)] + [
        (a, b, float(t)) for a, b, t in rows
    ]


def make(
    rows: list[reference.Arrival], tracker: Tracker, seed: int, engine: str
) -> tuple[object, TimeGraph]:
    graph = TimeGraph.from_arrivals(rows)
    loops = kernels.load(engine)
    state = loops.recrawl.Tracking(
        graph.rows,
        graph.sources,
        graph.targets,
        graph.arriving,
        graph.arrivals,
        tracker.window,
        loops.expansion.Expansion(graph.node_count, float(tracker.expand == "crawl-ai")),
        loops.recrawl.Recrawl(
            RECRAWLS.index(tracker.recrawl), graph.node_count, tracker.rate * (1 - tracker.share)
        ),
        loops.dice.Dice(seed),
    )
    return state, graph


@given(rows=arrivals(), times=st.lists(st.integers(0, 40), min_size=1, max_size=6))
@settings(max_examples=60, deadline=None)
def test_the_window(rows: list[reference.Arrival], times: list[int]) -> None:
    for engine in ENGINES:
        state, graph = make(rows, Tracker(window=7.0), 0, engine)
        for now in sorted(times):
            state.slide(float(now))  # type: ignore[attr-defined]
            there = {(a, b) for a, b, t in rows if a != b and now - 7 < t <= now}
            indegree = Counter(target for _, target in there)
            assert list(state.indegree) == [  # type: ignore[attr-defined]
                indegree[node] for node in range(graph.node_count)
            ]
            alive = {node for link in there for node in link}
            appeared = {n for a, b, t in rows if a != b and t <= now for n in (a, b)}
            assert state.arrived == len(appeared)  # type: ignore[attr-defined]
            pool = state.pool[: state.pooled]  # type: ignore[attr-defined]
            assert set(np.asarray(pool).tolist()) == alive
            indptr, targets = graph.at(float(now), 7.0)
            assert sorted(there) == [
                (node, int(target))
                for node in range(graph.node_count)
                for target in targets[indptr[node] : indptr[node + 1]]
            ]


@pytest.mark.parametrize("expand", ["crawl-gai", "crawl-ai"])
@pytest.mark.parametrize("recrawl", ["u", "or", "yr", "yru", "ldu"])
@given(rows=arrivals(), seed=st.integers(0, 50), steps=st.integers(1, 16))
@settings(max_examples=15, deadline=None)
def test_policies(
    expand: str, recrawl: str, rows: list[reference.Arrival], seed: int, steps: int
) -> None:
    tracker = Tracker(expand, recrawl, window=8.0, rate=0.5)  # yields are whole quarters
    wanted = None
    for engine in ENGINES:
        state, graph = make(rows, tracker, seed, engine)
        naive = reference.Tracking(
            rows, graph.node_count, 8.0, 0.5, expand, recrawl, reference.Dice(seed)
        )
        state.slide(8.0)  # type: ignore[attr-defined]
        state.crawl(0, 8.0)  # type: ignore[attr-defined]
        naive.crawl(0, 8.0)
        for step in range(1, steps):
            state.run(step, 1, 8.0, 2.0, 0.5, False)  # type: ignore[attr-defined]
            naive.step(8.0 + 2.0 * step, 0.5)
        crawls = [len(naive.crawls.get(node, ())) for node in range(graph.node_count)]
        assert list(state.crawls) == crawls  # type: ignore[attr-defined]
        states = np.asarray(state.expansion.state)  # type: ignore[attr-defined]
        assert set(np.flatnonzero(states == 1)) == set(naive.frontier())
        assert list(state.expansion.apparent) == [  # type: ignore[attr-defined]
            naive.apparent(node) for node in range(graph.node_count)
        ]
        assert wanted is None or crawls == wanted
        wanted = crawls


@given(rows=arrivals(), seed=st.integers(0, 20))
@settings(max_examples=20, deadline=None)
def test_engines_agree_on_all_policies(rows: list[reference.Arrival], seed: int) -> None:
    for recrawl in RECRAWLS:
        for expand in ("sample-u", "crawl-ai"):
            tracker = Tracker(expand, recrawl, 2, 5.0, 1.3)
            try:
                courses = [
                    track(TimeGraph.from_arrivals(rows), tracker, seed=seed, engine=engine)
                    for engine in ENGINES
                ]
            except InputError:  # all within one window
                return
            for one, other in zip(*(vars(course).values() for course in courses), strict=True):
                assert np.array_equal(one, other)


@given(rows=arrivals(), top=st.integers(1, 3), seed=st.integers(0, 9))
@settings(max_examples=30, deadline=None)
def test_measures(rows: list[reference.Arrival], top: int, seed: int) -> None:
    """At every measurement, against the definitions."""
    tracker = Tracker("crawl-gai", "u", top, 6.0, 0.5)
    graph = TimeGraph.from_arrivals(rows)
    try:
        course = track(graph, tracker, start=0, seed=seed, points=100)
    except InputError:  # too short, or nothing is there when it is measured
        return
    naive = reference.Tracking(
        rows, graph.node_count, 6.0, 0.5, "crawl-gai", "u", reference.Dice(seed)
    )
    naive.crawl(0, 6.0)
    measured = dict(zip(course.times.tolist(), range(len(course.times)), strict=True))
    for step in range(int((graph.span[1] - 6.0) * 0.5) + 1):
        now = 6.0 + 2.0 * step
        if step:
            naive.step(now, 0.5)
        links = naive.links(now)
        place = measured.get(2.0 * step)
        if place is None:
            continue
        indegree = Counter(target for _, target in links)
        targets = set(sorted(indegree, key=lambda node: (-indegree[node], node))[:top])
        visited, frontier = set(naive.crawls), set(naive.frontier())
        appeared = {n for a, b, t in rows if a != b and t <= now for n in (a, b)}
        chance = len(targets) / len(appeared)
        found = visited | frontier
        assert course.crawl[place] == pytest.approx(len(targets & visited) / len(targets))
        assert course.discovery[place] == pytest.approx(len(targets & found) / len(targets))
        lift = len(targets & visited) / len(visited) / chance
        assert course.crawl_lift[place] == pytest.approx(lift)
        lift = len(targets & found) / len(found) / chance
        assert course.discovery_lift[place] == pytest.approx(lift)
        lift = len(targets & frontier) / max(1, len(frontier)) / chance
        assert course.frontier_lift[place] == pytest.approx(lift)


# -- policies, statistically and by definition ---------------------------------------------------


@pytest.mark.parametrize(
    ("policy", "weights"),
    [
        ("u", [1, 1, 1, 1]),
        ("or", [4, 0, 2, 1]),
        ("yr", [0.5, 0, 4, 0.25]),
        ("yru", [0.5 / 4.75 + 0.25, 0.25, 4 / 4.75 + 0.25, 0.25 / 4.75 + 0.25]),
        ("ldu", [0.25, 0.25, 0.25, 1.25]),
    ],
)
def test_recrawls_are_drawn_by_their_weights(policy: str, weights: list[float]) -> None:
    loops = kernels.load("compiled")
    recrawl = loops.recrawl.Recrawl(RECRAWLS.index(policy), 4, 1.0)
    # links, fresh, elapsed, score
    for node, told in enumerate([(4, 2, 4, 1), (0, 0, 1, 0), (2, 2, 0.5, 3), (1, 1, 4, 9)]):
        recrawl.visited(node, *told)
    dice = loops.dice.Dice(3)
    draws = 20_000
    counts = Counter(recrawl.pick(dice) for _ in range(draws))
    for node, weight in enumerate(weights):
        chance = weight / sum(weights)
        spread = np.sqrt(draws * chance * (1 - chance))
        assert abs(counts[node] - draws * chance) <= 4 * spread


def test_sample_u_draws_evenly_from_the_nodes_that_have_a_link() -> None:
    """Nodes 1 to 8 have a link at time 10; 9 had one that is gone, 0 was crawled."""
    rows = [(9, 8, 0.0)] + [(0, n, 6.0) for n in range(1, 9)] + [(0, 1, 30.0)]
    graph = TimeGraph.from_arrivals(rows)
    counts: Counter[object] = Counter()
    for seed in range(2000):
        state, _ = make(rows, Tracker("sample-u", "u", window=5.0), seed, "compiled")
        state.slide(10.0)  # type: ignore[attr-defined]
        state.crawl(graph.index("0"), 10.0)  # type: ignore[attr-defined]
        state.step(10.5, 1.0, True)  # type: ignore[attr-defined]
        crawled = np.flatnonzero(np.asarray(state.crawls))  # type: ignore[attr-defined]
        counts.update(graph.names[int(node)].as_py() for node in crawled)
    assert counts.pop(0) == 2000
    assert set(counts) == set(range(1, 9))
    spread = np.sqrt(2000 / 8 * 7 / 8)
    assert all(abs(count - 250) < 4 * spread for count in counts.values())


@pytest.mark.parametrize("policy", RECRAWLS)
def test_without_any_weight_every_node_is_alike(policy: str) -> None:
    loops = kernels.load("compiled")
    recrawl = loops.recrawl.Recrawl(RECRAWLS.index(policy), 3, 1.0)
    dice = loops.dice.Dice(3)
    assert recrawl.pick(dice) == -1
    for node in range(3):
        recrawl.visited(node, 0, 0, 1.0, 0)
    counts = Counter(recrawl.pick(dice) for _ in range(3000))
    assert all(abs(counts[node] - 1000) < 4 * np.sqrt(3000 * 2 / 9) for node in range(3))
    recrawl.remove(1)
    assert {recrawl.pick(dice) for _ in range(100)} == {0, 2}


@given(
    st.lists(st.tuples(st.integers(0, 6), st.integers(1, 6), st.floats(0.1, 50)), min_size=1),
    st.floats(0.01, 100),
)
@settings(max_examples=40, deadline=None)
def test_the_plan_for_freshness(seen: list[tuple[int, int, float]], rate: float) -> None:
    """Rates of visits by water filling are as fresh as those found by exchanging small amounts."""
    seen = [(min(changed, visits), visits, time) for changed, visits, time in seen[:12]]
    for engine in ENGINES:
        loops = kernels.load(engine)
        recrawl = loops.recrawl.Recrawl(RECRAWLS.index("fresh"), len(seen), rate)
        for node, (changed, visits, time) in enumerate(seen):
            for visit in range(visits):
                recrawl.visited(node, 1, int(visit < changed), time, 0)
        recrawl.pick(loops.dice.Dice(0))
        plan = [recrawl.plan.get(node) for node in range(len(seen))]
        changes = [
            -np.log((visits - changed + 0.5) / (visits + 1)) / time
            for changed, visits, time in seen
        ]
        assert sum(plan) == pytest.approx(rate, rel=1e-6)
        best = reference.freshness(reference.water_filling(changes, rate), changes)
        assert reference.freshness(plan, changes) >= best - 1e-5 * len(seen)


def test_the_rate_of_change_is_found() -> None:
    """A node that changes by chance at 0.2 a day, visited now and then."""
    loops = kernels.load("compiled")
    recrawl = loops.recrawl.Recrawl(RECRAWLS.index("fresh"), 1, 1.0)
    dice = np.random.default_rng(5)
    for _ in range(3000):
        elapsed = dice.uniform(0.5, 1.5)
        recrawl.visited(0, 1, int(dice.random() < 1 - np.exp(-0.2 * elapsed)), elapsed, 0)
    still = (recrawl.intervals[0] - recrawl.changes[0] + 0.5) / (recrawl.intervals[0] + 1)
    rate = -np.log(still) * recrawl.intervals[0] / recrawl.watched[0]
    assert rate == pytest.approx(0.2, rel=0.1)


def test_the_bandit_turns_to_what_finds_new_links() -> None:
    """Only the node with most links ever has new ones: the bandit comes to prefer `or`."""
    loops = kernels.load("compiled")
    recrawl = loops.recrawl.Recrawl(RECRAWLS.index("bandit"), 50, 1.0)
    dice = loops.dice.Dice(1)
    for node in range(50):
        recrawl.visited(node, 1000 if node == 0 else 1, 0, 1.0, 0)
    picks = []
    for _ in range(2000):
        node = recrawl.pick(dice)
        picks.append(node)
        recrawl.visited(node, 1000 if node == 0 else 1, 3 if node == 0 else 0, 1.0, 0)
    assert Counter(picks[1000:])[0] > 800


# -- time graphs out of files --------------------------------------------------------------------


def test_time_graphs_out_of_files(tmp_path: Path) -> None:
    rows = [("a", "b", 0.0), ("b", "a", 86_400.0), ("a", "b", 172_800.0), ("a", "a", 5.0)]
    made = TimeGraph.from_arrivals(rows)
    days = "source\ttarget\tday\na\tb\t0\nb\ta\t1\na\tb\t2\na\ta\t0\n"
    (tmp_path / "edges.tsv").write_text(days)
    texts = tmp_path / "texts"
    texts.mkdir()
    (texts / "edges.csv").write_text(
        "source,target,time\na,b,1970-01-01\nb,a,1970-01-02T01:00:00+01:00\na,b,1970-01-03T00:00:00Z\n"
    )
    stamps = tmp_path / "stamps"
    stamps.mkdir()
    moments = pa.array([0, 86_400, 172_800], pa.timestamp("s"))
    pq.write_table(
        pa.table({"source": ["a", "b", "a"], "target": ["b", "a", "b"], "time": moments}),
        stamps / "edges.parquet",
    )
    for graph in (
        TimeGraph.load(tmp_path, "day", 86_400.0),
        TimeGraph.load(texts),
        TimeGraph.load(stamps),
    ):
        assert graph.arrivals.tolist() == made.arrivals.tolist()
        assert graph.arriving.tolist() == made.arriving.tolist()
        assert graph.names.to_pylist() == ["a", "b"]
        assert graph.index("b") == 1


def test_a_time_graph_that_was_built_of_posts_or_edges(tmp_path: Path) -> None:
    rows = [("a", "b", 5), ("b", "c", 2), ("a", "b", 1), ("c", "a", 9)]
    lines = "".join(f"{source}\t{target}\t{time}\n" for source, target, time in rows)
    (tmp_path / "edges.tsv").write_text("source\ttarget\twhen\n" + lines, encoding="utf-8")
    build(Recipe("edges", tmp_path / "edges.tsv", time="when"), tmp_path / "built")
    made = TimeGraph.from_arrivals(rows)
    for graph in (
        TimeGraph.load(tmp_path / "built"),
        TimeGraph.load(tmp_path / "built", "times"),
    ):
        assert graph.arrivals.tolist() == made.arrivals.tolist() == [1.0, 2.0, 5.0, 9.0]
        assert graph.arriving.tolist() == made.arriving.tolist()
        assert graph.names.to_pylist() == made.names.to_pylist()
    lists = pa.table({"source": ["a", "b"], "target": ["b", "a"], "times": [[1], [2, None]]})
    (tmp_path / "holes").mkdir()
    pq.write_table(lists, tmp_path / "holes" / "edges.parquet")
    with pytest.raises(GraphError, match="row 2: None is not a time"):
        TimeGraph.load(tmp_path / "holes")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("source\ttarget\ttime\na\tb\t1\na\tb\tsoon\n", "line 3: 'soon' is not a time"),
        ("source\ttarget\na\tb\n", "column 'time' is missing"),
        ("source\ttarget\ttime\na\ta\t1\n", "self-loop"),
        ("source\ttarget\ttime\n", "no link arrives"),
    ],
)
def test_files_that_are_no_time_graph(tmp_path: Path, text: str, words: str) -> None:
    (tmp_path / "edges.tsv").write_text(text)
    with pytest.raises(GraphError, match=words):
        TimeGraph.load(tmp_path)


def test_rates() -> None:
    assert rate_from("1000/d") == pytest.approx(1000 / 86_400)
    assert rate_from("5/15m") == pytest.approx(5 / 900)
    for text in ("1000", "x/d", "0/h", "5/x"):
        with pytest.raises(SpecError):
            rate_from(text)


def test_what_cannot_be_tracked() -> None:
    for wrong in ({"expand": "x"}, {"recrawl": "x"}, {"top": 0}, {"window": 0.0}, {"share": 2.0}):
        with pytest.raises(SpecError):
            Tracker(**wrong)
    with pytest.raises(InputError, match="leaves no time"):
        track(TimeGraph.from_arrivals([(0, 1, 0.0), (1, 0, 5.0)]))


def test_comparing_trackers() -> None:
    rows = [(n % 7, (n * n + 1) % 11, float(n)) for n in range(200)]
    trackers = [Tracker("crawl-gai", name, 3, 20.0, 0.5) for name in ("u", "or")]
    curves = compare_tracking(TimeGraph.from_arrivals(rows), trackers, repeat=2, points=5)
    assert {curve.label for curve in curves} == {"crawl-gai, u", "crawl-gai, or"}
    assert all(curve.rows.shape == (2, 5) for curve in curves)
