"""A topic drawn onto a given graph: warm around a few nodes, cooling with distance.

Heat starts at a few nodes, the more linked the likelier, and spreads along links in both
directions. The warmer a node the likelier it is on the topic, and a few are anywhere; scores are
1 + ln of heavy-tailed counts. Links tell of it, but noisily: many to nodes on the topic do not, and
a few to others do. The rates are those of ``sonde.sources.graph.topical``.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sonde.data.topics import Floats
from sonde.sources.graph.generate import COLD, NOISE, TELLING

STEPS = 6  # how far heat spreads
KEPT = 0.5  # of a node's heat at each step; the rest goes to its neighbours
CENTRES = 3


def drawn(
    sources: npt.NDArray[np.int64],
    targets: npt.NDArray[np.int64],
    count: int,
    seed: int,
    share: float,
) -> tuple[Floats, Floats]:
    """Scores of nodes and of edges. The same links and seed give the same scores."""
    dice = np.random.default_rng(seed)
    ends = np.concatenate([sources, targets])
    others = np.concatenate([targets, sources])
    degrees = np.bincount(ends, minlength=count)
    weights = (degrees + 1) / (degrees + 1).sum()
    heat = np.zeros(count)
    heat[dice.choice(count, min(CENTRES, count), replace=False, p=weights)] = 1.0
    shares = 1 / np.maximum(degrees, 1)
    for _ in range(STEPS):
        flowing = np.bincount(others, weights=(heat * shares)[ends], minlength=count)
        heat = KEPT * heat + (1 - KEPT) * flowing
    warmth = heat / heat.max() + COLD * heat.mean() / heat.max()
    wanted = max(1, round(share * count))
    # The smallest of exponential waiting times: a weighted draw without replacement.
    waiting = dice.exponential(size=count) / warmth
    chosen = np.argsort(waiting, kind="stable")[:wanted]
    scores = np.zeros(count)
    scores[chosen] = 1 + np.log(np.minimum(dice.zipf(2.0, wanted), 10_000))
    rates = np.where(scores[targets] > 0, TELLING, NOISE)
    telling = dice.random(len(targets)) < rates
    alphas = np.zeros(len(targets))
    alphas[telling] = 1 + np.log(dice.geometric(0.5, int(telling.sum())))
    return scores, alphas
