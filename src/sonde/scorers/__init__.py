"""What a visited node is worth, and what a link's context promises.

Nouns. A *topic* is what a user wants to read about: phrases. A *document* is what a scorer sees of
a visited node: its text, its content (the text that its own score is taken from), and its links
with their places in the text. A *scorer* turns it into *scores*: one beta for the document, one
alpha for each link, in the order of the links, all finite and not negative. A *learning* scorer
also has a state.

Life cycle. A scorer is made once for a run, from a topic and a spec (``scorer_from``). Each visited
document is scored exactly once, in the order of the log. A learning scorer's state is saved with
the run and restored on resume; its state after a log is the same whether it scored the log or was
restored from the middle of it.

Invariants. Scorers do no I/O after they are made, have no clock and no randomness, and import
nothing of any source: a document is a protocol (see ``document``), not a web page.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sonde.errors import SpecError
from sonde.scorers.bm25 import Bm25Scorer
from sonde.scorers.document import Document, LearningScorer, Scorer, Scores, Span
from sonde.scorers.function import FunctionScorer
from sonde.scorers.keyword_matcher import KeywordMatcher
from sonde.scorers.keywords import KeywordScorer, log_count
from sonde.scorers.pattern import PatternScorer
from sonde.scorers.topic import Topic

__all__ = [
    "Bm25Scorer",
    "Document",
    "FunctionScorer",
    "KeywordMatcher",
    "KeywordScorer",
    "LearningScorer",
    "PatternScorer",
    "Scorer",
    "Scores",
    "Span",
    "Topic",
    "log_count",
    "scorer_from",
]

SPECS = {
    "keywords": "occurrences of the topic's phrases (the default)",
    "bm25": "the topic as a query, with statistics learned from the crawl",
    "regex:PATTERN": "matches of a regular expression",
    "classifier:PATH[#LABEL]": "a scikit-learn classifier in skops or ONNX, or a pickle on request",
    "embedding:PATH": "closeness of meaning to the topic, by a static embedding model",
    "python:MODULE:FUNCTION": "a Python function; links by the topic, or by the same function",
}
"""What ``scorer_from`` understands."""


def scorer_from(
    topic: str | None = None,
    spec: str | Scorer | Callable[[Any], float] | None = None,
    *,
    exact: bool = False,
    allow_pickle: bool = False,
    seconds: float = 0.0,
) -> Scorer:
    """Make a scorer from a topic and a spec: one of ``SPECS``, a scorer, a function of a page.

    ``exact`` takes the topic's words as they stand, without their inflections. With ``seconds``,
    what a spec names that nobody can bound (a function, a pattern) works in a process of its own,
    and may take so long for a document. An object works where it is.
    """
    if spec is None:
        spec = "keywords"
    if not isinstance(spec, str):
        if hasattr(spec, "score"):
            return spec
        return FunctionScorer(spec, links=_links(topic, exact))
    kind, _, rest = spec.partition(":")
    if kind == "keywords" and not rest:
        return KeywordScorer(_topic(topic, kind, exact))
    if kind == "bm25" and not rest:
        return Bm25Scorer(_topic(topic, kind, exact))
    if kind in ("regex", "python") and rest:
        made: Scorer = (
            PatternScorer(rest)
            if kind == "regex"
            else FunctionScorer.from_spec(rest, links=_links(topic, exact))
        )
        if not seconds:
            return made
        from sonde.scorers.scoring_process import ProcessScorer

        return ProcessScorer(spec, topic, exact=exact, seconds=seconds)
    if kind == "classifier" and rest:
        from sonde.scorers.classifier import ClassifierScorer

        path, _, label = rest.partition("#")
        return ClassifierScorer(path, label=label or None, allow_pickle=allow_pickle)
    if kind == "embedding" and rest:
        from sonde.scorers.embedding import EmbeddingScorer

        return EmbeddingScorer(rest, _topic(topic, kind, exact))
    raise SpecError(f"unknown scorer {spec!r}; known are {', '.join(SPECS)}")


def _links(topic: str | None, exact: bool) -> KeywordScorer | None:
    """What scores links for a function that scores pages alone."""
    return KeywordScorer(topic, exact=exact) if topic and topic.strip(" ,") else None


def _topic(topic: str | None, kind: str, exact: bool) -> Topic:
    if not topic or not topic.strip(" ,"):
        raise SpecError(f"the {kind} scorer needs a topic: phrases separated by commas")
    return Topic.of(topic, exact=exact)
