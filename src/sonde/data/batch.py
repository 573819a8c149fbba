"""A batch of documents as a worker has read it: rows and links, no raw material."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

import numpy as np

from sonde.data.topics import Counts, Floats, Topics


@dataclass
class DocumentBatch:
    """Documents with their links, in order, ready to be pickled.

    ``links[i]`` is how many links document ``i`` has; their targets and alphas follow one another.
    ``counts`` and ``alphas`` are arrays, a column a topic, once the batch is ``completed``: before
    that they are plain numbers in a row, because most documents have few links and no occurrence.
    ``aliases`` are pairs of a name and the name that it stands for. Parallel links of a document
    are one, at the first one's place: its alpha is the sum, its words are joined by line ends.
    The texts are empty lists unless they are wanted.
    """

    names: list[str] = field(default_factory=list)
    counts: Counts = field(default_factory=lambda: np.zeros((0, 0), np.int64))
    links: list[int] = field(default_factory=list)
    targets: list[str] = field(default_factory=list)
    alphas: Floats = field(default_factory=lambda: np.zeros((0, 0)))
    aliases: list[tuple[str, str]] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)
    anchors: list[str] = field(default_factory=list)
    contexts: list[str] = field(default_factory=list)
    problems: Counter[str] = field(default_factory=Counter)
    _counts: list[int] = field(default_factory=list)
    _alphas: list[float] = field(default_factory=list)

    def add(
        self,
        name: str,
        text: str | bytes,
        content: str | bytes,
        links: list[tuple[str, int, int]],
        topics: Topics,
        window: int,
        keep_text: bool,
    ) -> None:
        """Count the topics in one document, given as text or as UTF-8.

        ``links`` are (target, start, end in the text, in characters).
        """
        counts, alphas = topics.around(text, links, window)
        if content is not text:
            counts = topics.count(content)
        order: dict[str, int] = dict.fromkeys([link[0] for link in links], 0)
        slots: list[int] = []
        if alphas or keep_text:
            order = {target: slot for slot, target in enumerate(order)}
            slots = [order[link[0]] for link in links]
        row = len(topics)
        first = len(self._alphas)
        self._alphas += [0.0] * (row * len(order))
        for number, found in alphas.items():
            at = first + row * slots[number]
            for topic, alpha in enumerate(found):
                self._alphas[at + topic] += alpha
        self.names.append(name)
        self._counts += counts
        self.links.append(len(order))
        self.targets += order
        if keep_text:
            self.texts.append(_text(content))
            self._keep_words(_text(text), links, slots, len(order), window)

    def _keep_words(
        self,
        text: str,
        links: list[tuple[str, int, int]],
        slots: list[int],
        count: int,
        window: int,
    ) -> None:
        anchors: list[list[str]] = [[] for _ in range(count)]
        contexts: list[list[str]] = [[] for _ in range(count)]
        for slot, (_, start, end) in zip(slots, links, strict=True):
            anchors[slot].append(text[start:end])
            contexts[slot].append(text[max(0, start - window) : end + window])
        self.anchors += map("\n".join, anchors)
        self.contexts += map("\n".join, contexts)

    def completed(self, topics: int) -> DocumentBatch:
        """The whole batch: two arrays are passed on faster than thousands of small ones."""
        self.counts = np.array(self._counts, np.int64).reshape(-1, topics)
        self.alphas = np.array(self._alphas, np.float64).reshape(-1, topics)
        self._counts, self._alphas = [], []
        return self


def _text(text: str | bytes) -> str:
    return text if isinstance(text, str) else text.decode("utf-8", "surrogatepass")
