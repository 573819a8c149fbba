"""A graph of documents in the making.

Links name their targets, and whether a name is a page, another name for one, or nothing at all is
known only when the last page was read. So names become numbers at first sight, links wait in a
file on disk, and the end resolves them batch by batch: memory grows with names, not with text and
not with links.
"""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sonde.data.folders import Folders
from sonde.data.topics import Counts, Floats, Topics, f_of
from sonde.errors import InputError


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
        main: Sequence[tuple[int, int]] | None = None,
    ) -> None:
        """Count the topics in one document, given as text or as UTF-8, of which ``main`` is where
        its content stands.

        ``links`` are (target, start, end in the text, in characters).
        """
        counts, alphas = topics.around(text, links, window, main)
        if main is None and content is not text:
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


Numbers = npt.NDArray[np.int64]

_MOST_HOPS = 10  # a chain of redirects that is longer leads nowhere


class Draft:
    """Add batches, then ``write`` once. Use as a context manager: it holds files on disk.

    ``guess`` may say under which other names a page that is missing could be found.
    """

    def __init__(
        self,
        topics: int,
        keep_text: bool,
        problems: Counter[str],
        guess: Callable[[str], list[str]] | None = None,
    ) -> None:
        self.problems = problems
        self._guess = guess
        self._numbers: dict[str, int] = {}
        self._documents: dict[int, int] = {}  # number of the name: row of the document
        self._aliases: dict[int, int] = {}
        self._counts: list[Counts] = []
        self._topics = topics
        self._spill = tempfile.TemporaryDirectory(prefix="sonde-data-", ignore_cleanup_errors=True)
        words = [("anchor", pa.string()), ("context", pa.string())] if keep_text else []
        self._links = _Spill(
            Path(self._spill.name) / "links",
            pa.schema(
                [
                    ("source", pa.int32()),
                    ("target", pa.int32()),
                    ("alphas", pa.list_(pa.float64(), topics)),
                    *words,
                ]
            ),
        )
        self._texts = None
        if keep_text:
            texts = Path(self._spill.name) / "texts"
            self._texts = _Spill(texts, pa.schema([("text", pa.string())]))

    def __enter__(self) -> Draft:
        return self

    def __exit__(self, *_: object) -> None:
        self._links.close()
        if self._texts is not None:
            self._texts.close()
        self._spill.cleanup()

    @property
    def document_count(self) -> int:
        return len(self._documents)

    def add(self, documents: DocumentBatch) -> None:
        """Take a batch of documents; one whose name was there before is left out."""
        self.problems.update(documents.problems)
        numbers = self._numbers
        for name, target in documents.aliases:
            alias = numbers.setdefault(name, len(numbers))
            self._aliases.setdefault(alias, numbers.setdefault(target, len(numbers)))
        kept: list[int] = []
        sources: list[int] = []
        for place, name in enumerate(documents.names):
            number = numbers.setdefault(name, len(numbers))
            if number in self._documents:
                self.problems["pages whose name was there before"] += 1
                continue
            self._documents[number] = len(self._documents)
            kept.append(place)
            sources.append(number)
        if not kept:
            return
        lengths = np.asarray(documents.links)
        bounds = np.concatenate([[0], np.cumsum(lengths)])
        links = np.concatenate([np.arange(bounds[each], bounds[each + 1]) for each in kept])
        self._counts.append(documents.counts[kept])
        targets = [
            numbers.setdefault(documents.targets[link], len(numbers)) for link in links.tolist()
        ]
        columns = {
            "source": pa.array(np.repeat(sources, lengths[kept]).astype(np.int32)),
            "target": pa.array(targets, pa.int32()),
            "alphas": pa.FixedSizeListArray.from_arrays(
                documents.alphas[links].ravel(), self._topics
            ),
        }
        if self._texts is not None:
            columns["anchor"] = pa.array([documents.anchors[link] for link in links], pa.string())
            columns["context"] = pa.array([documents.contexts[link] for link in links], pa.string())
            self._texts.add(
                {"text": pa.array([documents.texts[place] for place in kept], pa.string())}
            )
        if targets:
            self._links.add(columns)

    def write(self, folders: Folders) -> tuple[dict[str, int], list[dict[str, int]]]:
        """Write nodes and edges; gives counts of the graph, and of what scores in each folder."""
        if not self._documents:
            raise InputError(f"nothing is left to build a graph from{listed(self.problems)}")
        names = pa.array(list(self._numbers), pa.string())
        rows = np.fromiter(self._documents, np.int64, len(self._documents))
        scores = f_of(np.concatenate(self._counts))
        nonzero_nodes = np.count_nonzero(scores, axis=0)
        node_names = names.take(pa.array(rows))
        at = 0
        for texts in [None] if self._texts is None else self._texts.batches():
            stop = len(rows) if texts is None else at + texts.num_rows
            columns = {"node": node_names.slice(at, stop - at)}
            if texts is not None:
                columns["text"] = texts.column("text")
            folders.add("nodes", pa.table(columns), scores[at:stop])
            at = stop
        edges = 0
        nonzero_edges = np.zeros(self._topics, np.int64)
        lost: Counter[str] = Counter()
        for batch, alphas in self._resolved(lost):
            folders.add("edges", _named(batch, node_names), alphas)
            edges += batch.num_rows
            nonzero_edges += np.count_nonzero(alphas, axis=0)
        if not edges:
            folders.add("edges", _named(self._no_edges(), node_names), np.zeros((0, self._topics)))
        counts = {"nodes": len(rows), "edges": edges, "aliases": len(self._aliases), **lost}
        scoring = [
            {"nonzero_nodes": int(nodes), "nonzero_edges": int(links)}
            for nodes, links in zip(nonzero_nodes, nonzero_edges, strict=True)
        ]
        return counts, scoring

    def _resolved(self, lost: Counter[str]) -> Iterator[tuple[pa.Table, npt.NDArray[np.float64]]]:
        """The links batch by batch: targets as rows of documents, parallel ones merged."""
        final = self._final()
        documents = np.full(len(self._numbers), -1, np.int64)
        documents[list(self._documents)] = np.arange(len(self._documents))
        lost.update(links_to_missing_pages=0, self_links=0, parallel_links_merged=0)
        for batch in self._links.batches():
            sources = documents[batch.column("source").to_numpy()]
            targets = final[batch.column("target").to_numpy()]
            alphas = batch.column("alphas").flatten().to_numpy().reshape(-1, self._topics)
            missing, loops = targets < 0, targets == sources
            lost["links_to_missing_pages"] += int(missing.sum())
            lost["self_links"] += int(loops.sum())
            keep = np.flatnonzero(~missing & ~loops)
            if not len(keep):
                continue
            keys = sources[keep] * len(documents) + targets[keep]
            _, firsts, groups = np.unique(keys, return_index=True, return_inverse=True)
            lost["parallel_links_merged"] += len(keep) - len(firsts)
            ranks = np.empty(len(firsts), np.int64)  # groups in order of their first link
            ranks[np.argsort(firsts)] = np.arange(len(firsts))
            merged = np.zeros((len(firsts), self._topics))
            np.add.at(merged, ranks[groups], alphas[keep])
            rows = keep[np.sort(firsts)]
            columns = {"source": pa.array(sources[rows]), "target": pa.array(targets[rows])}
            for words in batch.schema.names[3:]:
                columns[words] = batch.column(words).take(pa.array(rows))
            yield pa.table(columns), merged

    def _final(self) -> Numbers:
        """For each name the row of the document that it leads to, or -1."""
        names = list(self._numbers) if self._guess is not None else []
        final = np.full(len(self._numbers), -1, np.int64)
        for number in range(len(final)):
            at: int | None = number
            for _ in range(_MOST_HOPS):
                if at is None or at in self._documents:
                    break
                at = self._aliases.get(at)
            if at is None and self._guess is not None:
                others = (self._numbers.get(other) for other in self._guess(names[number]))
                at = next((each for each in others if each in self._documents), None)
            final[number] = self._documents.get(-1 if at is None else at, -1)
        return final

    def _no_edges(self) -> pa.Table:
        schema = pa.schema([("source", pa.int64()), ("target", pa.int64())])
        return pa.schema([*schema, *list(self._links.schema)[3:]]).empty_table()


def _named(batch: pa.Table, names: pa.Array) -> pa.Table:
    columns = {name: batch.column(name) for name in batch.schema.names}
    for end in ("source", "target"):
        columns[end] = names.take(columns[end].combine_chunks())
    return pa.table(columns)


def listed(problems: Counter[str]) -> str:
    """The most frequent problems, in brackets."""
    found = [f"{count:,} {words}" for words, count in problems.most_common(3) if count]
    return f" ({', '.join(found)})" if found else ""


class _Spill:
    """Rows that wait on disk."""

    def __init__(self, path: Path, schema: pa.Schema) -> None:
        self.schema = schema
        self._path = path
        self._writer: pa.ipc.RecordBatchFileWriter | None = pa.ipc.new_file(str(path), schema)

    def add(self, columns: dict[str, pa.Array]) -> None:
        assert self._writer is not None
        self._writer.write_batch(pa.record_batch(columns, self.schema))

    def batches(self) -> Iterator[pa.RecordBatch]:
        self.close()
        with pa.memory_map(str(self._path)) as source:
            reader = pa.ipc.open_file(source)
            for number in range(reader.num_record_batches):
                yield reader.get_batch(number)

    def close(self) -> None:
        if self._writer is not None:
            self._writer.close()
            self._writer = None
