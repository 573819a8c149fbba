"""Parent yield: what the visited children of a page brought says what its other children will.

Every visited page has a *yield*: the mean gain of its visited children, shrunk towards what pages
of its own score have yielded so far, as if it had `patience` more children of that kind. A row's
expectation is the mean of its parents' yields, weighed by how many children each has shown
(``weight`` and ``worth`` are the two sums), times what nodes with as many links, and with links of
such scores, have brought for each unit that was expected of them (``Ratios``). It grows a little
with the number of links, their scores, the node's share of its parents' scores (``share``), and
what the words of its links stand for.

A visit changes the yields of the visited node's parents. A parent passes its new yield on to its
other children when the number of its visited children has grown by half since it last did. At
a *revision*, whenever the number of visits has grown by a third, everything is computed anew: the
scales, what pages of each score yield, ratios, all yields, all rows. So a step costs a few times
the links of a page, and a number that was passed on is never older than that.
"""

import cython
import numpy as np
from cython.cimports.libc.math import log1p, sqrt
from cython.cimports.sonde.kernels.model.neighbourhood import Signal
from cython.cimports.sonde.kernels.model.rankings import Tournament

from sonde.kernels.model.frontier import grown

if cython.compiled:
    from cython.cimports.libc.math import INFINITY
else:
    from math import inf as INFINITY

LEVELS = 6  # of scores: none, then below 1/2, 1, 3/2 and 2 times the mean positive score, and more
LEVEL_PATIENCE = 5.0  # a level yields what all pages do until it has shown more children
GUESS = 0.2  # of a positive gain: what a page yields before anything was visited
GUESSES = 3.0
FAIR_SHARE = 20.0  # a page that hands its score to this many links gives each a fair share

WORDS = 65536
WORD_PATIENCE = 10.0
HEARD = 32

DOUBLINGS = 24
RATIO_PATIENCE = 30.0


class Vocabulary:
    """What the links to a page are called, and what pages that were called so have brought.

    A link may carry words, as numbers below ``WORDS``: hashes of the words of its anchor, its URL
    and its window. A word stands for the mean gain of the picked pages that some link to them gave
    it, shrunk towards that of all picked pages, less the latter: 0 for a word that says nothing. A
    link stands for the sum of its words over the root of their number. What a word stands for is
    worked out when it is learned, since links are weighed far more often. A page hears of the words
    of the first ``HEARD`` links to it: a thousand more would say the same.
    """

    LEARNED = tuple("gained pages worth stamp known knowing total count mean stamps".split())

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
        self.worth[word] = (self.gained[word] + WORD_PATIENCE * self.mean) / (
            self.pages[word] + WORD_PATIENCE
        ) - self.mean

    def learn(self, node, gain):
        """A page was picked: each word of the links to it has stood for this gain."""
        links = self.links
        words = self.links.link_words
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
            for i in range(words.first[which], words.first[which + 1]):
                word = words.words[i]
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
        words = self.links.link_words
        which: cython.longlong = self.links.words_of(link)
        first: cython.longlong = words.first[which]
        last: cython.longlong = words.first[which + 1]
        i: cython.longlong
        total: cython.double = 0.0
        if first == last:
            return 0.0
        for i in range(first, last):
            total += self.worth[words.words[i]]
        return total / sqrt(cython.cast(cython.double, last - first))


class Ratios:
    """How much more a kind of node has brought than was foreseen of it.

    Nodes are told apart by a *level*: the number of doublings from 1 that an amount takes. For each
    level a ratio is kept, what its picked nodes have brought over what was foreseen of them. It is
    shrunk towards the ratio of the level below, as if that had been seen ``RATIO_PATIENCE`` times
    more with a usual gain, and that of the lowest level towards 1. So a level that was never met is
    taken for what is known of the nearest below it.
    """

    LEARNED = ("brought", "foreseen", "ratio")

    def __init__(self):
        self.brought = np.zeros(DOUBLINGS)
        self.foreseen = np.zeros(DOUBLINGS)
        self.ratio = np.ones(DOUBLINGS)

    def level(self, amount):
        """How often an amount can be halved before it is below 2."""
        level: cython.int = 0
        rest: cython.double = amount
        while rest >= 2.0 and level < DOUBLINGS - 1:
            rest *= 0.5
            level += 1
        return level

    def note(self, level, foreseen, gain):
        """A node of this level has brought a gain."""
        self.brought[level] += gain
        self.foreseen[level] += foreseen

    def settle(self, usual):
        """Work out the ratios, where nodes usually bring so much."""
        level: cython.int
        below: cython.double = 1.0
        for level in range(DOUBLINGS):
            below = (self.brought[level] + RATIO_PATIENCE * usual * below) / (
                self.foreseen[level] + RATIO_PATIENCE * usual
            )
            self.ratio[level] = below


class Yields(Signal):
    LEARNED = tuple(
        (
            "due brought children shown_children shown_yield shown_weight gains positive positives "
            "promised promises gained samples gained_positive samples_positive scale promise unit "
            "outlook levels"
        ).split()
    )
    PARTS = ("vocabulary", "of_degree", "of_link")

    def __init__(self, frontier, links, columns, name, nodes, patience, weights, budget):
        """`weights` of the number of links, of link scores, of shares, of words, of ratios, of
        navigational rank, and of looking ahead in a `budget` of so many picks."""
        Signal.__init__(self, frontier, links)
        self.deg = columns["deg"]
        self.e_sum = columns["e:sum"]
        self.weight = columns[f"{name}.weight"]
        self.worth = columns[f"{name}.worth"]
        self.share = columns[f"{name}.share"]
        self.words = columns[f"{name}.words"]
        self.base = columns[f"{name}.base"]
        self.estimate = columns[name]
        self.patience = patience
        self.by_degree, self.by_link, self.by_share, self.by_words, self.by_ratio = weights[:5]
        self.by_rank, self.by_ahead = weights[5:]
        self.rank = columns["nr"] if self.by_rank != 0.0 else -1
        self.budget = budget
        self.outlook = 1.0
        self.vocabulary = Vocabulary(links)
        self.of_degree = Ratios()
        self.of_link = Ratios()
        self.rankings = []
        self.gain = 0.0
        self.told = False
        self.due = 1
        # By visit:
        self.brought = np.zeros(nodes)
        self.children = np.zeros(nodes, dtype=np.intc)
        self.shown_children = np.zeros(nodes, dtype=np.intc)
        self.shown_yield = np.zeros(nodes)
        self.shown_weight = np.zeros(nodes)
        self.gains = np.zeros(nodes)  # -1 for a seed
        self.positive = self.positives = 0.0
        self.promised = self.promises = 0.0
        self.gained = self.samples = 0.0
        self.gained_positive = self.samples_positive = 0.0
        self.scale = self.promise = self.unit = 1.0
        self.levels = np.zeros(LEVELS)

    def reserve_visits(self, visits):
        if visits > self.brought.shape[0]:
            self.brought = grown(self.brought, visits, 0.0)
            self.children = grown(self.children, visits, 0)
            self.shown_children = grown(self.shown_children, visits, 0)
            self.shown_yield = grown(self.shown_yield, visits, 0.0)
            self.shown_weight = grown(self.shown_weight, visits, 0.0)
            self.gains = grown(self.gains, visits, 0.0)

    # -- a visit -------------------------------------------------------------------------------

    def expect(self, snapshot, gain):
        """The next node that is visited was picked, with these features, and has brought this."""
        if self.told:
            return  # another ranking by the same yields was first
        self.gain = gain
        self.told = True
        if self.by_ratio != 0.0 and snapshot[self.weight] > 0.0:
            foreseen: cython.double = snapshot[self.worth] / snapshot[self.weight]
            degree: cython.int = self.of_degree.level(snapshot[self.deg])
            link: cython.int = self.link_level(snapshot[self.e_sum])
            self.of_degree.note(degree, foreseen * self.of_link.ratio[link], gain)
            self.of_link.note(link, foreseen * self.of_degree.ratio[degree], gain)

    def visited(self, node, score, start, end):
        links = self.links
        sample: cython.bint = self.told
        gain: cython.double = self.gain if sample else score
        visit: cython.int = links.visits - 1
        link: cython.longlong
        other: cython.int
        self.told = False
        self.reserve_visits(links.visits)
        self.count(score, start, end)
        self.gains[visit] = gain if sample else -1.0
        if sample:
            self.gained += gain
            self.samples += 1.0
            if gain > 0.0:
                self.gained_positive += gain
                self.samples_positive += 1.0
            link = links.first_in(node)
            while link >= 0:
                other = links.in_visit[link]
                self.brought[other] += gain
                self.children[other] += 1
                if (
                    2 * (self.children[other] - self.shown_children[other])
                    >= (self.shown_children[other])
                ):
                    self.pass_on(other)
                link = links.next_in(node, link)
            self.vocabulary.learn(node, gain)
        for link in range(start, end):
            other = self.frontier.visit_of(links.target[link])
            if other >= 0 and self.gains[other] >= 0.0:
                self.brought[visit] += self.gains[other]
                self.children[visit] += 1
        self.show(visit)
        self.reach(visit, score, start, end)
        if links.visits >= self.due:
            self.revise()

    def count(self, score, start, end):
        """Scales: the mean of positive scores of pages, and of links."""
        link: cython.longlong
        if score > 0.0:
            self.positive += score
            self.positives += 1.0
        for link in range(start, end):
            if self.links.score(link) > 0.0:
                self.promised += self.links.score(link)
                self.promises += 1.0

    def reach(self, visit, score, start, end):
        """A visited node's contribution to the rows that it links to, which are noted already."""
        links = self.links
        table = self.frontier
        slot: cython.int
        link: cython.longlong
        weight: cython.double = self.shown_weight[visit]
        worth: cython.double = weight * self.shown_yield[visit]
        share: cython.double = score / (end - start) if end > start else 0.0
        for link in range(start, end):
            slot = table.slot_of[links.target[link]]
            if slot >= 0:
                table.features[slot, self.weight] += weight
                table.features[slot, self.worth] += worth
                table.features[slot, self.share] += share
                table.features[slot, self.words] += self.vocabulary.value(link)
                self.rebase(slot)
                self.weigh(slot)

    # -- yields --------------------------------------------------------------------------------

    def level(self, score):
        if score <= 0.0:
            return 0
        ratio: cython.double = 2.0 * score / self.scale
        if ratio < 1.0:
            return 1
        if ratio < 2.0:
            return 2
        if ratio < 3.0:
            return 3
        if ratio < 4.0:
            return 4
        return 5

    def show(self, visit):
        """Work out what a visited node passes on."""
        usual: cython.double = self.levels[self.level(self.links.beta[visit])]
        children: cython.double = self.children[visit] + self.patience
        self.shown_children[visit] = self.children[visit]
        self.shown_yield[visit] = (self.brought[visit] + self.patience * usual) / children
        self.shown_weight[visit] = children / self.patience

    def pass_on(self, visit):
        """Tell the children on the frontier of a yield that has changed."""
        links = self.links
        table = self.frontier
        slot: cython.int
        link: cython.longlong
        weight: cython.double = self.shown_weight[visit]
        worth: cython.double = weight * self.shown_yield[visit]
        self.show(visit)
        weight = self.shown_weight[visit] - weight
        worth = self.shown_weight[visit] * self.shown_yield[visit] - worth
        table.reserve_changes(links.last[visit] - links.first[visit])
        for link in range(links.first[visit], links.last[visit]):
            slot = table.slot_of[links.target[link]]
            if slot >= 0:
                table.features[slot, self.weight] += weight
                table.features[slot, self.worth] += worth
                self.weigh(slot)
                table.changed[table.changes] = slot
                table.changes += 1

    # -- rows ----------------------------------------------------------------------------------

    def rebase(self, slot):
        """The part of a row's expectation that its parents' yields do not change."""
        table = self.frontier
        total: cython.double = 0.0
        if self.by_degree != 0.0:
            total += self.by_degree * self.outlook * log1p(table.features[slot, self.deg])
        if self.by_link != 0.0:
            total += self.by_link * log1p(table.features[slot, self.e_sum] / self.promise)
        if self.by_share != 0.0:
            total += self.by_share * log1p(
                FAIR_SHARE * table.features[slot, self.share] / self.scale
            )
        if self.by_rank != 0.0:
            total += self.by_rank * log1p(FAIR_SHARE * table.features[slot, self.rank] / self.scale)
        total *= self.unit
        if self.by_words != 0.0:
            total += (
                self.by_words * table.features[slot, self.words] / table.features[slot, self.deg]
            )
        table.features[slot, self.base] = total

    def link_level(self, score):
        """The level of a row's link scores: their sum, in halves of a usual positive one."""
        if score <= 0.0:
            return 0
        return 1 + self.of_link.level(1.0 + 2.0 * score / self.promise)

    def ratio(self, slot):
        """What nodes like this one have brought for each unit that was expected of them."""
        table = self.frontier
        return (
            self.of_degree.ratio[self.of_degree.level(table.features[slot, self.deg])]
            * self.of_link.ratio[self.link_level(table.features[slot, self.e_sum])]
        )

    def weigh(self, slot):
        table = self.frontier
        expected: cython.double = (
            table.features[slot, self.worth] / table.features[slot, self.weight]
        )
        if self.by_ratio != 0.0:
            expected *= 1.0 + self.by_ratio * (self.ratio(slot) - 1.0)
        table.features[slot, self.estimate] = expected + table.features[slot, self.base]

    def grounds(self, slot):
        """What a row's estimate is made of: its parents, their visited children and what these
        brought, the expectation from that, and what links, scores, share, words and the record of
        such nodes add to it."""
        table = self.frontier
        links = self.links
        parents = children = 0
        brought = 0.0
        for parent in links.parents(table.row_node[slot]):
            parents += 1
            children += self.children[parent]
            brought += self.brought[parent]
        row = table.features[slot]
        return (
            parents,
            children,
            brought,
            row[self.worth] / row[self.weight],
            self.unit * self.by_degree * self.outlook * log1p(row[self.deg]),
            self.unit * self.by_link * log1p(row[self.e_sum] / self.promise),
            self.unit * self.by_share * log1p(FAIR_SHARE * row[self.share] / self.scale),
            self.by_words * row[self.words] / row[self.deg],
            self.by_ratio * (self.ratio(slot) - 1.0) * row[self.worth] / row[self.weight],
            self.unit * self.by_rank * log1p(FAIR_SHARE * row[self.rank] / self.scale)
            if self.by_rank != 0.0
            else 0.0,
        )

    # -- revisions -----------------------------------------------------------------------------

    def revise(self):
        """Compute everything anew, from what was seen so far."""
        links = self.links
        table = self.frontier
        visit: cython.int
        slot: cython.int
        block: cython.int
        link: cython.longlong
        weight: cython.double
        worth: cython.double
        ranking: Tournament
        self.due = links.visits + max(1, links.visits // 3)
        self.rescale()
        self.vocabulary.settle()
        for block in range(table.blocks):
            for slot in range(
                table.block_first[block], table.block_first[block] + table.block_rows[block]
            ):
                table.features[slot, self.weight] = 0.0
                table.features[slot, self.worth] = 0.0
                table.features[slot, self.words] = 0.0
        for visit in range(links.visits):
            self.show(visit)
            weight = self.shown_weight[visit]
            worth = weight * self.shown_yield[visit]
            for link in range(links.first[visit], links.last[visit]):
                slot = table.slot_of[links.target[link]]
                if slot >= 0:
                    table.features[slot, self.weight] += weight
                    table.features[slot, self.worth] += worth
                    table.features[slot, self.words] += self.vocabulary.value(link)
        for block in range(table.blocks):
            for slot in range(
                table.block_first[block], table.block_first[block] + table.block_rows[block]
            ):
                if table.features[slot, self.weight] > 0.0:  # not a seed that nothing links to
                    self.rebase(slot)
                    self.weigh(slot)
        for ranking in self.rankings:
            if ranking.active:
                ranking.activate()

    def rescale(self):
        """The scales of scores, links and gains, and what pages of each level yield."""
        level: cython.int
        visit: cython.int
        brought: cython.double[::1] = np.zeros(LEVELS)
        children: cython.double[::1] = np.zeros(LEVELS)
        if self.positives > 0.0:
            self.scale = self.positive / self.positives
        if self.promises > 0.0:
            self.promise = self.promised / self.promises
        self.unit = (self.gained_positive + LEVEL_PATIENCE * self.scale) / (
            self.samples_positive + LEVEL_PATIENCE
        )
        usual: cython.double = (self.gained + GUESSES * (GUESS * self.unit)) / (
            self.samples + GUESSES
        )
        for visit in range(self.links.visits):
            level = self.level(self.links.beta[visit])
            brought[level] += self.brought[visit]
            children[level] += self.children[visit]
        for level in range(LEVELS):
            self.levels[level] = (brought[level] + LEVEL_PATIENCE * usual) / (
                children[level] + LEVEL_PATIENCE
            )
        if self.by_ahead != 0.0:  # from twice the usual at the start to nothing at the end
            self.outlook = 1.0 + self.by_ahead * (1.0 - 2.0 * min(1.0, self.samples / self.budget))
        if self.by_ratio != 0.0:
            self.of_degree.settle(usual)
            self.of_link.settle(usual)


class Expectation(Tournament):
    """A ranking by what yields expect, which hears of each gain before its visit is told."""

    LEARNED = ("active",)

    def __init__(self, yields, column):
        Tournament.__init__(self, yields.frontier, column)
        self.lowest = -INFINITY  # words may stand for less than nothing
        self.yields = yields
        yields.rankings.append(self)

    def learn(self, snapshot, gain):
        self.yields.expect(snapshot, gain)
