"""What a crawl's order of visits was worth: loops that judge it."""

import cython
import numpy as np


def followed(indptr: cython.longlong[::1], targets: cython.int[::1], sequence: cython.int[::1]):
    """For each visit but the last, whether the next one is among its links; true for the last."""
    count: cython.longlong = sequence.shape[0]
    found = np.ones(count, dtype=np.int8)
    marks: cython.schar[::1] = found
    place: cython.longlong
    link: cython.longlong
    for place in range(count - 1):
        marks[place] = 0
        for link in range(indptr[sequence[place]], indptr[sequence[place] + 1]):
            if targets[link] == sequence[place + 1]:
                marks[place] = 1
                break
    return found


def best_first(places: cython.longlong[::1], gains: cython.double[::1]):
    """After each visit, the area under the curve that the visits so far, sorted best first, make.

    `places` are the visits' places among all, sorted so. A new gain moves those behind it by one,
    which leaves their part of the area as it was, and adds once more to each before it; both are
    kept in trees of partial sums (Fenwick).
    """
    count: cython.longlong = gains.shape[0]
    areas = np.zeros(count)
    out: cython.double[::1] = areas
    sums: cython.double[::1] = np.zeros(count + 1)
    counts: cython.longlong[::1] = np.zeros(count + 1, dtype=np.int64)
    area: cython.double = 0.0
    before: cython.double
    ahead: cython.longlong
    step: cython.longlong
    node: cython.longlong
    for step in range(count):
        before = 0.0
        ahead = 0
        node = places[step]  # the sum over places smaller than this one, which is node - 1 + 1
        while node > 0:
            before += sums[node]
            ahead += counts[node]
            node -= node & -node
        area += before + gains[step] * (step + 1 - ahead)
        out[step] = area
        node = places[step] + 1
        while node <= count:
            sums[node] += gains[step]
            counts[node] += 1
            node += node & -node
    return areas
