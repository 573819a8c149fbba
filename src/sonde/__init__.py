"""sonde: budgeted, adaptive graph exploration.

The explorer decides (``Explorer``: ask and tell); ``crawl`` and ``Crawl`` drive it over the live
Web or a source of one's own; ``simulate`` drives it over a recorded ``Graph``, as a live crawl
would have gone.
"""

from sonde.budgets import Budget, Bytes, Cost, Requests, Seconds
from sonde.crawl import Crawl, CrawlResult, crawl
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
from sonde.records import Failure, Lease, Link, Place, Skip, Spend, Visit
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
    "Place",
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
