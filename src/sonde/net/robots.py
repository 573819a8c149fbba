"""robots.txt by RFC 9309, and what pages and headers say to robots.

Nothing is fetched here. ``record_of`` says what the outcome of fetching ``robots_url(url)`` means;
the records are kept with the hosts (``hosts``).

What an outcome means:

- 2xx: the rules hold, for 24 hours; of a large file the first 500 KiB count;
- 4xx, and too many or broken redirects: there are no rules, everything is allowed, for 24 hours;
- 429, 5xx, and anything that kept the server from answering: nothing is allowed, for one hour,
  after which the file is asked for again.

A ``RobotsRecord`` is plain data, so that a run folder can keep it; the parsed rules are made
again from its text.
"""

from __future__ import annotations

from dataclasses import dataclass

from protego import Protego

from sonde.net.exchange import FetchOutcome, FetchProblem, Response
from sonde.net.retries import LONGEST_PAUSE
from sonde.net.urls import origin_of

AGENT = "sonde"
"""The product token that robots rules are matched with."""

MAX_SIZE = 500 * 1024
TTL = 24 * 3600.0
UNREACHABLE_TTL = 3600.0

_UNAVAILABLE = frozenset(("too-many-redirects", "redirect-loop", "bad-redirect", "bad-encoding"))
_MANY = 300  # rules: to ask so many takes as long as to read the link
_MOST_PATTERNS = 2_000
_MOST_PARSED = 4_096
_MOST_ANSWERS = 8_192


@dataclass(frozen=True, slots=True)
class RobotsRecord:
    """What is known of one origin's robots.txt. ``verdict`` is rules, allow or disallow."""

    origin: str
    verdict: str
    text: str
    fetched: float
    expires: float
    why: str = ""


def robots_url(url: str) -> str:
    """Where the rules for a normalised URL are."""
    return origin_of(url) + "/robots.txt"


def record_of(origin: str, outcome: FetchOutcome, now: float) -> RobotsRecord | None:
    """What an outcome means; ``None`` where it says nothing (no budget was left to ask)."""
    if isinstance(outcome, Response):
        body = outcome.body
        if len(body) > MAX_SIZE:  # half a rule might say the opposite of the whole one
            body = body[: body.rfind(b"\n", 0, MAX_SIZE) + 1]
        text = body.decode("utf-8-sig", "replace")
        return RobotsRecord(origin, "rules", text, now, now + TTL, f"http-{outcome.status}")
    if outcome.reason == "budget":
        return None
    if _no_rules(outcome):
        return RobotsRecord(origin, "allow", "", now, now + TTL, outcome.reason)
    return RobotsRecord(origin, "disallow", "", now, now + UNREACHABLE_TTL, outcome.reason)


def _no_rules(problem: FetchProblem) -> bool:
    if problem.reason == "http-429":
        return False
    return problem.reason.startswith(("http-3", "http-4")) or problem.reason in _UNAVAILABLE


class _Parsed:
    """Parsed rules and the answers that they gave, by URL."""

    __slots__ = ("_agent", "_answers", "_parsed", "many", "record")

    def __init__(self, record: RobotsRecord, agent: str) -> None:
        self.record = record
        self.many = record.text.lower().count("allow") > _MANY
        self._parsed = Protego.parse(_bounded(record.text) if self.many else record.text)
        self._agent = agent
        self._answers: dict[str, bool] = {}

    def allowed(self, url: str) -> bool:
        answer = self._answers.get(url)
        if answer is None:
            if len(self._answers) >= _MOST_ANSWERS:
                self._answers.clear()
            answer = self._answers[url] = bool(self._parsed.can_fetch(url, self._agent))
        return answer

    def delay(self) -> float | None:
        """Seconds between requests: Crawl-delay, or what Request-rate comes to, the longer; within
        bounds, whatever the file says."""
        delays = []
        crawl_delay = self._parsed.crawl_delay(self._agent)
        if crawl_delay is not None:
            delays.append(_seconds(crawl_delay, 1))
        rate = self._parsed.request_rate(self._agent)
        if rate is not None and rate.requests > 0:
            delays.append(_seconds(rate.seconds, rate.requests))
        return max(delays, default=None)

    def sitemaps(self) -> list[str]:
        return list(self._parsed.sitemaps)


def _seconds(amount: float, requests: float) -> float:
    try:
        seconds = float(amount) / float(requests)
    except OverflowError:  # a whole number may have hundreds of digits
        return LONGEST_PAUSE
    return min(seconds, LONGEST_PAUSE) if seconds > 0 else 0.0  # nor is it "nan"


def _bounded(text: str) -> str:
    """The rules with no more patterns than can be asked for every visit: one is matched against the
    whole URL, and a file has room for 29,000. Of the rest what comes before the first ``*`` counts
    where it forbids, and nothing where it allows: more is forbidden so, nothing more is allowed."""
    patterns = 0
    lines = []
    for line in text.splitlines():
        name, colon, path = line.partition(":")
        start = path.partition("*")[0].partition("$")[0]
        word = name.strip().lower()
        if colon and word in ("allow", "disallow") and start != path:
            patterns += 1
            if patterns > _MOST_PATTERNS:
                if word == "disallow":
                    lines.append(f"{name}:{start.rstrip() or ' /'}")
                continue
        lines.append(line)
    return "\n".join(lines)


class RobotsRules:
    """Answers by the rules that records hold. Rules are parsed when they are first asked; those
    asked last stay parsed."""

    def __init__(self, agent: str = AGENT) -> None:
        self.agent = agent
        self._parsed: dict[str, _Parsed] = {}

    def allowed(self, record: RobotsRecord, url: str) -> bool:
        """Whether a normalised URL of the record's origin may be fetched."""
        if record.verdict != "rules":
            return record.verdict == "allow"
        return self._of(record).allowed(url)

    def many(self, record: RobotsRecord) -> bool:
        """Whether the rules are so many that they are asked for visits, and not for every link."""
        return record.verdict == "rules" and self._of(record).many

    def delay(self, record: RobotsRecord) -> float | None:
        """The delay in seconds that the rules ask for."""
        return self._of(record).delay() if record.verdict == "rules" else None

    def sitemaps(self, record: RobotsRecord) -> list[str]:
        """The sitemaps that the file names, as written there."""
        return self._of(record).sitemaps() if record.verdict == "rules" else []

    def _of(self, record: RobotsRecord) -> _Parsed:
        parsed = self._parsed.pop(record.origin, None)
        if parsed is None or parsed.record is not record:
            parsed = _Parsed(record, self.agent)
            if len(self._parsed) >= _MOST_PARSED:
                self._parsed.pop(next(iter(self._parsed)))
        self._parsed[record.origin] = parsed  # the most recently used last
        return parsed


@dataclass(frozen=True, slots=True)
class Directives:
    """What meta robots or X-Robots-Tag ask for."""

    noindex: bool = False
    nofollow: bool = False

    def __or__(self, other: Directives) -> Directives:
        return Directives(self.noindex or other.noindex, self.nofollow or other.nofollow)


def directives(text: str, agent: str = AGENT) -> Directives:
    """Read one value of meta robots or X-Robots-Tag.

    ``name: noindex`` speaks to the robot of that name, here and for the rest of the value.
    """
    applies = True
    found = set()
    for part in text.lower().split(","):
        name, colon, rest = part.partition(":")
        word = part.strip()
        if colon and name.strip() not in _VALUED:
            applies = name.strip() in (agent, "*")
            word = rest.strip()
        if applies:
            found.add(word)
    everything = "none" in found
    return Directives(everything or "noindex" in found, everything or "nofollow" in found)


_VALUED = frozenset(("unavailable_after", "max-snippet", "max-image-preview", "max-video-preview"))
