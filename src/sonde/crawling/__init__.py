"""Driving an explorer over a source into a run: the crawl itself.

Nouns, in the order in which a visit meets them:

- ``Settings``: what the user asked for. ``beginning`` turns them into the pieces below.
- the *book*: the explorer and the run's log, changed only together.
- the *pace*: which hosts may be asked now, and who waits for a turn.
- the *driver*: fills its free places with leases from the book, and starts a visit for each.
- the *intent*: what the user asked for, checked: a *kind* of source (``kinds``), options, seeds.
- a *source*: visits a node; ``attached`` is what else it may have, ``keeping`` what it finds again
  on resume, ``equipment`` what it is given. ``WebSource`` visits URLs: the *approach* (robots.txt,
  turns, redirects, units of budget), the fetch, the *assembly* of a visit from a response; what it
  learns about sites is its *memory*, what it knows about hosts is in ``hosts``.
- an *interview*: a run that nobody drives; a person asks and tells, over days.
- ``Settled``: what the driver reports; ``Crawl`` hands visits on; ``CrawlResult`` has the tables.

Invariants:

- There is one decision engine, the explorer. Nothing here chooses; it only says who is ready.
- Log, commit, act: a lease is in the database before its request leaves, a further request before
  it is sent, an outcome before it is reported. So a killed run never exceeds its budget and never
  forgets what it said.
- From the end of a fetch to the explorer being told there is no ``await`` (except for a user's
  renderer, which comes before anything is scored): pages are scored in the order of the log.
- Every turn that is taken is given back, every lease that is given out is settled: by the visit,
  by the driver when it is cut off, or by the next process that opens the run.
- What a clock decided (which hosts were ready) is in the log; what is decided from it is not.
"""

from sonde.crawling.crawler import Crawl, crawl
from sonde.crawling.events import STOPS, Progress, Settled, Stopped
from sonde.crawling.interview import Interview
from sonde.crawling.result import CrawlResult
from sonde.crawling.settings import Settings, read_config

__all__ = [
    "STOPS",
    "Crawl",
    "CrawlResult",
    "Interview",
    "Progress",
    "Settings",
    "Settled",
    "Stopped",
    "crawl",
    "read_config",
]
