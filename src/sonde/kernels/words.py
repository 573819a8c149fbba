"""Words: what the links to a page are called, and what pages of that vocabulary have brought.

A link may carry words, as numbers below ``WORDS``: hashes of the words of its anchor, its URL and
its window. The words of a visited page are those of the links to it and of the links on it. A word
stands for the mean gain of the visited pages that have it, shrunk towards that of all pages, less
the latter: 0 for a word that says nothing. A link stands for the sum of its words over the root of
their number.
"""

import cython
import numpy as np

if cython.compiled:
    from cython.cimports.libc.math import sqrt
else:
    from math import sqrt

WORDS = 65536
PATIENCE = 10.0


class Vocabulary:
    def __init__(self, links):
        self.links = links
        room = WORDS if links.wordy else 0
        self.gained = np.zeros(room)
        self.pages = np.zeros(room)
        self.stamp = np.zeros(room, dtype=np.int64)
        self.total = self.count = self.mean = 0.0
        self.stamps = 0

    def settle(self):
        """From now on words are compared with the mean gain as it is now."""
        if self.count > 0.0:
            self.mean = self.total / self.count

    def learn(self, node, gain, start, end):
        """A page was visited: each of its words has stood for this gain."""
        links = self.links
        link: cython.longlong
        if not links.wordy:
            return
        self.total += gain
        self.count += 1.0
        self.stamps += 1
        link = links.first_in(node)
        while link >= 0:
            self.note(link, gain)
            link = links.next_in(node, link)
        for link in range(start, end):
            self.note(link, gain)

    def note(self, link, gain):
        """Count the words of a link, each once a page."""
        wordings = self.links.wordings
        which: cython.longlong = self.links.words_of(link)
        word: cython.int
        i: cython.longlong
        for i in range(wordings.first[which], wordings.first[which + 1]):
            word = wordings.words[i]
            if self.stamp[word] != self.stamps:
                self.stamp[word] = self.stamps
                self.gained[word] += gain
                self.pages[word] += 1.0

    def value(self, link):
        """What a link's words stand for."""
        if not self.links.wordy:
            return 0.0
        wordings = self.links.wordings
        which: cython.longlong = self.links.words_of(link)
        first: cython.longlong = wordings.first[which]
        last: cython.longlong = wordings.first[which + 1]
        word: cython.int
        i: cython.longlong
        total: cython.double = 0.0
        if first == last:
            return 0.0
        for i in range(first, last):
            word = wordings.words[i]
            total += (self.gained[word] + PATIENCE * self.mean) / (
                self.pages[word] + PATIENCE
            ) - self.mean
        return total / sqrt(cython.cast(cython.double, last - first))
