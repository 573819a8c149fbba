"""Gradient-boosted trees as an estimator of one's own, for the league of `auto`.

    python benchmarks/auto.py FOLDER        # takes part as @boosted.Boosted

Trees of scikit-learn over sixteen features of both levels, fitted anew whenever the number of
visits has grown by 15 %, on a reservoir of 2,000 of them. Until there are 30 it goes by the sum of
the parents' scores. It rescores the whole frontier at every step.
"""

from __future__ import annotations

import random
from typing import Any

import numpy as np
from sklearn.ensemble import HistGradientBoostingRegressor

Floats = np.ndarray[tuple[int, ...], np.dtype[np.float64]]

KEPT = 2_000
START = 30


class Boosted:
    features = (
        *("n:sum", "n:max", "n:avg", "e:sum", "e:max", "e:avg", "ne:sum", "ne:max", "deg", "hop"),
        *("deg2", "n2:sum", "n2:max", "n2:avg", "e2:sum", "e2:avg"),
    )

    def __init__(self) -> None:
        self.rows: list[Floats] = []
        self.gains: list[float] = []
        self.seen = 0
        self.due = START
        self.dice = random.Random(0)
        self.trees: Any = None

    def predict(self, rows: Floats) -> Floats:
        if self.trees is None:
            return rows[:, 0]
        values: Floats = self.trees.predict(rows)
        return values

    def learn(self, row: Floats, gain: float) -> None:
        self.seen += 1
        if len(self.rows) < KEPT:
            self.rows.append(row)
            self.gains.append(gain)
        else:
            place = self.dice.randrange(self.seen)
            if place < KEPT:
                self.rows[place] = row
                self.gains[place] = gain
        if self.seen >= self.due:
            self.due = max(self.seen + 1, int(self.seen * 1.15))
            self.trees = HistGradientBoostingRegressor(
                max_iter=30, max_leaf_nodes=8, min_samples_leaf=10, early_stopping=False
            ).fit(np.array(self.rows), np.array(self.gains))
