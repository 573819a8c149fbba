"""A query that spreads through a recorded overlay, beside one crawl that sees everything.

The same shares that real peers hold are driven here by an agenda of events: a message takes one
unit of time to arrive and one to be answered, and of two at the same time the one sent first comes
first. So a run is repeated bit for bit, and its time can be compared with that of a crawl.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import dataclass, field

from sonde.errors import InputError
from sonde.estimators import estimator_from
from sonde.peers.query import WIDTH, Share, recently_met
from sonde.simulation import draw_seeds, simulate
from sonde.sources.graph import Graph
from sonde.sources.peers.messages import SpreadAnswer


@dataclass(frozen=True, slots=True)
class SimulatedGossip:
    """``visited`` in the order of arrival, ``sent`` messages, ``repeated`` of them to peers that
    the query had met, ``time`` until the last answer was back."""

    visited: tuple[int, ...]
    total: float
    sent: int
    repeated: int
    time: int


@dataclass(slots=True)
class _Stay:
    """A query's stay at one peer; ``sender`` is 0 for whoever started it."""

    share: Share
    node: int
    sender: int
    answers: list[tuple[str, float, tuple[str, ...]]] = field(default_factory=list)


def simulate_gossip(
    graph: Graph,
    seeds: Sequence[int],
    budget: int,
    *,
    estimator: str = "e",
    width: int = WIDTH,
) -> SimulatedGossip:
    """Spread a query with a budget of messages from whoever asks these seeds."""
    estimator_from(estimator)
    if budget < 0 or width < 1 or not seeds:
        raise InputError("a query needs a seed, a budget of 0 or more and a width of 1 or more")
    start = Share(
        budget, "", 0.0, [(str(seed), 0.0) for seed in seeds], estimator="bfs", width=len(seeds)
    )
    stays = [_Stay(start, -1, -1)]
    met: dict[int, int] = {}
    agenda: list[tuple[int, int, int, int, int, SpreadAnswer | None]] = []
    time = number = repeated = 0

    def send(stay: int, now: int) -> None:
        """Whatever a stay has to send; its own answer once nothing is waited for."""
        nonlocal number
        here = stays[stay]
        for handover in here.share.handovers():
            number += 1
            heapq.heappush(
                agenda, (now + 1, number, stay, int(handover.name), handover.messages, None)
            )
        if here.share.over and here.sender >= 0:
            found = [*here.answers, *((n, *rest) for n, rest in here.share.answers.items())]
            spread = SpreadAnswer(here.share.sent, here.share.lost, tuple(found))
            number += 1
            heapq.heappush(agenda, (now + 1, number, here.sender, here.node, -1, spread))

    send(0, 0)
    while agenda:
        time, _, stay, node, messages, spread = heapq.heappop(agenda)
        if spread is not None:
            stays[stay].share.answered(str(node), spread)
            send(stay, time)
        elif node in met:
            repeated += 1
            number += 1
            heapq.heappush(agenda, (time + 1, number, stay, node, -1, SpreadAnswer(0, 0, ())))
        else:
            met[node] = len(stays)
            part = slice(graph.indptr[node], graph.indptr[node + 1])
            neighbours = zip(
                map(str, graph.targets[part].tolist()),
                graph.link_scores[part].tolist(),
                strict=True,
            )
            score = float(graph.scores[node])
            known = recently_met(stays[stay].share.known)
            share = Share(
                messages,
                str(node),
                score,
                neighbours,
                known=known,
                estimator=estimator,
                width=width,
            )
            stays.append(_Stay(share, node, stay, [(str(node), score, ())]))
            send(len(stays) - 1, time)
    return SimulatedGossip(
        visited=tuple(met),
        total=float(sum(graph.scores[node] for node in met)),
        sent=start.sent,
        repeated=repeated,
        time=time,
    )


@dataclass(frozen=True, slots=True)
class QueryForm:
    """One way to spend the same budget, over several sets of seeds. ``width`` is 0 for the crawl
    that sees everything and asks one peer after the other."""

    estimator: str
    width: int
    totals: tuple[float, ...]
    messages: tuple[int, ...]
    repeated: tuple[int, ...]
    times: tuple[int, ...]


def compare_forms(
    graph: Graph,
    estimators: Sequence[str],
    widths: Sequence[int],
    *,
    random_seeds: int,
    budget: int,
    repeat: int,
    seed: int = 0,
) -> list[QueryForm]:
    """Both forms from the same seeds, seeds included in the budget, for every estimator."""
    if budget < random_seeds or repeat < 1 or min(widths, default=1) < 1:
        raise InputError("a comparison needs a budget beyond the seeds, 1 run, and widths from 1")
    starts = [draw_seeds(graph, random_seeds, seed + number) for number in range(repeat)]
    forms = []
    for estimator in estimators:
        runs = [
            simulate(
                graph,
                seed_numbers=seeds,
                estimator=estimator,
                budget=budget - random_seeds,
                seed=seed + number,
            )
            for number, seeds in enumerate(starts)
        ]
        sent = tuple(len(run.visited) + random_seeds for run in runs)
        totals = tuple(run.total for run in runs)
        nothing = (0,) * repeat
        forms.append(
            QueryForm(estimator, 0, totals, sent, nothing, tuple(2 * count for count in sent))
        )
        for width in widths:
            spread = [
                simulate_gossip(graph, seeds.tolist(), budget, estimator=estimator, width=width)
                for seeds in starts
            ]
            forms.append(
                QueryForm(
                    estimator,
                    width,
                    tuple(one.total for one in spread),
                    tuple(one.sent for one in spread),
                    tuple(one.repeated for one in spread),
                    tuple(one.time for one in spread),
                )
            )
    return forms
