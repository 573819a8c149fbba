"""Words: what the links to a page are called, and what pages that were called so have brought.

A link may carry words, as numbers below ``WORDS``: hashes of the words of its anchor, its URL and
its window. A word stands for the mean gain of the picked pages that some link to them gave it,
shrunk towards that of all picked pages, less the latter: 0 for a word that says nothing. A link
stands for the sum of its words over the root of their number. What a word stands for is worked out
when it is learned, since links are weighed far more often. A page hears of the words of the first
``HEARD`` links to it: a thousand more would say the same.
"""

import cython
import numpy as np

if cython.compiled:
    from cython.cimports.libc.math import sqrt
else:
    from math import sqrt

WORDS = 65536
PATIENCE = 10.0
HEARD = 32


class Vocabulary:
    def __init__(self, links):
        self.links = links
        room = WORDS if links.wordy else 0
        self.gained = np.zeros(room)
        self.pages = np.zeros(room)
        self.worth = np.zeros(room)
        self.stamp = np.zeros(room, dtype=np.int64)
        self.total = self.count = self.mean = 0.0
        self.known = np.zeros(room, dtype=np.intc)
        self.knowing = 0
        self.stamps = 0

    def settle(self):
        """From now on words are compared with the mean gain as it is now."""
        i: cython.int
        if self.count > 0.0:
            self.mean = self.total / self.count
        for i in range(self.knowing):
            self.judge(self.known[i])

    def judge(self, word):
        self.worth[word] = (self.gained[word] + PATIENCE * self.mean) / (
            self.pages[word] + PATIENCE
        ) - self.mean

    def learn(self, node, gain):
        """A page was picked: each word of the links to it has stood for this gain."""
        links = self.links
        wordings = self.links.wordings
        link: cython.longlong
        which: cython.longlong
        word: cython.int
        i: cython.longlong
        heard: cython.int = 0
        if not links.wordy:
            return
        self.total += gain
        self.count += 1.0
        self.stamps += 1
        link = links.first_in(node)
        while link >= 0 and heard < HEARD:
            heard += 1
            which = links.words_of(link)
            for i in range(wordings.first[which], wordings.first[which + 1]):
                word = wordings.words[i]
                if self.stamp[word] != self.stamps:  # each counts once a page
                    if self.stamp[word] == 0:
                        self.known[self.knowing] = word
                        self.knowing += 1
                    self.stamp[word] = self.stamps
                    self.gained[word] += gain
                    self.pages[word] += 1.0
                    self.judge(word)
            link = links.next_in(node, link)

    def value(self, link):
        """What a link's words stand for."""
        if not self.links.wordy:
            return 0.0
        wordings = self.links.wordings
        which: cython.longlong = self.links.words_of(link)
        first: cython.longlong = wordings.first[which]
        last: cython.longlong = wordings.first[which + 1]
        i: cython.longlong
        total: cython.double = 0.0
        if first == last:
            return 0.0
        for i in range(first, last):
            total += self.worth[wordings.words[i]]
        return total / sqrt(cython.cast(cython.double, last - first))
