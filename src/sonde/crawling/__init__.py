"""Driving an explorer over any source into a run: the crawl itself.

Nouns, in the order in which a crawl meets them:

- *settings*: what a user can say, each declared once.
- a *request*: what the user asked for, checked. Over a run it becomes a *session* (``setup``): all
  pieces, put together.
- a *source* of some *kind* (``kinds``): visits a node. Only ``visit`` is asked of it.
- the *logbook*: the explorer and the run's log, changed only together.
- the *driver*: fills its free places with leases from the logbook, and starts a visit for each.
- *retelling*: the log, told again to a fresh explorer, from the nearest checkpoint on. A run is
  resumed by it, and its decisions are explained by it.
- an *interview*: a run that nobody drives. A person asks and tells, over days.
- ``Settled``: what the driver reports. ``Crawl`` hands visits on; ``CrawlResult`` has the tables.

Invariants:

- What a crawl visits is decided by its explorer alone. The room only says who is ready.
- Log, commit, act: a lease is in the database before its request leaves, a further request before
  it is sent, an outcome before it is reported. So a killed run never exceeds its budget and never
  forgets what it said.
- A visit is settled in the same breath in which its source returns: visits are told in the order
  in which they were scored.
- Every lease that is given out is settled: by its visit, by the driver when it is cut off, or by
  the next process that opens the run.
- What a clock decided (which groups were ready) is in the log; what is decided from it is not.

A name is imported when it is first used: whoever explains a run waits for no HTTP client.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sonde.crawling.crawler import Crawl, crawl
    from sonde.crawling.interview import Interview
    from sonde.crawling.progress import STOPS, Progress, Settled, Stopped
    from sonde.crawling.result import CrawlResult
    from sonde.crawling.settings import CrawlSettings, Settings, read_config
    from sonde.crawling.setup import OpenedRun, open_run

__all__ = [
    "STOPS",
    "Crawl",
    "CrawlResult",
    "CrawlSettings",
    "Interview",
    "OpenedRun",
    "Progress",
    "Settings",
    "Settled",
    "Stopped",
    "crawl",
    "open_run",
    "read_config",
]

_HOMES = {
    "crawler": ("Crawl", "crawl"),
    "progress": ("STOPS", "Progress", "Settled", "Stopped"),
    "interview": ("Interview",),
    "result": ("CrawlResult",),
    "settings": ("CrawlSettings", "Settings", "read_config"),
    "setup": ("OpenedRun", "open_run"),
}

if not TYPE_CHECKING:  # a type checker has them from above, and should miss what is not there

    def __getattr__(name):
        for home, names in _HOMES.items():
            if name in names:
                globals()[name] = found = getattr(import_module(f"{__name__}.{home}"), name)
                return found
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
