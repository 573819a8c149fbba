"""Recorded graphs, in memory.

A *table* (`table`, `text`) is where rows come from: a file of a graph folder, or
something the user holds in memory. All tables answer the same questions: which columns, the
rows batch by batch, and where a person finds row k. The last one is what every error message
is made of, so a reader of rows never needs to know what kind of file it reads.

A graph's life is one way. `folder` finds the tables, `rows` checks each batch, `names` turns
names into numbers in order of first appearance, `loading` brings the edges into compressed rows
in place, and the `Graph` that comes out is never changed again. `generate` makes graphs from a
seed instead. `reachable` says what a crawl of a graph can get at, `columns` what further columns
of its tables mean.

Invariants:

- Node numbers follow the rows of `nodes`, then first appearance in `edges`, source before target.
- A node's links keep the order of the file; parallel edges are one link at the first one's place,
  its score their sum in file order; there are no self-loops.
- Scores are finite, not negative, and not minus zero. Names are all integers or all text.
- Malformed input is a `GraphError` of one line that names the file and the row, nothing else.
- Besides the graph itself, loading holds four bytes an edge and one batch of rows (and the further
  columns, where there are any): memory is what limits the graphs that one machine can crawl.
"""

from sonde.sources.graph.generate import topical
from sonde.sources.graph.graph import Graph

__all__ = ["Graph", "topical"]
