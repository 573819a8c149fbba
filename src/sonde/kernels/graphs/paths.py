"""Path-greedy: a crawl that knows the truth and looks several links ahead.

From the frontier it adds, again and again, the path of at most so many new nodes with the highest
mean value. What the best path from a node is worth only falls as nodes are visited, so an old
value is an upper bound: the waiting nodes stand in a heap by the value last computed, and only the
top is computed anew.
"""

import cython
import numpy as np


class Walker:
    def __init__(self, indptr, targets, values, by_value) -> None:
        """Each node's targets, and all nodes in `by_value`, must be in falling order of value."""
        count = len(values)
        self.indptr = indptr
        self.targets = targets
        self.values = values
        self.by_value = by_value
        self.first = np.array(indptr[:count], dtype=np.int64)
        self.visited = np.zeros(count, dtype=np.int8)
        self.seen = np.zeros(count, dtype=np.int8)
        self.order = np.zeros(count, dtype=np.intc)
        self.heap = np.zeros(count, dtype=np.intc)
        self.born = np.zeros(count, dtype=np.intc)
        self.keys = np.zeros(count)
        self.path = np.zeros(0, dtype=np.intc)
        self.best_path = np.zeros(0, dtype=np.intc)
        self.heap_size = self.highest = self.filled = 0
        self.born_count = 0

    def crawl(self, entries, budget, longest):
        """Visit up to `budget` nodes, the first `entries` nodes being the first frontier."""
        size: cython.longlong = min(budget, len(self.values))
        limit: cython.int = longest
        node: cython.int
        key: cython.double
        link: cython.longlong
        start: cython.longlong
        i: cython.longlong
        self.path = np.zeros(longest, dtype=np.intc)
        self.best_path = np.zeros(longest, dtype=np.intc)
        self.limit = limit
        self.look_up()
        for i in range(entries):
            self.discover(cython.cast(cython.int, i))
        while self.heap_size > 0 and self.filled < size:
            if size - self.filled < limit:
                self.limit = cython.cast(cython.int, size - self.filled)
            node = self.pop()
            if self.visited[node]:
                continue
            key = self.search(node)
            self.keys[node] = key
            if self.heap_size > 0 and self.ahead(self.heap[0], node):
                self.push(node)
                continue
            start = self.filled
            for i in range(self.best_length):
                self.visited[self.best_path[i]] = 1
                self.order[self.filled] = self.best_path[i]
                self.filled += 1
            self.look_up()
            for i in range(start, self.filled):
                node = self.order[i]
                for link in range(self.indptr[node], self.indptr[node + 1]):
                    self.discover(self.targets[link])
        return np.array(self.order[: self.filled])

    def look_up(self):
        """Find the highest value left."""
        while self.highest < self.values.shape[0]:
            self.top = self.values[self.by_value[self.highest]]
            if not self.visited[self.by_value[self.highest]]:
                break
            self.highest += 1

    def ahead(self, a, b):
        return self.keys[a] > self.keys[b] or (
            self.keys[a] == self.keys[b] and self.born[a] < self.born[b]
        )

    def push(self, node):
        place: cython.longlong = self.heap_size
        parent: cython.longlong
        self.heap_size += 1
        while place > 0:
            parent = (place - 1) >> 1
            if not self.ahead(node, self.heap[parent]):
                break
            self.heap[place] = self.heap[parent]
            place = parent
        self.heap[place] = node

    def pop(self):
        first: cython.int = self.heap[0]
        self.heap_size -= 1
        last: cython.int = self.heap[self.heap_size]
        place: cython.longlong = 0
        child: cython.longlong = 1
        while child < self.heap_size:
            if child + 1 < self.heap_size and self.ahead(self.heap[child + 1], self.heap[child]):
                child += 1
            if not self.ahead(self.heap[child], last):
                break
            self.heap[place] = self.heap[child]
            place = child
            child = 2 * place + 1
        self.heap[place] = last
        return first

    def extend(self, depth, total):
        """Look on from the first `depth` nodes of the path, worth `total` together."""
        node: cython.int = self.path[depth - 1]
        target: cython.int
        link: cython.longlong
        i: cython.int
        known: cython.bint
        if total / depth > self.best:
            self.best = total / depth
            self.best_length = depth
            for i in range(depth):
                self.best_path[i] = self.path[i]
        if depth == self.limit:
            return
        while (
            self.first[node] < self.indptr[node + 1]
            and self.visited[self.targets[self.first[node]]]
        ):
            self.first[node] += 1
        for link in range(self.first[node], self.indptr[node + 1]):
            target = self.targets[link]
            # The rest of the path cannot be worth more than the highest value left.
            if (
                total + self.values[target] + (self.limit - depth - 1) * self.top
            ) / self.limit <= self.best and (total + self.values[target]) / (
                depth + 1
            ) <= self.best:
                break
            known = self.visited[target]
            for i in range(depth):
                if self.path[i] == target:
                    known = True
            if known:
                continue
            self.path[depth] = target
            self.extend(depth + 1, total + self.values[target])
            if depth + 1 == self.limit:
                break

    def search(self, node):
        """The highest mean of a path that begins with this node, left in `best_path`."""
        self.best = -1.0
        self.best_length = 0
        self.path[0] = node
        self.extend(1, self.values[node])
        return self.best

    def discover(self, node):
        if self.seen[node] or self.visited[node]:
            return
        self.seen[node] = 1
        self.born[node] = self.born_count
        self.born_count += 1
        self.keys[node] = self.search(node)
        self.push(node)
