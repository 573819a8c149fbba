"""Lagrangian bounds on a crawl: one that relaxes dominators, and one that relaxes predecessors.

``relaxed`` and ``closed`` choose on the tree of dominators (see ``dominance``) when each node has a
price. ``price_in`` and ``slack`` are the steps of the other: one multiplier a node on "a visited
node has a visited parent".
"""

from __future__ import annotations

import cython


def relaxed(
    idom: cython.const[cython.int][::1],
    values: cython.const[cython.double][::1],
    price: cython.double,
    worth: cython.double[::1],
    sizes: cython.longlong[::1],
):
    """The best choice that is closed under dominators when each node costs `price`: what it is
    worth, and how many nodes it holds. Nodes are in depth-first order; the last two arrays are
    room to work in."""
    if not cython.compiled:
        idom, values = memoryview(idom), memoryview(values)
        worth, sizes = memoryview(worth), memoryview(sizes)
    total: cython.double = 0.0
    size: cython.longlong = 0
    place: cython.longlong
    with cython.nogil:
        for place in range(values.shape[0]):
            worth[place] = values[place] - price
            sizes[place] = 1
        for place in range(values.shape[0] - 1, -1, -1):
            if worth[place] > 0.0:
                if idom[place] < 0:
                    total += worth[place]
                    size += sizes[place]
                else:
                    worth[idom[place]] += worth[place]
                    sizes[idom[place]] += sizes[place]
    return total, size


def closed(
    idom: cython.const[cython.int][::1],
    worth: cython.const[cython.double][::1],
    held: cython.schar[::1],
):
    """Mark the nodes of the choice that `relaxed` has just found, by the worth that it left."""
    if not cython.compiled:
        idom, worth, held = memoryview(idom), memoryview(worth), memoryview(held)
    place: cython.longlong
    with cython.nogil:
        for place in range(worth.shape[0]):
            held[place] = worth[place] > 0.0 and (idom[place] < 0 or held[idom[place]])


def price_in(
    indptr: cython.const[cython.longlong][::1],
    targets: cython.const[cython.int][::1],
    values: cython.const[cython.double][::1],
    multipliers: cython.const[cython.double][::1],
    reduced: cython.double[::1],
):
    """Each node's value, less its own multiplier, plus those of the nodes it links to."""
    if not cython.compiled:
        indptr, targets, values = memoryview(indptr), memoryview(targets), memoryview(values)
        multipliers, reduced = memoryview(multipliers), memoryview(reduced)
    node: cython.longlong
    link: cython.longlong
    total: cython.double
    with cython.nogil:
        for node in range(values.shape[0]):
            total = values[node] - multipliers[node]
            for link in range(indptr[node], indptr[node + 1]):
                total += multipliers[targets[link]]
            reduced[node] = total


def slack(
    indptr: cython.const[cython.longlong][::1],
    targets: cython.const[cython.int][::1],
    chosen: cython.const[cython.longlong][::1],
    surplus: cython.double[::1],
):
    """For each node how many chosen nodes link to it, less one if it is chosen itself."""
    if not cython.compiled:
        indptr, targets = memoryview(indptr), memoryview(targets)
        chosen, surplus = memoryview(chosen), memoryview(surplus)
    place: cython.longlong
    node: cython.longlong
    link: cython.longlong
    with cython.nogil:
        for node in range(surplus.shape[0]):
            surplus[node] = 0.0
        for place in range(chosen.shape[0]):
            node = chosen[place]
            surplus[node] -= 1.0
            for link in range(indptr[node], indptr[node + 1]):
                surplus[targets[link]] += 1.0
