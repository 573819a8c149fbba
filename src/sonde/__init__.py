"""sonde: budgeted, adaptive graph exploration.

The explorer decides (``Explorer``: ask and tell); ``crawl`` and ``Crawl`` drive it over the live
Web or a source of one's own; ``simulate`` drives it over a recorded ``Graph``, as a live crawl
would have gone.

What is made for recorded graphs is imported when it is first used: a crawl should carry neither
the weight of their tables in memory nor the wait for them.
"""

from importlib import import_module
from typing import TYPE_CHECKING

from sonde.budgets import Budget, Bytes, Cost, Requests, Seconds
from sonde.crawling import Crawl, CrawlResult, crawl
from sonde.errors import (
    EstimatorError,
    GraphError,
    InputError,
    LeaseError,
    ObjectiveError,
    SondeError,
    SourceError,
    SpecError,
)
from sonde.explorer import Explorer
from sonde.records import Failure, Lease, Link, Skip, Spend, Visit

if TYPE_CHECKING:
    from sonde.simulation import Simulation, simulate
    from sonde.sources.graph import Graph

__version__ = "0.1.0"

__all__ = [
    "Budget",
    "Bytes",
    "Cost",
    "Crawl",
    "CrawlResult",
    "EstimatorError",
    "Explorer",
    "Failure",
    "Graph",
    "GraphError",
    "InputError",
    "Lease",
    "LeaseError",
    "Link",
    "ObjectiveError",
    "Requests",
    "Seconds",
    "Simulation",
    "Skip",
    "SondeError",
    "SourceError",
    "SpecError",
    "Spend",
    "Visit",
    "crawl",
    "simulate",
]

_LATER = {
    "Graph": "sonde.sources.graph",
    "Simulation": "sonde.simulation",
    "simulate": "sonde.simulation",
}

if not TYPE_CHECKING:  # a type checker has them from above, and should miss what is not there

    def __getattr__(name):
        if name not in _LATER:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        globals()[name] = found = getattr(import_module(_LATER[name]), name)
        return found


def __dir__() -> list[str]:
    return sorted({*globals(), *_LATER})
