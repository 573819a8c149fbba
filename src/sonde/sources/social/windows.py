"""Windows (sliding rate limits): at most k requests in any d seconds, for each token.

A request holds a place in every window of its endpoint from before it leaves until d seconds after
its answer has come. Servers may count it at any moment in between, in windows that slide or in
windows that are aligned to a clock: in none of them can there be more than k. A window is used to
the full all the same: a place that is free can be taken at once, so k requests go in every d
seconds plus one round trip.

What a server says (``Statement``) is believed: so many remaining until then, and no more. Its
limit takes the place of the one that the description has, if the endpoint has one window.

No clock: ``now`` is the time of day in seconds and is passed in. The state can be kept and
restored; what was on its way when it was kept counts as answered at the time of restoring.
"""

from __future__ import annotations

import math
import re
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from sonde.net.retries import LONGEST_PAUSE, retry_after

_ROUNDED = 1.0  # seconds by which two statements of one reset may differ ...
_SAME = 0.02  # ... but no larger a share of the window than this


@dataclass(frozen=True)
class Window:
    """At most ``requests`` within ``seconds``."""

    requests: int
    seconds: float


@dataclass(frozen=True)
class WindowPlace:
    """A request's place in the windows of an endpoint."""

    endpoint: str
    token: int


class _Used:
    """The places of one window that one token has taken."""

    __slots__ = ("ended", "flying")

    def __init__(self) -> None:
        self.flying = 0
        self.ended: deque[float] = deque()  # when the answers came, in order


@dataclass(slots=True)
class _Hold:
    """What a server said: so many more requests until then."""

    remaining: int
    until: float


class Windows:
    """All windows of an API, for all its tokens."""

    def __init__(
        self,
        windows: Mapping[str, Window],
        endpoints: Mapping[str, Sequence[str]],
        tokens: int,
    ) -> None:
        self.windows = dict(windows)
        self._described = dict(windows)
        self.endpoints = {name: tuple(used) for name, used in endpoints.items()}
        self.tokens = range(max(1, tokens))
        self._used = {(name, token): _Used() for name in windows for token in self.tokens}
        self._holds: dict[WindowPlace, _Hold] = {}

    # -- places --------------------------------------------------------------------------------

    def free(self, endpoint: str, now: float) -> int:
        """How many requests may leave now, over all tokens."""
        return sum(self._room(WindowPlace(endpoint, token), now) for token in self.tokens)

    def take(self, endpoint: str, now: float, token: int | None = None) -> WindowPlace | None:
        """Take a place, of this token or of the one that has the most room; ``None`` where there
        is none."""
        places = [WindowPlace(endpoint, each) for each in self.tokens if token in (None, each)]
        rooms = [self._room(place, now) for place in places]
        most = max(rooms)
        if most < 1:
            return None
        place = places[rooms.index(most)]
        for used in self._of(place):
            used.flying += 1
        return place

    def give_back(self, place: WindowPlace) -> None:
        """Nothing was sent."""
        for used in self._of(place):
            used.flying -= 1

    def answered(self, place: WindowPlace, now: float, statement: Statement | None = None) -> None:
        """The answer has come, or will not; what it said about windows."""
        for used in self._of(place):
            used.flying -= 1
            # In order even if the clock was set back: a place is never free too early.
            used.ended.append(max(now, used.ended[-1] if used.ended else now))
        hold = self._holds.get(place)
        if hold is not None:
            hold.remaining = max(0, hold.remaining - 1)
        if statement is not None:
            self._believe(place, now, statement)

    def next_time(self, endpoint: str, now: float) -> float | None:
        """When a place becomes free; ``None`` where one is, or when an answer must come first."""
        times = [self._opens(WindowPlace(endpoint, token), now) for token in self.tokens]
        if any(time <= now for time in times):
            return None
        soonest = min(times)
        return None if math.isinf(soonest) else soonest

    def _of(self, place: WindowPlace) -> list[_Used]:
        return [self._used[name, place.token] for name in self.endpoints[place.endpoint]]

    def _room(self, place: WindowPlace, now: float) -> int:
        rooms = []
        for name in self.endpoints[place.endpoint]:
            window, used = self.windows[name], self._used[name, place.token]
            while used.ended and used.ended[0] + window.seconds <= now:
                used.ended.popleft()
            rooms.append(window.requests - used.flying - len(used.ended))
        hold = self._holds.get(place)
        if hold is not None:
            if hold.until <= now:
                del self._holds[place]
            else:
                flying = max((used.flying for used in self._of(place)), default=0)
                rooms.append(hold.remaining - flying)
        return max(0, min(rooms, default=1))

    def _opens(self, place: WindowPlace, now: float) -> float:
        """When this token has room, if nothing else happens."""
        if self._room(place, now):
            return now
        opens = now
        for name in self.endpoints[place.endpoint]:
            window, used = self.windows[name], self._used[name, place.token]
            over = used.flying + len(used.ended) - window.requests
            if over >= len(used.ended):
                return math.inf
            if over >= 0:
                opens = max(opens, used.ended[over] + window.seconds)
        hold = self._holds.get(place)
        return max(opens, hold.until) if hold is not None else opens

    # -- what servers say ----------------------------------------------------------------------

    def _believe(self, place: WindowPlace, now: float, statement: Statement) -> None:
        names = self.endpoints[place.endpoint]
        if statement.limit is not None and len(names) == 1:
            self.windows[names[0]] = self._stated(names[0], now, statement)
        hold = self._holds.get(place)
        if statement.wait_until is not None:
            until = max(statement.wait_until, hold.until if hold and not hold.remaining else now)
            self._holds[place] = _Hold(0, until)
        elif statement.remaining is not None and statement.reset is not None:
            # Answers may overtake one another: within one window what remains only shrinks. Where
            # windows slide, each answer has a reset of its own, and the latest counts.
            remaining = statement.remaining
            shortest = min(self.windows[name].seconds for name in names)
            slack = min(_ROUNDED, _SAME * shortest)
            if hold is not None and abs(hold.until - statement.reset) < slack:
                remaining = min(remaining, hold.remaining)
            elif hold is not None and hold.until > statement.reset:
                return
            self._holds[place] = _Hold(remaining, statement.reset)

    def _stated(self, name: str, now: float, statement: Statement) -> Window:
        """The window that a server states. Where it does not say how long it is, that is what the
        description says, or, if the limit is another one, the longest time to a reset so far."""
        limit = max(1, statement.limit or 1)
        if statement.seconds is not None:
            return Window(limit, statement.seconds)
        described, window = self._described[name], self.windows[name]
        if limit == described.requests or statement.reset is None:
            return Window(limit, described.seconds)
        seen = statement.reset - now
        longest = max(seen, window.seconds) if window != described else seen
        return Window(limit, min(described.seconds, longest))

    # -- keeping -------------------------------------------------------------------------------

    def state(self) -> dict[str, Any]:
        """All that must not be forgotten, as plain data; times are rounded up to seconds."""
        used: dict[str, Any] = {}
        for (name, token), taken in self._used.items():
            if taken.flying or taken.ended:
                seconds: dict[int, int] = {}
                for time in taken.ended:
                    seconds[math.ceil(time)] = seconds.get(math.ceil(time), 0) + 1
                used[f"{token} {name}"] = [taken.flying, *seconds.items()]
        holds = [
            [place.endpoint, place.token, hold.remaining, math.ceil(hold.until)]
            for place, hold in self._holds.items()
        ]
        limits = {name: [window.requests, window.seconds] for name, window in self.windows.items()}
        return {"used": used, "holds": holds, "limits": limits}

    def restore(self, state: Mapping[str, Any], now: float) -> None:
        """Become what was kept. Tokens and windows that are no more are left out."""
        for name, (requests, seconds) in state["limits"].items():
            if name in self.windows:
                self.windows[name] = Window(requests, seconds)
        for key, (flying, *seconds) in state["used"].items():
            token, _, name = key.partition(" ")
            taken = self._used.get((name, int(token)))
            if taken is not None:
                times = [min(time, now) for time, count in seconds for _ in range(count)]
                taken.ended = deque([*times, *[now] * flying])
        for endpoint, token, remaining, until in state["holds"]:
            if endpoint in self.endpoints and token in self.tokens:
                self._holds[WindowPlace(endpoint, token)] = _Hold(remaining, until)


_EPOCH = 1_000_000_000  # a reset beyond this is a time of day, not a number of seconds
_PAIR = re.compile(r"([a-z]+)\s*=\s*(\d{1,15})")


@dataclass(frozen=True)
class Statement:
    """What the headers of an answer say of its limits, in the forms that are in use.

    ``X-RateLimit-Limit``, ``-Remaining``, ``-Reset`` (also spelt ``X-Rate-Limit-``), the same
    without ``X-``, the structured ``RateLimit`` and ``RateLimit-Policy`` of the IETF's drafts, old
    and new, and ``Retry-After``. A reset is a time of day (ISO 8601, or seconds since 1970) or
    seconds from now.

    ``limit`` requests in ``seconds``; ``remaining`` until ``reset``; nothing until
    ``wait_until``. Times are times of day."""

    limit: int | None = None
    seconds: float | None = None
    remaining: int | None = None
    reset: float | None = None
    wait_until: float | None = None


def statement_of(headers: Mapping[str, str], status: int, now: float) -> Statement:
    """Everything that the headers of an answer say.

    >>> statement_of({"RateLimit": '"default";r=50;t=30'}, 200, 1000.0)
    Statement(limit=None, seconds=None, remaining=50, reset=1030.0, wait_until=None)
    """
    limit = remaining = None
    seconds = reset = wait_until = None
    for prefix in ("X-RateLimit-", "X-Rate-Limit-", "RateLimit-"):
        limit = _whole(headers.get(f"{prefix}Limit")) if limit is None else limit
        if remaining is None:
            remaining = _whole(headers.get(f"{prefix}Remaining"))
        reset = _moment(headers.get(f"{prefix}Reset"), now) if reset is None else reset
    stated = _pairs(headers.get("RateLimit"))
    limit = stated.get("limit", limit)
    remaining = stated.get("remaining", stated.get("r", remaining))
    after = stated.get("reset", stated.get("t"))
    if after is not None:
        reset = now + min(after, LONGEST_PAUSE)
    policy = headers.get("RateLimit-Policy")
    if policy and "," not in policy:  # one of several: which one is meant cannot be said
        terms = _pairs(policy)
        quota = terms.get("q", _whole(policy.partition(";")[0]))
        if quota is not None and terms.get("w"):
            limit, seconds = quota, float(terms["w"])
    if status in (429, 503):
        pause = retry_after(headers.get("Retry-After"), now)
        if pause is not None:
            wait_until = now + pause
        elif status == 429:
            wait_until = reset if reset is not None else now + 60.0
    return Statement(limit, seconds, remaining, reset, wait_until)


def _whole(text: str | None) -> int | None:
    """A whole number that may be followed by parameters."""
    digits = (text or "").partition(";")[0].partition(",")[0].strip()
    return int(digits[:15]) if digits.isascii() and digits.isdigit() else None


def _pairs(text: str | None) -> dict[str, int]:
    return {name: int(value) for name, value in _PAIR.findall((text or "").lower())}


def _moment(text: str | None, now: float) -> float | None:
    if not text:
        return None
    number = _whole(text)
    if number is not None:
        moment = float(number) if number > _EPOCH else now + number
    else:
        try:
            parsed = datetime.fromisoformat(text.strip())
        except ValueError:
            return None
        moment = (parsed if parsed.tzinfo else parsed.replace(tzinfo=UTC)).timestamp()
    return min(max(now, moment), now + LONGEST_PAUSE)
