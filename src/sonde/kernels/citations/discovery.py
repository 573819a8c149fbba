"""Orders in which crawlers and samplers meet the nodes of a static graph.

Each function fills ``order`` with nodes and gives how many: fewer than there is room for when
nothing is left in reach. A graph is its CSR arrays, without self-loops and parallel links.
"""

import cython
import numpy as np

if cython.compiled:
    from cython.cimports.sonde.kernels.citations.expansion import Expansion
    from cython.cimports.sonde.kernels.citations.weights import Weights
    from cython.cimports.sonde.kernels.model.dice import Dice
else:
    from sonde.kernels.citations.expansion import Expansion
    from sonde.kernels.citations.weights import Weights
    from sonde.kernels.model.dice import Dice


def crawl(
    expansion: Expansion,
    dice: Dice,
    indptr: cython.const[cython.longlong][::1],
    targets: cython.const[cython.int][::1],
    start: cython.int,
    order: cython.int[::1],
    chances: cython.double[::1],
):
    """Expand the start, then what the expansion picks; ``chances`` are those of its draws."""
    done: cython.longlong = 0
    link: cython.longlong
    node: cython.int = start
    while done < order.shape[0] and node >= 0:
        chances[done] = expansion.chance
        order[done] = node
        done += 1
        expansion.take(node)
        for link in range(indptr[node], indptr[node + 1]):
            expansion.cite(targets[link])
        node = expansion.pick(dice)
    return done


def walk(
    dice: Dice,
    indptr: cython.const[cython.longlong][::1],
    targets: cython.const[cython.int][::1],
    start: cython.int,
    patience: cython.longlong,
    order: cython.int[::1],
):
    """A random walk along links; ``order`` has each node once, when it was first met.

    At a dead end, and after ``patience`` moves that met nothing new, it goes on from a node drawn
    evenly from those met.
    """
    if not cython.compiled:
        indptr, targets, order = memoryview(indptr), memoryview(targets), memoryview(order)
    state: cython.uchar[::1] = np.zeros(len(indptr) - 1, dtype=np.uint8)  # 1 seen, 2 met
    waiting: cython.longlong = 1
    done: cython.longlong = 0
    idle: cython.longlong = 0
    link: cython.longlong
    width: cython.longlong
    node: cython.int = start
    while done < order.shape[0]:
        if state[node] != 2:
            state[node] = 2
            waiting -= 1
            order[done] = node
            done += 1
            idle = 0
            for link in range(indptr[node], indptr[node + 1]):
                if state[targets[link]] == 0:
                    state[targets[link]] = 1
                    waiting += 1
            if waiting == 0:
                break
        else:
            idle += 1
        width = indptr[node + 1] - indptr[node]
        if width == 0 or idle >= patience:
            node = order[dice.below(done)]
            idle = 0
            width = indptr[node + 1] - indptr[node]
            if width == 0:
                continue
        node = targets[indptr[node] + dice.below(width)]
    return done


def sample(dice: Dice, weights: Weights, spare: Weights, order: cython.int[::1]):
    """Draw without replacement in proportion to the weights; once they are used up, to ``spare``.

    Both are used up by it.
    """
    done: cython.longlong = 0
    node: cython.int
    while done < order.shape[0]:
        node = weights.draw(dice)
        if node < 0:
            node = spare.draw(dice)
        if node < 0:
            break
        weights.put(node, 0.0)
        spare.put(node, 0.0)
        order[done] = node
        done += 1
    return done
