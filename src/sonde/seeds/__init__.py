"""Seeds: where to start a crawl of a graph that is known in part.

The nouns. A `LinkNetwork` is the known links; `Amounts` are what its pages are worth, negative for
spam. A *seed* covers every page within h hops of it along out-links, and a page counts once
however often it is covered. A `Method` chooses seeds one at a time on a `Coverage`, which holds
what is covered so far; what comes out is a `Selection`: the seeds in order, each with the value
that it newly covered. A `KnownGraph` puts names and what a crawl found around a network, `Facts`
and `by_rules` turn those into values, `Sites` splits pages by site.

Choosing the best k seeds is maximum coverage, which is NP-hard; the methods differ in what they
look at instead. Baselines rank pages once (``random``, ``pagerank``, ``outdegree``). ``maxout``
and ``maxweight:d`` look one or d hops ahead at what is not covered yet; ``maxscc:d`` and
``rootscc:d`` first choose a strongly connected component. ``greedy`` looks all h hops ahead and is
exact, hence within 1 - 1/e of the best where no value is negative; ``sketch`` comes as close as
its sketches are large, in near-linear time.

Invariants, each a property test:

1. A gain that is reported is exact: the value of the pages newly covered, never an estimate. The
   gains add up to the value of the pages within h hops of the seeds, spam included.
2. Hops run along the whole network: what is covered still conducts.
3. Ties go to the first page in node order; a page is chosen once; a method that looks at values
   stops when the best it sees is not positive, and the first k of a longer choice are the choice
   of k.
4. Values add up exactly in any order (see `amounts`), so that 3 holds for fractions too.
5. The same graph, values and random seed give the same seeds, on one core or many.

Where graphs come from is known to ``from_run`` alone: the rest takes any object with CSR links.
"""

from sonde.seeds.amounts import Amounts
from sonde.seeds.comparison import Comparison, ComparisonPlan, compare
from sonde.seeds.known_graph import KnownGraph, Sites
from sonde.seeds.methods import Method
from sonde.seeds.network import LinkNetwork
from sonde.seeds.selection import Refreshed, Seed, Selection, covered_by, refresh, select
from sonde.seeds.sites import allot, select_by_site
from sonde.seeds.values import Facts, by_rules, uniqueness, worth

__all__ = [
    "Amounts",
    "Comparison",
    "ComparisonPlan",
    "Facts",
    "KnownGraph",
    "LinkNetwork",
    "Method",
    "Refreshed",
    "Seed",
    "Selection",
    "Sites",
    "allot",
    "by_rules",
    "compare",
    "covered_by",
    "refresh",
    "select",
    "select_by_site",
    "uniqueness",
    "worth",
]
