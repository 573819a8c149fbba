"""Rankings that need no weights: by one column, by chance, and by a function in Python."""

import cython
import numpy as np
from cython.cimports.sonde.kernels.model.frontier import Leaf

from sonde.kernels.model.frontier import grown

if cython.compiled:
    from cython.cimports.libc.math import INFINITY
else:
    from math import inf as INFINITY


class Tournament(Leaf):
    """A ranking by one column as it is: every block and shelf knows its best row, its *top*.

    A row that grows is compared with its block's and its shelf's top at once. A top that has left
    or fallen is noticed when a search comes upon it; until then its value bounds the rest, and
    every row that ties with it was discovered later. So the first top that still holds is the exact
    argmax with the earliest discovery, and a search costs a look at every shelf and the mending of
    few.
    """

    LEARNED = ("active",)

    def __init__(self, frontier, column):
        Leaf.__init__(self, frontier)
        self.lowest = 0.0  # no column has negative values
        blocks = frontier.block_first.shape[0]
        shelves = frontier.shelf_live.shape[0]
        self.column = column
        self.block_top = np.full(blocks, -1, dtype=np.intc)
        self.shelf_top = np.full(shelves, -1, dtype=np.intc)
        self.block_bound = np.full(blocks, -np.inf)
        self.shelf_bound = np.full(shelves, -np.inf)

    def opened(self, block, shelf):
        if block >= self.block_top.shape[0]:
            self.block_top = grown(self.block_top, block + 1, -1)
            self.block_bound = grown(self.block_bound, block + 1, -np.inf)
        if shelf >= self.shelf_top.shape[0]:
            self.shelf_top = grown(self.shelf_top, shelf + 1, -1)
            self.shelf_bound = grown(self.shelf_bound, shelf + 1, -np.inf)

    def activate(self):
        """Find every top anew."""
        self.active = True
        i: cython.int
        for i in range(self.frontier.blocks):
            self.mend_block(i)
        for i in range(self.frontier.shelves):
            self.mend_shelf(i)

    def estimate(self, slot):
        return self.frontier.features[slot, self.column]

    def opinion(self, snapshot):
        return snapshot[self.column]

    def limit(self, block):
        return self.block_bound[block]

    def within(self, threshold, out):
        """As for any leaf, without a call a row. A block whose top has left is mended, or it would
        be looked through again at every step."""
        table = self.frontier
        count: cython.int = 0
        block: cython.int
        slot: cython.int
        first: cython.int
        i: cython.int
        for i in range(table.list_blocks()):
            block = table.listed[i]
            if self.block_bound[block] < threshold:
                continue
            slot = self.block_top[block]
            if not (
                table.row_live[slot]
                and table.features[slot, self.column] == self.block_bound[block]
            ):
                self.mend_block(block)
                if self.block_bound[block] < threshold:
                    continue
            first = table.block_first[block]
            for slot in range(first, first + table.block_rows[block]):
                if table.features[slot, self.column] >= threshold and table.row_live[slot]:
                    out[count] = slot
                    count += 1
        return count

    def refresh(self):
        table = self.frontier
        slot: cython.int
        block: cython.int
        shelf: cython.int
        value: cython.double
        i: cython.longlong
        for i in range(table.changes):
            slot = table.changed[i]
            if not table.row_live[slot]:
                continue
            value = table.features[slot, self.column]
            block = table.row_block[slot] if table.grouped else slot >> 6
            if value < self.block_bound[block]:
                continue
            if value > self.block_bound[block] or (
                table.row_seq[slot] < table.row_seq[self.block_top[block]]
            ):
                self.block_bound[block] = value
                self.block_top[block] = slot
            shelf = block >> 6
            if value > self.shelf_bound[shelf] or (
                value == self.shelf_bound[shelf]
                and table.row_seq[slot] < table.row_seq[self.shelf_top[shelf]]
            ):
                self.shelf_bound[shelf] = value
                self.shelf_top[shelf] = slot

    def mend_block(self, block):
        table = self.frontier
        first: cython.int = table.block_first[block]
        last: cython.int = first + table.block_rows[block]
        top: cython.int = -1
        highest: cython.double = -INFINITY
        slot: cython.int
        for slot in range(first, last):  # rows of a block are in order of discovery
            if table.row_live[slot] and table.features[slot, self.column] > highest:
                highest = table.features[slot, self.column]
                top = slot
        self.block_bound[block] = highest
        self.block_top[block] = top

    def mend_shelf(self, shelf):
        table = self.frontier
        first: cython.int = shelf << 6
        last: cython.int = min(first + 64, table.blocks)
        top: cython.int = -1
        highest: cython.double = -INFINITY
        block: cython.int
        for block in range(first, last):
            if self.block_bound[block] > highest or (
                top >= 0
                and self.block_bound[block] == highest
                and table.row_seq[self.block_top[block]] < table.row_seq[top]
            ):
                highest = self.block_bound[block]
                top = self.block_top[block]
        self.shelf_bound[shelf] = highest
        self.shelf_top[shelf] = top

    def best(self):
        top: cython.int = (
            self.best_of_ready() if self.frontier.restricted else self.best_of_shelves()
        )
        if top >= 0:
            self.best_value = self.frontier.features[top, self.column]
        return top

    def best_of_shelves(self):
        table = self.frontier
        lead: cython.int
        top: cython.int
        shelf: cython.int
        highest: cython.double
        while True:
            lead = -1
            highest = -INFINITY
            for shelf in range(table.shelves):
                if self.shelf_bound[shelf] > highest or (
                    lead >= 0
                    and self.shelf_bound[shelf] == highest
                    and table.row_seq[self.shelf_top[shelf]] < table.row_seq[self.shelf_top[lead]]
                ):
                    highest = self.shelf_bound[shelf]
                    lead = shelf
            if lead < 0:
                return -1
            top = self.shelf_top[lead]
            if table.row_live[top] and table.features[top, self.column] == highest:
                return top
            self.mend_block(table.block_of(top))
            self.mend_shelf(lead)

    def best_of_ready(self):
        table = self.frontier
        lead: cython.int
        top: cython.int
        block: cython.int
        highest: cython.double
        i: cython.int
        while True:
            lead = -1
            highest = -INFINITY
            for i in range(table.ready_count):
                block = table.group_head[table.ready[i]]
                while block >= 0:
                    if self.block_bound[block] > highest or (
                        lead >= 0
                        and self.block_bound[block] == highest
                        and table.row_seq[self.block_top[block]]
                        < table.row_seq[self.block_top[lead]]
                    ):
                        highest = self.block_bound[block]
                        lead = block
                    block = table.block_next[block]
            if lead < 0:
                return -1
            top = self.block_top[lead]
            if table.row_live[top] and table.features[top, self.column] == highest:
                return top
            self.mend_block(lead)


class Chance(Leaf):
    """`random`: every selectable row is equally likely, whatever the strategy."""

    LEARNED = ("active",)

    def __init__(self, frontier, dice):
        Leaf.__init__(self, frontier)
        self.dice = dice
        self.active = False

    def best(self):
        count: cython.int = self.frontier.selectable()
        if count == 0:
            return -1
        return self.frontier.nth(cython.cast(cython.int, self.dice.below(count)))

    def activate(self):
        pass


class Custom(Leaf):
    """An estimator written in Python: it scores every selectable row anew for each pick."""

    def __init__(self, frontier, predict, teach):
        """`predict` takes slots and gives estimates; `teach` takes a snapshot and its gain."""
        Leaf.__init__(self, frontier)
        self.predict = predict
        self.teach = teach
        self.active = False  # it looks at the table itself, and need not be told of changes

    def best(self):
        slots = self.frontier.live_slots()
        values = self.predict(slots)
        top = slots[values == values.max()]
        self.best_value = values.max()
        return top[np.argmin(np.asarray(self.frontier.row_seq)[top])]

    def within(self, threshold, out):
        slots = self.frontier.live_slots()
        close = slots[self.predict(slots) >= threshold]
        np.asarray(out)[: len(close)] = close
        return len(close)

    def estimate(self, slot):
        return self.predict(np.asarray([slot]))[0]

    def rank(self, slot, limit):
        frontier = self.frontier
        slots = np.flatnonzero(np.asarray(frontier.row_live)[: frontier.rows])
        values = self.predict(slots)
        value = self.estimate(slot)
        order = np.asarray(frontier.row_seq)
        ahead = (values > value) | ((values == value) & (order[slots] < order[slot]))
        ahead &= slots != slot
        count = int(ahead.sum())
        return count + 1 if count < limit else 0

    def learn(self, snapshot, gain):
        self.teach(np.array(snapshot), gain)

    def activate(self):
        pass
