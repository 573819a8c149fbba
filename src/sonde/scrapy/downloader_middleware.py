"""The charging middleware: the last that sees a request before it is sent, the first that sees what
came of it."""

from __future__ import annotations

from typing import Any

from scrapy.exceptions import IgnoreRequest

from sonde.scrapy.spider_run import SpiderRun

_REASONS = (
    ("timeout", ("timeout",)),
    ("dns", ("dnslookup", "cannotresolve", "unknownhost")),
    ("tls", ("ssl", "certificate", "tls")),
    ("connect", ("connectionrefused", "connecterror", "noroute", "connecting", "tcptimed")),
    ("disconnected", ("connectionlost", "connectiondone", "responsenever", "responsefailed")),
)


class ChargingMiddleware:
    """Lets a request pass that the budget holds, and ignores all others."""

    def __init__(self, run: SpiderRun) -> None:
        self._run = run

    @classmethod
    def from_crawler(cls, crawler: Any) -> ChargingMiddleware:
        """Called by Scrapy once for every crawler."""
        return cls(SpiderRun.of(crawler))

    def process_request(self, request: Any, spider: Any = None) -> None:
        """Charge it."""
        if not self._run.take(request):
            raise IgnoreRequest("sonde: the budget is gone")

    def process_response(self, request: Any, response: Any, spider: Any = None) -> Any:
        """Count what came back."""
        self._run.received(request, len(response.body))
        return response

    def process_exception(self, request: Any, exception: Exception, spider: Any = None) -> None:
        """Note what became of it; others may retry it."""
        self._run.failed(request, _reason(exception))


def _reason(exception: Exception) -> str:
    """A failure in the words of a run."""
    name = type(exception).__name__
    if isinstance(exception, IgnoreRequest):
        said = str(exception).lower()
        for word, reason in (("robots.txt", "robots"), ("offsite", "scope"), ("budget", "budget")):
            if word in said:
                return reason
        return "ignored"
    folded = name.lower()
    for reason, parts in _REASONS:
        if any(part in folded for part in parts):
            return reason
    return name
