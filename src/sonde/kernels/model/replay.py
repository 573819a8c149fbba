"""A recorded graph crawled by a model, in compiled loops: by its own picks, or led by another's.

``replay`` is a whole crawl, by the same model as an explorer's. ``follow`` leads a model along a
crawl that another has chosen. At every step the model names its best row as if it were to visit it;
what is visited, and learned from, is the next node of the given sequence. A bandit is rewarded with
the worth of the node that it named, since that is what its arm would have brought.
"""

import cython
import numpy as np
from cython.cimports.sonde.kernels.model.frontier import Leaf
from cython.cimports.sonde.kernels.model.model import Model

if cython.compiled:
    from cython.cimports.sonde.kernels.model.prefetch import prefetch


class Value:
    """What a visit adds to the objective: its score (kind 0), one if that is positive (kind 1),
    or its new records (kind 2).

    The records of node v are records[record_first[v]:record_first[v + 1]], as numbers.
    """

    def __init__(self, kind, scores, record_first, records):
        self.kind = kind
        self.scores = scores
        self.record_first = record_first
        self.records = records
        self.seen = np.zeros(int(np.max(records)) + 1 if len(records) else 0, dtype=np.int8)

    def gain(self, node):
        if self.kind == 0:
            return self.scores[node]
        if self.kind == 1:
            return 1.0 if self.scores[node] > 0.0 else 0.0
        fresh: cython.int = 0
        record: cython.int
        i: cython.longlong
        for i in range(self.record_first[node], self.record_first[node + 1]):
            record = self.records[i]
            if not self.seen[record]:
                self.seen[record] = 1
                fresh += 1
        return fresh


def replay(
    model: Model, value: Value, indptr: cython.longlong[::1], seeds, budget, refresh, scoring=-1
):
    """Visit the seeds, then up to `budget` more; node numbers, gains and predictions, in order.

    With `scoring`, stop after so many visits that score: there are no more of them.
    """
    node: cython.int
    slot: cython.int
    done: cython.longlong = 0
    limit: cython.longlong = budget
    left: cython.longlong = scoring
    batch: cython.int = refresh
    width: cython.int = max(model.frontier.width, 1)
    room = min(budget, len(indptr))
    sequence = np.zeros(room, dtype=np.intc)
    gains = np.zeros(room)
    predictions = np.zeros(room)
    visited: cython.int[::1] = sequence
    gained: cython.double[::1] = gains
    foreseen: cython.double[::1] = predictions
    asked: cython.int[::1] = np.zeros(refresh, dtype=np.intc)
    by: cython.int[::1] = np.zeros(refresh, dtype=np.intc)
    snapshots: cython.double[:, ::1] = np.zeros((refresh, width))
    seed_gains = []
    model.begin(seeds)
    for node in seeds:
        seed_gains.append(value.gain(node))
        model.visit(node, value.scores[node], indptr[node], indptr[node + 1])
    while done < limit and left != 0:
        count: cython.int = 0
        while count < batch and done + count < limit:
            slot = model.pick()
            if slot < 0:
                break
            node = asked[count] = model.frontier.row_node[slot]
            if cython.compiled:
                prefetch(cython.address(value.scores[node]))
                prefetch(cython.address(indptr[node]))
            by[count] = model.chosen
            foreseen[done + count] = model.predicted
            model.snapshot(slot, snapshots[count])
            count += 1
        if count == 0:
            break
        i: cython.int
        for i in range(count):
            node = asked[i]
            visited[done] = node
            gained[done] = value.gain(node)
            model.learn(by[i], snapshots[i], gained[done])
            model.visit(node, value.scores[node], indptr[node], indptr[node + 1])
            if value.scores[node] > 0.0:
                left -= 1
            done += 1
    return sequence[:done], gains[:done], predictions[:done], np.asarray(seed_gains)


def begin(model: Model, scores: cython.double[::1], indptr: cython.longlong[::1], seeds):
    """Visit the seeds of a crawl that will be followed."""
    node: cython.int
    model.begin(seeds)
    for node in seeds:
        model.visit(node, scores[node], indptr[node], indptr[node + 1])


def follow(
    model: Model,
    scores: cython.double[::1],
    values: cython.double[::1],
    indptr: cython.longlong[::1],
    sequence: cython.int[::1],
):
    """Go on along a sequence, the next stretch of the crawl that is followed: the node that the
    model names at each step.

    `scores` are what parents pass on, `values` what a visit is worth.
    """
    node: cython.int
    slot: cython.int
    chosen: cython.int
    step: cython.longlong
    steps: cython.longlong = sequence.shape[0]
    leaf: Leaf
    student: Leaf
    named = np.zeros(steps, dtype=np.intc)
    picks: cython.int[::1] = named
    snapshot: cython.double[::1] = np.zeros(max(model.frontier.width, 1))
    for step in range(steps):
        node = sequence[step]
        slot = model.frontier.slot_of[node]
        if slot < 0 or not model.frontier.row_live[slot]:
            raise ValueError(f"the node {node} is not on the frontier")
        chosen = model.chooser.choose(model.step)
        leaf = model.frontier.leaves[chosen]
        picks[step] = model.frontier.row_node[leaf.best()]
        model.frontier.take(slot)
        model.step += 1
        model.snapshot(slot, snapshot)
        for student in model.frontier.leaves:
            student.learn(snapshot, values[node])
        model.chooser.reward(chosen, values[picks[step]])
        model.chooser.witness(snapshot, values[node])
        model.visit(node, scores[node], indptr[node], indptr[node + 1])
    return named
