"""Contracts as checks: what plug-in authors run against their own classes.

``check_estimator`` tries a custom estimator on small, awkward frontiers and in a crawl,
``check_source`` tries a source on nodes that exist and on one that does not, with budget and
without. Silence is praise; what is wrong is said in one sentence.
"""

from sonde.testing.estimator_checks import check_estimator
from sonde.testing.source_checks import check_source

__all__ = ["check_estimator", "check_source"]
