"""sonde inside Scrapy: any spider, under a budget that holds, its requests in the best order.

Nouns, in the order in which a crawl meets them:

- the *add-on* puts three parts of ours into a crawler's settings.
- the *scheduler* stands in for Scrapy's. Requests that explore become nodes, and are given out by
  leases of the explorer; all others (retries, redirects, chains, repeats) go their usual way.
- the *charging middleware*, nearest to the wire: no request leaves that the budget does not hold.
- the *telling middleware*, nearest to the engine: what a spider made of a response.
- an *open visit*: a lease, from the request that it is given out as to the last request that
  follows from it.
- the *spider run*: explorer, log and run folder of one crawler, and its open visits.

Invariants:

- A node is a request fingerprint: what Scrapy takes for one request is one node.
- Log, commit, act, as in every crawl: a lease and each further request are in the database before
  they leave.
- Every lease is settled: when its last request has left the engine, at the latest when the spider
  closes; by the next process where this one was killed.

A name is imported when it is first used: whoever looks at a run needs no Scrapy.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sonde.scrapy.addon import Addon
    from sonde.scrapy.downloader_middleware import ChargingMiddleware
    from sonde.scrapy.scheduler import Scheduler
    from sonde.scrapy.spider_middleware import TellingMiddleware

__all__ = ["Addon", "ChargingMiddleware", "Scheduler", "TellingMiddleware"]

_HOMES = {
    "Addon": "addon",
    "ChargingMiddleware": "downloader_middleware",
    "Scheduler": "scheduler",
    "TellingMiddleware": "spider_middleware",
}

if not TYPE_CHECKING:  # a type checker has them from above, and should miss what is not there

    def __getattr__(name):
        if name not in _HOMES:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        globals()[name] = found = getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
        return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
