"""The Chrome DevTools Protocol: commands to a browser, and its events, over one WebSocket."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping
from typing import Any

import aiohttp

Listener = Callable[[str, Mapping[str, Any]], None]
"""Told the name of an event and its parameters."""

_MESSAGE = 64 * 1024 * 1024  # bytes: a page of the largest size, with room for its quoting


class DevToolsError(Exception):
    """The browser refused a command, or is gone."""


class DevTools:
    """A connection to a browser. Every target that is attached to has a session of its own."""

    def __init__(
        self, http: aiohttp.ClientSession, socket: aiohttp.ClientWebSocketResponse
    ) -> None:
        self._http = http
        self._socket = socket
        self._number = 0
        self._waiting: dict[int, asyncio.Future[dict[str, Any]]] = {}
        self._listeners: dict[str, Listener] = {}
        self._reading = asyncio.create_task(self._read())

    @classmethod
    async def connect(cls, address: str) -> DevTools:
        """Connect to a browser at a ``ws://`` address."""
        http = aiohttp.ClientSession()
        try:
            socket = await http.ws_connect(address, max_msg_size=_MESSAGE, compress=0)
        except (aiohttp.ClientError, OSError) as error:
            await http.close()
            raise DevToolsError(f"no browser answers at {address}: {error}") from None
        return cls(http, socket)

    @property
    def closed(self) -> bool:
        """Whether the browser is gone."""
        return self._reading.done()

    def listen(self, session: str, listener: Listener | None) -> None:
        """Have somebody told the events of a session, the browser's own being ``""``; nobody any
        more with ``None``."""
        if listener is None:
            self._listeners.pop(session, None)
        else:
            self._listeners[session] = listener

    async def send(
        self, method: str, parameters: Mapping[str, Any] | None = None, session: str = ""
    ) -> dict[str, Any]:
        """Give a command; its result. Raises ``DevToolsError``."""
        if self.closed:
            raise DevToolsError("the browser is gone")
        self._number += 1
        number = self._number
        message: dict[str, Any] = {"id": number, "method": method, "params": parameters or {}}
        if session:
            message["sessionId"] = session
        answer: asyncio.Future[dict[str, Any]] = asyncio.get_running_loop().create_future()
        self._waiting[number] = answer
        try:
            await self._socket.send_str(json.dumps(message))
            return await answer
        except (aiohttp.ClientError, OSError) as error:
            raise DevToolsError(f"the browser is gone: {error}") from None
        finally:
            self._waiting.pop(number, None)

    async def close(self) -> None:
        """Close the connection."""
        self._reading.cancel()
        await asyncio.gather(self._reading, return_exceptions=True)
        await self._socket.close()
        await self._http.close()

    async def _read(self) -> None:
        try:
            async for message in self._socket:
                if message.type is not aiohttp.WSMsgType.TEXT:
                    break
                self._take(json.loads(message.data))
        finally:
            for answer in self._waiting.values():
                if not answer.done():
                    answer.set_exception(DevToolsError("the browser is gone"))

    def _take(self, message: dict[str, Any]) -> None:
        answer = self._waiting.get(message.get("id", 0))
        if answer is not None:
            if answer.done():
                return
            error = message.get("error")
            if error is None:
                answer.set_result(message.get("result", {}))
            else:
                answer.set_exception(DevToolsError(str(error.get("message", error))[:300]))
            return
        listener = self._listeners.get(message.get("sessionId", ""))
        if listener is not None and "method" in message:
            listener(message["method"], message.get("params", {}))
