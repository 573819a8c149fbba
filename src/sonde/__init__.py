"""sonde: budgeted, adaptive graph exploration.

The explorer decides (``Explorer``: ask and tell); ``crawl`` and ``Crawl`` drive it over the live
Web or a source of one's own; ``simulate`` drives it over a recorded ``Graph``, as a live crawl
would have gone.

A name is imported when it is first used: whoever wants the explorer waits neither for a client
of the Web nor for tables of recorded graphs, and carries the weight of neither.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
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
    from sonde.simulation import Simulation, simulate
    from sonde.sources.graph import Graph
    from sonde.store.export import export

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
    "export",
    "simulate",
]

_HOMES = {
    "budgets": ("Budget", "Bytes", "Cost", "Requests", "Seconds"),
    "crawling": ("Crawl", "CrawlResult", "crawl"),
    "errors": (
        "EstimatorError",
        "GraphError",
        "InputError",
        "LeaseError",
        "ObjectiveError",
        "SondeError",
        "SourceError",
        "SpecError",
    ),
    "explorer": ("Explorer",),
    "records": ("Failure", "Lease", "Link", "Skip", "Spend", "Visit"),
    "simulation": ("Simulation", "simulate"),
    "sources.graph": ("Graph",),
    "store.export": ("export",),
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
