"""The requests of one visit to an API: each in its place in the windows, charged before it goes."""

from __future__ import annotations

import json
import time
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING, Any, NamedTuple

from ...errors import InputError
from ...protocols import Allowance
from ...records import Failure, Skip
from ..web.address import origin_of
from ..web.exchange import FetchProblem, Response
from .description import Posts
from .paging import next_url
from .picking import pick
from .statements import statement_of
from .windows import Place

if TYPE_CHECKING:
    from .source import ApiSource


_NO_BUDGET = Skip("budget", retry=True)


class Answer(NamedTuple):
    """What an API has answered."""

    url: str
    data: Any
    response: Response


class Stopped(Exception):
    """The visit ends here, with this outcome."""

    def __init__(self, outcome: Failure | Skip) -> None:
        self.outcome = outcome


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

    async def pages(self, endpoint: str, url: str, posts: Posts) -> AsyncIterator[Answer]:
        """The answers of an endpoint, page by page; those after the first may be missing."""
        here: str | None = url
        for number in range(self._source.pages):
            try:
                answer = await self.ask(endpoint, here or url)
            except Stopped:
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

    async def ask(self, endpoint: str, url: str) -> Answer:
        """One request, as soon as a window has room for it."""
        source = self._source
        reserved = self._first == endpoint
        if reserved:
            self._first = None
        place = await source.pace.place(endpoint, first=reserved)
        sent: list[Place] = []

        def take() -> bool:
            # The first attempt has its place; one more is made after a redirect, or when a server
            # had closed the connection, and takes another.
            another = place
            if sent:
                found = source.windows.take(endpoint, time.time(), place.token)
                if found is None:
                    return False
                another = found
            if not self._allowance.take():
                if sent:
                    source.windows.give_back(another)
                return False
            sent.append(another)
            source.keeper.keep("windows", json.dumps(source.windows.state()).encode())
            source.keeper.commit()
            return True

        async def allow(here: str) -> str | None:
            # A token is for the server that it was given for.
            return None if origin_of(here) == source.server else "another server"

        try:
            got = await source.client.fetch(
                url,
                take=take,
                allow=allow,
                limits=source.limits,
                headers=source.headers(place.token),
            )
        except BaseException:
            for each in sent:
                source.windows.answered(each, time.time())
            raise
        now = time.time()
        response = got if isinstance(got, Response) else got.response
        statement = None
        if response is not None:
            statement = statement_of(response.headers, response.status, now)
        if not sent:
            source.windows.give_back(place)
        for number, each in enumerate(sent, 1):
            source.windows.answered(each, now, statement if number == len(sent) else None)
        source.pace.wake()
        self._allowance.receive(got.received)
        return self._read(got, place)

    def _read(self, got: Response | FetchProblem, place: Place) -> Answer:
        if isinstance(got, FetchProblem):
            if got.reason == "budget":  # or no place for one more attempt
                raise Stopped(Failure("disconnected") if got.requests else _NO_BUDGET)
            if got.reason == "not-allowed":
                raise Stopped(Failure("leaves the server"))
            where = self._source.origin_of_token(place.token)
            if got.reason == "http-401" and where is not None:
                raise InputError(f"{self._source.server} refuses the token in {where}")
            raise Stopped(Failure(got.reason))
        if got.cut:
            raise Stopped(Failure("disconnected" if got.cut == "broken" else "too-large"))
        try:
            return Answer(got.url, json.loads(got.body), got)
        except (ValueError, RecursionError):
            raise Stopped(Failure("bad-response")) from None
