"""The Web as the tracker sees it: the crawl's own source, asked for one page at a time.

What differs from a crawl: a request also waits for the tracker's rate; a visit that was made
before is conditional; and a redirect to a page that is known is followed, because what matters is
where the page has gone.
"""

from __future__ import annotations

from sonde.net.exchange import FetchOutcome
from sonde.net.polite_fetch import Wait
from sonde.protocols import Allowance
from sonde.sources.context import SourceContext
from sonde.sources.kind import NoOptions
from sonde.sources.web.kind import Web
from sonde.sources.web.source import WebSource


class TrackedKind(Web):
    """The kind of the source below: of the Web, for a tracker."""

    def make(self, options: NoOptions, context: SourceContext) -> WebSource:
        return TrackedWeb(context)


class TrackedWeb(WebSource):
    """The crawl's source, for visits of pages that may have been visited before."""

    async def look(
        self,
        url: str,
        allowance: Allowance,
        wait: Wait,
        *,
        etag: str | None = None,
        modified: str | None = None,
    ) -> FetchOutcome:
        """Fetch a page, unless it is as it was when it had this tag or this date."""
        return await self.polite.fetch(
            url,
            allowance,
            gate=self._redirect_gate,
            wait=wait,
            wanted=self.wanted,
            etag=etag,
            last_modified=modified,
        )

    def _redirect_gate(self, url: str, group: str, redirected: bool) -> str | None:
        if not redirected:
            return None
        if not self.scope.has(url, group):
            return "scope"
        return None if self.traps.verdict(url, group) is None else "trap"
