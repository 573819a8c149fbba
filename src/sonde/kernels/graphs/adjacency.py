"""Edge rows to compressed rows, in place: the loops behind `sonde.sources.graph.loading`.

A second copy of the edges is what a large graph leaves no memory for. So edges move to their
source's row by a counting sort whose destinations overwrite the sources, and a walk along the
cycles of that permutation.
"""

from __future__ import annotations

import cython


def tally(sources: cython.const[cython.int][::1], counts: cython.longlong[::1]):
    """Count the edges of each source."""
    if not cython.compiled:
        sources, counts = memoryview(sources), memoryview(counts)
    edge: cython.longlong
    with cython.nogil:
        for edge in range(sources.shape[0]):
            counts[sources[edge]] += 1


def destine(sources: cython.int[::1], ends: cython.longlong[::1]):
    """Overwrite each edge's source with the edge's place in row order, file order within a row.

    `ends` holds where each row starts, and where each row ends afterwards.
    """
    if not cython.compiled:
        sources, ends = memoryview(sources), memoryview(ends)
    edge: cython.longlong
    source: cython.longlong
    with cython.nogil:
        for edge in range(sources.shape[0]):
            source = sources[edge]
            sources[edge] = cython.cast(cython.int, ends[source])
            ends[source] += 1


def move(places: cython.int[::1], targets: cython.int[::1], scores: cython.double[::1]):
    """Move every edge to its place; `places` becomes the identity."""
    if not cython.compiled:
        places, targets, scores = memoryview(places), memoryview(targets), memoryview(scores)
    edge: cython.longlong
    place: cython.longlong
    target: cython.int
    score: cython.double
    following: cython.int
    with cython.nogil:
        for edge in range(places.shape[0]):
            # One cycle of the permutation: carry an edge to its place, pick up what was there.
            place = places[edge]
            if place == edge:
                continue
            target = targets[edge]
            score = scores[edge]
            while place != edge:
                target, targets[place] = targets[place], target
                score, scores[place] = scores[place], score
                following = places[place]
                places[place] = cython.cast(cython.int, place)
                place = following
            targets[edge] = target
            scores[edge] = score
            places[edge] = cython.cast(cython.int, edge)


def merge_parallel(
    indptr: cython.longlong[::1],
    targets: cython.int[::1],
    scores: cython.double[::1],
    rows: cython.longlong[::1],
    latest: cython.int[::1],
):
    """Merge parallel edges into the first of them, adding scores in order, and close the gaps.

    `latest` is one place a node, -1 at the start: where the node was last kept as a target.
    `rows` (empty when nobody asks) is moved along. Gives the number of edges left.
    """
    if not cython.compiled:
        indptr, targets, scores = memoryview(indptr), memoryview(targets), memoryview(scores)
        rows, latest = memoryview(rows), memoryview(latest)
    with_rows: cython.bint = len(rows) > 0
    source: cython.longlong
    edge: cython.longlong
    start: cython.longlong
    stop: cython.longlong
    first: cython.longlong
    target: cython.int
    left: cython.longlong = 0
    with cython.nogil:
        stop = indptr[0]
        for source in range(indptr.shape[0] - 1):
            start = stop
            stop = indptr[source + 1]
            # Places only grow, so one at or after this row's first kept edge is in this row.
            first = left
            for edge in range(start, stop):
                target = targets[edge]
                if latest[target] >= first:
                    scores[latest[target]] += scores[edge]
                else:
                    latest[target] = cython.cast(cython.int, left)
                    targets[left] = target
                    scores[left] = scores[edge]
                    if with_rows:
                        rows[left] = rows[edge]
                    left += 1
            indptr[source + 1] = left
    return left
