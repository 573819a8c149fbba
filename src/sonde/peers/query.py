"""Starting a query that spreads: the whole budget in one purse, and the seeds as its neighbours."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from sonde.errors import InputError
from sonde.estimators import estimator_from
from sonde.peers.purse import WIDTH, Purse
from sonde.peers.spending import MOST_PATIENCE, MOST_SHARE, MOST_WIDTH, Query, spend
from sonde.sources.peers.wire import LONGEST, address_of


@dataclass(frozen=True, slots=True)
class Gossip:
    """What came of a query: ``sent`` messages for certain, and no more than ``lost`` besides, which
    were handed to peers that never accounted for them. The answers have the best first."""

    sent: int
    lost: int
    answers: tuple[tuple[str, float, tuple[str, ...]], ...]

    @property
    def total(self) -> float:
        """The sum of the scores."""
        return sum(score for _, score, _ in self.answers)

    @property
    def records(self) -> int:
        """How many different files were found."""
        return len({record for _, _, records in self.answers for record in records})


async def gossip(
    seeds: Iterable[str],
    topic: str,
    budget: int,
    *,
    estimator: str = "e",
    width: int = WIDTH,
    patience: float = 10.0,
    note: Callable[[str], None] = lambda name: None,
) -> Gossip:
    """Ask the seeds to spread a query, with so many messages in all and within so many seconds."""
    names = list(dict.fromkeys(seeds))
    for name in names:
        if address_of(name) is None:
            raise InputError(f"not a peer: {name!r:.100} (an IP address and a port)")
    if not names:
        raise InputError("a query needs at least one peer to begin with")
    if not topic.strip(" ,") or len(topic) > LONGEST:
        raise InputError(f"a query has a topic of at most {LONGEST} characters")
    if not 1 <= budget <= MOST_SHARE:
        raise InputError(f"a budget is 1 to {MOST_SHARE:,} messages, not {budget}")
    if not 1 <= width <= MOST_WIDTH:
        raise InputError(f"a width is 1 to {MOST_WIDTH}, not {width}")
    if not 0 < patience <= MOST_PATIENCE:
        raise InputError(f"patience is more than 0 and up to {MOST_PATIENCE:g} s, not {patience}")
    estimator_from(estimator)
    purse = Purse(
        budget, "", 0.0, [(name, 0.0) for name in names], estimator="bfs", width=len(names)
    )
    await spend(purse, Query.new(topic, estimator, width), patience, note)
    answers = [(name, *found) for name, found in purse.answers.items()]
    answers.sort(key=lambda answer: (-answer[1], answer[0]))
    return Gossip(purse.sent, purse.lost, tuple(answers))
