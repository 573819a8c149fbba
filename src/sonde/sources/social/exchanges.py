"""The requests of one visit to an API: each in its place in the windows, charged before it goes."""

from __future__ import annotations

import json
import time
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING, Any, NamedTuple

from sonde.errors import InputError
from sonde.net.exchange import FetchOutcome, FetchProblem, Response
from sonde.net.urls import origin_of
from sonde.protocols import Allowance
from sonde.records import Failure, Skip
from sonde.sources.facts import VisitEnded
from sonde.sources.social.description import PostsEndpoint, next_url, pick
from sonde.sources.social.windows import Statement, WindowPlace, statement_of

if TYPE_CHECKING:
    from sonde.sources.social.source import ApiSource


_NO_BUDGET = Skip("budget", retry=True)


class ApiAnswer(NamedTuple):
    """What an API has answered."""

    url: str
    data: Any
    response: Response


class _PlacedRequest:
    """The allowance of one request: each attempt takes a place in the windows, and is kept before
    it leaves. The first has its place; one more is made after a redirect, or when a server had
    closed the connection, and takes another."""

    def __init__(self, source: ApiSource, allowance: Allowance, place: WindowPlace) -> None:
        self._source = source
        self._allowance = allowance
        self._place = place
        self.sent: list[WindowPlace] = []

    def take(self) -> bool:
        windows, place = self._source.windows, self._place
        if self.sent:
            another = windows.take(place.endpoint, time.time(), place.token)
            if another is None:
                return False
            place = another
        if not self._allowance.take():
            if self.sent:
                windows.give_back(place)
            return False
        self.sent.append(place)
        keeper = self._source.keeper
        keeper.keep("windows", json.dumps(windows.state()).encode())
        keeper.commit()
        return True

    def receive(self, size: int) -> None:
        self._allowance.receive(size)

    def answered(self, statement: Statement | None, now: float) -> None:
        """The answer to the last attempt has come, or none will."""
        windows = self._source.windows
        if not self.sent:
            windows.give_back(self._place)
        for number, place in enumerate(self.sent, 1):
            windows.answered(place, now, statement if number == len(self.sent) else None)


class Exchanges:
    """The requests of one visit, each in its place in the windows."""

    def __init__(self, source: ApiSource, allowance: Allowance, first: str) -> None:
        self._source = source
        self._allowance = allowance
        self._first: str | None = first  # the endpoint that a place was reserved for

    def end(self) -> None:
        """The visit is over, in whatever way."""
        if self._first is not None:
            self._source.pace.unused(self._first)

    async def pages(
        self, endpoint: str, url: str, posts: PostsEndpoint
    ) -> AsyncIterator[ApiAnswer]:
        """The answers of an endpoint, page by page; those after the first may be missing."""
        here: str | None = url
        for number in range(self._source.pages):
            try:
                answer = await self.ask(endpoint, here or url)
            except VisitEnded:
                if not number:
                    raise
                return  # what came so far is worth telling
            yield answer
            items = pick(answer.data, posts.items)
            headers = answer.response.headers
            here = (
                next_url(posts.next, answer.url, answer.data, items, headers)
                if posts.next
                else None
            )
            if here is None:
                return

    async def ask(self, endpoint: str, url: str) -> ApiAnswer:
        """One request, as soon as a window has room for it."""
        source = self._source
        reserved = self._first == endpoint
        if reserved:
            self._first = None
        place = await source.pace.place(endpoint, first=reserved)
        request = _PlacedRequest(source, self._allowance, place)

        def gate(here: str, group: str, redirected: bool) -> str | None:
            # A token is for the server that it was given for.
            return None if origin_of(here) == source.server else "another server"

        got: FetchOutcome | None = None
        try:
            got = await source.polite.fetch(
                url, request, gate=gate, headers=source.headers(place.token)
            )
        finally:
            now = time.time()
            response = got.response if isinstance(got, FetchProblem) else got
            statement = None
            if response is not None:
                statement = statement_of(response.headers, response.status, now)
            request.answered(statement, now)
        source.pace.wake()
        return self._read(got, place)

    def _read(self, got: FetchOutcome, place: WindowPlace) -> ApiAnswer:
        if isinstance(got, FetchProblem):
            if got.reason == "budget":  # or no place for one more attempt
                raise VisitEnded(Failure("disconnected") if got.requests else _NO_BUDGET)
            if got.reason == "not-allowed":
                raise VisitEnded(Failure("leaves the server"))
            where = self._source.origin_of_token(place.token)
            if got.reason == "http-401" and where is not None:
                raise InputError(f"{self._source.server} refuses the token in {where}")
            raise VisitEnded(Failure(got.reason))
        if got.cut:
            raise VisitEnded(Failure("disconnected" if got.cut == "broken" else "too-large"))
        try:
            return ApiAnswer(got.url, json.loads(got.body), got)
        except (ValueError, RecursionError):
            raise VisitEnded(Failure("bad-response")) from None
