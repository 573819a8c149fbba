"""The rows of a run as Arrow tables, some thousands at a time."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from itertools import islice
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sonde.errors import InputError
from sonde.store.page_content import Reads, text_hash
from sonde.store.reader import RunReader
from sonde.store.run_pages import content_of, reads_of
from sonde.store.summary import FRONTIER, judged

BATCH = 10_000
_WITH_TEXT = 500

_TEXT, _WHOLE, _REAL, _TRUTH = pa.string(), pa.int64(), pa.float64(), pa.bool_()
_MOMENT = pa.timestamp("us", tz="UTC")


def _schema(*fields: tuple[str, pa.DataType]) -> pa.Schema:
    return pa.schema(fields)


_VISITS = _schema(
    ("url", _TEXT),
    ("final_url", _TEXT),
    ("host", _TEXT),
    ("depth", _WHOLE),
    ("score", _REAL),
    ("gain", _REAL),
    ("predicted", _REAL),
    ("chooser", _TEXT),
    ("status", _WHOLE),
    ("media_type", _TEXT),
    ("language", _TEXT),
    ("title", _TEXT),
    ("flags", _TEXT),
    ("requests", _WHOLE),
    ("bytes", _WHOLE),
    ("seconds", _REAL),
    ("rtt", _REAL),
    ("visited", _MOMENT),
    ("etag", _TEXT),
    ("modified", _TEXT),
    ("twin", _TEXT),
    ("jaccard", _REAL),
    ("containment", _REAL),
    ("warc", _TEXT),
    ("digest", _TEXT),  # SHA-1 of the body
    ("lease", _WHOLE),
)
_TEXTS = _schema(
    ("hash", _TEXT),  # SHA-256 of the text
    ("text", pa.large_string()),
    ("missing", _TEXT),  # why there is no text
)
VISITS = pa.schema([*_VISITS, *_TEXTS])
LINKS = _schema(
    ("source", _TEXT),
    ("target", _TEXT),
    ("score", _REAL),
    ("lease", _WHOLE),
    ("place", _WHOLE),
    ("anchor", _TEXT),  # where the page was kept
)
RECORDS = _schema(
    ("id", _TEXT),
    ("source", _TEXT),
    ("url", _TEXT),
    ("title", _TEXT),
    ("text", pa.large_string()),
    ("fields", pa.large_string()),
    ("found_on", _TEXT),
)
LEDGER = _schema(
    ("lease", _WHOLE),
    ("url", _TEXT),
    ("chooser", _TEXT),
    ("arm", _WHOLE),
    ("predicted", _REAL),
    ("rank", _WHOLE),
    ("ready", _WHOLE),
    ("outcome", _TEXT),
    ("reason", _TEXT),
    ("score", _REAL),
    ("gain", _REAL),
    ("requests", _WHOLE),
    ("bytes", _WHOLE),
    ("seconds", _REAL),
    ("asked", _MOMENT),
    ("settled", _MOMENT),
    ("harvest_rate", _REAL),  # as of this visit, as are the next two
    ("efficiency", _REAL),
    ("gpr", _REAL),
)
NOT_TAKEN = _schema(("url", _TEXT), ("reason", _TEXT), ("seen_on", _TEXT))
NODES = _schema(
    ("node", _TEXT),
    ("score", _REAL),
    ("visited", _TRUTH),
    ("seed", _TRUTH),
    ("host", _TEXT),
    ("depth", _WHOLE),
    ("predicted", _REAL),
    ("status", _WHOLE),
    ("language", _TEXT),
    ("title", _TEXT),
)


EDGES = _schema(("source", _TEXT), ("target", _TEXT), ("score", _REAL), ("lease", _WHOLE))


class PageLinks(NamedTuple):
    """The links that one visit told: numbers of nodes, and scores."""

    lease: int
    node: int
    targets: npt.NDArray[np.int32]
    scores: npt.NDArray[np.float64]


class RunTables:
    """All rows of a run; each method yields tables of its schema, at least one."""

    def __init__(self, run: RunReader) -> None:
        self.run = run

    @cached_property
    def urls(self) -> pa.Array:
        """The URL of each node, by number."""
        parts = [pa.array([], pa.large_string())]
        expected = 0
        rows = self.run.rows("SELECT number, url FROM nodes ORDER BY number")
        while batch := list(islice(rows, BATCH)):
            if batch[-1][0] != expected + len(batch) - 1:
                raise InputError(f"{self.run.folder}: damaged: the nodes are not numbered in order")
            expected += len(batch)
            parts.append(pa.array([url for _, url in batch], pa.large_string()))
        return pa.concat_arrays(parts)

    def visits(self) -> Iterator[pa.Table]:
        """One row a visit, in order, with what its page said."""
        yield VISITS.empty_table()
        reading = reads_of(self.run)
        for table in self._visits():
            for begin in range(0, table.num_rows, _WITH_TEXT):
                yield self._with_text(table.slice(begin, _WITH_TEXT), reading)

    def _visits(self) -> Iterator[pa.Table]:
        return self._tables(
            _VISITS,
            "SELECT url, final_url, host, depth, score, gain, predicted, chooser, status,"
            " media_type, language, title, flags, requests, bytes, seconds, rtt,"
            " cast(settled * 1000000 AS INTEGER), etag, modified,"
            " (SELECT nodes.url FROM leases AS first JOIN nodes ON nodes.number = first.node"
            "  WHERE first.number = pages.twin), jaccard, containment, warc,"
            " lower(hex(digest)), leases.number"
            " FROM log JOIN leases ON leases.number = log.lease"
            " JOIN nodes ON nodes.number = leases.node"
            " LEFT JOIN pages ON pages.lease = leases.number"
            " WHERE log.kind = 'settle' AND outcome = 'visit' ORDER BY seq",
        )

    def _with_text(self, rows: pa.Table, reading: Reads) -> pa.Table:
        said: list[tuple[str | None, str | None, str]] = []
        for lease in rows.column("lease").to_pylist():
            content = content_of(self.run, lease, reading)
            text = None if content is None else content.text
            missing = "it has no page" if content is None else content.missing
            said.append((None if text is None else text_hash(text), text, missing))
        for field, values in zip(_TEXTS, zip(*said, strict=True), strict=True):
            rows = rows.append_column(field, pa.array(values, field.type))
        return rows

    def records(self) -> Iterator[pa.Table]:
        """One row for each record that visits found, in order."""
        return self._tables(
            RECORDS,
            "SELECT id, source, records.url, title, text, fields, nodes.url FROM records"
            " LEFT JOIN leases ON leases.number = records.lease"
            " LEFT JOIN nodes ON nodes.number = leases.node ORDER BY records.number",
        )

    def ledger(self, threshold: float = 0.0) -> Iterator[pa.Table]:
        """One row a lease, in the order asked; visits with what judges the run up to them."""
        run = judged(self.run.database, threshold)
        order = np.argsort(run.leases)
        leases = run.leases[order]
        measures = (run.steps.harvest_rate, run.steps.efficiency, run.steps.gpr)
        for table in self._tables(
            pa.schema(list(LEDGER)[:-3]),
            "SELECT leases.number, url, chooser, arm, predicted, rank, ready, outcome, reason,"
            " score, gain, requests, bytes, seconds, cast(asked * 1000000 AS INTEGER),"
            " cast(settled * 1000000 AS INTEGER)"
            " FROM leases JOIN nodes ON nodes.number = leases.node ORDER BY leases.number",
        ):
            asked = table.column("lease").to_numpy()
            places = np.searchsorted(leases, asked)
            known = places < len(leases)
            known[known] = leases[places[known]] == asked[known]
            for name, values in zip(LEDGER.names[-3:], measures, strict=True):
                column = np.zeros(len(asked))
                column[known] = values[order][places[known]]
                table = table.append_column(name, pa.array(column, _REAL, mask=~known))
            yield table

    def not_taken(self) -> Iterator[pa.Table]:
        """One row for each URL that was seen and not taken, with the reason."""
        return self._tables(
            NOT_TAKEN,
            "SELECT refused.url, refused.reason, nodes.url FROM refused"
            " LEFT JOIN leases ON leases.number = refused.lease"
            " LEFT JOIN nodes ON nodes.number = leases.node"
            f" UNION ALL SELECT waiting.url, 'frontier', parents.url FROM ({FRONTIER}) AS waiting"
            " LEFT JOIN leases ON leases.number = waiting.parent"
            " LEFT JOIN nodes AS parents ON parents.number = leases.node",
        )

    def nodes(self) -> Iterator[pa.Table]:
        """One row a node, in order of discovery; of several visits the last one counts."""
        return self._tables(
            NODES,
            "SELECT nodes.url, coalesce(visits.score, 0), visits.number IS NOT NULL,"
            " nodes.parent IS NULL, host, depth, visits.predicted, status, language, title"
            " FROM nodes LEFT JOIN leases AS visits ON visits.number ="
            " (SELECT max(number) FROM leases WHERE node = nodes.number AND outcome = 'visit')"
            " LEFT JOIN pages ON pages.lease = visits.number ORDER BY nodes.number",
        )

    def links(self) -> Iterator[pa.Table]:
        """One row a link, in the order told, with what it is called where its page was kept."""
        yield LINKS.empty_table()
        reading = reads_of(self.run)
        for pages in self._link_pages():
            called: list[str | None] = []
            for page in pages:
                content = content_of(self.run, page.lease, reading)
                read = None if content is None else content.reading
                names = {} if read is None else read.anchors
                targets = self.urls.take(pa.array(page.targets)).to_pylist()
                called += [names.get(target) for target in targets]
            yield self._link_table(pages).append_column(
                LINKS.field("anchor"), pa.array(called, _TEXT)
            )

    def _link_pages(self) -> Iterator[list[PageLinks]]:
        """The links that visits told, some thousands at a time."""
        pending: list[PageLinks] = []
        size = 0
        for page in self._pages("SELECT lease, node, targets, scores FROM pages ORDER BY lease"):
            pending.append(page)
            size += len(page.targets)
            if size >= BATCH:
                yield pending
                pending, size = [], 0
        if size:
            yield pending

    def edges(self) -> Iterator[PageLinks]:
        """The links of each node's last visit, parallel ones as one with their scores added: the
        graph as the explorer takes it."""
        for lease, node, targets, scores in self._pages(
            "SELECT lease, node, targets, scores FROM pages"
            " WHERE lease IN (SELECT max(lease) FROM pages GROUP BY node) ORDER BY lease"
        ):
            found, first, places = np.unique(targets, return_index=True, return_inverse=True)
            order = np.argsort(first)
            sums = np.bincount(places, weights=scores, minlength=len(found))
            other = order[found[order] != node]
            yield PageLinks(lease, node, found[other], sums[other])

    def edge_tables(self) -> Iterator[pa.Table]:
        """``edges``, one row each, by name."""
        yield EDGES.empty_table()
        edges = self.edges()
        while pages := list(islice(edges, BATCH // 20)):
            yield self._link_table(pages).select(EDGES.names)

    def _pages(self, query: str) -> Iterator[PageLinks]:
        for lease, node, targets, scores in self.run.rows(query):
            numbers = np.frombuffer(targets, "<i4") if len(targets) % 4 == 0 else None
            if (
                numbers is None
                or len(scores) != 8 * len(numbers)
                or (len(numbers) and not 0 <= numbers.min() <= numbers.max() < len(self.urls))
            ):
                raise InputError(f"{self.run.folder}: damaged: the links of lease {lease}")
            yield PageLinks(lease, node, numbers, np.frombuffer(scores, "<f8"))

    def _link_table(self, pages: list[PageLinks]) -> pa.Table:
        lengths = [len(page.targets) for page in pages]
        columns = [
            self.urls.take(pa.array(np.repeat([page.node for page in pages], lengths))),
            self.urls.take(pa.array(np.concatenate([page.targets for page in pages]))),
            pa.array(np.concatenate([page.scores for page in pages])),
            pa.array(np.repeat([page.lease for page in pages], lengths)),
            pa.array(np.concatenate([np.arange(length) for length in lengths])),
        ]
        plain = pa.schema(list(LINKS)[:-1])
        return pa.table(columns, names=plain.names).cast(plain)

    def _tables(self, schema: pa.Schema, query: str) -> Iterator[pa.Table]:
        yield schema.empty_table()
        rows = self.run.rows(query)
        while batch := list(islice(rows, BATCH)):
            columns: list[tuple[Any, ...]] = list(zip(*batch, strict=True))
            yield pa.table(
                [
                    pa.array(map(bool, column) if field.type == _TRUTH else column, field.type)
                    for field, column in zip(schema, columns, strict=True)
                ],
                schema=schema,
            )
