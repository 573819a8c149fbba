"""The links of visited nodes, as far as estimators need them again, and the words on them."""

import cython
import numpy as np
from cython.cimports.sonde.kernels.byte import FNV_START, hashed

from sonde.kernels.model.frontier import grown

MOST = 2**31 - 1


class LinkWords:
    """The distinct lists of words that links carry, each kept once.

    What a site's pages have in common, its menus, says the same on every page: the links of a crawl
    share a tenth as many lists, or fewer. List k stands in ``words`` from first[k] to first[k + 1].
    """

    LEARNED = ("count", "first", "words")

    def __init__(self, first=None, words=None):
        """Empty, or those of a recorded graph, which need not be distinct and do not grow."""
        self.first = np.zeros(17, dtype=np.int64) if first is None else first
        self.words = np.zeros(16, dtype=np.uint16) if words is None else words
        self.count = 0 if first is None else len(first) - 1
        self.table = np.zeros(64, dtype=np.intc)  # number + 1 of a list, 0 where free

    def number_all(self, lists, numbers):
        """Write the number of each list, given as bytes, two a word; new ones are kept."""
        data: cython.const[cython.uchar][::1] = memoryview(b"".join(lists))
        out: cython.int[::1] = numbers
        begin: cython.longlong = 0
        size: cython.longlong
        i: cython.Py_ssize_t
        for i in range(len(lists)):
            size = len(lists[i])
            if size % 2:
                raise ValueError(f"a list of words has {size} bytes: two a word")
            out[i] = self.number(data, begin, size)
            begin += size

    def number(self, data, begin, size):
        if 4 * (self.count + 1) > 3 * self.table.shape[0]:
            self.rebuild()
        slot: cython.longlong = self.slot_of(data, begin, size)
        if self.table[slot] > 0:
            return self.table[slot] - 1
        end: cython.longlong = self.first[self.count] + size // 2
        i: cython.longlong
        if end > self.words.shape[0]:
            self.words = grown(self.words, end, 0)
        if self.count + 2 > self.first.shape[0]:
            self.first = grown(self.first, self.count + 2, 0)
        for i in range(size // 2):
            self.words[self.first[self.count] + i] = data[begin + 2 * i] | (
                cython.cast(cython.ushort, data[begin + 2 * i + 1]) << 8
            )
        self.first[self.count + 1] = end
        self.count += 1
        self.table[slot] = self.count
        return self.count - 1

    def slot_of(self, data, begin, size):
        """The slot of the table that holds the list, or the free one where it belongs."""
        digest: cython.ulonglong = FNV_START
        last: cython.longlong = self.table.shape[0] - 1
        start: cython.longlong
        slot: cython.longlong
        i: cython.longlong
        same: cython.bint
        for i in range(begin, begin + size, 2):
            digest = hashed(digest, data[i] | (cython.cast(cython.ushort, data[i + 1]) << 8))
        slot = cython.cast(cython.longlong, digest >> 32) & last
        while self.table[slot] > 0:
            start = self.first[self.table[slot] - 1]
            same = 2 * (self.first[self.table[slot]] - start) == size
            i = 0
            while same and 2 * i < size:
                same = self.words[start + i] == (
                    data[begin + 2 * i] | (cython.cast(cython.ushort, data[begin + 2 * i + 1]) << 8)
                )
                i += 1
            if same:
                break
            slot = (slot + 1) & last
        return slot

    def rebuild(self):
        """A table with room for twice as many lists, filled anew."""
        data: cython.const[cython.uchar][::1] = memoryview(
            np.asarray(self.words).astype("<u2", copy=False).view(np.uint8)
        )
        size: cython.longlong = 64
        number: cython.int
        while 3 * size < 8 * (self.count + 1):
            size *= 2
        self.table = np.zeros(size, dtype=np.intc)
        for number in range(self.count):
            self.table[
                self.slot_of(
                    data,
                    2 * self.first[number],
                    2 * (self.first[number + 1] - self.first[number]),
                )
            ] = number + 1


class Links:
    """The links of a visit stand in ``target`` from its first to its last position.

    On a recorded graph this is the graph's own array; in an explorer it grows, or, when nothing
    needs links after the visit (``remember`` off), holds the current visit alone. Their scores are
    kept likewise, but in an explorer only if they are needed again (``keep_scores``).

    When links are remembered, visits are numbered in their order: ``node``, ``beta``, ``first`` and
    ``last`` say of a visit which node it was, its score, and where its links stand. Every node's
    in-links from visited nodes form a list in order of discovery, closed to a ring: ``in_tail`` is
    the last one, and the one after it the first. Where links are ``wordy``, ``words_of`` says which
    list of the ``LinkWords`` a link carries.

    A link's position has 32 bits: an explorer with a thousand million links should not need twice
    the memory for the sake of one with three.
    """

    LEARNED = tuple(
        "count target alpha list_of visits node beta first last in_tail in_next in_visit".split()
    )
    PARTS = ("link_words",)

    def __init__(
        self, nodes, remember, keep_scores, target=None, alpha=None, wordy=False, link_words=None
    ):
        """`link_words` are those of a recorded graph, one list a link."""
        self.remember = remember
        self.keep_scores = keep_scores or alpha is not None
        self.wordy = wordy
        self.link_words = LinkWords() if link_words is None else link_words
        self.list_of = np.zeros(0, dtype=np.intc)
        self.count = self.scores_from = 0
        self.target = np.zeros(16, dtype=np.intc) if target is None else target
        self.alpha = np.zeros(16) if alpha is None else alpha
        if remember:
            _check(self.target.shape[0])
        kept = nodes if remember else 0
        self.visits = 0
        self.node = np.zeros(kept, dtype=np.intc)
        self.beta = np.zeros(kept)
        self.first = np.zeros(kept, dtype=np.int64)
        self.last = np.zeros(kept, dtype=np.int64)
        self.in_tail = np.full(kept, -1, dtype=np.intc)
        room = self.target.shape[0] if remember else 0
        self.in_next = np.zeros(room, dtype=np.intc)
        self.in_visit = np.zeros(room, dtype=np.intc)

    def reserve_nodes(self, nodes):
        if self.remember and nodes > self.in_tail.shape[0]:
            self.in_tail = grown(self.in_tail, nodes, -1)

    def reserve_visits(self):
        """Make room for one more visit."""
        self.node = grown(self.node, self.visits + 1, 0)
        self.beta = grown(self.beta, self.visits + 1, 0.0)
        self.first = grown(self.first, self.visits + 1, 0)
        self.last = grown(self.last, self.visits + 1, 0)

    def append(self, targets, alphas, words=()):
        """Write the links of one visit, and the words of each as bytes, two a word; the position
        where they start."""
        start: cython.longlong = self.count if self.remember else 0
        end: cython.longlong = start + len(targets)
        if end > self.target.shape[0]:
            if self.remember:
                _check(end)
            self.target = grown(self.target, end, 0)
            if self.remember:
                self.in_next = grown(self.in_next, end, 0)
                self.in_visit = grown(self.in_visit, end, 0)
        self.scores_from = 0 if self.keep_scores else start
        if end - self.scores_from > self.alpha.shape[0]:
            self.alpha = grown(self.alpha, end - self.scores_from, 0.0)
        i: cython.Py_ssize_t
        for i in range(len(targets)):
            self.target[start + i] = targets[i]
            self.alpha[start - self.scores_from + i] = alphas[i]
        if self.wordy:
            if end > self.list_of.shape[0]:
                self.list_of = grown(self.list_of, end, 0)
            self.link_words.number_all(words, self.list_of[start:end])
        self.count = end
        return start

    def score(self, link):
        """The score of a link of the current visit, or of any where they are kept."""
        return self.alpha[link - self.scores_from]

    def words_of(self, link):
        """Which list of words a link carries: on a recorded graph there is one for each."""
        return self.list_of[link] if self.list_of.shape[0] > 0 else link

    def first_in(self, node):
        """The first in-link of a node, -1 without any."""
        return self.in_next[self.in_tail[node]] if self.in_tail[node] >= 0 else -1

    def next_in(self, node, link):
        """The in-link of a node after this one, or -1."""
        return -1 if link == self.in_tail[node] else self.in_next[link]

    def parents(self, node):
        """The visits that linked to a node, in their order."""
        found = []
        link = self.first_in(node)
        while link >= 0:
            found.append(self.in_visit[link])
            link = self.next_in(node, link)
        return found

    def visited(self, node, score, start, end):
        if not self.remember:
            return
        if self.visits >= self.node.shape[0]:
            self.reserve_visits()
        self.node[self.visits] = node
        self.beta[self.visits] = score
        self.first[self.visits] = start
        self.last[self.visits] = end
        target: cython.int
        tail: cython.int
        link: cython.int
        for link in range(start, end):
            target = self.target[link]
            tail = self.in_tail[target]
            if tail < 0:
                self.in_next[link] = link
            else:
                self.in_next[link] = self.in_next[tail]
                self.in_next[tail] = link
            self.in_visit[link] = self.visits
            self.in_tail[target] = link
        self.visits += 1


def _check(links):
    if links > MOST:
        raise OverflowError(f"an estimator that remembers links can do so for {MOST:,} of them")
