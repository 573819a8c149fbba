"""The known graph of a folder: of a recorded graph, or of a crawl's own run."""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np

from sonde.seeds.known_graph import KnownGraph
from sonde.sources.graph import Graph
from sonde.store.export import export
from sonde.store.reader import DATABASE, RunReader

# A page that was fetched and then recognised as another one's twin is settled as a skip, or, when
# it only resembles another, as a visit with a flag.
_FLAGS = """
SELECT coalesce(max(outcome = 'visit' OR reason = 'duplicate'), 0),
       coalesce(max(reason = 'duplicate' OR instr(flags, 'near-duplicate') > 0), 0)
FROM nodes
LEFT JOIN leases ON leases.node = nodes.number
LEFT JOIN pages ON pages.lease = leases.number
GROUP BY nodes.number ORDER BY nodes.number
"""


def known_of(folder: Path) -> KnownGraph:
    """The graph of a folder; from a run also which pages were crawled, and which repeat others."""
    if not (folder / DATABASE).exists():
        return KnownGraph.of(Graph.load(folder))
    with RunReader(folder) as run, tempfile.TemporaryDirectory() as scratch:
        export(run, graph=Path(scratch) / "graph")
        graph = Graph.load(Path(scratch) / "graph")
        flags = np.array(list(run.rows(_FLAGS)), dtype=bool).reshape(-1, 2)
    return KnownGraph.of(graph, crawled=flags[:, 0].copy(), duplicate=flags[:, 1].copy())
