"""Graph folders from raw material, and what the literature says of a graph.

Nouns, in the order in which material meets them:

- a *stream* (``streams``, ``bzip``, ``rowfiles``): a file decompressed as far as it goes, cut into
  *batches* that hold whole pages, posts or rows;
- a *topic* (``topics``): one keyword of the user's, counted by the live crawl's own matcher, in
  texts and in the windows of links. Several are counted in one pass, and make a graph each;
- a *sheaf* (``sheaf``) or *bundle* (``posts``): what a worker process makes of a batch.
  ``wikipages``, ``wikitext`` and ``titles`` read wiki pages for it, ``sources.page`` web pages.
  ``pool`` brings them back in the order of the source;
- a *draft* (``draft``) of pages whose links are resolved when all names are known, or *pairs*
  (``pairs``) of accounts whose rows are added up;
- *folders* (``writing``): nodes, edges and ``about.json``, one folder a topic.

``mediawiki``, ``webpages`` (with ``pagefiles`` and ``webarchives``), ``posts`` (with ``postfiles``)
and ``edgelist`` (with ``process``) are the four kinds of source; ``build`` is what they share.
``stats`` computes the literature's three tables of a graph, ``tables`` prints them.

Invariants:

- The same source and recipe give the same graph, whatever the number of processes.
- Memory grows with names (of pages, of accounts) and, for posts and edge lists, with rows of a few
  bytes; never with text, unless posts are asked to keep it or edge lists have further columns.
- What is malformed is counted under ``problems`` and left out; it is an error only if nothing is
  left. Nothing in the material is trusted: XML entities are not expanded, archives are not
  unpacked to disk, pages have a largest size.
- Folders appear whole or not at all.
"""

from sonde.lab.data.build import KINDS, Built, Recipe, build
from sonde.lab.data.edgelist import EdgeScores
from sonde.lab.data.stats import Description, describe

__all__ = ["KINDS", "Built", "Description", "EdgeScores", "Recipe", "build", "describe"]
