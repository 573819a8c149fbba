"""Any bytes are read or refused; `make fuzz` tries more of them, with kernels that are watched."""

from __future__ import annotations

import pytest
from mutations import TARGETS, attacked


@pytest.mark.parametrize("name", TARGETS)
def test_changed_bytes_are_read_or_refused(name: str) -> None:
    assert list(attacked(name, 80, "the same each time")) == []
