"""One request to the site of a form: its turn, its robots.txt, its grant."""

from __future__ import annotations

import json
import time
from dataclasses import replace

from ...errors import InputError
from ...protocols import Allowance, Keeper
from ...records import Failure, Skip
from ..web.address import origin_of
from ..web.charset import decode
from ..web.client import Client
from ..web.exchange import FetchProblem, Limits, Outcome, Response
from ..web.politeness import retry_after
from ..web.robots import RobotsCache, RobotsRecord, robots_url
from .spacing import Spacing

_TROUBLE = frozenset(("timeout", "connect", "disconnected", "slow", "http-429", "http-503"))
_HTML = frozenset(("text/html", "application/xhtml+xml", ""))


class Stopped(Exception):
    """The visit ends here, with this outcome."""

    def __init__(self, outcome: Failure | Skip) -> None:
        self.outcome = outcome


class Site:
    """The site that a form is on: asked politely, one page at a time."""

    def __init__(self, client: Client, pace: Spacing, limits: Limits, keeper: Keeper) -> None:
        self.client = client
        self.pace = pace
        self.limits = limits
        self.keeper = keeper
        self.robots = RobotsCache()

    def recall(self) -> None:
        """Take in the robots.txt that was kept."""
        kept = self.keeper.recalled("robots")
        if kept is not None:
            self.robots.restore([RobotsRecord(*json.loads(kept))])
            self._heed_delay(json.loads(kept)[0])

    async def page(
        self, url: str, form: bytes | None, allowance: Allowance
    ) -> tuple[str, Response]:
        """The HTML at a URL, and the response that it came in."""
        await self._allowed(url, allowance)
        got = await self._sent(url, form, allowance, self.limits)
        if isinstance(got, FetchProblem):
            if got.reason == "budget":
                raise Stopped(Skip("budget", retry=True))
            if got.reason == "not-allowed":
                raise Stopped(Failure("leaves the site"))
            raise Stopped(Failure(got.reason))
        return decode(got.body, got.content_type)[0], got

    async def _sent(
        self, url: str, form: bytes | None, allowance: Allowance, limits: Limits
    ) -> Outcome:
        home = origin_of(url)

        async def allow(here: str) -> str | None:
            return None if origin_of(here) == home else "another site"

        await self.pace.turn()
        trouble, wait = True, None
        try:
            got = await self.client.fetch(
                url,
                take=allowance.take,
                allow=allow,
                limits=limits,
                form=form,
                wanted=lambda media: media in _HTML or media == "text/plain",
            )
            allowance.receive(got.received)
            trouble = isinstance(got, FetchProblem) and got.reason in _TROUBLE
            response = got.response if isinstance(got, FetchProblem) else None
            if trouble and response is not None:
                wait = retry_after(response.headers.get("Retry-After"), time.time())
            return got
        finally:
            self.pace.finished(trouble=trouble, retry_after=wait)

    async def _allowed(self, url: str, allowance: Allowance) -> None:
        """Learn the rules of the site first, and heed them."""
        allowed = self.robots.allowed(url, time.time())
        if allowed is None:
            limits = replace(self.limits, body=min(512 * 1024, self.limits.body))
            answer = await self._sent(robots_url(url), None, allowance, limits)
            record = self.robots.note(origin_of(url), answer, time.time())
            if record is None:
                raise Stopped(Skip("budget", retry=True))
            self.keeper.keep(
                "robots",
                json.dumps(
                    [record.origin, record.verdict, record.text, record.fetched, record.expires,
                     record.why]
                ).encode(),
            )  # fmt: skip
            self._heed_delay(record.origin)
            allowed = self.robots.allowed(url, time.time())
        if not allowed:
            raise InputError(f"{url}: the robots.txt of the site does not allow it to be asked for")

    def _heed_delay(self, origin: str) -> None:
        delay = self.robots.delay(origin)
        if delay is not None:
            self.pace.politeness.slow_down(self.pace.host, delay, time.monotonic())
