"""The predecessor Lagrangian: one multiplier a node on "a visited node has a visited parent"."""

from __future__ import annotations

import cython


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
