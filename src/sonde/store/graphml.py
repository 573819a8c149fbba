"""A run's graph as GraphML, which Gephi, yEd, NetworkX and igraph read.

Written as a stream by the standard library's XML writer, so that it needs neither memory for the
graph nor a graph library.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any
from xml.sax.saxutils import XMLGenerator
from xml.sax.xmlreader import AttributesImpl

import pyarrow as pa

from sonde.store.run_tables import NODES, RunTables

_NAMESPACE = "http://graphml.graphdrawing.org/xmlns"
_TYPES = {pa.string(): "string", pa.int64(): "long", pa.float64(): "double", pa.bool_(): "boolean"}
_FORBIDDEN = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")  # in XML 1.0


def write_graphml(tables: RunTables, path: Path) -> None:
    """Write nodes with all that is known of them, and links with their scores."""
    with path.open("w", encoding="utf-8", newline="\n") as file:
        writer = XMLGenerator(file, "utf-8", short_empty_elements=True)
        writer.startDocument()
        writer.startElement("graphml", AttributesImpl({"xmlns": _NAMESPACE}))
        for field in NODES:
            name = "url" if field.name == "node" else field.name
            kind = {"attr.name": name, "attr.type": _TYPES[field.type]}
            _empty(writer, "key", {"id": name, "for": "node", **kind})
        alpha = {"for": "edge", "attr.name": "score", "attr.type": "double"}
        _empty(writer, "key", {"id": "alpha", **alpha})
        writer.startElement("graph", AttributesImpl({"edgedefault": "directed"}))
        _write_nodes(writer, tables)
        _write_edges(writer, tables)
        writer.endElement("graph")
        writer.endElement("graphml")
        writer.endDocument()


def _write_nodes(writer: XMLGenerator, tables: RunTables) -> None:
    number = 0
    for table in tables.nodes():
        for row in table.to_pylist():
            writer.startElement("node", AttributesImpl({"id": f"n{number}"}))
            for name, value in row.items():
                if value is not None:
                    _data(writer, "url" if name == "node" else name, value)
            writer.endElement("node")
            writer.characters("\n")
            number += 1


def _write_edges(writer: XMLGenerator, tables: RunTables) -> None:
    for page in tables.edges():
        for target, score in zip(page.targets.tolist(), page.scores.tolist(), strict=True):
            writer.startElement(
                "edge", AttributesImpl({"source": f"n{page.node}", "target": f"n{target}"})
            )
            _data(writer, "alpha", score)
            writer.endElement("edge")
            writer.characters("\n")


def _data(writer: XMLGenerator, key: str, value: Any) -> None:
    text = str(value).lower() if isinstance(value, bool) else str(value)
    writer.startElement("data", AttributesImpl({"key": key}))
    writer.characters(_FORBIDDEN.sub("\ufffd", text))
    writer.endElement("data")


def _empty(writer: XMLGenerator, name: str, attributes: dict[str, str]) -> None:
    writer.startElement(name, AttributesImpl(attributes))
    writer.endElement(name)
    writer.characters("\n")
