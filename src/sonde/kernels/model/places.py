"""What URLs say of frontier nodes: RFU, BFU, and how often each is linked (ID).

A node has two *keys*, numbers that stand for its domain and its basename, -1 where it has none. A
link has two measures that its source worked out, RFU and BFU, and the number of its repeats on the
page. Here they become columns: the means of the measures over the parents, in the order in which
parents are visited, and the logarithms of the counts, ln(1 + count). In an explorer the measures of
the current visit's links alone are kept, from position ``start`` on.
"""

import struct
import sys
from collections.abc import Sequence
from typing import Any

import cython
import numpy as np

from sonde.kernels.model.frontier import grown

if cython.compiled:
    from cython.cimports.libc.math import log
    from cython.cimports.libc.string import memcpy
    from cython.cimports.sonde.kernels.model.signals import Signal
else:
    from math import log

    from sonde.kernels.model.signals import Signal


_PACK = struct.Struct("<ddi").pack


class Places(Signal):
    def __init__(self, frontier, links, columns, nodes, recorded=None):
        """`recorded` has the arrays of a recorded graph, whose links stand where the graph's do."""
        Signal.__init__(self, frontier, links)
        self.deg = columns.get("deg", -1)
        self.rfu_mean = columns.get("rfu", -1)
        self.rfu_sum = columns.get("rfu:sum", -1)
        self.bfu_mean = columns.get("bfu", -1)
        self.bfu_sum = columns.get("bfu:sum", -1)
        self.linked = columns.get("id", -1)
        self.repeated = columns.get("repeats", -1)
        self.repeats_sum = columns.get("repeats:sum", -1)
        self.domains = self.basenames = 0
        self.start = 0
        if recorded is None:
            self.domain = np.full(nodes, -1, dtype=np.intc)
            self.basename = np.full(nodes, -1, dtype=np.intc)
            self.rfu = np.zeros(16)
            self.bfu = np.zeros(16)
            self.repeats = np.zeros(16)
        else:
            self.domain, self.basename = recorded.domain, recorded.basename
            self.domains, self.basenames = recorded.domains, recorded.basenames
            self.rfu, self.bfu, self.repeats = recorded.rfu, recorded.bfu, recorded.repeats

    def reserve_nodes(self, nodes):
        if nodes > self.domain.shape[0]:
            self.domain = grown(self.domain, nodes, -1)
            self.basename = grown(self.basename, nodes, -1)

    def know(self, node, domain, basename):
        """The keys of a node."""
        self.domain[node] = domain
        self.basename[node] = basename
        self.domains = max(self.domains, domain + 1)
        self.basenames = max(self.basenames, basename + 1)

    def append(self, start, told):
        """Write what is told of a visit's links, which stand in `links` from `start` on: each
        has a place, with its RFU, BFU and repeats, or ``None``."""
        count: cython.Py_ssize_t = len(told)
        if count > self.rfu.shape[0]:
            self.rfu = grown(self.rfu, count, 0.0)
            self.bfu = grown(self.bfu, count, 0.0)
            self.repeats = grown(self.repeats, count, 0.0)
        self.start = start
        i: cython.Py_ssize_t
        before = None
        rfu: cython.double = 0.0
        bfu: cython.double = 0.0
        repeats: cython.double = 0.0
        for i in range(count):
            place = told[i].place
            if place is not before:  # links of a folder share one
                before = place
                if place is None:
                    rfu = bfu = repeats = 0.0
                else:
                    rfu = place.rfu
                    bfu = place.bfu
                    repeats = place.repeats
            self.rfu[i] = rfu
            self.bfu[i] = bfu
            self.repeats[i] = repeats

    def visited(self, node, score, start, end):
        # The rows of the targets are noted as changed: the neighbourhood has seen them before.
        links = self.links
        table = self.frontier
        slot: cython.int
        link: cython.longlong
        place: cython.longlong
        for link in range(start, end):
            slot = table.slot_of[links.target[link]]
            if slot < 0:
                continue
            place = link - self.start
            if self.rfu_mean >= 0:
                table.features[slot, self.rfu_sum] += self.rfu[place]
                table.features[slot, self.rfu_mean] = (
                    table.features[slot, self.rfu_sum] / table.features[slot, self.deg]
                )
            if self.bfu_mean >= 0:
                table.features[slot, self.bfu_sum] += self.bfu[place]
                table.features[slot, self.bfu_mean] = (
                    table.features[slot, self.bfu_sum] / table.features[slot, self.deg]
                )
            if self.linked >= 0:
                table.features[slot, self.linked] = log(1.0 + table.features[slot, self.deg])
            if self.repeated >= 0 and self.repeats[place] > 0.0:
                table.features[slot, self.repeats_sum] += self.repeats[place]
                table.features[slot, self.repeated] = log(
                    1.0 + table.features[slot, self.repeats_sum]
                )


def packed(told: Sequence[Any]) -> bytes:
    """What is told of links, as to ``Places.append``, as bytes, 20 for each: RFU and BFU as
    doubles, the repeats in four bytes, lowest first; -1 where nothing is told."""
    if not cython.compiled or sys.byteorder != "little":
        places = [link.place for link in told]
        return b"".join(
            [
                _PACK(-1.0, -1.0, -1) if it is None else _PACK(it.rfu, it.bfu, it.repeats)
                for it in places
            ]
        )
    count: cython.Py_ssize_t = len(told)
    i: cython.Py_ssize_t
    out = bytearray(20 * count)
    data: cython.p_char = out
    before = None
    rfu: cython.double = -1.0
    bfu: cython.double = -1.0
    repeats: cython.int = -1
    for i in range(count):
        place = told[i].place
        if place is not before:
            before = place
            if place is None:
                rfu = bfu = -1.0
                repeats = -1
            else:
                rfu = place.rfu
                bfu = place.bfu
                repeats = place.repeats
        memcpy(data + 20 * i, cython.address(rfu), 8)
        memcpy(data + 20 * i + 8, cython.address(bfu), 8)
        memcpy(data + 20 * i + 16, cython.address(repeats), 4)
    return bytes(out)
