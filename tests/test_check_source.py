"""``check_source`` says what is wrong with a source, and lets a good one pass."""

from __future__ import annotations

import asyncio
import time
from typing import Any

import pytest

from sonde import Failure, Link, Skip, SourceError, Spend, Visit
from sonde.protocols import Allowance
from sonde.testing import check_source, source_checks


class Good:
    """Numbers that link to their double; two requests for even ones."""

    def __init__(self) -> None:
        self.closed = False

    async def visit(self, node: Any, allowance: Allowance) -> Any:
        if not allowance.take():
            return Skip("budget", retry=True)
        if not str(node).isdigit():
            return Failure("not a number")
        await asyncio.sleep(0.001)
        if int(node) % 2 == 0 and not allowance.take():
            return Visit(0.0)
        allowance.receive(10)
        return Visit(float(node), [Link(str(2 * int(node)), 1.0)], records=[node])

    def facts(self) -> Any:
        return {"visits": 3}

    def leave(self) -> None:
        self.left = True

    async def close(self) -> None:
        self.closed = True


def test_a_good_source_passes() -> None:
    source = Good()
    check_source(source, ["2", "3"])
    assert source.closed


def told(outcome: Any) -> type[Good]:
    """A source that answers with this, whatever it is asked."""

    class Told(Good):
        async def visit(self, node: Any, allowance: Allowance) -> Any:
            return outcome

    return Told


class Raises(Good):
    async def visit(self, node: Any, allowance: Allowance) -> Any:
        return Visit({"2": 1.0}[node])


class Ignores(Good):
    async def visit(self, node: Any, allowance: Allowance) -> Any:
        allowance.take()
        return Visit(1.0)


class Insists(Good):
    async def visit(self, node: Any, allowance: Allowance) -> Any:
        while not allowance.take():
            await asyncio.sleep(0.01)
        return Visit(1.0)


class Stubborn(Good):
    async def visit(self, node: Any, allowance: Allowance) -> Any:
        try:
            await asyncio.sleep(0.05)
        except BaseException:
            return Failure("interrupted")
        return Visit(1.0)


class Blocks(Good):
    async def visit(self, node: Any, allowance: Allowance) -> Any:
        time.sleep(0.3)
        return Visit(1.0)


class Plain(Good):
    def visit(self, node: Any, allowance: Allowance) -> Any:
        return Visit(1.0)


class Facts(Good):
    def facts(self) -> Any:
        return {"when": time}


class Leaves(Good):
    leave = b"state"  # type: ignore[assignment]


class Paced(Good):
    pace = object()


class Closed(Good):
    close = "yes"  # type: ignore[assignment]


@pytest.mark.parametrize(
    ("source", "why"),
    [
        (Good, "Good is a class"),
        (object(), "object has no visit method"),
        (Plain(), "must be a coroutine"),
        (Raises(), "raised KeyError.*is a Failure, not an error"),
        (told(None)(), "returned NoneType, not a Visit"),
        (told(Visit(-1.0))(), "the score is -1.0, not a finite number of 0 or more"),
        (told(Visit(float("nan")))(), "the score is nan"),
        (told(Visit("3"))(), "the score is '3', not a number"),  # type: ignore[arg-type]
        (told(Visit(1.0, ["a"]))(), "'a' among the links is not a Link"),  # type: ignore[list-item]
        (told(Visit(1.0, [Link(7)]))(), "a run keeps nodes as text"),
        (told(Visit(1.0, [Link("a", -2.0)]))(), "the score of the link to 'a' is -2.0"),
        (told(Visit(1.0, [Link("a", 1.0, 7)]))(), "the group 7 is not a text"),
        (told(Visit(1.0, records=[("a",)]))(), "is not a text or a number"),
        (told(Visit(1.0, spent=Spend(requests=3)))(), "spent 3 requests and took none"),
        (told(Failure(""))(), "a Failure without a reason"),
        (told(Failure("gone"))(), r"could visit none of the nodes given \(gone\)"),
        (Ignores(), "went on and returned a Visit after take"),
        (Insists(), "end it when take"),
        (Stubborn(), "goes on when it is cancelled"),
        (Facts(), "facts must give plain data"),
        (Leaves(), "leave is not a method"),
        (Paced(), "pace has no closed"),
        (Closed(), "close is not a method"),
    ],
)
def test_what_is_wrong_is_said(source: Any, why: str) -> None:
    with pytest.raises(SourceError, match=why):
        check_source(source, ["2"], patience=0.5 if isinstance(source, Insists) else 30)


def test_blocking_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(source_checks, "BLOCKED", 0.2)
    with pytest.raises(SourceError, match="blocked everything else"):
        check_source(Blocks(), ["2"])


def test_it_wants_nodes() -> None:
    with pytest.raises(SourceError, match="give some nodes"):
        check_source(Good(), [])
    with pytest.raises(SourceError, match="in a list"):
        check_source(Good(), "2")
