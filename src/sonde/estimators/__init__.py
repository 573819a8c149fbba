"""Estimators predict what a frontier node is worth from what was seen so far.

An estimator is a description: frozen parameters and the names of the features it reads. Nothing
is learned in it; ``build_model`` builds a fresh model from it (the kernels' leaves, signals and
choosers), and the same description serves again for the next run. Every estimator has a
text form, and ``estimator_from`` reads it:

    random  bfs  oracle                     yardsticks
    deg  n  e  ne  (:sum :max :avg)         incoming links from visited nodes
    deg2  n2  e2  ne2                       around the visited parents
    lnh  lnh2  (:sum :max :avg)             online least squares over n, e, ne (and second level)
    opic  opic:e  opic:n  opic:ne           cash handed on along links
    nr  nr:exact  nr:d=0.3                  navigational rank
    url  url+lnh  url:-arf  url:bfu=1:arf=2 URL significance: learned, less a measure, given weights
    yield  yield:k=5                        what the parents' other children have brought
    auto  auto:words=0                      the same, with degree, link scores, shares and words
    ridge  ucb  posterior  hurdle           auto's weights, learned in four ways
    hybrid[first,second,steps]              one, then another that has learned meanwhile
    mab:eps=0.1[...]  mab:eps-first=0.1[...]  mab:var[...]      bandits over estimators
    mab:thompson[...]  hedge[...]           dynamic Thompson sampling; experts, all informed

A class of one's own with ``features``, ``predict`` and ``learn`` serves as well (see
``CustomEstimator`` in ``sonde.protocols``). Estimators see features of visited neighbours only:
nothing ever hands them an unvisited node. The oracle is the exception, built with the graph.
"""

from sonde.estimators.bandits import (
    DynamicThompson,
    EpsilonFirst,
    EpsilonGreedy,
    Hedge,
    Hybrid,
    VariableEpsilonFirst,
)
from sonde.estimators.builder import FEATURES, Estimator, ModelBuilder, build_model
from sonde.estimators.custom import Custom
from sonde.estimators.flow import NavigationalRank, Opic
from sonde.estimators.linear import Feature, LinearNeighbourhood
from sonde.estimators.model_kernels import compiled, load_kernels
from sonde.estimators.significance import UrlSignificance
from sonde.estimators.spec import DEFAULT, estimator_from, split_list
from sonde.estimators.yardsticks import BreadthFirst, Oracle, Random
from sonde.estimators.yields import Auto, Hurdle, LinearUcb, ParentYield, PosteriorSampling, Ridge

__all__ = [
    "DEFAULT",
    "FEATURES",
    "Auto",
    "BreadthFirst",
    "Custom",
    "DynamicThompson",
    "EpsilonFirst",
    "EpsilonGreedy",
    "Estimator",
    "Feature",
    "Hedge",
    "Hurdle",
    "Hybrid",
    "LinearNeighbourhood",
    "LinearUcb",
    "ModelBuilder",
    "NavigationalRank",
    "Opic",
    "Oracle",
    "ParentYield",
    "PosteriorSampling",
    "Random",
    "Ridge",
    "UrlSignificance",
    "VariableEpsilonFirst",
    "build_model",
    "compiled",
    "estimator_from",
    "load_kernels",
    "split_list",
]
