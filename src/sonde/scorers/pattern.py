"""The pattern scorer: `log_count` of the number of matches of a regular expression.

The pattern is matched as written, on text that is not folded: write ``(?i)`` for either case.
"""

from __future__ import annotations

import re

from sonde.errors import InputError
from sonde.scorers.document import Document, Scores, texts_of
from sonde.scorers.keywords import log_count


class PatternScorer:
    """Scores by the matches of a regular expression."""

    def __init__(self, pattern: str) -> None:
        self.pattern = pattern
        try:
            self._compiled = re.compile(pattern)
        except re.error as error:
            raise InputError(f"not a regular expression: {pattern!r}: {error}") from None

    def score(self, document: Document) -> Scores:
        beta, *alphas = (self._value(text) for text in texts_of(document))
        return Scores(beta, alphas)

    def rescore(self, document: Document) -> float:
        """The beta of a document whose main text has changed since it was scored."""
        return self.score(document).beta

    def _value(self, text: str) -> float:
        # An empty match is everywhere and says nothing.
        return log_count(
            sum(match.end() > match.start() for match in self._compiled.finditer(text))
        )
