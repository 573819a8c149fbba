"""Where nodes come from.

A *source* is anything that can be visited: it is given a node and answers with what a visit
finds there, a score, links and records. Each source is a room of its own and the only owner of
whatever it needs to reach its nodes, so that the explorer, which sees nothing but the answers,
works the same on all of them. ``graph`` is a recorded graph, held in memory: what simulations
and experiments crawl. ``web`` is the live Web, ``peers`` are peers that share files.

Nouns. A *kind* (``kind``) makes sources from plain data: its *options* (``options``), which the
run keeps, so that any run can be taken up again, shown and explained. A user names a source by
its kind and its *place*: ``mastodon:mastodon.example``, ``form:https://a.example/search``; URLs
alone name the Web. The same text serves the command line, ``sonde.Crawl`` and the ``source`` of a
configuration file, where the options are the table ``[options]`` (``--option name=value``,
``options={...}``). *Seeds* are nodes of the source, named after it. What a crawl gives a source to
work with is its *context* (``context``): settings, a scorer for the topic, a *keeper* of what the
source wants to find again, an archive. ``kinds`` is the registry of all kinds by name.

Life cycle. The kind reads its options (``Kind.settled``), spells the seeds, and is asked to
``make`` the source when all that the user said has been found good; nothing is sent yet. Then
``recall()`` on resume; ``visit`` for each lease, with ``before_commit()`` and ``facts()`` in
between; ``leave()`` and ``close()`` at the end. All but ``visit`` may be missing.

Invariants:

- A source sends nothing that ``allowance.take()`` has not granted. The first request comes with
  the lease; a source that never takes is charged what its outcome says.
- What a source must know again after a kill it keeps *before* it acts on it (``Keeper.keep``,
  then ``commit``), or can read from the visits of the log.
- Options and settings are plain data without secrets; they say where a secret comes from.
- A setting that a kind does not heed is refused, not ignored.
- Kinds that packages offer by the entry points ``sonde.sources`` are used like those built in.
"""

from sonde.sources.context import SourceContext
from sonde.sources.kind import ClassKind, Kind, kind_from

__all__ = ["ClassKind", "Kind", "SourceContext", "kind_from"]
