"""What a source leaves with its run, by part, and finds there again."""

from __future__ import annotations

from collections.abc import Iterator

from sonde.crawling.retelling import visits_of
from sonde.records import Node, Visit
from sonde.store.run import Run


class RunKeeper:
    """A ``Keeper`` over a run. The parts of a source are told apart from the crawl's own."""

    def __init__(self, run: Run) -> None:
        self._run = run

    def recalled(self, part: str) -> bytes | None:
        row = self._run.database.execute(
            "SELECT state FROM snapshots WHERE part = ? ORDER BY log_seq DESC", (_part(part),)
        ).fetchone()
        return None if row is None else bytes(row[0])

    def visits(self) -> Iterator[tuple[Node, Visit]]:
        return visits_of(self._run.database)

    def keep(self, part: str, state: bytes) -> None:
        self._run.journal.snapshot(_part(part), state)

    def commit(self) -> None:
        self._run.journal.commit()


def _part(part: str) -> str:
    return f"source:{part}"
