"""Data sets: graph folders from raw material, and what the literature says of a graph.

Nouns, in the order in which material meets them:

- a *stream* (``streams``, ``bzip``, ``rowfiles``): a file decompressed as far as it goes, cut into
  *batches* that hold whole pages, posts or rows;
- a *topic* (``topics``): one keyword of the user's, counted by the live crawl's own matcher, in
  texts and in the windows of links. Several are counted in one pass, and make a graph each;
- a *reader* (``WikiReader``, ``PageReader``, ``PostReader``): what a worker process makes of a
  batch, a ``DocumentBatch`` or a ``PostBatch``. ``sonde.pool`` brings them back in the order of the
  source;
- a *draft* (``draft``) of pages whose links are resolved when all names are known, or *pairs*
  (``pairs``) of accounts whose rows are added up;
- *folders* (``folders``): nodes, edges and ``about.json``, one folder a topic.

There is a sub-package for each kind of source: ``wiki``, ``web``, ``posts`` and ``edges``;
``recipe`` is what they share. ``stats`` computes the literature's three tables of a graph.

Invariants:

- The same source and recipe give the same graph, whatever the number of processes.
- Memory grows with names (of pages, of accounts) and, for posts and edge lists, with rows of a few
  bytes; never with text, unless posts are asked to keep it or edge lists have further columns.
- What is malformed is counted under ``problems`` and left out; it is an error only if nothing is
  left. Nothing in the material is trusted: XML entities are not expanded, archives are not
  unpacked to disk, pages have a largest size.
- Folders appear whole or not at all, also when Ctrl-C stops a build.
"""

from sonde.data.edges.edge_scores import EdgeScores
from sonde.data.recipe import KINDS, Built, Recipe, build
from sonde.data.stats import GraphDescription, describe

__all__ = ["KINDS", "Built", "EdgeScores", "GraphDescription", "Recipe", "build", "describe"]
