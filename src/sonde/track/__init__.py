"""Live tracking: keeps the most cited pages of a run current, for weeks.

Nouns. The *citations* are the graph as it was seen: nodes, and links with the times at which they
were first and last seen; they lie in tables of the run. A ``TrackPlan`` says what is tracked and at
what *rate*. The *policy* says what to visit next; it holds in memory what of the graph that needs.
A *charge* is what one visit spends, an *update* what its answer changes. A *list* is a feed or a
sitemap, which names pages and gives them dates; what it says has changed is *announced*.
``import_run`` takes over what a crawl of the same run has brought, and its access to the Web;
``TrackedRun`` reads it all, also while the tracker writes.

Life of a visit: wait for the rate; choose; wait for the host's turn; charge, commit, send; read
the answer; change links, node, ledger and what was learned of hosts in one transaction.

Invariants:

- A request is on the disk before it leaves, and no hour has more of them than the rate allows,
  across kills and restarts. Redirects and robots.txt count.
- A link is there when it was last seen or, if it is a dated entry of a feed, at its date. The
  ranking counts distinct sources of links that were there within the window.
- The run alone holds the state: a tracker that was killed goes on from its last transaction.
- Time is the tracker's own clock, which does not go back and does not jump.
- Memory grows with the nodes known, which the plan bounds, and with nothing else.
"""

from sonde.track.policy import TrackPlan
from sonde.track.tracked_run import TrackedRun
from sonde.track.tracker import STOPS, Clock, LiveTracker, RankingUpdated, TrackedVisit, track_live

__all__ = [
    "STOPS",
    "Clock",
    "LiveTracker",
    "RankingUpdated",
    "TrackPlan",
    "TrackedRun",
    "TrackedVisit",
    "track_live",
]
