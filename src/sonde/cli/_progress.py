"""What a person sees of a running crawl: a live panel, plain lines, or JSON events."""

from __future__ import annotations

import json
import sys
import time
from typing import TYPE_CHECKING

from rich.console import Console, Group
from rich.constrain import Constrain
from rich.live import Live
from rich.table import Table
from rich.text import Text

from sonde.cli._print import counted, harmless
from sonde.crawling import Progress, Settled, Stopped

if TYPE_CHECKING:  # what came of a run is shown without what makes one
    from sonde.crawling import Crawl

_LINE_EVERY = 5.0
_SHOWN = 5
_LONGEST = 500  # characters of a hint
_ECHOED = 6  # columns for what the terminal echoes while somebody presses Ctrl-C


class JsonDisplay:
    """One JSON object a line on standard output."""

    hinted = False

    def heard(self, event: Settled | Stopped) -> None:
        print(json.dumps(event.as_json(), default=str), flush=True)

    def tick(self, crawl: Crawl) -> None:
        progress = crawl.progress()
        if progress is not None:
            print(json.dumps(progress.as_json()), flush=True)
        if not self.hinted and (hint := crawl.hint()):
            self.hinted = True
            print(json.dumps({"event": "hint", "text": hint}), flush=True)

    def close(self) -> None:
        """Nothing is held open."""


class LineDisplay:
    """Plain lines on standard error, for a log."""

    def __init__(self) -> None:
        self.hinted = False
        self._last = time.monotonic()

    def heard(self, event: Settled | Stopped) -> None:
        """Single events are too many for a log."""

    def tick(self, crawl: Crawl) -> None:
        now = time.monotonic()
        progress = crawl.progress()
        if progress is not None and now - self._last >= _LINE_EVERY:
            self._last = now
            line = "; ".join(f"{name} {value}" for name, value in _facts(crawl, progress).items())
            print(line, file=sys.stderr, flush=True)
        if not self.hinted and (hint := crawl.hint()):
            self.hinted = True
            print(harmless(hint, _LONGEST), file=sys.stderr, flush=True)

    def close(self) -> None:
        """Nothing is held open."""


class LiveDisplay:
    """A panel on the terminal that is drawn over.

    It leaves the last columns free: a terminal writes ``^C`` behind it, and a line that this made
    too long would be two, of which only one is drawn over.
    """

    def __init__(self, console: Console) -> None:
        self.hinted = False
        self._live = Live(console=console, refresh_per_second=4, transient=True, auto_refresh=False)
        self._live.start()

    def heard(self, event: Settled | Stopped) -> None:
        """The panel is drawn from the tally."""

    def tick(self, crawl: Crawl) -> None:
        progress = crawl.progress()
        if progress is None:
            return
        grid = Table.grid(padding=(0, 2))
        for name, value in _facts(crawl, progress).items():
            grid.add_row(Text(name, style="bold"), Text(value))
        best = Table.grid(padding=(0, 2))
        for page in progress.best[:_SHOWN]:
            best.add_row(
                Text(f"{page.score:.2f}"),
                Text(harmless(page.title, 50)),
                Text(harmless(str(page.node), 80), style="dim"),
            )
        if not self.hinted and (hint := crawl.hint()):
            self.hinted = True
            self._live.console.print(Text(harmless(hint, _LONGEST)))
        width = max(1, self._live.console.width - _ECHOED)
        self._live.update(Constrain(Group(grid, best), width), refresh=True)

    def close(self) -> None:
        self._live.stop()


Display = JsonDisplay | LineDisplay | LiveDisplay


def display_for(*, as_json: bool) -> Display:
    """The display that suits where the output goes."""
    if as_json:
        return JsonDisplay()
    console = Console(stderr=True)
    if sys.stderr.isatty() and not console.is_dumb_terminal:
        return LiveDisplay(console)
    return LineDisplay()


def nouns_of(crawl: Crawl) -> tuple[str, str]:
    """What the crawl's nodes are called, one and several."""
    return crawl.session.request.kind.nouns if crawl.session is not None else ("page", "pages")


def _facts(crawl: Crawl, progress: Progress) -> dict[str, str]:
    nouns = nouns_of(crawl)
    stopping = crawl.driver is not None and bool(crawl.driver.stopping)
    spent = counted(progress.requests, "request")
    if progress.budget is not None:
        spent = f"{progress.requests:,} of {counted(progress.budget, 'request')}"
    eta = "" if progress.eta is None or stopping else f", {duration(progress.eta)} to go"
    hosts = {"hosts": f"{progress.hosts:,}"} if nouns[0] == "page" else {}
    return {
        "budget": f"{spent}{eta}",
        nouns[1]: f"{progress.visits:,}, {progress.pages_per_second:.1f} a second",
        "harvest": f"{progress.harvest:.3f} a request, lately {progress.recent:.3f}",
        "frontier": f"{progress.frontier:,}",
        **hosts,
        "in flight": f"{progress.in_flight:,}{', and no more' if stopping else ''}",
        "errors": f"{progress.failures:,} failures, {progress.skips:,} skipped",
        **{label(name): fact(value) for name, value in progress.facts.items()},
    }


def label(name: str) -> str:
    """The name of a fact, for people."""
    return harmless(name.replace("_", " "), 60)


def fact(value: object) -> str:
    """What a source says of itself, for people."""
    if isinstance(value, float):
        return f"{value:,.3f}" if abs(value) < 100 else f"{value:,.0f}"
    return f"{value:,}" if isinstance(value, int) else harmless(str(value), 200)


def duration(seconds: float) -> str:
    """A time for people: 45 s, 12 min, 3.5 h, 6.2 days."""
    for limit, unit, size in ((90, "s", 1), (5400, "min", 60), (172_800, "h", 3600)):
        if seconds < limit:
            return f"{seconds / size:.0f} {unit}" if unit != "h" else f"{seconds / size:.1f} h"
    return f"{seconds / 86_400:.1f} days"
