"""The Web as the tracker sees it: the crawl's own source, asked for one page at a time.

What differs from a crawl: a request also waits for the tracker's rate; a visit that was made
before is conditional; and a redirect to a page that is known is followed, because what matters is
where the page has gone.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING

from sonde.crawling.approach import Approach
from sonde.crawling.web import Web, WebSource
from sonde.sources.web.address import group_of
from sonde.sources.web.exchange import FetchProblem, Outcome

if TYPE_CHECKING:
    from sonde.protocols import Allowance

Wait = Callable[[], Awaitable[None]]
"""Returns when the rate allows another request."""


class PacedApproach(Approach):
    """An approach whose every request waits for the rate, once it is its turn with the host."""

    def __init__(self, source: WebSource, allowance: Allowance, url: str, wait: Wait) -> None:
        super().__init__(source, allowance, url)
        self._wait = wait

    async def allow(self, url: str) -> str | None:
        why = await super().allow(url)
        if why is None:
            await self._wait()
        return why

    async def _allow_robots(self, url: str) -> str | None:
        why = await super()._allow_robots(url)
        if why is None:
            await self._wait()
        return why


class TrackedKind(Web):
    """The kind of the source below: of the Web, for a tracker."""

    @property
    def makes(self) -> type[WebSource]:
        return TrackedWeb


class TrackedWeb(WebSource):
    """The crawl's source, for visits of pages that may have been visited before."""

    def known_elsewhere(self, url: str) -> bool:
        return False

    async def look(
        self,
        url: str,
        allowance: Allowance,
        wait: Wait,
        *,
        etag: str | None = None,
        modified: str | None = None,
    ) -> Outcome:
        """Fetch a page, unless it is as it was when it had this tag or this date."""
        self.pace.know(group_of(url))
        approach = PacedApproach(self, allowance, url, wait)
        turns = asyncio.create_task(self._serve_turns())
        try:
            answer = await self.client.fetch(
                url,
                take=approach.take,
                allow=approach.allow,
                limits=self.limits,
                wanted=self.wanted,
                etag=etag,
                last_modified=modified,
            )
            approach.answered(answer)
            if approach.refused and isinstance(answer, FetchProblem):  # a host's own budget
                return replace(answer, reason="not-allowed", detail=approach.refused)
            return answer
        finally:
            approach.end()
            turns.cancel()
            with suppress(asyncio.CancelledError):
                await turns

    async def _serve_turns(self) -> None:
        """Give hosts' turns to those who wait, as the driver does in a crawl."""
        woken = asyncio.Event()
        self.pace.wake = woken.set
        while True:
            self.pace.ready({})
            soonest = self.pace.next_time()
            left = 1.0 if soonest is None else soonest - time.monotonic()
            with suppress(TimeoutError):
                async with asyncio.timeout(min(1.0, max(0.001, left))):
                    await woken.wait()
            woken.clear()
