"""The live tracker: keeps the most cited pages of a run current, for weeks.

Nouns. The *store* (``sonde.store.citations``) has the graph as it was seen: nodes, and links with
the times at which they were first and last seen. The *mind* is what of it is needed to choose, in
memory. A ``Plan`` says what is tracked and at what *rate*. The *web* is the crawl's own source. A
*charge* is what one visit spends, *learning* what its answer teaches. A *list* is a feed or a
sitemap, which names pages and gives them dates; what it says has changed is *announced*. ``intake``
brings over what a crawl of the same run has visited, ``places`` says which URLs are nodes.

Life of a visit: wait for the rate; choose; wait for the host's turn; charge, commit, send; read
the answer; change links, node and ledger in one transaction; forget nothing else.

Invariants:

- A request is on the disk before it leaves, and no hour has more of them than the rate allows,
  across kills and restarts. Redirects and robots.txt count.
- A link is there when it was last seen or, if it is a dated entry of a feed, at its date. The
  ranking counts distinct sources of links that were there within the window.
- The store alone holds the state: a tracker that was killed goes on from its last transaction.
- Time is the tracker's own clock, which does not go back and does not jump.
- Memory grows with the nodes known, which the plan bounds, and with nothing else.
"""

from sonde.track.clock import Clock
from sonde.track.plan import Plan
from sonde.track.tracker import STOPS, LiveTracker, Looked, Ranked, track_live

__all__ = ["STOPS", "Clock", "LiveTracker", "Looked", "Plan", "Ranked", "track_live"]
