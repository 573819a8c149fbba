"""The links of visited nodes, as far as estimators need them again.

The links of a visit stand in ``target`` and ``alpha`` from its first to its last position. On a
recorded graph these are the graph's own arrays; in an explorer they grow, or, when nothing needs
them after the visit (``remember`` off), hold the current visit alone. When remembered, every
node's in-links from visited nodes form a list in order of discovery. Where they are ``wordy``, the
words of link l stand in ``words`` from word_first[l] to word_first[l + 1].
"""

import cython
import numpy as np

from sonde.kernels.frontier import grown


class Links:
    def __init__(
        self, nodes, remember, target=None, alpha=None, wordy=False, word_first=None, words=None
    ):
        self.remember = remember
        self.wordy = wordy
        self.word_first = np.zeros(17, dtype=np.int64) if word_first is None else word_first
        self.words = np.zeros(16, dtype=np.intc) if words is None else words
        self.count = 0
        self.target = np.zeros(16, dtype=np.intc) if target is None else target
        self.alpha = np.zeros(16) if alpha is None else alpha
        kept = nodes if remember else 0
        self.beta = np.zeros(kept)
        self.first = np.zeros(kept, dtype=np.int64)
        self.last = np.zeros(kept, dtype=np.int64)
        self.in_head = np.full(kept, -1, dtype=np.int64)
        self.in_tail = np.full(kept, -1, dtype=np.int64)
        room = self.target.shape[0] if remember else 0
        self.in_next = np.zeros(room, dtype=np.int64)
        self.in_source = np.zeros(room, dtype=np.intc)

    def reserve_nodes(self, nodes):
        if self.remember and nodes > self.beta.shape[0]:
            self.beta = grown(self.beta, nodes, 0.0)
            self.first = grown(self.first, nodes, 0)
            self.last = grown(self.last, nodes, 0)
            self.in_head = grown(self.in_head, nodes, -1)
            self.in_tail = grown(self.in_tail, nodes, -1)

    def append(self, targets, alphas, words=()):
        """Write the links of one visit, and the words of each as bytes, two a word; the position
        where they start."""
        start = self.count if self.remember else 0
        end = start + len(targets)
        if end > self.target.shape[0]:
            self.target = grown(self.target, end, 0)
            self.alpha = grown(self.alpha, end, 0.0)
            if self.remember:
                self.in_next = grown(self.in_next, end, 0)
                self.in_source = grown(self.in_source, end, 0)
        np.asarray(self.target)[start:end] = targets
        np.asarray(self.alpha)[start:end] = alphas
        if self.wordy:
            self.append_words(start, end, words)
        self.count = end
        return start

    def append_words(self, start, end, words):
        if end >= self.word_first.shape[0]:
            self.word_first = grown(self.word_first, end + 1, 0)
        first = np.asarray(self.word_first)
        first[start + 1 : end + 1] = first[start] + np.cumsum([len(each) // 2 for each in words])
        if first[end] > self.words.shape[0]:
            self.words = grown(self.words, first[end], 0)
        np.asarray(self.words)[first[start] : first[end]] = np.frombuffer(b"".join(words), "<u2")

    def visited(self, node, score, start, end):
        if not self.remember:
            return
        self.beta[node] = score
        self.first[node] = start
        self.last[node] = end
        target: cython.int
        link: cython.longlong
        for link in range(start, end):
            target = self.target[link]
            self.in_source[link] = node
            self.in_next[link] = -1
            if self.in_head[target] < 0:
                self.in_head[target] = link
            else:
                self.in_next[self.in_tail[target]] = link
            self.in_tail[target] = link
