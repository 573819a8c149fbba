"""How quickly hosts answer, as a column of the frontier table.

A group's round-trip time is kept as TCP keeps it: a smoothed mean (by an eighth) and a smoothed
deviation (by a quarter). Its *quickness* is 1 / (1 + (mean + deviation) / 0.25 s), in steps of a
sixteenth, between 1/16 and 1; that of a group not heard of is 1/2. Rows take over a change of their
group's quickness when it is more than a step, and when the group has answered often enough to pay
for it: at most ``ROWS`` rows are rewritten for each answer.
"""

import cython
import numpy as np

from sonde.kernels.model.frontier import grown

if cython.compiled:
    from cython.cimports.libc.math import floor
    from cython.cimports.sonde.kernels.model.signals import Signal
else:
    from math import floor

    from sonde.kernels.model.signals import Signal

MIDDLE = 0.25  # seconds: half as quick as can be
STEPS = 16.0
ROWS = 64


class Quickness(Signal):
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
