"""The frontier table: one row of features for every node seen and not visited.

Rows stand in blocks of up to 64 in order of discovery, blocks in shelves of 64. A node keeps its
row (its *slot*) until it is visited; a row that is *taken* (leased) is not live: it cannot be
picked, but its features go on growing, so that it can be put back. A visited node has the number of
its visit in place of a slot. The table knows nothing of scores: each leaf keeps bounds for every
block and shelf, and is told after each visit of the rows whose features changed.

A *leaf* is one estimator as the frontier sees it: it names the best selectable row, lists the
rows whose estimate reaches a threshold, and learns from each visit. An inactive leaf is not told
of changes; ``activate`` brings it up to date.

With ``grouped`` every block belongs to one group (a host), the blocks of a group form a chain,
and small groups start with small blocks. Without it there is one group and block b holds slots
64 b to 64 b + 63, so that no look-up is needed.
"""

import cython
import numpy as np

if cython.compiled:
    from cython.cimports.libc.math import INFINITY
else:
    from math import inf as INFINITY

    UNSEEN = -1
    DROPPED = -2
    FIRST_VISIT = -3


LARGE = 1 << 19  # entries


def grown(array, size, fill):
    """A copy of `array` with room for at least `size` entries. A small one doubles, which copies
    little; a large one grows by a quarter, so that little lies idle."""
    array = np.asarray(array)
    room = max(size, len(array) + (len(array) if len(array) < LARGE else len(array) // 4), 16)
    larger = np.zeros((room, *array.shape[1:]), dtype=array.dtype)
    larger[: len(array)] = array
    if fill != 0:
        larger[len(array) :] = fill
    return larger


def stretched(owner, name, size):
    """Give an array of zeros that `owner` has by this name room for at least `size` entries, in its
    place: beside a large one there is no room for a copy. Nobody may hold a view of it."""
    array = getattr(owner, name)
    if not isinstance(array, np.ndarray):
        array = array.base  # of a view that compiled code keeps
    room = max(size, len(array) + (len(array) if len(array) < LARGE else len(array) // 8), 16)
    if len(array) and array.flags.owndata:
        setattr(owner, name, array[:0].copy())  # lets go of the view
        array.resize((room, *array.shape[1:]), refcheck=False)
    else:
        array = grown(array, room, 0)
    setattr(owner, name, array)


class Leaf:
    def __init__(self, frontier):
        self.frontier = frontier
        self.number = len(frontier.leaves)
        self.active = True
        self.best_value = 0.0
        self.lowest = -INFINITY  # no estimate is lower
        frontier.leaves.append(self)

    def opened(self, block, shelf):
        """A block was opened, and with its first block a shelf."""

    def refresh(self):
        """The rows in frontier.changed have new features."""

    def catch_up(self):
        """Follow a frontier that was filled without this leaf being told."""
        block: cython.int
        for block in range(self.frontier.blocks):
            self.opened(block, block >> 6)
        active: cython.bint = self.active
        self.activate()
        self.active = active

    def best(self):
        """The slot of the row to visit next, or -1; leaves its estimate in `best_value`."""
        return -1

    def estimate(self, slot):
        """The estimate of one row."""
        return 0.0

    def opinion(self, snapshot):
        """What it thinks now of a node that had these features, where features are all it needs."""
        return 0.0

    def limit(self, block):
        """No live row of the block has a higher estimate."""
        return INFINITY

    def within(self, threshold, out):
        """Write the slots of selectable rows that reach `threshold`, in table order."""
        table = self.frontier
        count: cython.int = 0
        block: cython.int
        slot: cython.int
        i: cython.int
        for i in range(table.list_blocks()):
            block = table.listed[i]
            if self.limit(block) < threshold:
                continue
            for slot in range(
                table.block_first[block], table.block_first[block] + table.block_rows[block]
            ):
                if table.row_live[slot] and self.estimate(slot) >= threshold:
                    out[count] = slot
                    count += 1
        return count

    def rank(self, slot, limit):
        """1 for a row that is better than all live ones, and so on; 0 when beyond `limit`."""
        table = self.frontier
        value: cython.double = self.estimate(slot)
        ahead: cython.int = 0
        estimate: cython.double
        block: cython.int
        other: cython.int
        for block in range(table.blocks):
            if self.limit(block) < value:
                continue
            for other in range(
                table.block_first[block], table.block_first[block] + table.block_rows[block]
            ):
                if other != slot and table.row_live[other]:
                    estimate = self.estimate(other)
                    if estimate > value or (
                        estimate == value and table.row_seq[other] < table.row_seq[slot]
                    ):
                        ahead += 1
                        if ahead >= limit:
                            return 0
        return ahead + 1

    def learn(self, snapshot, gain):
        """A node that had these features when it was asked has brought this gain."""

    def activate(self):
        self.active = True


class Frontier:
    LEARNED = tuple(
        (
            "rows blocks shelves live seen visits slot_of row_node row_seq row_live row_block "
            "node_group features block_first block_rows block_room block_live block_seq block_next "
            "shelf_live shelf_seq group_head group_tail"
        ).split()
    )
    PARTS = ("leaves",)

    def __init__(self, width, nodes, grouped):
        self.width = width
        self.grouped = grouped
        self.leaves = []
        self.rows = self.blocks = self.shelves = self.live = self.seen = self.visits = 0
        self.restricted = False
        self.ready_count = 0
        self.ready = np.zeros(0, dtype=np.intc)
        self.listed = np.zeros(0, dtype=np.intc)
        self.changes = 0
        self.changed = np.zeros(64, dtype=np.intc)
        # Zeroed pages are not resident until they are written, so room for every node of a
        # recorded graph costs nothing before it is used.
        blocks = nodes // 64 + 1
        self.slot_of = np.full(nodes, UNSEEN, dtype=np.intc)
        self.row_node = np.zeros(nodes, dtype=np.intc)
        self.row_seq = np.zeros(nodes, dtype=np.intc)
        self.row_live = np.zeros(nodes, dtype=np.int8)
        self.row_block = np.zeros(nodes if grouped else 0, dtype=np.intc)
        self.node_group = np.zeros(nodes if grouped else 0, dtype=np.intc)
        self.features = np.zeros((nodes, max(width, 1)), dtype=np.float64)
        self.block_first = np.zeros(blocks, dtype=np.intc)
        self.block_rows = np.zeros(blocks, dtype=np.intc)
        self.block_room = np.zeros(blocks, dtype=np.intc)
        self.block_live = np.zeros(blocks, dtype=np.intc)
        self.block_seq = np.zeros(blocks, dtype=np.intc)
        self.block_next = np.full(blocks, -1, dtype=np.intc)
        self.shelf_live = np.zeros(blocks // 64 + 1, dtype=np.intc)
        self.shelf_seq = np.zeros(blocks // 64 + 1, dtype=np.intc)
        self.group_head = np.full(1, -1, dtype=np.intc)
        self.group_tail = np.full(1, -1, dtype=np.intc)

    def reserve_nodes(self, nodes):
        """Make room for node numbers below `nodes`."""
        if nodes > self.slot_of.shape[0]:
            self.slot_of = grown(self.slot_of, nodes, UNSEEN)
            if self.grouped:
                self.node_group = grown(self.node_group, nodes, 0)

    def reserve_groups(self, groups):
        if groups > self.group_head.shape[0]:
            self.group_head = grown(self.group_head, groups, -1)
            self.group_tail = grown(self.group_tail, groups, -1)

    def restrict(self, groups):
        """Limit picks to these groups, or to none of them with ``None``."""
        self.restricted = groups is not None
        if groups is not None:
            self.ready = np.asarray(groups, dtype=np.intc)
            self.ready_count = len(groups)

    def block_of(self, slot):
        if self.grouped:
            return self.row_block[slot]
        return slot >> 6

    def visit_of(self, node):
        """The number of a node's visit, below 0 for a node that was not visited."""
        return FIRST_VISIT - self.slot_of[node]

    def add(self, node):
        """Give `node` a row of zeros, at the end of its group's last block."""
        group: cython.int = self.node_group[node] if self.grouped else 0
        block: cython.int = self.group_tail[group]
        if block < 0 or self.block_rows[block] == self.block_room[block]:
            block = self.open_block(group)
        slot: cython.int = self.block_first[block] + self.block_rows[block]
        shelf: cython.int = block >> 6
        if self.block_live[block] == 0:
            self.block_seq[block] = self.seen
        if self.shelf_live[shelf] == 0:
            self.shelf_seq[shelf] = self.seen
        self.block_rows[block] += 1
        self.block_live[block] += 1
        self.shelf_live[shelf] += 1
        self.row_node[slot] = node
        self.row_seq[slot] = self.seen
        self.row_live[slot] = 1
        if self.grouped:
            self.row_block[slot] = block
        self.slot_of[node] = slot
        self.seen += 1
        self.live += 1
        return slot

    def open_block(self, group):
        tail: cython.int = self.group_tail[group]
        room: cython.int = 64
        if self.grouped:
            room = 4 if tail < 0 else min(64, 4 * self.block_room[tail])
        block: cython.int = self.blocks
        if block >= self.block_first.shape[0]:
            self.block_first = grown(self.block_first, block + 1, 0)
            self.block_rows = grown(self.block_rows, block + 1, 0)
            self.block_room = grown(self.block_room, block + 1, 0)
            self.block_live = grown(self.block_live, block + 1, 0)
            self.block_seq = grown(self.block_seq, block + 1, 0)
            self.block_next = grown(self.block_next, block + 1, -1)
        shelf: cython.int = block >> 6
        if shelf >= self.shelf_live.shape[0]:
            self.shelf_live = grown(self.shelf_live, shelf + 1, 0)
            self.shelf_seq = grown(self.shelf_seq, shelf + 1, 0)
        if self.rows + room > self.row_node.shape[0]:
            size = self.rows + room
            self.row_node = grown(self.row_node, size, 0)
            self.row_seq = grown(self.row_seq, size, 0)
            self.row_live = grown(self.row_live, size, 0)
            if self.grouped:
                self.row_block = grown(self.row_block, size, 0)
        if self.rows + room > self.features.shape[0]:
            stretched(self, "features", self.rows + room)
        self.block_first[block] = self.rows
        self.block_room[block] = room
        if tail < 0:
            self.group_head[group] = block
        else:
            self.block_next[tail] = block
        self.group_tail[group] = block
        self.rows += room
        self.blocks += 1
        self.shelves = shelf + 1
        i: cython.int
        leaf: Leaf
        for i in range(len(self.leaves)):
            leaf = self.leaves[i]
            leaf.opened(block, shelf)
        return block

    def reserve_changes(self, count):
        """Make room to note so many more changed rows."""
        if self.changes + count > self.changed.shape[0]:
            self.changed = grown(self.changed, self.changes + count, 0)

    def announce(self):
        """Tell every active leaf of the rows noted as changed, and forget them."""
        i: cython.int
        leaf: Leaf
        for i in range(len(self.leaves)):
            leaf = self.leaves[i]
            if leaf.active:
                leaf.refresh()
        self.changes = 0

    def take(self, slot):
        """Withhold a row from picks. Bounds stay: they are upper bounds, and a scan mends them."""
        block: cython.int = self.block_of(slot)
        self.row_live[slot] = 0
        self.block_live[block] -= 1
        self.shelf_live[block >> 6] -= 1
        self.live -= 1

    def put_back(self, slot):
        block: cython.int = self.block_of(slot)
        self.row_live[slot] = 1
        self.block_live[block] += 1
        self.shelf_live[block >> 6] += 1
        self.block_seq[block] = min(self.block_seq[block], self.row_seq[slot])
        self.shelf_seq[block >> 6] = min(self.shelf_seq[block >> 6], self.row_seq[slot])
        self.live += 1
        self.reserve_changes(1)
        self.changed[self.changes] = slot
        self.changes += 1
        self.announce()

    def settle(self, node):
        """The node was visited: it leaves the frontier for good."""
        self.leave(node, FIRST_VISIT - self.visits)
        self.visits += 1

    def drop(self, node):
        """The node will never be visited: it leaves the frontier, and links to it are ignored."""
        self.leave(node, DROPPED)

    def leave(self, node, state):
        slot: cython.int = self.slot_of[node]
        if slot >= 0 and self.row_live[slot]:
            self.take(slot)
        self.slot_of[node] = state

    def selectable(self):
        """How many rows a pick may choose from."""
        if not self.restricted:
            return self.live
        total: cython.int = 0
        i: cython.int
        for i in range(self.list_blocks()):
            total += self.block_live[self.listed[i]]
        return total

    def list_blocks(self):
        """Write the blocks that hold selectable rows to `listed`, in table order; their number."""
        count: cython.int = 0
        block: cython.int
        i: cython.int
        if self.blocks > self.listed.shape[0]:
            self.listed = grown(self.listed, self.blocks, 0)
        if not self.restricted:
            for block in range(self.blocks):
                self.listed[block] = block
            return self.blocks
        for i in range(self.ready_count):
            block = self.group_head[self.ready[i]]
            while block >= 0:
                self.listed[count] = block
                count += 1
                block = self.block_next[block]
        return count

    def nth(self, rank):
        """The slot of the selectable row number `rank`, in table order."""
        block: cython.int
        i: cython.int = 0
        if self.restricted:
            self.list_blocks()
            while rank >= self.block_live[self.listed[i]]:
                rank -= self.block_live[self.listed[i]]
                i += 1
            block = self.listed[i]
        else:
            while rank >= self.shelf_live[i]:
                rank -= self.shelf_live[i]
                i += 1
            block = i << 6
            while rank >= self.block_live[block]:
                rank -= self.block_live[block]
                block += 1
        slot: cython.int = self.block_first[block]
        while True:
            if self.row_live[slot]:
                if rank == 0:
                    return slot
                rank -= 1
            slot += 1

    def live_slots(self):
        """The selectable rows in table order, for estimators that score them all in Python."""
        live = np.asarray(self.row_live)[: self.rows]
        if not self.restricted:
            return np.flatnonzero(live)
        parts = [np.zeros(0, dtype=np.int64)]
        for block in np.asarray(self.listed)[: self.list_blocks()]:
            first = self.block_first[block]
            parts.append(first + np.flatnonzero(live[first : first + self.block_rows[block]]))
        return np.concatenate(parts)
