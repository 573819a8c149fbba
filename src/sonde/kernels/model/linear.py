"""A linear estimator over the frontier table, with the exact argmax for weights that keep moving.

The estimate of a row is (w1 f1 + w2 f2 + ...) + offset, evaluated left to right; the sum without
the offset is its *raw* score. Features are never negative, so that under a
*ceiling* W >= w, weight by weight, W . f is an upper bound of the row's raw score: a bound of its
own for every row, which stays true for all weights below the ceiling.

* Every block knows the highest such bound of its rows. A row that grows raises it at once; a row
  that leaves makes it stale but never too low.
* The *shortlist* holds the rows that can matter: all rows of the blocks with the highest bounds,
  less those that cannot reach `unlisted_bound`, above which no other row stands. A search weighs
  the shortlist alone; if its best does not beat `unlisted_bound`, the list is refilled, longer if
  it was used up too soon.
* When a weight rises above the ceiling, all bounds are computed anew under a higher one. How much
  higher is learned: far enough that this is rare, near enough that the shortlist stays short.

Ties go to the row discovered first, and ties are the rule on sparse graphs: whole families of
rows have equal features. A refill lists the first of each family and chains the others behind it
in order of discovery; when the first leaves or changes, the next one takes its place.

A ceiling says little of a weight that hovers about zero: whatever stands above zero is then within
its reach, and the list is as long as the frontier. So the costs of searches are counted, and a list
that costs too much gives way for a while: on a small frontier to weighing all rows, for which there
is nothing to keep up, otherwise to a search over ``Boxes``, which hold for all weights. All three
are exact, so that it does not matter to a crawl which one ran.
"""

import cython
import numpy as np
from cython.cimports.sonde.kernels.model.boxes import Boxes
from cython.cimports.sonde.kernels.model.frontier import Leaf

from sonde.kernels.model.frontier import grown

if cython.compiled:
    from cython.cimports.libc.math import INFINITY
else:
    from math import inf as INFINITY

LATEST = 2147483647

# A ceiling stands at least this share of its magnitude above a weight that moves, so that
# rounding, at most a few units in the 16th digit, cannot lift a score above its bound.
ROUNDING = 1e-13
SHORTEST = 4

# The states of a row: not listed, listed, or behind an equal row that is listed.
FREE = 0
LISTED = 1
CHAINED = 2

# The ways to search: by the shortlist, by boxes, or over all rows.
LIST = 0
BOXES = 1
ALL = 2

FEW = 4096  # rows that may be weighed one and all
TURN = 64  # searches after which their cost is looked at
DEAR = 6  # times what boxes would cost at best: the list is too long
LONGEST = 1024  # turns until another way that did not help is tried again, at most
RETRY = 16  # turns until another way that does help gives way to the list for one

FAMILIES = 65536  # places of the hash table by which a refill finds equal rows


class Linear(Leaf):
    def __init__(self, frontier, columns, weights):
        Leaf.__init__(self, frontier)
        blocks = frontier.block_first.shape[0]
        self.terms = len(columns)
        self.columns = np.asarray(columns, dtype=np.intc)
        self.weights = np.asarray(weights, dtype=np.float64)
        self.ceiling = np.array(weights, dtype=np.float64)
        self.before = np.array(weights, dtype=np.float64)
        self.pace = np.zeros(self.terms)
        self.offset = 0.0
        self.known = False
        self.block_bound = np.full(blocks, -np.inf)
        self.block_listed = np.zeros(blocks, dtype=np.int8)
        self.row_listed = np.zeros(frontier.row_node.shape[0], dtype=np.int8)
        self.next_equal = np.zeros(frontier.row_node.shape[0], dtype=np.intc)  # slot + 1
        self.last_equal = np.full(FAMILIES, -1, dtype=np.intc)
        self.mixing = 977.31 * np.sqrt(np.arange(2.0, self.terms + 2.0))
        self.taken = np.zeros(FAMILIES // 2, dtype=np.intc)  # places of last_equal in use
        self.families = 0
        self.listed = np.zeros(64, dtype=np.intc)
        self.keys = np.zeros(0)
        self.listed_count = 0
        self.unlisted_bound = INFINITY
        self.unlisted_seq = 0
        self.size = SHORTEST
        self.listed_before = 0
        self.lasting = False
        self.horizon = 16.0
        self.work = self.rebuilt_at = self.refilled_at = 0
        self.boxes = Boxes(frontier, columns)
        self.way = LIST
        self.few = FEW
        self.turn = TURN
        self.dear = DEAR
        self.cost = self.list_cost = 0  # in rows or boxes looked at, of a turn
        self.searches = self.turns = self.waiting = 0
        self.patience = 1

    def opened(self, block, shelf):
        if block >= self.block_bound.shape[0]:
            self.block_bound = grown(self.block_bound, block + 1, -np.inf)
            self.block_listed = grown(self.block_listed, block + 1, 0)
        if self.frontier.rows > self.row_listed.shape[0]:
            self.row_listed = grown(self.row_listed, self.frontier.rows, 0)
            self.next_equal = grown(self.next_equal, self.frontier.rows, 0)
        if self.way == BOXES:
            self.boxes.reserve(block + 1)

    def activate(self):
        """Bounds have not followed the frontier: compute them before the next search."""
        self.active = True
        self.known = False
        if self.way == BOXES:
            self.boxes.fit_all()

    def raw(self, slot):
        table = self.frontier
        total: cython.double = self.weights[0] * table.features[slot, self.columns[0]]
        i: cython.int
        for i in range(1, self.terms):
            total += self.weights[i] * table.features[slot, self.columns[i]]
        return total

    def bound(self, slot):
        """The same under the ceiling: no weights below it give the row a higher raw score."""
        table = self.frontier
        total: cython.double = self.ceiling[0] * table.features[slot, self.columns[0]]
        i: cython.int
        for i in range(1, self.terms):
            total += self.ceiling[i] * table.features[slot, self.columns[i]]
        return total

    def highest_bound(self, block):
        """The highest bound of a block's live rows."""
        table = self.frontier
        first: cython.int = table.block_first[block]
        last: cython.int = first + table.block_rows[block]
        highest: cython.double = -INFINITY
        bound: cython.double
        slot: cython.int
        if self.terms == 3:  # lnh: its weights fit the registers, which doubles the speed
            c0: cython.int = self.columns[0]
            c1: cython.int = self.columns[1]
            c2: cython.int = self.columns[2]
            w0: cython.double = self.ceiling[0]
            w1: cython.double = self.ceiling[1]
            w2: cython.double = self.ceiling[2]
            for slot in range(first, last):
                bound = (
                    w0 * table.features[slot, c0]
                    + w1 * table.features[slot, c1]
                    + w2 * table.features[slot, c2]
                )
                if bound > highest and table.row_live[slot]:
                    highest = bound
            return highest
        for slot in range(first, last):
            bound = self.bound(slot)
            if bound > highest and table.row_live[slot]:
                highest = bound
        return highest

    def estimate(self, slot):
        return self.raw(slot) + self.offset

    def opinion(self, snapshot):
        total: cython.double = self.weights[0] * snapshot[self.columns[0]]
        i: cython.int
        for i in range(1, self.terms):
            total += self.weights[i] * snapshot[self.columns[i]]
        return total + self.offset

    def limit(self, block):
        if self.way == ALL:
            return INFINITY
        if not self.covered():
            self.rebuild()
        upper: cython.double = self.block_bound[block]
        return upper if upper == -INFINITY else upper + self.offset

    def refresh(self):
        table = self.frontier
        slot: cython.int
        block: cython.int
        bound: cython.double
        i: cython.longlong
        if self.way == ALL:
            return
        if table.rows <= self.few:
            self.cost += table.changes
        if self.way == BOXES:
            for i in range(table.changes):
                slot = table.changed[i]
                if table.row_live[slot]:
                    self.boxes.widen(table.row_block[slot] if table.grouped else slot >> 6, slot)
        if not self.known:
            return
        for i in range(table.changes):
            slot = table.changed[i]
            if not table.row_live[slot]:
                continue
            block = table.row_block[slot] if table.grouped else slot >> 6
            bound = self.bound(slot)
            if bound > self.block_bound[block]:
                self.block_bound[block] = bound
            if self.row_listed[slot] == LISTED:
                self.succeed(slot)
            elif self.matters(bound, slot):
                self.enlist(slot)
            else:
                self.row_listed[slot] = FREE

    # -- the ceiling ---------------------------------------------------------------------------

    def covered(self):
        """Whether the bounds hold for today's weights."""
        same: cython.bint = True
        below: cython.bint = True
        i: cython.int
        if not self.known:
            return False
        for i in range(self.terms):
            if self.weights[i] != self.ceiling[i]:
                same = False
            if self.ceiling[i] - self.weights[i] < ROUNDING * (
                abs(self.weights[i]) + abs(self.ceiling[i])
            ):
                below = False
        return same or below

    def raise_ceiling(self):
        """Set the ceiling as far above the weights as they may move within the horizon."""
        moving: cython.bint = False
        i: cython.int
        for i in range(self.terms):
            if self.pace[i] > 0.0:
                moving = True
        for i in range(self.terms):
            self.ceiling[i] = self.weights[i]
            if moving:
                self.ceiling[i] += max(
                    self.horizon * self.pace[i], 4.0 * ROUNDING * abs(self.weights[i])
                )

    def rebuild(self):
        """Compute every bound anew."""
        table = self.frontier
        block: cython.int
        self.raise_ceiling()
        self.cost += table.rows
        for block in range(table.blocks):
            self.block_bound[block] = self.highest_bound(block)
        if self.lasting and self.size > SHORTEST:
            self.size -= max(1, self.size // 4)
        self.known = True
        self.lasting = True
        self.rebuilt_at = self.work
        self.refill()

    # -- the shortlist -------------------------------------------------------------------------

    def enlist(self, slot):
        if self.listed_count == self.listed.shape[0]:
            self.listed = grown(self.listed, self.listed_count + 1, 0)
        self.listed[self.listed_count] = slot
        self.listed_count += 1
        self.row_listed[slot] = LISTED

    def succeed(self, slot):
        """A listed row left or changed: list the next one of those that were equal to it."""
        other: cython.int = self.next_equal[slot] - 1
        self.next_equal[slot] = 0
        while other >= 0:
            if self.row_listed[other] == CHAINED and self.frontier.row_live[other]:
                self.enlist(other)
                return
            other = self.next_equal[other] - 1  # it left or changed, but the chain goes on

    def matters(self, bound, slot):
        """Whether a row with this bound must be listed."""
        return bound > self.unlisted_bound or (
            bound == self.unlisted_bound and self.frontier.row_seq[slot] < self.unlisted_seq
        )

    def equal(self, slot, other):
        table = self.frontier
        i: cython.int
        for i in range(self.terms):
            if table.features[slot, self.columns[i]] != table.features[other, self.columns[i]]:
                return False
        return True

    def place(self, slot):
        """Where the family of a row stands in the hash table, or the free place for it."""
        mixed: cython.double = 0.0
        i: cython.int
        for i in range(self.terms):
            mixed += self.mixing[i] * self.frontier.features[slot, self.columns[i]]
        whole: cython.longlong = cython.cast(cython.longlong, mixed)
        whole = cython.cast(cython.longlong, (mixed - whole) * FAMILIES)
        place: cython.int = cython.cast(cython.int, whole & (FAMILIES - 1))
        while self.last_equal[place] >= 0 and not self.equal(slot, self.last_equal[place]):
            place = (place + 1) & (FAMILIES - 1)
        return place

    def join(self, slot):
        """List a row, or chain it behind the rows that equal it."""
        place: cython.int
        last: cython.int
        self.next_equal[slot] = 0
        if 2 * self.families >= FAMILIES:
            self.enlist(slot)  # listing a row too many is never wrong
            return
        place = self.place(slot)
        last = self.last_equal[place]
        if last < 0:
            self.taken[self.families] = place
            self.families += 1
            self.enlist(slot)
        elif self.frontier.row_seq[last] < self.frontier.row_seq[slot]:
            self.next_equal[last] = slot + 1
            self.row_listed[slot] = CHAINED
        else:
            self.enlist(slot)
            return  # discovered before its family's last, in another group: it stands alone
        self.last_equal[place] = slot

    def gather(self, block):
        """List the rows of a block that matter, and tighten its bound."""
        table = self.frontier
        first: cython.int = table.block_first[block]
        slot: cython.int
        bound: cython.double
        highest: cython.double = -INFINITY
        earliest: cython.int = LATEST
        self.work += table.block_rows[block]
        self.cost += table.block_rows[block]
        for slot in range(first, first + table.block_rows[block]):
            self.row_listed[slot] = FREE
            if not table.row_live[slot]:
                continue
            if table.row_seq[slot] < earliest:
                earliest = table.row_seq[slot]
            bound = self.bound(slot)
            if bound > highest:
                highest = bound
            if self.matters(bound, slot):
                self.join(slot)
        self.block_bound[block] = highest
        table.block_seq[block] = earliest

    def cut(self, count):
        """The bound that is exceeded by fewer than `count` of the blocks (quickselect)."""
        table = self.frontier
        i: cython.int
        j: cython.int
        if table.blocks > self.keys.shape[0]:
            self.keys = grown(self.keys, table.blocks, 0.0)
        for i in range(table.blocks):
            self.keys[i] = self.block_bound[i]
        low: cython.int = 0
        high: cython.int = table.blocks - 1
        pivot: cython.double
        while low < high:
            pivot = self.keys[(low + high) >> 1]
            i = low
            j = high
            while i <= j:
                while self.keys[i] > pivot:
                    i += 1
                while self.keys[j] < pivot:
                    j -= 1
                if i <= j:
                    self.keys[i], self.keys[j] = self.keys[j], self.keys[i]
                    i += 1
                    j -= 1
            if count - 1 <= j:
                high = j
            elif count - 1 >= i:
                low = i
            else:
                break
        return self.keys[count - 1]

    def refill(self):
        """List the rows of the blocks with the highest bounds, ties in order of discovery."""
        table = self.frontier
        block: cython.int
        i: cython.int
        for i in range(self.listed_count):
            self.row_listed[self.listed[i]] = FREE
        for i in range(self.families):
            self.last_equal[self.taken[i]] = -1
        self.families = 0
        self.listed_count = 0
        self.unlisted_bound = -INFINITY
        self.unlisted_seq = 0
        self.work += table.blocks
        self.cost += table.blocks
        if self.size < table.blocks:
            # Blocks above the cut, and of those at the cut as many as there is room for, make
            # the list; what is left over starts with the first block that found no room.
            at_cut: cython.double = self.cut(self.size)
            room: cython.int = self.size
            below: cython.double = -INFINITY
            for block in range(table.blocks):
                if self.block_bound[block] > at_cut:
                    room -= 1
            for block in range(table.blocks):
                self.block_listed[block] = self.block_bound[block] > at_cut
                if self.block_bound[block] == at_cut:
                    if room > 0:
                        room -= 1
                        self.block_listed[block] = 1
                    elif self.unlisted_bound < at_cut:
                        self.unlisted_bound = at_cut
                        self.unlisted_seq = table.block_seq[block]
                    elif table.block_seq[block] < self.unlisted_seq:
                        self.unlisted_seq = table.block_seq[block]
                elif self.block_bound[block] < at_cut and self.block_bound[block] > below:
                    below = self.block_bound[block]
            if self.unlisted_bound < at_cut:
                self.unlisted_bound = below
                self.unlisted_seq = 0
            for block in range(table.blocks):
                if self.block_listed[block]:
                    self.gather(block)
        else:
            for block in range(table.blocks):
                self.gather(block)
        self.listed_before = self.listed_count
        self.refilled_at = self.work

    # -- the search ----------------------------------------------------------------------------

    def promising(self, upper, seq):
        """Could rows up to this raw score, none discovered before `seq`, beat the best so far?"""
        if upper < self.guard or upper == -INFINITY:
            return False
        value: cython.double = upper + self.offset
        return value > self.top_value or (value == self.top_value and seq < self.top_seq)

    def offer(self, raw, seq, slot):
        if raw < self.guard:
            return
        value: cython.double = raw + self.offset
        if value > self.top_value or (value == self.top_value and seq < self.top_seq):
            self.top_value = value
            self.top_seq = seq
            self.top_slot = slot
            if raw > self.top_raw:
                self.top_raw = raw
                # Raw scores this close may still round to the same estimate.
                self.guard = raw - 1e-12 * (abs(raw) + abs(self.offset))

    def look_through_list(self):
        table = self.frontier
        slot: cython.int
        raw: cython.double
        i: cython.int = 0
        three: cython.bint = self.terms == 3
        c0: cython.int = self.columns[0]
        c1: cython.int = self.columns[1] if three else 0
        c2: cython.int = self.columns[2] if three else 0
        w0: cython.double = self.weights[0]
        w1: cython.double = self.weights[1] if three else 0.0
        w2: cython.double = self.weights[2] if three else 0.0
        self.work += self.listed_count
        self.cost += self.listed_count
        while i < self.listed_count:
            slot = self.listed[i]
            if table.row_live[slot]:
                if three:
                    raw = (
                        w0 * table.features[slot, c0]
                        + w1 * table.features[slot, c1]
                        + w2 * table.features[slot, c2]
                    )
                else:
                    raw = self.raw(slot)
                if raw >= self.guard:
                    self.offer(raw, table.row_seq[slot], slot)
                i += 1
            else:
                self.listed_count -= 1
                self.listed[i] = self.listed[self.listed_count]
                self.row_listed[slot] = FREE
                self.succeed(slot)

    def search_all(self):
        table = self.frontier
        price: cython.longlong = table.blocks + 64 * self.size
        if self.listed_count > 2 * self.listed_before + 64 and self.paid(4 * price):
            self.refill()  # rows that rose have made the list long
        self.look_through_list()
        # The list was too short if it did not last for as much work as a refill costs, and for
        # certain if it was refilled a moment ago: only a longer one can end the search.
        lasted: cython.bint = self.paid(price)
        while self.promising(self.unlisted_bound, self.unlisted_seq):
            self.lasting = False
            if not lasted:
                self.size = min(2 * self.size, table.blocks)
            elif self.size > SHORTEST:
                self.size -= max(1, self.size // 8)
            lasted = False
            self.refill()
            self.look_through_list()

    def paid(self, price):
        """Whether the work since the last refill was worth this price."""
        return self.work - self.refilled_at >= price

    def search_ready(self):
        """Over the blocks of the ready groups alone, the most promising first."""
        table = self.frontier
        count: cython.int = table.list_blocks()
        highest: cython.double = -INFINITY
        lead: cython.int = -1
        turn: cython.int
        block: cython.int
        i: cython.int
        for i in range(count):
            if self.block_bound[table.listed[i]] > highest:
                highest = self.block_bound[table.listed[i]]
                lead = i
        if lead < 0:
            return
        for turn in range(-1, count):
            block = table.listed[lead if turn < 0 else turn]
            if turn != lead and self.promising(self.block_bound[block], table.block_seq[block]):
                self.block_bound[block] = self.highest_bound(block)
                self.weigh(block)

    def weigh(self, block):
        """Look at the rows of a block."""
        table = self.frontier
        first: cython.int = table.block_first[block]
        slot: cython.int
        raw: cython.double
        for slot in range(first, first + table.block_rows[block]):
            if table.row_live[slot]:
                raw = self.raw(slot)
                if raw >= self.guard:
                    self.offer(raw, table.row_seq[slot], slot)

    def weigh_all(self):
        """Look at all rows that may be picked."""
        table = self.frontier
        i: cython.int
        for i in range(table.list_blocks()):
            if table.block_live[table.listed[i]] > 0:
                self.weigh(table.listed[i])

    def search_boxes(self):
        """Over all blocks, by the corners of their boxes."""
        table = self.frontier
        corner: cython.double
        highest: cython.double = -INFINITY
        lead: cython.int = -1
        block: cython.int
        if table.blocks > self.keys.shape[0]:
            self.keys = grown(self.keys, table.blocks, 0.0)
        self.cost += 2 * table.blocks
        for block in range(table.blocks):
            corner = self.boxes.corner(block, self.weights)
            self.keys[block] = corner
            if corner > highest:
                highest = corner
                lead = block
        if lead >= 0:
            self.open_box(lead)
        for block in range(table.blocks):
            if block != lead and self.promising(self.keys[block], table.block_seq[block]):
                self.open_box(block)

    def open_box(self, block):
        """Weigh the rows of a block, and fit its box."""
        table = self.frontier
        first: cython.int = table.block_first[block]
        earliest: cython.int = LATEST
        slot: cython.int
        self.cost += 3 * table.block_rows[block]  # it is weighed, and fitted
        self.weigh(block)
        for slot in range(first, first + table.block_rows[block]):
            if table.row_live[slot] and table.row_seq[slot] < earliest:
                earliest = table.row_seq[slot]
        self.boxes.fit(block)
        table.block_seq[block] = earliest

    def take_turns(self):
        """Search the other way if this one costs too much, and if the other one may cost less."""
        table = self.frontier
        few: cython.bint = table.rows <= self.few
        most: cython.longlong = self.turn * cython.cast(cython.longlong, table.live)
        if not few:
            most = self.dear * (self.turn * (table.blocks + 64) + table.rows)
        change: cython.bint = self.way == LIST and self.waiting == 0 and self.cost > most
        self.searches += 1
        if self.searches < self.turn and not change:
            return
        self.turns += 1
        if change:
            self.list_cost = self.cost
            self.way = ALL if few else BOXES
            self.known = False
            self.turns = 0
            if self.way == BOXES:
                self.boxes.fit_all()
        elif self.way == LIST:
            self.waiting = max(0, self.waiting - 1)
        elif self.way == BOXES and self.cost > self.list_cost:
            self.way = LIST
            self.waiting = self.patience
            self.patience = min(2 * self.patience, LONGEST)
        elif self.turns >= RETRY or (self.way == ALL and not few):
            self.way = LIST
            self.patience = 1
        self.searches = 0
        self.cost = 0

    def best(self):
        step: cython.double
        i: cython.int
        for i in range(self.terms):
            step = abs(self.weights[i] - self.before[i])
            self.pace[i] += (step - self.pace[i]) / 32.0
            self.before[i] = self.weights[i]
        self.top_value = self.top_raw = self.guard = -INFINITY
        self.top_seq = LATEST
        self.top_slot = -1
        if self.way == ALL:
            self.weigh_all()
        elif self.frontier.restricted:
            self.cover()
            self.search_ready()
        elif self.way == BOXES:
            self.search_boxes()
        else:
            self.cover()
            self.search_all()
        if self.frontier.rows <= self.few or not self.frontier.restricted:
            self.take_turns()
        self.best_value = self.top_value
        return self.top_slot

    def cover(self):
        """Bounds that hold for today's weights, and are worth their looseness."""
        if not self.covered():
            if self.work - self.rebuilt_at < self.frontier.rows:
                self.horizon *= 2.0  # overtaken before the bounds had paid for themselves
            self.rebuild()
        elif self.work - self.rebuilt_at > 2 * cython.cast(cython.longlong, self.frontier.rows):
            self.horizon = max(self.horizon / 2.0, 1.0)  # so loose that searches cost more
            self.rebuild()
