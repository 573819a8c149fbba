"""Finding the most cited nodes of a graph, and keeping track of them as it changes.

Nouns. A node's *in-degree* is how many distinct nodes link to it; K are the k nodes with the
highest (``ranking``; ties to the first in node order, so that K is one set). A node's *apparent*
in-degree counts only links that were seen.

Static. A ``DiscoveryMethod`` meets nodes one by one, crawling from a *start* (``start``) or drawing
as if it knew everybody; a ``Discovery`` is what it met, what it names as the most cited, and how
much of K is in either.

Dynamic. A ``TimeGraph`` has links that arrive at times; the window's worth of them is the graph of
a moment, whose K moves on. A ``Tracker`` spends a rate of visits on new nodes (*expansion*) and on
old ones (*recrawl*); a ``Course`` says how much of K it had at each time. ``curves`` puts
several side by side and draws them. The live tracker, which does the same to the Web and keeps its
findings in a run folder, is the room ``sonde.track``.

Invariants, each a property test:

1. A crawler sees the links of what it has crawled, when it crawled it, and nothing else. The
   samplers, which know everybody, are yardsticks and are named so.
2. Expansion and recrawl policies are the same code in simulation and live
   (``sonde.kernels.citations.expansion``, ``sonde.kernels.citations.recrawl``).
3. The same graph and seed give the same crawl, compiled or not.
"""

from sonde.authority.curves import Curve, compare, compare_tracking
from sonde.authority.discovery import Discovery, DiscoveryMethod, find, indegrees, performance
from sonde.authority.ranking import most_cited
from sonde.authority.timegraph import TimeGraph
from sonde.authority.tracking import Course, Tracker, rate_from, track

__all__ = [
    "Course",
    "Curve",
    "Discovery",
    "DiscoveryMethod",
    "TimeGraph",
    "Tracker",
    "compare",
    "compare_tracking",
    "find",
    "indegrees",
    "most_cited",
    "performance",
    "rate_from",
    "track",
]
