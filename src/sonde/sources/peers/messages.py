"""The protocol between peers: JSON lines over TCP.

A request is one line, its answer is one line; a connection may carry several, one after the other.
Every line is an object with ``"sonde": 1``. There are three requests:

    {"sonde": 1, "ask": "relevance", "topic": "sea level, tide"}
    {"sonde": 1, "score": 2.4, "neighbours": [["127.0.0.1:7002", 1.7], ...],
     "files": ["brest.txt", ...], "records": ["9f86d081884c7d65", ...]}

    {"sonde": 1, "ask": "profile"}
    {"sonde": 1, "words": {"tide": 12, ...}}

    {"sonde": 1, "ask": "spread", "query": "5f2a...", "topic": "tide", "share": 12,
     "estimator": "e", "width": 3, "known": ["127.0.0.1:7001"], "patience": 4.0}
    {"sonde": 1, "sent": 9, "lost": 0, "answers": [["127.0.0.1:7002", 2.4, ["9f86..."]], ...]}

``score`` is what the peer's own files are worth for the topic, the number beside a neighbour what
the peer remembers of that neighbour, ``records`` are digests of the files that match. A ``spread``
hands over a share of messages; the answer says how many of them were sent, how many were handed on
and never accounted for, and what they brought; an empty list of answers means that this query has
been here before. What a peer will not answer it answers with ``{"sonde": 1, "error": "why"}``, and
hangs up.
"""

from __future__ import annotations

import asyncio
import contextlib
import ipaddress
import json
import math
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from sonde.system import is_starved, no_descriptors
from sonde.whole_text import whole

VERSION = 1
REQUEST = 65_536
"""The longest line of a request, in bytes."""
ANSWER = 1_048_576
"""The longest line of an answer."""
NEIGHBOURS = 256
"""More neighbours than this in one answer are not taken."""
RECORDS = 1_000
"""More records than this in one answer are not taken."""
HIGHEST = 32.0
"""No honest score is higher: 1 + ln x for all the words there are is less."""
LONGEST = 1_000
"""A topic, a word or the name of a file is not longer."""

REASONS = {
    "not-json": "the peer answered with something that is not JSON",
    "not-sonde": "the peer answered in another protocol, or another version of it",
    "too-long": "the peer's answer did not end",
    "nonsense": "the peer's answer cannot be true, or has no score",
    "refused": "the peer would not answer",
    "doubtful": "only peers whose neighbours are not there have named it",
}
"""Why a peer was not visited, besides the reasons of any connection."""

_NAME = re.compile(r"(?:\[([0-9A-Fa-f:.]{2,45})\]|([0-9.]{7,15})):([1-9]\d{0,4})")


class ExchangeError(Exception):
    """An exchange that brought nothing; ``delivered`` says whether the request may have arrived."""

    def __init__(self, reason: str, *, delivered: bool) -> None:
        super().__init__(reason)
        self.reason = reason
        self.delivered = delivered


@dataclass(frozen=True, slots=True)
class PeerAnswer:
    """What a peer says of itself for a topic, once it has been checked."""

    score: float
    neighbours: tuple[tuple[str, float], ...]
    files: tuple[str, ...]
    records: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SpreadAnswer:
    """What came of a share of messages: ``sent`` for certain, ``lost`` at the most besides."""

    sent: int
    lost: int
    answers: tuple[tuple[str, float, tuple[str, ...]], ...]


# -- names ---------------------------------------------------------------------------------------


def address_of(name: str) -> tuple[str, int] | None:
    """Host and port of a peer's name; ``None`` for what is not one."""
    found = _NAME.fullmatch(name)
    if found is None or int(found[3]) > 65_535:
        return None
    host = found[1] or found[2]
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return None
    if (address.version == 6) != bool(found[1]) or str(address) != host:
        return None  # one spelling for one peer
    return host, int(found[3])


def name_of(host: str, port: int) -> str:
    """The name of the peer at an address."""
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def reach_of(name: str) -> str:
    """Where a peer is: loopback, private, open, or nowhere that one can ask."""
    address = address_of(name)
    if address is None:
        return "nowhere"
    ip = ipaddress.ip_address(address[0])
    if isinstance(ip, ipaddress.IPv6Address) and ip.ipv4_mapped is not None:
        return "nowhere"
    if ip.is_loopback:
        return "loopback"
    if ip.is_multicast or ip.is_unspecified or ip.is_link_local:
        return "nowhere"
    return "open" if ip.is_global else "private"


# -- lines ---------------------------------------------------------------------------------------


def line_of(message: dict[str, Any]) -> bytes:
    """A message as it is sent."""
    return json.dumps({"sonde": VERSION, **message}, separators=(",", ":")).encode() + b"\n"


def message_of(line: bytes) -> dict[str, Any]:
    """A line as it was received; ``ValueError`` says in a word what is wrong with it."""
    try:
        message = json.loads(line)
    except (ValueError, RecursionError):
        raise ValueError("not-json") from None
    if not isinstance(message, dict) or message.get("sonde") != VERSION:
        raise ValueError("not-sonde")
    return message


async def exchange(
    name: str,
    request: dict[str, Any],
    *,
    timeout: float,
    limit: int = ANSWER,
    receive: Callable[[int], None] = lambda size: None,
) -> dict[str, Any]:
    """Send one request and read its answer, within a time and a length; ``receive`` is told how
    many bytes came."""
    address = address_of(name)
    if address is None:
        raise ExchangeError("not-a-peer", delivered=False)
    writer = None
    try:
        async with asyncio.timeout(timeout):
            reader, writer = await asyncio.open_connection(*address, limit=limit)
            writer.write(line_of(request))
            await writer.drain()
            line = await reader.readline()
            receive(len(line))
    except TimeoutError:
        raise ExchangeError("timeout", delivered=writer is not None) from None
    except ValueError:  # longer than the limit
        receive(limit)
        raise ExchangeError("too-long", delivered=True) from None
    except OSError as error:
        if is_starved(error):
            raise no_descriptors() from None
        reason = "connect" if writer is None else "disconnected"
        raise ExchangeError(reason, delivered=writer is not None) from None
    finally:
        if writer is not None:
            writer.close()
            with contextlib.suppress(OSError):
                writer.transport.abort()
    if not line.endswith(b"\n"):
        raise ExchangeError("disconnected", delivered=True)
    try:
        answer = message_of(line)
    except ValueError as error:
        raise ExchangeError(str(error), delivered=True) from None
    if "error" in answer:
        raise ExchangeError("refused", delivered=True)
    return answer


# -- answers, checked ----------------------------------------------------------------------------


def score_from(value: object) -> float | None:
    """A score that can be believed, no higher than any honest one; ``None`` for nonsense."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    return min(number, HIGHEST) if 0 <= number < math.inf else None


def texts_from(value: object, most: int) -> tuple[str, ...]:
    """The texts in a list, at most `most`, each once and none of them too long."""
    if not isinstance(value, list):
        return ()
    texts = (text for text in value[:most] if isinstance(text, str) and len(text) <= LONGEST)
    return tuple(dict.fromkeys(map(whole, texts)))


def answer_from(message: dict[str, Any]) -> PeerAnswer:
    """A ``relevance`` answer; ``ExchangeError`` where it has no score."""
    score = score_from(message.get("score"))
    listed = message.get("neighbours")
    if score is None or not isinstance(listed, list):
        raise ExchangeError("nonsense", delivered=True)
    return PeerAnswer(
        score=score,
        neighbours=tuple(_neighbours(listed[:NEIGHBOURS])),
        files=texts_from(message.get("files"), 20),
        records=texts_from(message.get("records"), RECORDS),
    )


def _neighbours(listed: Iterable[object]) -> list[tuple[str, float]]:
    found: dict[str, float] = {}
    for entry in listed:
        if not isinstance(entry, list) or len(entry) != 2 or not isinstance(entry[0], str):
            continue
        promise = score_from(entry[1])
        if promise is not None and address_of(entry[0]) is not None:
            found.setdefault(entry[0], promise)
    return list(found.items())


def spread_from(message: dict[str, Any], share: int) -> SpreadAnswer:
    """A ``spread`` answer; ``ExchangeError`` where it cannot be true of a share of that size."""
    sent, lost = message.get("sent"), message.get("lost")
    listed = message.get("answers")
    if not (type(sent) is type(lost) is int and isinstance(listed, list)):
        raise ExchangeError("nonsense", delivered=True)
    if sent < 0 or lost < 0 or sent + lost > share or len(listed) > sent + 1:
        raise ExchangeError("nonsense", delivered=True)
    answers: dict[str, tuple[float, tuple[str, ...]]] = {}
    for entry in listed:
        if not isinstance(entry, list) or len(entry) != 3 or not isinstance(entry[0], str):
            raise ExchangeError("nonsense", delivered=True)
        score = score_from(entry[1])
        if score is None or address_of(entry[0]) is None:
            raise ExchangeError("nonsense", delivered=True)
        answers.setdefault(entry[0], (score, texts_from(entry[2], RECORDS)))
    return SpreadAnswer(sent, lost, tuple((name, *rest) for name, rest in answers.items()))


def profile_from(message: dict[str, Any], most: int) -> dict[str, int]:
    """A ``profile`` answer: words and how often, at most `most` words."""
    words = message.get("words")
    if not isinstance(words, dict):
        raise ExchangeError("nonsense", delivered=True)
    found: dict[str, int] = {}
    for word, count in words.items():
        if len(found) == most:
            break
        if len(word) <= LONGEST and type(count) is int and 0 < count < 2**53:
            found[whole(word)] = count
    return found
