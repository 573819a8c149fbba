"""Real graphs, where they have been put beside the repository."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest
from graph_reference import same

from sonde.sources.graph import Graph

DATA = Path(__file__).resolve().parents[4] / "shared" / "data"


@pytest.mark.skipif(
    not (DATA / "mentions-graph-edges.tsv.xz").exists(),
    reason="the shared data is not beside the repository",
)
def test_mention_graph(tmp_path: Path) -> None:
    for stem in ("nodes", "edges"):
        shutil.copy(DATA / f"mentions-graph-{stem}.tsv.xz", tmp_path / f"{stem}.tsv.xz")
    graph = Graph.load(tmp_path)
    assert (graph.node_count, graph.edge_count) == (310_055, 1_613_894)
    happy = graph.node_columns["happy"].to_numpy(zero_copy_only=False)
    assert np.count_nonzero(happy.astype(np.int64)) == 8_082
    graph.save(tmp_path / "saved")
    assert same(graph, Graph.load(tmp_path / "saved"))
