"""Reach, and the dominators of what is reached.

Dominators come from semidominators and nearest common ancestors (the SNCA variant of Lengauer and
Tarjan's algorithm, by Georgiadis), with iterative path compression. The root stands for all
seeds: its links lead to the nodes called entries.
"""

import cython
import numpy as np


def reach(
    indptr: cython.const[cython.longlong][::1],
    targets: cython.const[cython.int][::1],
    seeds: cython.const[cython.longlong][::1],
    hops: cython.longlong,
):
    """The nodes within so many hops of the seeds, nearest first, the seeds left out, and how many
    of them are linked from a seed."""
    if not cython.compiled:
        indptr, targets, seeds = memoryview(indptr), memoryview(targets), memoryview(seeds)
    count: cython.longlong = indptr.shape[0] - 1
    found = np.zeros(count, dtype=np.intc)
    seen_array = np.zeros(count, dtype=np.int8)
    order: cython.int[::1] = found
    seen: cython.schar[::1] = seen_array
    filled: cython.longlong = 0
    place: cython.longlong = 0
    end: cython.longlong
    entries: cython.longlong
    link: cython.longlong
    node: cython.longlong
    hop: cython.longlong
    target: cython.int
    with cython.nogil:
        for place in range(seeds.shape[0]):
            seen[seeds[place]] = 1
        for place in range(seeds.shape[0] if hops > 0 else 0):
            node = seeds[place]
            for link in range(indptr[node], indptr[node + 1]):
                target = targets[link]
                if not seen[target]:
                    seen[target] = 1
                    order[filled] = target
                    filled += 1
        entries = filled
        place = 0
        hop = 1
        while hop < hops and place < filled:
            end = filled
            while place < end:
                node = order[place]
                for link in range(indptr[node], indptr[node + 1]):
                    target = targets[link]
                    if not seen[target]:
                        seen[target] = 1
                        order[filled] = target
                        filled += 1
                place += 1
            hop += 1
    return found[:filled], entries


def dominators(
    indptr: cython.const[cython.longlong][::1],
    targets: cython.const[cython.int][::1],
    entries: cython.longlong,
):
    """The nodes in depth-first order, and for each place in it the place of the immediate
    dominator, or -1 for the root. Every node must be reachable; entries are the first nodes."""
    if not cython.compiled:
        indptr, targets = memoryview(indptr), memoryview(targets)
    count: cython.longlong = indptr.shape[0] - 1
    # Places count from 1, so that 0 is the root's.
    order_array = np.zeros(count + 1, dtype=np.intc)
    idom_array = np.zeros(count + 1, dtype=np.intc)
    order: cython.int[::1] = order_array
    idom: cython.int[::1] = idom_array
    place_of: cython.int[::1] = np.zeros(count, dtype=np.intc)
    ancestor: cython.int[::1] = np.zeros(count + 1, dtype=np.intc)
    label: cython.int[::1] = np.arange(count + 1, dtype=np.intc)
    semi: cython.int[::1] = np.zeros(count + 1, dtype=np.intc)
    stack: cython.int[::1] = np.zeros(count + 1, dtype=np.intc)
    following: cython.longlong[::1] = np.array(indptr[:count], dtype=np.int64)
    in_first: cython.longlong[::1] = np.zeros(count + 2, dtype=np.int64)
    in_source: cython.int[::1] = np.zeros(targets.shape[0], dtype=np.intc)
    node: cython.int
    target: cython.int
    entry: cython.longlong
    link: cython.longlong
    height: cython.longlong
    filled: cython.int = 0
    place: cython.int
    v: cython.int
    above: cython.int
    best: cython.int
    with cython.nogil:
        for entry in range(entries):
            node = cython.cast(cython.int, entry)
            if place_of[node] > 0:
                continue
            filled += 1
            place_of[node] = filled
            order[filled] = node
            ancestor[filled] = 0
            stack[0] = node
            height = 1
            while height > 0:
                node = stack[height - 1]
                if following[node] == indptr[node + 1]:
                    height -= 1
                    continue
                target = targets[following[node]]
                following[node] += 1
                if place_of[target] == 0:
                    filled += 1
                    place_of[target] = filled
                    order[filled] = target
                    ancestor[filled] = place_of[node]
                    stack[height] = target
                    height += 1
        # In-links by place.
        for link in range(targets.shape[0]):
            in_first[place_of[targets[link]] + 1] += 1
        for place in range(1, filled + 1):
            in_first[place + 1] += in_first[place]
        for place in range(1, filled + 1):
            node = order[place]
            for link in range(indptr[node], indptr[node + 1]):
                v = place_of[targets[link]]
                in_source[in_first[v]] = place
                in_first[v] += 1
        # Each in_first now stands at its row's end: row v is in_first[v - 1] to in_first[v].
        for place in range(filled + 1):
            idom[place] = ancestor[place]
            semi[place] = place
        for place in range(filled, 0, -1):
            best = idom[place]
            if order[place] < entries:
                best = 0
            for link in range(in_first[place - 1], in_first[place]):
                v = in_source[link]
                if ancestor[v] > place:  # linked, and not next to its tree's root: compress
                    height = 0
                    while ancestor[v] > place:
                        stack[height] = v
                        height += 1
                        v = ancestor[v]
                    while height > 0:
                        above = v
                        height -= 1
                        v = stack[height]
                        ancestor[v] = ancestor[above]
                        if semi[label[above]] < semi[label[v]]:
                            label[v] = label[above]
                if semi[label[v]] < best:
                    best = semi[label[v]]
            semi[place] = best
        for place in range(1, filled + 1):
            v = idom[place]
            while v > semi[place]:
                v = idom[v]
            idom[place] = v
    return order_array[1:], idom_array[1:] - 1
