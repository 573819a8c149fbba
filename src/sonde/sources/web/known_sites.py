"""Known sites: what a run has learned of the main text of its hosts, kept with it and found again.

Every so many pages the state of all hosts that have changed is kept. Later pages are read again
when a run is taken up: from the archive, or from the table ``unkept``, which has those pages that
are not in the archive as they were read, until the next state is kept. So a run goes on with what
it had learned, to the last word. Where a page was taken out of the run since, it is not learned
again.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import ClassVar

from sonde.protocols import Keeper, KeptPage
from sonde.sources.main_text import HeldPage, MainText, SiteTemplates, pack_page, unpack_page
from sonde.sources.page import Page


class KnownSites:
    """The sites of a run. ``pages`` counts those that were learned."""

    TABLES: ClassVar[Mapping[str, str]] = {
        "sites": "(host TEXT PRIMARY KEY, state BLOB NOT NULL) WITHOUT ROWID",
        "unkept": "(lease INTEGER PRIMARY KEY, page BLOB NOT NULL)",
    }

    def __init__(self, keeper: Keeper) -> None:
        self.judge = (sites := SiteTemplates()).judge
        self.hold = sites.hold
        self._sites = sites
        self._keeper = keeper
        self._unkept: dict[int, bytes] = {}

    def unkept(self, lease: int, page: Page) -> None:
        """A page that was learned is not in the archive as it was read."""
        self._keeper.write("unkept", [(lease, pack_page(page))])

    def keep(self) -> None:
        """Keep the state of all hosts, from the next commit on."""
        self._keeper.write("sites", list(self._sites.changed()))
        self._keeper.clear("unkept")
        self._keeper.keep("sites", json.dumps(self._sites.order()).encode())

    def recall(self) -> None:
        """Take in the state that was kept last."""
        order = self._keeper.recalled("sites")
        if order is not None:
            states = {str(host): bytes(state) for host, state in self._keeper.rows("sites")}  # type: ignore[arg-type]
            self._sites.restore(json.loads(order), states)
        self._unkept = {int(lease): bytes(page) for lease, page in self._keeper.rows("unkept")}  # type: ignore[arg-type]

    def learn_again(
        self, kept: KeptPage, archived: Callable[[KeptPage], Page | None]
    ) -> tuple[Page, MainText] | None:
        """Learn a page of the log that came after the state that was kept, from the table or from
        what ``archived`` reads; ``None`` where the run has it no more."""
        packed = self._unkept.pop(kept.lease, None)
        page = archived(kept) if packed is None else unpack_page(packed)
        flags = kept.flags.split()
        if page is None or "noindex" in flags:
            return None
        page, main = self.judge(page)
        told = None if "near-duplicate" in flags else kept.score
        self.hold(HeldPage(kept.lease, kept.node, page, told))
        return page, main
