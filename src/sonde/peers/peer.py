"""The peer: a small server on TCP."""

from __future__ import annotations

import asyncio
import time
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from sonde.errors import InputError
from sonde.peers.query import Share, forward, handed_query_from
from sonde.peers.shared_folder import Holding, SharedFolder, promise
from sonde.sources.peers.messages import (
    ANSWER,
    LONGEST,
    NEIGHBOURS,
    RECORDS,
    REQUEST,
    ExchangeError,
    address_of,
    exchange,
    line_of,
    message_of,
    name_of,
    profile_from,
)

MOST_CONNECTIONS = 128
IDLE = 10.0
"""Seconds within which a request must come, and an answer be taken."""
GOSSIP = 10.0
"""Seconds between two looks at a neighbour's profile, and at the folder."""

_PROFILES = 2_000  # words remembered of a neighbour, whatever it says
_QUERIES = 10_000  # remembered, so that no query is spread twice
_TOPICS = 64  # whose holdings are remembered


class Peer:
    """Shares a folder at an address, and spreads queries to its neighbours.

    ``gossip`` is the time between two questions for a profile; ``log`` a file that gets a line for
    every message that this peer sends for a query, before it is sent.
    """

    def __init__(
        self,
        folder: SharedFolder,
        neighbours: Iterable[str] = (),
        *,
        host: str = "127.0.0.1",
        port: int = 0,
        gossip: float = GOSSIP,
        log: Path | None = None,
    ) -> None:
        self.folder = folder
        self.neighbours = list(dict.fromkeys(neighbours))
        for name in self.neighbours:
            if address_of(name) is None:
                raise InputError(f"not a peer: {name!r:.100} (an IP address and a port)")
        if len(self.neighbours) > NEIGHBOURS:
            raise InputError(f"a peer has at most {NEIGHBOURS} neighbours")
        if not gossip > 0:
            raise InputError(f"the time between two looks must be more than 0, not {gossip}")
        self.host = host
        self.port = port
        self.name = ""
        self.profiles: dict[str, dict[str, int]] = {}
        self.sent = 0  # messages for queries
        self.looks = 0  # at neighbours' profiles
        self.answered: Counter[str] = Counter()  # requests, by what was asked
        self._gossip = gossip
        self._log = log
        self._met: OrderedDict[str, None] = OrderedDict()
        self._holdings: OrderedDict[tuple[int, str], Holding] = OrderedDict()
        self._meetings: set[asyncio.Task[None]] = set()

    async def serve(self, ready: Callable[[str], None] = lambda name: None) -> None:
        """Answer until cancelled; ``ready`` is told the peer's name once it can be asked."""
        try:
            server = await asyncio.start_server(self._met_by, self.host, self.port, limit=REQUEST)
        except OSError as error:
            where = name_of(self.host, self.port)
            raise InputError(f"cannot listen at {where}: {error.strerror or error}") from None
        port = server.sockets[0].getsockname()[1]
        self.name = name_of(self.host, port)
        acquainting = asyncio.create_task(self._acquaint())
        try:
            ready(self.name)
            await asyncio.get_running_loop().create_future()
        finally:
            server.close()
            ending = [acquainting, *self._meetings]
            for task in ending:
                task.cancel()
            await asyncio.gather(*ending, return_exceptions=True)

    # -- neighbours ----------------------------------------------------------------------------

    async def _acquaint(self) -> None:
        """Ask neighbours for their profiles, the one first that was not asked for longest."""
        asked: dict[str, float] = {}
        while True:
            names = [name for name in self.neighbours if name != self.name]
            if names:
                name = min(names, key=lambda one: asked.get(one, 0.0))
                asked[name] = time.monotonic()
                self.looks += 1
                try:
                    message = await exchange(name, {"ask": "profile"}, timeout=IDLE)
                    self.profiles[name] = profile_from(message, _PROFILES)
                except ExchangeError:
                    pass  # what was known of it stays
            if len(asked) >= len(names):
                await asyncio.sleep(self._gossip)
                await asyncio.to_thread(self.folder.look)

    def remembered(self, topic: str) -> list[tuple[str, float]]:
        """The neighbours, with what the peer has cached about each."""
        return [
            (name, promise(self.profiles.get(name, {}), topic))
            for name in self.neighbours
            if name != self.name
        ]

    # -- requests ------------------------------------------------------------------------------

    def _met_by(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Somebody has connected. The tasks are kept here, so that none outlives the server."""
        meeting = asyncio.create_task(self._meet(reader, writer))
        self._meetings.add(meeting)
        meeting.add_done_callback(self._meetings.discard)

    async def _meet(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer one connection's requests, until it is silent, wrong or gone."""
        try:
            going = len(self._meetings) <= MOST_CONNECTIONS
            if not going:
                writer.write(line_of({"error": "busy"}))
            while going:
                async with asyncio.timeout(IDLE):
                    line = await reader.readline()
                if not line:
                    break
                try:
                    answer = await self._answer(message_of(line))
                except ValueError as error:
                    answer = line_of({"error": str(error)})
                    going = False
                writer.write(answer)
                async with asyncio.timeout(IDLE):
                    await writer.drain()
        except (TimeoutError, OSError, ValueError):
            pass  # silent, gone, or a line too long
        finally:
            writer.close()

    async def _answer(self, message: dict[str, Any]) -> bytes:
        asked = message.get("ask")
        if asked == "profile":
            answer = line_of({"words": self.folder.profile})
        elif asked == "relevance":
            answer = await self._relevance(message.get("topic"))
        elif asked == "spread":
            answer = await self._spread(message)
        elif asked == "about":
            answer = line_of(self.about())
        else:
            raise ValueError("unknown request")
        self.answered[asked] += 1
        return answer

    def about(self) -> dict[str, Any]:
        """What the peer says of itself."""
        return {
            "name": self.name,
            "files": len(self.folder),
            "neighbours": len(self.neighbours),
            "profiles": len(self.profiles),
            "answered": dict(self.answered),
            "sent": self.sent,
            "looks": self.looks,
        }

    async def _holding(self, topic: object) -> Holding:
        if not isinstance(topic, str) or not 0 < len(topic) <= LONGEST:
            raise ValueError(f"a topic is a text of at most {LONGEST} characters")
        key = (self.folder.edition, topic)
        found = self._holdings.get(key)
        if found is None:
            found = await asyncio.to_thread(self.folder.holding, topic)
            self._holdings[key] = found
            if len(self._holdings) > _TOPICS:
                self._holdings.popitem(last=False)
        return found

    async def _relevance(self, topic: object) -> bytes:
        holding = await self._holding(topic)
        answer = {
            "score": holding.score,
            "neighbours": self.remembered(str(topic)),
            "files": holding.files[:20],
            "records": holding.records[:RECORDS],
        }
        return line_of(answer)

    async def _spread(self, message: dict[str, Any]) -> bytes:
        handed = handed_query_from(message)
        query = handed.query
        until = time.monotonic() + handed.patience
        if query.identity in self._met:
            return line_of({"sent": 0, "lost": 0, "answers": []})
        self._met[query.identity] = None
        if len(self._met) > _QUERIES:
            self._met.popitem(last=False)
        holding = await self._holding(query.topic)
        share = Share(
            handed.messages,
            self.name,
            holding.score,
            self.remembered(query.topic),
            known=handed.known,
            estimator=query.estimator,
            width=query.width,
        )
        await forward(share, query, max(0.0, until - time.monotonic()), self._note)
        own = (self.name, holding.score, holding.records[:RECORDS])
        answers = [own, *((name, *found) for name, found in share.answers.items())]
        told = {"sent": share.sent, "lost": share.lost}
        line = line_of({**told, "answers": answers})
        if len(line) > ANSWER:
            line = line_of({**told, "answers": [(name, score, ()) for name, score, _ in answers]})
        return line

    def _note(self, name: str) -> None:
        self.sent += 1
        if self._log is not None:
            with self._log.open("a", encoding="ascii") as log:
                log.write(f"{name}\n")
