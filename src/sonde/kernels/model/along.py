"""A model led along a crawl that another has chosen: what it would have picked, and its time.

At every step the model names its best row as if it were to visit it; what is visited, and learned
from, is the next node of the given sequence. A bandit is rewarded with the worth of the node that
it named, since that is what its arm would have brought.
"""

import time

import cython
import numpy as np

if cython.compiled:
    from cython.cimports.sonde.kernels.model.frontier import Leaf
    from cython.cimports.sonde.kernels.model.model import Model
else:
    from sonde.kernels.model.frontier import Leaf
    from sonde.kernels.model.model import Model


def along(
    model: Model,
    scores: cython.double[::1],
    values: cython.double[::1],
    indptr: cython.longlong[::1],
    seeds,
    sequence: cython.int[::1],
    marks: cython.longlong[::1],
):
    """The node named at each step, and the processor time in nanoseconds at each of the marks.

    `scores` are what parents pass on, `values` what a visit is worth; `marks` are growing numbers
    of steps, the first of them 0.
    """
    node: cython.int
    slot: cython.int
    chosen: cython.int
    step: cython.longlong
    mark: cython.longlong = 0
    steps: cython.longlong = sequence.shape[0]
    leaf: Leaf
    student: Leaf
    named = np.zeros(steps, dtype=np.intc)
    picks: cython.int[::1] = named
    clock = np.zeros(marks.shape[0], dtype=np.int64)
    snapshot: cython.double[::1] = np.zeros(max(model.frontier.width, 1))
    model.begin(seeds)
    for node in seeds:
        model.visit(node, scores[node], indptr[node], indptr[node + 1])
    for step in range(steps):
        if mark < marks.shape[0] and marks[mark] == step:
            clock[mark] = time.thread_time_ns()
            mark += 1
        chosen = model.chooser.choose(step)
        leaf = model.frontier.leaves[chosen]
        slot = leaf.best()
        picks[step] = model.frontier.row_node[slot]
        node = sequence[step]
        slot = model.frontier.slot_of[node]
        model.frontier.take(slot)
        model.step += 1
        model.snapshot(slot, snapshot)
        for student in model.frontier.leaves:
            student.learn(snapshot, values[node])
        model.chooser.reward(chosen, values[picks[step]])
        model.chooser.witness(snapshot, values[node])
        model.visit(node, scores[node], indptr[node], indptr[node + 1])
    if mark < marks.shape[0]:
        clock[mark] = time.thread_time_ns()
    return named, clock
