"""URL significance: what URLs, feedback and hosts say of frontier nodes, and the ranking by it.

Three signals keep columns: ``Places`` what URLs say, ``Feedback`` what visits of their like have
brought beyond what was predicted, ``Quickness`` how quickly hosts answer. ``Relevance`` ranks by
them.
"""

import struct
import sys
from collections.abc import Sequence
from typing import Any

import cython
import numpy as np
from cython.cimports.libc.math import floor, log
from cython.cimports.sonde.kernels.model.neighbourhood import Signal
from cython.cimports.sonde.kernels.model.regression import Regression

from sonde.kernels.model.frontier import grown

if cython.compiled:
    from cython.cimports.libc.string import memcpy

NONE = float("nan")
MIDDLE = 0.25  # seconds: half as quick as can be
STEPS = 16.0
ROWS = 64

_PACK = struct.Struct("<ddi").pack


class Places(Signal):
    """What URLs say of frontier nodes: RFU, BFU, and how often each is linked (ID).

    A node has two *keys*, numbers that stand for its domain and its basename, -1 where it has none.
    A link has two measures that its source worked out, RFU and BFU, and the number of its repeats
    on the page. Here they become columns: the means of the measures over the parents, in the order
    in which parents are visited, and the logarithms of the counts, ln(1 + count). In an explorer
    the measures of the current visit's links alone are kept, from position ``start`` on.
    """

    LEARNED = ("domain", "basename", "domains", "basenames")

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

    def append(self, start, places):
        """Write the places of a visit's links, which stand in `links` from `start` on: each has
        RFU, BFU and repeats, or is ``None``."""
        count: cython.Py_ssize_t = len(places)
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
            place = places[i]
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


def packed(places: Sequence[Any]) -> bytes:
    """The places of links, as in ``Places.append``, as bytes, 20 for each: RFU and BFU as doubles,
    the repeats in four bytes, lowest first; -1 where there is none."""
    if not cython.compiled or sys.byteorder != "little":
        return b"".join(
            [
                _PACK(-1.0, -1.0, -1) if it is None else _PACK(it.rfu, it.bfu, it.repeats)
                for it in places
            ]
        )
    count: cython.Py_ssize_t = len(places)
    i: cython.Py_ssize_t
    out = bytearray(20 * count)
    data: cython.p_char = out
    before = None
    rfu: cython.double = -1.0
    bfu: cython.double = -1.0
    repeats: cython.int = -1
    for i in range(count):
        place = places[i]
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


class Feedback(Signal):
    """Associated relevance feedback: what a visit brought against what was predicted flows back.

    The error of v, its gain less its prediction, flows to the pages that link to v, and from each
    of them at once to those of its links on the frontier that are like v: with its basename, and
    with its domain. So every frontier node x has, for either kind, the mean of the errors of its
    visited siblings like it, a sibling counted once for each parent that it shares with x.

    Errors are added in the order in which they become known. A page that is visited brings the
    errors of its links that were visited before as one sum a key, in the order of its links. A
    visit walks over the links of all pages that linked to it before; since each link leads back to
    its page once in a crawl, all of that together is at most the sum of the squares of the pages'
    numbers of links. The mean stands in two columns, one where it is above 0 and one where it is
    below, because columns may not be negative.
    """

    LEARNED = ("error", "near_sum", "near_count", "wide_sum", "wide_count")

    def __init__(self, frontier, links, places, columns, nodes):
        """`columns`: where basenames' means above and below 0 stand, then domains'."""
        Signal.__init__(self, frontier, links)
        self.places = places
        self.near_up, self.near_down, self.wide_up, self.wide_down = columns
        self.pending = NONE
        self.error = np.zeros(nodes)  # by visit
        self.near_sum = np.zeros(nodes)
        self.near_count = np.zeros(nodes, dtype=np.intc)
        self.wide_sum = np.zeros(nodes)
        self.wide_count = np.zeros(nodes, dtype=np.intc)
        self.touched = np.zeros(0, dtype=np.int8)  # zero between visits
        # What the page that is being visited brings, by key; zero between visits.
        self.basename_sum = np.zeros(0)
        self.basename_count = np.zeros(0, dtype=np.intc)
        self.domain_sum = np.zeros(0)
        self.domain_count = np.zeros(0, dtype=np.intc)

    def reserve_nodes(self, nodes):
        if nodes > self.near_sum.shape[0]:
            self.near_sum = grown(self.near_sum, nodes, 0.0)
            self.near_count = grown(self.near_count, nodes, 0)
            self.wide_sum = grown(self.wide_sum, nodes, 0.0)
            self.wide_count = grown(self.wide_count, nodes, 0)

    def heard(self, error):
        """The node whose visit is told next has brought so much more than was predicted."""
        self.pending = error

    def visited(self, node, score, start, end):
        visit: cython.int = self.links.visits - 1
        if visit >= self.error.shape[0]:
            self.error = grown(self.error, visit + 1, 0.0)
        self.error[visit] = self.pending
        if self.pending == self.pending:  # a seed has no prediction, and no error
            self.flow_back(node, self.pending)
        self.pending = NONE
        self.take_over(start, end)

    def error_of(self, node):
        """What a node has brought beyond its prediction, NONE for a seed and before its visit."""
        visit: cython.int = self.frontier.visit_of(node)
        return self.error[visit] if visit >= 0 else NONE

    def flow_back(self, node, error):
        links = self.links
        table = self.frontier
        domain: cython.int = self.places.domain[node]
        basename: cython.int = self.places.basename[node]
        near: cython.bint
        wide: cython.bint
        first: cython.longlong = table.changes
        i: cython.longlong
        source: cython.int
        target: cython.int
        slot: cython.int
        link: cython.longlong
        back: cython.longlong = links.first_in(node)
        if self.touched.shape[0] < self.near_sum.shape[0]:
            self.touched = np.zeros(self.near_sum.shape[0], dtype=np.int8)
        while back >= 0:
            source = links.in_visit[back]
            table.reserve_changes(links.last[source] - links.first[source])
            for link in range(links.first[source], links.last[source]):
                target = links.target[link]
                slot = table.slot_of[target]
                if slot < 0:
                    continue
                near = basename >= 0 and self.places.basename[target] == basename
                wide = domain >= 0 and self.places.domain[target] == domain
                if near:
                    self.near_sum[target] += error
                    self.near_count[target] += 1
                if wide:
                    self.wide_sum[target] += error
                    self.wide_count[target] += 1
                if (near or wide) and not self.touched[target]:
                    self.touched[target] = 1
                    table.changed[table.changes] = slot
                    table.changes += 1
            back = links.next_in(node, back)
        for i in range(first, table.changes):
            target = table.row_node[table.changed[i]]
            self.touched[target] = 0
            self.show(target, table.changed[i])

    def take_over(self, start, end):
        """The links of a new page hear of those among them that were visited before."""
        links = self.links
        table = self.frontier
        target: cython.int
        slot: cython.int
        key: cython.int
        known: cython.int = 0
        error: cython.double
        link: cython.longlong
        self.reserve_keys()
        for link in range(start, end):
            target = links.target[link]
            error = self.error_of(target)
            if error == error:
                known += 1
                key = self.places.basename[target]
                if key >= 0:
                    self.basename_sum[key] += error
                    self.basename_count[key] += 1
                key = self.places.domain[target]
                if key >= 0:
                    self.domain_sum[key] += error
                    self.domain_count[key] += 1
        if known == 0:
            return
        for link in range(start, end):
            target = links.target[link]
            slot = table.slot_of[target]
            if slot < 0:
                continue
            key = self.places.basename[target]
            if key >= 0 and self.basename_count[key] > 0:
                self.near_sum[target] += self.basename_sum[key]
                self.near_count[target] += self.basename_count[key]
            key = self.places.domain[target]
            if key >= 0 and self.domain_count[key] > 0:
                self.wide_sum[target] += self.domain_sum[key]
                self.wide_count[target] += self.domain_count[key]
            self.show(target, slot)  # noted as changed: the neighbourhood has seen it before
        for link in range(start, end):
            target = links.target[link]
            error = self.error_of(target)
            if error == error:
                key = self.places.basename[target]
                if key >= 0:
                    self.basename_sum[key] = 0.0
                    self.basename_count[key] = 0
                key = self.places.domain[target]
                if key >= 0:
                    self.domain_sum[key] = 0.0
                    self.domain_count[key] = 0

    def reserve_keys(self):
        if self.places.basenames > self.basename_sum.shape[0]:
            self.basename_sum = grown(self.basename_sum, self.places.basenames, 0.0)
            self.basename_count = grown(self.basename_count, self.places.basenames, 0)
        if self.places.domains > self.domain_sum.shape[0]:
            self.domain_sum = grown(self.domain_sum, self.places.domains, 0.0)
            self.domain_count = grown(self.domain_count, self.places.domains, 0)

    def show(self, target, slot):
        """Write the means of a node into its row."""
        table = self.frontier
        mean: cython.double = 0.0
        if self.near_count[target] > 0:
            mean = self.near_sum[target] / self.near_count[target]
        table.features[slot, self.near_up] = mean if mean > 0.0 else 0.0
        table.features[slot, self.near_down] = -mean if mean < 0.0 else 0.0
        mean = 0.0
        if self.wide_count[target] > 0:
            mean = self.wide_sum[target] / self.wide_count[target]
        table.features[slot, self.wide_up] = mean if mean > 0.0 else 0.0
        table.features[slot, self.wide_down] = -mean if mean < 0.0 else 0.0


class Quickness(Signal):
    """How quickly hosts answer.

    A group's round-trip time is kept as TCP keeps it: a smoothed mean (by an eighth) and a smoothed
    deviation (by a quarter). Its *quickness* is 1 / (1 + (mean + deviation) / 0.25 s), in steps of
    a sixteenth, between 1/16 and 1; that of a group not heard of is 1/2. Rows take over a change of
    their group's quickness when it is more than a step, and when the group has answered often
    enough to pay for it: at most ``ROWS`` rows are rewritten for each answer.
    """

    LEARNED = ("mean", "deviation", "answers", "heard_of", "shown", "rows")

    def __init__(self, frontier, links, column):
        Signal.__init__(self, frontier, links)
        self.column = column
        self.mean = np.zeros(0)
        self.deviation = np.zeros(0)
        self.answers = np.zeros(0, dtype=np.intc)  # since its rows were last rewritten
        self.heard_of = np.zeros(0, dtype=np.int8)
        self.shown = np.full(0, 0.5)
        self.rows = np.zeros(0, dtype=np.intc)

    def reserve_groups(self, groups):
        if groups > self.mean.shape[0]:
            self.mean = grown(self.mean, groups, 0.0)
            self.deviation = grown(self.deviation, groups, 0.0)
            self.answers = grown(self.answers, groups, 0)
            self.heard_of = grown(self.heard_of, groups, 0)
            self.shown = grown(self.shown, groups, 0.5)
            self.rows = grown(self.rows, groups, 0)

    def visited(self, node, score, start, end):
        links = self.links
        table = self.frontier
        slot: cython.int
        group: cython.int
        link: cython.longlong
        self.reserve_groups(table.group_head.shape[0])
        for link in range(start, end):
            slot = table.slot_of[links.target[link]]
            if slot >= 0 and table.features[slot, self.column] == 0.0:  # a new row
                group = table.node_group[links.target[link]]
                table.features[slot, self.column] = self.shown[group]
                self.rows[group] += 1

    def heard(self, group, seconds):
        """A host has answered after so many seconds."""
        self.reserve_groups(group + 1)
        if self.heard_of[group]:
            self.deviation[group] += (abs(seconds - self.mean[group]) - self.deviation[group]) / 4.0
            self.mean[group] += (seconds - self.mean[group]) / 8.0
        else:
            self.heard_of[group] = 1
            self.mean[group] = seconds
            self.deviation[group] = seconds / 2.0
        self.answers[group] += 1
        quick: cython.double = 1.0 / (1.0 + (self.mean[group] + self.deviation[group]) / MIDDLE)
        if (
            abs(quick - self.shown[group]) > 1.0 / STEPS
            and ROWS * cython.cast(cython.longlong, self.answers[group]) >= self.rows[group]
        ):
            self.answers[group] = 0
            self.shown[group] = max(floor(quick * STEPS + 0.5), 1.0) / STEPS
            self.rewrite(group)

    def rewrite(self, group):
        """Give all rows of a group its quickness of now."""
        table = self.frontier
        block: cython.int = table.group_head[group] if group < table.group_head.shape[0] else -1
        slot: cython.int
        while block >= 0:
            table.reserve_changes(table.block_rows[block])
            for slot in range(
                table.block_first[block], table.block_first[block] + table.block_rows[block]
            ):
                if table.features[slot, self.column] > 0.0:
                    table.features[slot, self.column] = self.shown[group]
                    table.changed[table.changes] = slot
                    table.changes += 1
            block = table.block_next[block]
        table.announce()


class Relevance(Regression):
    """Fetch relevance: a weighted sum of URL measures, its weights learned or given.

    Learned weights are those of the regression over the first columns. What a prediction missed,
    the error, is passed to the feedback. With a column of quickness at the end, quick hosts get a
    bonus that scores cannot teach: a share of the mean gain so far, times the quickness. It is part
    of the ranking, not of the prediction that is learned from.
    """

    LEARNED = ("active", "weights", "offset", "inverse", "samples", "gained")

    def __init__(self, frontier, columns, given=None, feedback=None, quick=-1, share=0.0):
        """`given` are weights that do not change; `quick` is the column of quickness, or -1."""
        bonus = [quick] if quick >= 0 else []
        Regression.__init__(self, frontier, [*columns, *bonus], given=len(bonus))
        self.fixed = given is not None
        if self.fixed:
            self.weights = np.array([*given, *(0.0 for _ in bonus)])
        self.feedback = feedback
        self.share = share
        self.samples = 0
        self.gained = 0.0

    def learn(self, snapshot, gain):
        if self.fixed:
            self.error = gain - self.predicted(snapshot)
        else:
            Regression.learn(self, snapshot, gain)
        if self.feedback is not None:
            self.feedback.heard(self.error)
        if self.regressed < self.terms:
            self.samples += 1
            self.gained += gain
            self.weights[self.regressed] = self.share * (self.gained / self.samples)
