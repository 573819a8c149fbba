"""Second-level features: what lies around the visited parents of a frontier node.

For a frontier node v and each visited parent u there is one term for every visited g with a link
g -> u (the score of g, the score of that link) and one for every visited sibling s with a link
u -> s. Each visited node u keeps its terms gathered, so that a new child takes them over in one
go; a visit of x adds a term to the parents of x (x is a sibling) and to the visited targets of x
(x is a grandparent), and each of these passes it on to its children on the frontier.
"""

import cython
import numpy as np

from sonde.kernels.model.frontier import grown

if cython.compiled:
    from cython.cimports.sonde.kernels.model.signals import Aggregate
else:
    from sonde.kernels.model.signals import Aggregate


class SecondLevel(Aggregate):
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
