"""What stands around a frontier node: the features that the links of visited nodes add up to.

A *signal* keeps some columns of the frontier table up to date as nodes are visited. An
``Aggregate`` is one whose columns are sums, maxima and averages over terms (beta, alpha, beta x
alpha), with `deg` their number. Terms are added in the order in which they become known; that order
is part of the definition, since floating-point sums depend on it.
"""

import cython
import numpy as np
from cython.cimports.sonde.kernels.model.frontier import UNSEEN

from sonde.kernels.model.frontier import grown

if cython.compiled:
    from cython.cimports.sonde.kernels.model.prefetch import prefetch


class Signal:
    def __init__(self, frontier, links):
        self.frontier = frontier
        self.links = links

    def begin(self, seeds):
        """These nodes are seeds; called before any of them is visited."""

    def visited(self, node, score, start, end):
        """`node` was visited and scored; its links are links.target[start:end]."""

    def reserve_nodes(self, nodes):
        """Make room for node numbers below `nodes`."""


class Aggregate(Signal):
    def __init__(self, frontier, links, columns, level):
        """`columns` gives a column number for each wanted feature by name; `level` is "" or "2"."""
        Signal.__init__(self, frontier, links)
        self.deg = columns.get(f"deg{level}", -1)
        self.n_sum = columns.get(f"n{level}:sum", -1)
        self.e_sum = columns.get(f"e{level}:sum", -1)
        self.ne_sum = columns.get(f"ne{level}:sum", -1)
        self.n_max = columns.get(f"n{level}:max", -1)
        self.e_max = columns.get(f"e{level}:max", -1)
        self.ne_max = columns.get(f"ne{level}:max", -1)
        self.n_avg = columns.get(f"n{level}:avg", -1)
        self.e_avg = columns.get(f"e{level}:avg", -1)
        self.ne_avg = columns.get(f"ne{level}:avg", -1)
        self.alpha = np.zeros(64)
        self.alpha_top = np.zeros(64)

    def reserve_rows(self, count):
        """Make room to add to so many rows at once."""
        self.frontier.reserve_changes(count)
        if count > self.alpha.shape[0]:
            self.alpha = grown(self.alpha, count, 0.0)
            self.alpha_top = grown(self.alpha_top, count, 0.0)

    def add(self, count, terms, beta, beta_top, product, product_top):
        """Add so many terms to each of the last `count` changed rows.

        Terms are given by their sums and maxima: of betas and products for all rows alike, of
        alphas in `alpha` and `alpha_top`. A negative `product` stands for beta x alpha, row by
        row. One short loop a column keeps the compiled code free of calls.
        """
        table = self.frontier
        first: cython.longlong = table.changes - count
        column: cython.int
        i: cython.int
        value: cython.double
        if self.deg >= 0:
            column = self.deg
            for i in range(count):
                table.features[table.changed[first + i], column] += terms
        if self.n_sum >= 0:
            column = self.n_sum
            for i in range(count):
                table.features[table.changed[first + i], column] += beta
        if self.e_sum >= 0:
            column = self.e_sum
            for i in range(count):
                table.features[table.changed[first + i], column] += self.alpha[i]
        if self.ne_sum >= 0:
            column = self.ne_sum
            for i in range(count):
                value = beta * self.alpha[i] if product < 0.0 else product
                table.features[table.changed[first + i], column] += value
        if self.n_max >= 0:
            self.raise_to(self.n_max, count, beta_top, False)
        if self.e_max >= 0:
            self.raise_to(self.e_max, count, 1.0, True)
        if self.ne_max >= 0:
            if product < 0.0:
                self.raise_to(self.ne_max, count, beta_top, True)
            else:
                self.raise_to(self.ne_max, count, product_top, False)
        if self.n_avg >= 0:
            self.divide(self.n_avg, self.n_sum, count)
        if self.e_avg >= 0:
            self.divide(self.e_avg, self.e_sum, count)
        if self.ne_avg >= 0:
            self.divide(self.ne_avg, self.ne_sum, count)

    def raise_to(self, column, count, level, times_alpha):
        """Raise a column to `level`, or to level x alpha_top, where it is lower."""
        table = self.frontier
        first: cython.longlong = table.changes - count
        value: cython.double
        i: cython.int
        for i in range(count):
            value = level * self.alpha_top[i] if times_alpha else level
            if value > table.features[table.changed[first + i], column]:
                table.features[table.changed[first + i], column] = value

    def divide(self, average, total, count):
        table = self.frontier
        first: cython.longlong = table.changes - count
        slot: cython.int
        i: cython.int
        for i in range(count):
            slot = table.changed[first + i]
            table.features[slot, average] = (
                table.features[slot, total] / table.features[slot, self.deg]
            )


class Neighbourhood(Aggregate):
    """First-level features: what the incoming links from visited nodes say about a frontier node.

    It is also what puts nodes on the frontier: the targets of a visit, in the order of its links.
    """

    LEARNED = ("depth", "truths")

    def __init__(self, frontier, links, columns, nodes, truths=None):
        Aggregate.__init__(self, frontier, links, columns, "")
        self.hop = columns.get("hop", -1)
        self.truth = columns.get("truth", -1)
        self.depth = np.full(nodes if self.hop >= 0 else 0, 2147483647, dtype=np.intc)
        self.truths = np.zeros(0) if truths is None else truths
        # Scores of links that nothing asks for are not fetched from memory.
        self.weighted = max(self.e_sum, self.ne_sum, self.e_max, self.ne_max) >= 0

    def reserve_nodes(self, nodes):
        if self.hop >= 0 and nodes > self.depth.shape[0]:
            self.depth = grown(self.depth, nodes, 2147483647)

    def know(self, node, truth):
        """The true value of a node, for an oracle."""
        if node >= self.truths.shape[0]:
            self.truths = grown(self.truths, node + 1, 0.0)
        self.truths[node] = truth

    def begin(self, seeds):
        """A seed gets a row, so that it may gather features, but is withheld from picks."""
        for node in seeds:
            self.frontier.take(self.frontier.add(node))
            if self.hop >= 0:
                self.depth[node] = 0

    def visited(self, node, score, start, end):
        links = self.links
        table = self.frontier
        target: cython.int
        slot: cython.int
        count: cython.int = 0
        link: cython.longlong
        scores_from: cython.longlong = links.scores_from
        self.reserve_rows(end - start)
        if cython.compiled:
            for link in range(start, end):
                prefetch(cython.address(table.slot_of[links.target[link]]))
            for link in range(start, end):
                slot = table.slot_of[links.target[link]]
                if slot >= 0:
                    prefetch(cython.address(table.features[slot, 0]))
                    prefetch(cython.address(table.row_live[slot]))
        for link in range(start, end):
            target = links.target[link]
            slot = table.slot_of[target]
            if slot < UNSEEN:
                continue  # visited, or dropped
            if slot == UNSEEN:
                slot = table.add(target)
                if self.truth >= 0:
                    table.features[slot, self.truth] = self.truths[target]
            table.changed[table.changes + count] = slot
            if self.weighted:
                self.alpha[count] = self.alpha_top[count] = links.alpha[link - scores_from]
            count += 1
        table.changes += count
        self.add(count, 1.0, score, score, -1.0, -1.0)
        if self.hop >= 0:
            self.reach(count, self.depth[node] + 1)

    def reach(self, count, hop):
        """These rows are at this distance from the seeds, if not nearer."""
        table = self.frontier
        slot: cython.int
        i: cython.int
        for i in range(count):
            slot = table.changed[table.changes - count + i]
            if hop < self.depth[table.row_node[slot]]:
                self.depth[table.row_node[slot]] = hop
                table.features[slot, self.hop] = 1.0 / (hop + 1)


class SecondLevel(Aggregate):
    """Second-level features: what lies around the visited parents of a frontier node.

    For a frontier node v and each visited parent u there is one term for every visited g with a
    link g -> u (the score of g, the score of that link) and one for every visited sibling s with a
    link u -> s. Each visited node u keeps its terms gathered, so that a new child takes them over
    in one go; a visit of x adds a term to the parents of x (x is a sibling) and to the visited
    targets of x (x is a grandparent), and each of these passes it on to its children on the
    frontier.
    """

    LEARNED = ("gathered",)

    def __init__(self, frontier, links, columns, nodes):
        Aggregate.__init__(self, frontier, links, columns, "2")
        # By visit: terms, then sum and maximum of n, e, ne.
        self.gathered = np.zeros((nodes, 7))

    def gather(self, visit, beta, alpha):
        product: cython.double = beta * alpha
        self.gathered[visit, 0] += 1.0
        self.gathered[visit, 1] += beta
        self.gathered[visit, 2] += alpha
        self.gathered[visit, 3] += product
        self.gathered[visit, 4] = max(self.gathered[visit, 4], beta)
        self.gathered[visit, 5] = max(self.gathered[visit, 5], alpha)
        self.gathered[visit, 6] = max(self.gathered[visit, 6], product)

    def visited(self, node, score, start, end):
        links = self.links
        other: cython.int
        visit: cython.int = links.visits - 1
        link: cython.longlong = links.first_in(node)
        if visit >= self.gathered.shape[0]:
            self.gathered = grown(self.gathered, visit + 1, 0.0)
        while link >= 0:
            self.gather(visit, links.beta[links.in_visit[link]], links.score(link))
            link = links.next_in(node, link)
        for link in range(start, end):
            other = self.frontier.visit_of(links.target[link])
            if other >= 0:
                self.gather(visit, links.beta[other], links.score(link))
        link = links.first_in(node)
        while link >= 0:
            self.pass_on(links.in_visit[link], score, links.score(link))
            link = links.next_in(node, link)
        for link in range(start, end):
            other = self.frontier.visit_of(links.target[link])
            if other >= 0:
                self.pass_on(other, score, links.score(link))
        if self.gathered[visit, 0] > 0.0 and self.matters(
            self.gathered[visit, 1], self.gathered[visit, 2]
        ):
            self.spread(
                visit,
                self.gathered[visit, 0],
                self.gathered[visit, 1],
                self.gathered[visit, 2],
                self.gathered[visit, 3],
                self.gathered[visit, 4],
                self.gathered[visit, 5],
                self.gathered[visit, 6],
            )

    def pass_on(self, visit, beta, alpha):
        """A new term for a visited node, and for its children on the frontier."""
        product: cython.double = beta * alpha
        self.gather(visit, beta, alpha)
        if self.matters(beta, alpha):
            self.spread(visit, 1.0, beta, alpha, product, beta, alpha, product)

    def matters(self, beta, alpha):
        """Whether terms that sum up to these may change a column: zeros only count as terms.

        Most nodes score nothing, and their terms would go to all children of all their parents.
        """
        if self.deg >= 0:
            return True
        if beta > 0.0 and (self.n_sum >= 0 or self.n_max >= 0):
            return True
        if alpha > 0.0 and (self.e_sum >= 0 or self.e_max >= 0):
            return True
        return beta > 0.0 and alpha > 0.0

    def spread(self, visit, terms, beta, alpha, product, beta_top, alpha_top, product_top):
        """Add terms, given by their sums and maxima, to the children on the frontier."""
        links = self.links
        table = self.frontier
        slot: cython.int
        count: cython.int = 0
        link: cython.longlong
        self.reserve_rows(links.last[visit] - links.first[visit])
        for link in range(links.first[visit], links.last[visit]):
            slot = table.slot_of[links.target[link]]
            if slot >= 0:
                table.changed[table.changes + count] = slot
                self.alpha[count] = alpha
                self.alpha_top[count] = alpha_top
                count += 1
        table.changes += count
        self.add(count, terms, beta, beta_top, product, product_top)
