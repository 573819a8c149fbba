"""The site of a form: its pages, fetched politely one at a time, and its pace for the driver."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Collection, Mapping
from dataclasses import astuple
from types import MappingProxyType

from sonde.errors import InputError
from sonde.net.charset import decode
from sonde.net.client import Client
from sonde.net.exchange import FetchOutcome, FetchProblem, Limits, Response
from sonde.net.hosts import Hosts
from sonde.net.polite_fetch import PoliteFetch
from sonde.net.robots import RobotsRecord
from sonde.net.turns import Turns
from sonde.net.urls import group_of, origin_of
from sonde.protocols import Allowance, Keeper
from sonde.records import Failure, Group, Skip
from sonde.sources.facts import VisitEnded

_TYPES = frozenset(("text/html", "application/xhtml+xml", "", "text/plain"))


class SitePace:
    """The pace of a single site: nodes have no groups, all of them wait for one host."""

    closed: Mapping[Group, str] = MappingProxyType({})

    def __init__(self, turns: Turns, host: str) -> None:
        self._turns = turns
        self._waiting: dict[Group, int] = {host: 1}
        turns.know(host)

    @property
    def wake(self) -> Callable[[], None]:
        """What the host's turns call when the driver should look again."""
        return self._turns.wake

    @wake.setter
    def wake(self, wake: Callable[[], None]) -> None:
        self._turns.wake = wake

    def know(self, group: Group) -> None:
        """There is one."""

    def ready(self, waiting: dict[Group, int]) -> Collection[Group] | None:
        """All nodes or none."""
        return self._turns.ready(self._waiting)

    def reserve(self, group: Group) -> None:
        """A visit waits for its turn before each request."""

    def next_time(self) -> float | None:
        """When the host may be asked."""
        return self._turns.next_time()


class FormSite:
    """The site that a form is on. Only its own pages are fetched."""

    def __init__(
        self, url: str, client: Client, hosts: Hosts, limits: Limits, keeper: Keeper
    ) -> None:
        turns = Turns(hosts)
        self.client = client
        self.pace = SitePace(turns, group_of(url))
        self._hosts = hosts
        self._keeper = keeper
        self._polite = PoliteFetch(client, turns, limits=limits, on_robots=self._keep_robots)

    def recall(self) -> None:
        """Take in the robots.txt that was kept."""
        kept = self._keeper.recalled("robots")
        if kept is not None:
            record = RobotsRecord(*json.loads(kept))
            now = time.monotonic()
            host = self._hosts.add(group_of(record.origin + "/"), now)
            self._hosts.restore_robots(host, record, now)

    def _keep_robots(self, answer: FetchOutcome, record: RobotsRecord | None) -> None:
        if record is not None:
            self._keeper.keep("robots", json.dumps(astuple(record)).encode())

    async def page(
        self, url: str, form: bytes | None, allowance: Allowance
    ) -> tuple[str, Response]:
        """The HTML at a URL, and the response that it came in."""
        home = origin_of(url)

        def gate(here: str, group: str, redirected: bool) -> str | None:
            return None if origin_of(here) == home else "another site"

        got = await self._polite.fetch(
            url, allowance, gate=gate, form=form, wanted=_TYPES.__contains__
        )
        if isinstance(got, Response):
            return decode(got.body, got.content_type)[0], got
        raise VisitEnded(_ended(url, got))


def _ended(url: str, problem: FetchProblem) -> Failure | Skip:
    if problem.reason == "budget":
        return Skip("budget", retry=True)
    if problem.reason != "not-allowed":
        return Failure(problem.reason)
    if problem.detail.startswith("robots"):
        raise InputError(f"{url}: the robots.txt of the site does not allow it to be asked for")
    return Failure("leaves the site")
