"""Small raw material, and graphs read back as plain Python."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from sonde.data import Recipe, build

SITEINFO = (
    "<siteinfo><namespaces>"
    '<namespace key="0" case="first-letter"/>'
    '<namespace key="2" case="first-letter">User</namespace>'
    '<namespace key="6" case="first-letter">File</namespace>'
    '<namespace key="14" case="first-letter">Category</namespace>'
    "</namespaces></siteinfo>"
)


def page(title: str, text: str, ns: int = 0, extra: str = "") -> str:
    """One page of an export; the text must be escaped already."""
    return (
        f"<page><title>{title}</title><ns>{ns}</ns>{extra}"
        f"<revision><text xml:space='preserve'>{text}</text></revision></page>\n"
    )


def export(*pages: str) -> str:
    """A whole export."""
    return f"<mediawiki>\n{SITEINFO}\n{''.join(pages)}</mediawiki>\n"


def made(recipe: Recipe, folder: Path, jobs: int = 1) -> tuple[dict[Any, float], Any, Any]:
    """Build one graph: scores by node, scores by edge, and what about.json says."""
    built = build(recipe, folder, jobs=jobs)
    nodes, edges = graph_in(built.folders[0])
    about = json.loads((built.folders[0] / "about.json").read_text(encoding="utf-8"))
    return nodes, edges, about


def graph_in(folder: Path) -> tuple[dict[Any, float], dict[Any, float]]:
    """The rows of a graph folder."""
    nodes = pq.read_table(folder / "nodes.parquet").to_pylist()
    edges = pq.read_table(folder / "edges.parquet").to_pylist()
    scores = {(row["source"], row["target"]): row["score"] for row in edges}
    assert len(scores) == len(edges), "parallel edges were left over"
    return {row["node"]: row["score"] for row in nodes}, scores
