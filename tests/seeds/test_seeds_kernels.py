"""The compiled kernel and the same file run as plain Python agree to the last bit."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
import seeds_reference as reference
from hypothesis import given, settings
from hypothesis import strategies as st

from sonde.kernels.graphs import coverage
from sonde.seeds import LinkNetwork


@pytest.fixture(scope="module")
def plain() -> ModuleType:
    source = Path(coverage.__file__).with_name("coverage.py")
    spec = importlib.util.spec_from_file_location("plain_coverage", source)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_compiled_and_uncompiled_agree(plain: ModuleType, data: st.DataObject) -> None:
    links = data.draw(reference.small_graphs(12))
    network = reference.network(links)
    count, hops = network.nodes, data.draw(st.integers(0, 4))
    amounts = np.array(
        data.draw(st.lists(st.integers(-9, 9), min_size=count, max_size=count)), dtype=np.int64
    )
    draws = np.array(data.draw(st.lists(st.integers(0, count - 1), max_size=30)), dtype=np.int32)
    limit = data.draw(st.integers(1, 5))
    ours, theirs = (
        _everything(module, network, amounts, draws, hops, limit) for module in (coverage, plain)
    )
    for one, other in zip(ours, theirs, strict=True):
        assert np.array_equal(one, other)


def _everything(
    module: ModuleType,
    network: LinkNetwork,
    amounts: np.ndarray[Any, np.dtype[np.int64]],
    draws: np.ndarray[Any, np.dtype[np.int32]],
    hops: int,
    limit: int,
) -> list[Any]:
    count = network.nodes
    seen, queue = np.zeros(count, dtype=np.uint8), np.zeros(count, dtype=np.int32)
    into = np.zeros(count + 1, dtype=np.int64)
    sources = np.empty(len(network.targets), dtype=np.int32)
    module.reverse(network.indptr, network.targets, into, sources)
    balls = []
    for node in range(count):
        size = module.reach(network.indptr, network.targets, node, hops, seen, queue)
        balls += [size, *queue[:size].tolist()]
    everyone = np.arange(count, dtype=np.int32)
    net, gross, weights, hits, counts, later = np.zeros((6, count), dtype=np.int64)
    near, fresh = np.full(count, hops + 1, dtype=np.int32), np.zeros(count, dtype=np.int32)
    links = network.indptr, network.targets
    module.weigh(*links, amounts, everyone, hops, hops, near, seen, queue, net, gross)
    module.withdraw(into, sources, everyone, -amounts, hops, seen, queue, weights)
    # Gathered forward or backward, weights are the same sums.
    assert np.array_equal(net, weights)
    work = np.zeros(3, dtype=np.int64)
    used = module.sample(
        into, sources, draws, 0, amounts, hops, limit, seen, queue, hits, counts, work
    )
    covered = []
    for node in everyone[::3]:
        size = module.cover(*links, node, hops, near, queue, fresh)
        covered += [size, *fresh[:size].tolist()]
    left = np.where(near <= hops, 0, amounts)
    module.weigh(*links, left, everyone, 2, hops, near, seen, queue, later, gross)
    assert not seen.any()
    return [into, sources, balls, net, hits, counts, work, used, covered, near, later, gross]
