"""The hot loops execute as many instructions as they did: one variable that has lost its C type
cannot pass unnoticed, and no clock is read to see it."""

from __future__ import annotations

import json

import instructions
import pytest

from sonde import kernels

SAME = 1.1
"""What another state of the allocator may change, with the compilers that counted."""
OTHER = 1.5
"""What other compilers may change. A lost type costs more where it matters."""


@pytest.fixture(scope="module")
def counted() -> dict[str, int]:
    if (why := instructions.missing()) is not None:
        pytest.skip(why)
    if not kernels.compiled():
        pytest.skip("the kernels are not compiled")
    return instructions.count()


@pytest.mark.slow
def test_no_hot_loop_executes_more_instructions_than_it_did(counted: dict[str, int]) -> None:
    kept = json.loads(instructions.EXPECTED.read_text(encoding="utf-8"))
    bound = SAME if kept["toolchain"] == instructions.toolchain() else OTHER
    more = {
        kernel: f"{counted.get(kernel, 0):,} instead of {expected:,}"
        for kernel, expected in kept["instructions"].items()
        if not expected / bound <= counted.get(kernel, 0) <= expected * bound
    }
    assert not more, "on purpose? python benchmarks/instructions.py --write"


@pytest.mark.slow
def test_every_hot_loop_is_expected_to_execute_something(counted: dict[str, int]) -> None:
    kept = json.loads(instructions.EXPECTED.read_text(encoding="utf-8"))["instructions"]
    assert {name for name, count in counted.items() if count >= 2 * instructions.HOT} <= set(kept)
