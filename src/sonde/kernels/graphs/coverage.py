"""Breadth-first balls: the hot loops behind seed selection.

A *ball* is the set of nodes within a number of hops of a centre, the centre included, along the
links of a CSR graph (``indptr``, ``targets``); handed the reversed graph, the same loops give the
nodes that reach the centre. Amounts are 64-bit integers, so that sums are exact in any order.

Scratch space comes from the caller: ``queue`` has room for every node, and ``seen`` is all zeros
on entry and on return (each ball wipes its own marks, which keeps that array one byte a node and
in the cache, where a counter per ball would not fit).
"""

import cython


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _ball(
    indptr: cython.const[cython.longlong][::1],
    targets: cython.const[cython.int][::1],
    source: cython.int,
    hops: cython.int,
    seen: cython.uchar[::1],
    queue: cython.int[::1],
) -> cython.longlong:
    """Puts the ball of ``source`` into ``queue``, nearest first; leaves its marks in ``seen``."""
    head: cython.longlong = 0
    tail: cython.longlong = 1
    end: cython.longlong
    link: cython.longlong
    level: cython.int = 0
    node: cython.int
    target: cython.int
    queue[0] = source
    seen[source] = 1
    while level < hops and head < tail:
        end = tail
        while head < end:
            node = queue[head]
            head += 1
            for link in range(indptr[node], indptr[node + 1]):
                target = targets[link]
                if not seen[target]:
                    seen[target] = 1
                    queue[tail] = target
                    tail += 1
        level += 1
    return tail


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _open_ball(
    indptr: cython.const[cython.longlong][::1],
    targets: cython.const[cython.int][::1],
    source: cython.int,
    depth: cython.int,
    hops: cython.int,
    near: cython.const[cython.int][::1],
    seen: cython.uchar[::1],
    queue: cython.int[::1],
) -> cython.longlong:
    """As `_ball`, but sure to hold only the part of the ball that is not covered.

    A node that is ``near[node]`` hops from a seed conducts nothing new over ``rest`` more hops if
    the seed's own ``hops`` reach as far: everything there is covered.
    """
    head: cython.longlong = 0
    tail: cython.longlong = 1
    end: cython.longlong
    link: cython.longlong
    rest: cython.int = depth
    node: cython.int
    target: cython.int
    queue[0] = source
    seen[source] = 1
    while rest > 0 and head < tail:
        end = tail
        while head < end:
            node = queue[head]
            head += 1
            if near[node] + rest > hops:
                for link in range(indptr[node], indptr[node + 1]):
                    target = targets[link]
                    if not seen[target]:
                        seen[target] = 1
                        queue[tail] = target
                        tail += 1
        rest -= 1
    return tail


def reverse(
    indptr: cython.const[cython.longlong][::1],
    targets: cython.const[cython.int][::1],
    into: cython.longlong[::1],
    sources: cython.int[::1],
) -> None:
    """Fills the reversed graph; ``into`` (nodes + 1 long) must be zeros on entry."""
    nodes: cython.longlong = indptr.shape[0] - 1
    node: cython.longlong
    link: cython.longlong
    place: cython.longlong
    with cython.nogil:
        for link in range(targets.shape[0]):
            into[targets[link] + 1] += 1
        for node in range(nodes):
            into[node + 1] += into[node]
        for node in range(nodes):
            for link in range(indptr[node], indptr[node + 1]):
                place = into[targets[link]]
                sources[place] = cython.cast(cython.int, node)
                into[targets[link]] = place + 1
        # Placing moved every start to its end, which is the next one's start.
        for node in range(nodes, 0, -1):
            into[node] = into[node - 1]
        into[0] = 0


def reach(
    indptr: cython.const[cython.longlong][::1],
    targets: cython.const[cython.int][::1],
    source: cython.int,
    hops: cython.int,
    seen: cython.uchar[::1],
    queue: cython.int[::1],
) -> cython.longlong:
    """The ball of one node, left in ``queue[:returned]``."""
    size: cython.longlong
    place: cython.longlong
    with cython.nogil:
        size = _ball(indptr, targets, source, hops, seen, queue)
        for place in range(size):
            seen[queue[place]] = 0
    return size


def cover(
    indptr: cython.const[cython.longlong][::1],
    targets: cython.const[cython.int][::1],
    source: cython.int,
    hops: cython.int,
    near: cython.int[::1],
    queue: cython.int[::1],
    fresh: cython.int[::1],
) -> cython.longlong:
    """Makes a node a seed; the nodes that it is the first to cover go to ``fresh[:returned]``.

    ``near`` is the distance of each node from the nearest seed, or ``hops + 1`` if none covers
    it. Only nodes that the new seed is nearer to are followed: behind the others nothing is new.
    So each node is followed at most ``hops + 1`` times, however many seeds there will be.
    """
    head: cython.longlong = 0
    tail: cython.longlong = 0
    found: cython.longlong = 0
    end: cython.longlong
    link: cython.longlong
    level: cython.int = 0
    node: cython.int
    target: cython.int
    with cython.nogil:
        if near[source] > 0:
            if near[source] > hops:
                fresh[found] = source
                found += 1
            near[source] = 0
            queue[tail] = source
            tail += 1
        while level < hops and head < tail:
            end = tail
            level += 1
            while head < end:
                node = queue[head]
                head += 1
                for link in range(indptr[node], indptr[node + 1]):
                    target = targets[link]
                    if near[target] > level:
                        if near[target] > hops:
                            fresh[found] = target
                            found += 1
                        near[target] = level
                        queue[tail] = target
                        tail += 1
    return found


def weigh(
    indptr: cython.const[cython.longlong][::1],
    targets: cython.const[cython.int][::1],
    amounts: cython.const[cython.longlong][::1],
    centres: cython.const[cython.int][::1],
    depth: cython.int,
    hops: cython.int,
    near: cython.const[cython.int][::1],
    seen: cython.uchar[::1],
    queue: cython.int[::1],
    net: cython.longlong[::1],
    gross: cython.longlong[::1],
) -> None:
    """The sum of the amounts, and of the positive ones, in the ball of each centre.

    Amounts must be zero where a seed covers; ``hops`` and ``near`` are those of `cover`.
    """
    which: cython.longlong
    place: cython.longlong
    size: cython.longlong
    amount: cython.longlong
    total: cython.longlong
    positive: cython.longlong
    with cython.nogil:
        for which in range(centres.shape[0]):
            size = _open_ball(indptr, targets, centres[which], depth, hops, near, seen, queue)
            total = 0
            positive = 0
            for place in range(size):
                amount = amounts[queue[place]]
                total += amount
                if amount > 0:
                    positive += amount
                seen[queue[place]] = 0
            net[which] = total
            gross[which] = positive


def withdraw(
    indptr: cython.const[cython.longlong][::1],
    targets: cython.const[cython.int][::1],
    centres: cython.const[cython.int][::1],
    amounts: cython.const[cython.longlong][::1],
    hops: cython.int,
    seen: cython.uchar[::1],
    queue: cython.int[::1],
    weights: cython.longlong[::1],
) -> None:
    """Takes the amount of each centre out of the weight of every node in its ball.

    On the reversed graph this keeps the weights of all nodes exact as centres get covered.
    """
    which: cython.longlong
    place: cython.longlong
    size: cython.longlong
    amount: cython.longlong
    with cython.nogil:
        for which in range(centres.shape[0]):
            amount = amounts[centres[which]]
            if amount != 0:
                size = _ball(indptr, targets, centres[which], hops, seen, queue)
                for place in range(size):
                    weights[queue[place]] -= amount
                    seen[queue[place]] = 0


def sample(
    indptr: cython.const[cython.longlong][::1],
    targets: cython.const[cython.int][::1],
    draws: cython.const[cython.int][::1],
    start: cython.longlong,
    amounts: cython.const[cython.longlong][::1],
    hops: cython.int,
    limit: cython.longlong,
    seen: cython.uchar[::1],
    queue: cython.int[::1],
    hits: cython.longlong[::1],
    counts: cython.longlong[::1],
    work: cython.longlong[::1],
) -> cython.longlong:
    """Feeds draws to the sketches until some node's count reaches ``limit``.

    The graph is the reversed one. A draw counts one, with the sign of its amount, for every node
    of its ball, and nothing if its amount is zero. ``hits`` keeps the signed draws of each node;
    ``work`` the nodes touched, the draws used and whether a count reached the limit. Returns the
    place after the last draw.
    """
    which: cython.longlong = start
    place: cython.longlong
    size: cython.longlong
    sign: cython.longlong
    centre: cython.int
    node: cython.int
    full: cython.bint = False
    with cython.nogil:
        while which < draws.shape[0] and not full:
            centre = draws[which]
            which += 1
            if amounts[centre] == 0:
                continue
            sign = 1 if amounts[centre] > 0 else -1
            hits[centre] += sign
            size = _ball(indptr, targets, centre, hops, seen, queue)
            work[0] += size
            work[1] += 1
            for place in range(size):
                node = queue[place]
                seen[node] = 0
                counts[node] += sign
                if counts[node] >= limit:
                    full = True
        work[2] = 1 if full else 0
    return which
