"""Rendering: which pages a browser draws, and how its requests are answered.

A page is fetched plainly first. One that looks like the shell of an application (little text, few
links, scripts) is drawn by a browser, and what that brought is compared with the plain page. What
it brought for pages of the same host and URL template decides from then on (``RenderChoice``).

Every request of a page that is drawn goes through the same polite fetch as the page itself: charged
to its lease, in its host's turn, by robots.txt, within the scope, with the address guard, kept in
the archive. Images, fonts, media and the like are refused, style sheets are answered with nothing;
scripts are kept for the run, and cost one request however many pages use them.
"""

from __future__ import annotations

import json
import time
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from sonde.errors import InputError
from sonde.net.browsers import find_browser
from sonde.net.exchange import FetchOutcome, Response
from sonde.net.urls import domain_of, group_of, host_of, normalise
from sonde.protocols import Allowance, Keeper
from sonde.sources.page import Page, Rendered, read_page
from sonde.sources.web.url_shapes import template_of

if TYPE_CHECKING:
    from sonde.net.browser import Browser, BrowserAnswer, BrowserRequest
    from sonde.sources.web.source import WebAccess

MODES = ("auto", "always", "never")
"""Which pages a browser draws: those for which it pays, all, none."""

SECONDS = 10.0
"""How long a page may take while it asks for nothing."""

REQUESTS = 40
"""How many requests one page may make."""

_MOVES = 5  # that a page may make to other pages before it stays
_WORTH = 0.05  # share of the page that a request, or ten seconds, must bring
_SECONDS_A_REQUEST = 10.0
_PLACES = 4_096  # host and template
_CACHE = 32_000_000  # bytes of scripts
_ASKED = frozenset(("Document", "Script", "XHR", "Fetch"))
_READING = frozenset(("GET", "HEAD"))
_OWN = frozenset(  # headers that are sonde's business, not the page's
    ("accept-encoding", "connection", "cookie", "host", "user-agent", "upgrade-insecure-requests")
)
_UNTOLD = frozenset(("content-encoding", "content-length", "transfer-encoding", "set-cookie"))
_TRACKERS = frozenset(
    (
        "adnxs.com",
        "adsrvr.org",
        "amazon-adsystem.com",
        "bing.com",
        "clarity.ms",
        "criteo.com",
        "criteo.net",
        "doubleclick.net",
        "facebook.com",
        "facebook.net",
        "google-analytics.com",
        "googleadservices.com",
        "googlesyndication.com",
        "googletagmanager.com",
        "googletagservices.com",
        "hotjar.com",
        "hs-scripts.com",
        "intercom.io",
        "intercomcdn.com",
        "linkedin.com",
        "matomo.cloud",
        "mixpanel.com",
        "newrelic.com",
        "nr-data.net",
        "optimizely.com",
        "outbrain.com",
        "pinterest.com",
        "pubmatic.com",
        "quantserve.com",
        "rubiconproject.com",
        "scorecardresearch.com",
        "segment.com",
        "segment.io",
        "sentry-cdn.com",
        "sentry.io",
        "snapchat.com",
        "taboola.com",
        "tiktok.com",
        "twitter.com",
        "yandex.ru",
        "zendesk.com",
    )
)
"""Registrable domains of advertisements and trackers: their scripts bring no text."""


class RenderChoice:
    """Decides whether to draw a page, by what drawing has brought: a share of the page's words or
    links that the plain page did not have, for a number of requests and seconds."""

    def __init__(self) -> None:
        self.changed = False
        self._places: OrderedDict[str, list[float]] = OrderedDict()  # tries, shares, costs, passed

    def wanted(self, url: str, page: Page) -> str:
        """Why a page should be drawn; empty where it should not."""
        known = self._places.get(_place_of(url))
        if known is None:
            return "the shell of an application" if page.needs_script else ""
        tries, shares, costs, passed = known
        if shares >= _WORTH * costs:
            return f"drawing brought {shares / tries:.0%} of pages of this shape"
        if not page.needs_script:
            return ""
        # It did not pay. Ever fewer of those that look like it are tried again.
        known[3] = passed = passed + 1
        self.changed = True
        return "one of a shape that is tried now and then" if passed >= 2**tries else ""

    def learn(self, url: str, share: float, requests: int, seconds: float) -> None:
        """Drawing this page brought a share of it, and cost this."""
        place = _place_of(url)
        known = self._places.setdefault(place, [0.0, 0.0, 0.0, 0.0])
        self._places.move_to_end(place)
        if len(self._places) > _PLACES:
            self._places.popitem(last=False)
        known[0] += 1
        known[1] += share
        known[2] += 1 + requests + seconds / _SECONDS_A_REQUEST
        known[3] = 0
        self.changed = True

    def state(self) -> bytes:
        """All that was learned."""
        return json.dumps(list(self._places.items())).encode()

    def restore(self, state: bytes) -> None:
        """Take in what was learned before."""
        self._places = OrderedDict((place, known) for place, known in json.loads(state))


def _place_of(url: str) -> str:
    return f"{group_of(url)} {template_of(url)}"


class Rendering:
    """Draws pages of a run. Nothing is started before the first. Use ``close()``."""

    def __init__(self, mode: str, browser: str, access: WebAccess, keeper: Keeper) -> None:
        self.choice = RenderChoice()
        self._always = mode == "always"
        self._access = access
        self._keeper = keeper
        self._scripts: OrderedDict[str, Response] = OrderedDict()
        self._size = 0
        self._browser: Browser | None = None
        try:
            self._found = find_browser(browser)
        except InputError:  # said before the first request (see ``Web.notice``)
            self._found = ""

    def recall(self) -> None:
        """Take in what the run has learned."""
        state = self._keeper.recalled("rendering")
        if state is not None:
            self.choice.restore(state)

    def before_commit(self) -> None:
        """Hand over what was learned."""
        if self.choice.changed:
            self.choice.changed = False
            self._keeper.keep("rendering", self.choice.state())

    async def close(self) -> None:
        """End the browser."""
        if self._browser is not None:
            await self._browser.close()

    async def page(self, allowance: Allowance, response: Response, plain: Page) -> Page:
        """The page as a browser draws it, where that is wanted and brings something; else the plain
        one."""
        why = "--render always" if self._always else self.choice.wanted(plain.url, plain)
        if not why or not self._found:
            return plain
        from sonde.net.browser import Browser, BrowserProblem  # a crawl without one needs none

        if self._browser is None:
            self._browser = Browser(self._found)
        drawing = _Drawing(self, allowance, response)
        began = time.monotonic()
        try:
            drawn = await self._browser.draw(
                response.url,
                domain_of(host_of(response.url)),
                drawing.answer,
                seconds=SECONDS,
            )
        except BrowserProblem as error:
            self.choice.learn(plain.url, 0.0, drawing.requests, time.monotonic() - began)
            return replace(plain, rendered=Rendered(b"", f"{why}; not drawn: {error}"))
        html = drawn.html.encode("utf-8", "replace")
        page = read_page(html, drawing.url, content_type="text/html; charset=utf-8")
        share = max(
            _hidden(plain.text.count(" "), page.text.count(" ")),
            _hidden(len(plain.links), len(page.links)),
        )
        if not drawing.starved:
            self.choice.learn(plain.url, share, drawing.requests, drawn.seconds)
        told = (
            f"{why}; requests {drawing.requests}, {drawn.seconds:.1f} s until"
            f" {'it was quiet' if drawn.ended == 'quiet' else 'the limit'}; words"
            f" {_words(plain)} to {_words(page)}, links {len(plain.links)} to {len(page.links)}"
            f"{'; the budget ended before it was whole' if drawing.starved else ''}"
        )
        if share <= 0:
            return replace(plain, rendered=Rendered(b"", told))
        return replace(
            page,
            language=page.language or plain.language,
            charset=plain.charset,
            rendered=Rendered(html, told),
        )

    # -- requests ------------------------------------------------------------------------------

    def kept(self, url: str) -> Response | None:
        """A script that the run has fetched before."""
        found = self._scripts.get(url)
        if found is not None:
            self._scripts.move_to_end(url)
        return found

    def keep(self, url: str, response: Response) -> None:
        """Keep a script for other pages."""
        if len(response.body) > _CACHE // 4 or url in self._scripts:
            return
        self._scripts[url] = response
        self._size += len(response.body)
        while self._size > _CACHE:
            _, gone = self._scripts.popitem(last=False)
            self._size -= len(gone.body)

    async def fetch(
        self, url: str, allowance: Allowance, headers: Mapping[str, str], site: str, script: bool
    ) -> FetchOutcome:
        """Fetch what a page asks for, as politely as a page."""
        access = self._access

        def gate(address: str, group: str, redirected: bool) -> str | None:
            """A page may ask its own site, whatever is in the scope, and anybody for a script."""
            if access.scope.has(address, group) or domain_of(host_of(address)) == site:
                return None
            return None if script and domain_of(host_of(address)) not in _TRACKERS else "scope"

        answer = await access.polite.fetch(url, allowance, gate=gate, headers=headers, further=True)
        access.store(answer)
        return answer


class _Drawing:
    """The answers to the requests of one page."""

    def __init__(self, rendering: Rendering, allowance: Allowance, response: Response) -> None:
        self.url = response.url
        self.requests = 0
        self.starved = False  # the budget had not all that it asked for
        self._rendering = rendering
        self._allowance = allowance
        self._site = domain_of(host_of(response.url))
        self._here: dict[str, Response] = {response.url: response}  # fetched, and not yet used
        self._moves = 0
        self._asked = 0

    def take(self) -> bool:
        """Count what this page takes (it is its own ``Allowance``)."""
        if not self._allowance.take():
            self.starved = True
            return False
        self.requests += 1
        return True

    def receive(self, size: int) -> None:
        self._allowance.receive(size)

    async def answer(self, request: BrowserRequest) -> BrowserAnswer | None:
        """What becomes of a request."""
        from sonde.net.browser import BrowserAnswer

        if request.method == "OPTIONS" or request.kind == "Preflight":
            # The server is asked when the request itself is made; nothing but GET ever is.
            return BrowserAnswer(204, _permission(request.headers), b"")
        if request.kind == "Stylesheet":
            return BrowserAnswer(200, [("Content-Type", "text/css")], b"")
        url = normalise(request.url)
        if url is None or not _read(request):
            return None
        if request.kind == "Document":
            if not request.moves or self._moves > _MOVES:
                return None
            self._moves += 1
        found = self._here.pop(url, None) or self._rendering.kept(url)
        if found is None:
            found = await self._fetched(url, request)
        if found is None:
            return None
        if found.url != url:  # where redirects led; the browser asks again for what is here already
            self._here[found.url] = found
            return BrowserAnswer(302, [("Location", found.url)], b"")
        if request.moves:
            self.url = url
        return BrowserAnswer(
            found.status,
            [pair for pair in found.headers.items() if pair[0].lower() not in _UNTOLD],
            found.body if request.method != "HEAD" else b"",
        )

    async def _fetched(self, url: str, request: BrowserRequest) -> Response | None:
        self._asked += 1
        if self._asked > REQUESTS:
            return None
        headers = {
            name: value
            for name, value in request.headers.items()
            if name.lower() not in _OWN and not name.lower().startswith("sec-")
        }
        script = request.kind == "Script"
        answer = await self._rendering.fetch(url, self, headers, self._site, script)
        if isinstance(answer, Response):
            if script:
                self._rendering.keep(url, answer)
            return answer
        return answer.response  # an error that the page may know what to do with


def _read(request: BrowserRequest) -> bool:
    """Whether a request is for something that a reader of the page would miss."""
    named = {name.lower(): value for name, value in request.headers.items()}
    return (
        request.kind in _ASKED
        and request.method in _READING
        and "prefetch" not in named.get("sec-purpose", "")
        and "event-stream" not in named.get("accept", "")  # it has no end
    )


def _permission(headers: Mapping[str, str]) -> list[tuple[str, str]]:
    """What a server says that lets any page ask it."""
    named = {name.lower(): value for name, value in headers.items()}
    return [
        ("Access-Control-Allow-Origin", named.get("origin", "*")),
        ("Access-Control-Allow-Methods", "GET, HEAD"),
        ("Access-Control-Allow-Headers", named.get("access-control-request-headers", "*")),
        ("Access-Control-Allow-Credentials", "true"),
    ]


def _words(page: Page) -> int:
    return len(page.text.split())


def _hidden(before: int, after: int) -> float:
    """The share of what there is that was not there before."""
    return max(0.0, (after - before) / after) if after else 0.0
