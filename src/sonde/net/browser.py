"""The browser: pages drawn by their own scripts, every request of theirs answered by sonde.

A browser is driven through its DevTools. Each request that a page makes is paused before it leaves,
and ``answer``, given with the page, says what becomes of it: sonde fetches it itself, politely and
charged, or refuses it. So the browser sends nothing. What it might try beside (a WebSocket, a
service worker, a name to look up) meets a proxy of sonde's own that refuses everything and counts.

A page ends when its network and its text are quiet, or at a limit. One that hangs, crashes or eats
memory costs the browser, which is started again for the next one.
"""

from __future__ import annotations

import asyncio
import base64
import re
import subprocess
import sys
import tempfile
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import nullcontext, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sonde.net.browsers import unsandboxed
from sonde.net.devtools import DevTools, DevToolsError

_UNWANTED = (
    "AutofillServerCommunication",
    "CertificateTransparencyComponentUpdater",
    "IsolateOrigins",
    "MediaRouter",
    "OptimizationHints",
    "Translate",
    "site-per-process",
)
_FLAGS = (
    "--headless=new",
    "--remote-debugging-port=0",
    "--no-first-run",
    "--no-default-browser-check",
    "--no-pings",
    "--disable-background-networking",
    "--disable-background-timer-throttling",
    "--disable-backgrounding-occluded-windows",
    "--disable-breakpad",
    "--disable-component-update",
    "--disable-default-apps",
    "--disable-dev-shm-usage",
    "--disable-domain-reliability",
    "--disable-extensions",
    "--disable-features=" + ",".join(_UNWANTED),
    "--disable-gpu",
    "--disable-notifications",
    "--disable-renderer-backgrounding",
    "--disable-sync",
    "--dns-prefetch-disable",
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--host-resolver-rules=MAP * ~NOTFOUND",  # names are looked up by sonde alone
    "--js-flags=--max-old-space-size=512",
    "--metrics-recording-only",
    "--mute-audio",
    "--password-store=basic",
    "--window-size=1280,1600",
)
_MEMORY = 3 << 30  # bytes of all its processes
_START = 30.0  # seconds
_PAGES = 300  # after which a browser is started afresh
_SITES = 8  # whose cookies and storage are kept apart, and in memory
_QUIET = 0.3  # seconds without a request that make the network quiet
_STILL = 0.1  # seconds between two looks at a page
_SCROLLS = 5
_CLOSING = 3.0  # seconds
_EVALUATE = 10.0  # seconds that a look at a page may take
_LIMIT = 10_000_000  # characters of a page

# Before any script of a page: nothing that lives on, and no further windows.
_BEFORE = """
(() => {
  try { delete Navigator.prototype.serviceWorker } catch (error) {}
  window.open = () => null;
  for (const name of ['RTCPeerConnection', 'SharedWorker', 'WebTransport'])
    try { delete window[name] } catch (error) {}
})();
"""

# How far a page has come: the length of its text, its links, its height.
_GROWTH = """
(() => {
  const body = document.body;
  return body ? [body.textContent.length, document.links.length,
                 document.documentElement.scrollHeight].join(' ') : '';
})()
"""

# To the end of the page; whether there was any way to go.
_SCROLL = """
(() => {
  const height = document.documentElement.scrollHeight;
  const more = height > innerHeight + scrollY + 1;
  window.scrollTo(0, height);
  return more;
})()
"""

# The page as HTML: shadow trees in their places, links as they lead, and what a banner hides while
# it waits for an answer (the page's greatest part, or all of it) in plain sight again.
_SERIALISE = """
(limit => {
  const root = document.documentElement;
  if (!root) return '';
  const apart = document.implementation.createHTMLDocument('');  // where nothing is loaded
  const copy = apart.importNode(root, true);
  const flatten = (from, to) => {
    const inner = from.children, outer = Array.from(to.children);
    for (let place = 0; place < inner.length && place < outer.length; place++)
      flatten(inner[place], outer[place]);
    if (from.shadowRoot) {
      const part = apart.createElement('div');
      for (const child of from.shadowRoot.childNodes) {
        const twin = apart.importNode(child, true);
        part.appendChild(twin);
        if (child.nodeType === 1) flatten(child, twin);
      }
      to.prepend(part);
    }
    if (to.tagName === 'A' && from.href && typeof from.href === 'string')
      to.setAttribute('href', from.href);
  };
  flatten(root, copy);
  const whole = (document.body ? document.body.textContent : '').length;
  for (const part of copy.querySelectorAll('[aria-hidden], [hidden], [inert]'))
    if (part.tagName === 'BODY' || 2 * part.textContent.length > whole)
      for (const name of ['aria-hidden', 'hidden', 'inert']) part.removeAttribute(name);
  for (const name of ['aria-hidden', 'hidden', 'inert']) copy.removeAttribute(name);
  for (const base of copy.querySelectorAll('base')) base.remove();
  return ('<!DOCTYPE html>' + copy.outerHTML).slice(0, limit);
})"""


@dataclass(frozen=True, slots=True)
class BrowserRequest:
    """What a page asks for. ``kind`` is the protocol's: Document, Script, XHR, Fetch, Image, ...;
    ``moves`` says that the page itself would go there."""

    url: str
    method: str
    kind: str
    headers: Mapping[str, str]
    moves: bool


@dataclass(frozen=True, slots=True)
class BrowserAnswer:
    """What it gets."""

    status: int
    headers: Sequence[tuple[str, str]]
    body: bytes


Answer = Callable[[BrowserRequest], Awaitable[BrowserAnswer | None]]
"""Gives the answer to a request of a page; ``None`` to refuse it."""


@dataclass(frozen=True, slots=True)
class DrawnPage:
    """A page as it was when it ended. ``ended`` says by what: "quiet", or the limit."""

    html: str
    seconds: float
    ended: str


class BrowserProblem(Exception):
    """A page could not be drawn. ``str`` of it says why."""


class Browser:
    """Draws pages, a few at once. Nothing is started before the first. Use ``close()``.

    ``wanted`` is a program, or the ``ws://`` address of a browser that runs already.
    """

    def __init__(self, wanted: str, *, at_once: int = 2, memory: int = _MEMORY) -> None:
        self._wanted = wanted
        self._memory = memory
        self._free = asyncio.Semaphore(at_once)
        self._starting = asyncio.Lock()
        self._alone = asyncio.Lock()
        self._narrow = False  # it has room for one site and one page at a time
        self._tools: DevTools | None = None
        self._process: asyncio.subprocess.Process | None = None
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        self._wall: asyncio.Server | None = None
        self._sites: OrderedDict[str, str] = OrderedDict()  # the context of each
        self._busy: dict[str, int] = {}  # pages that are drawn in a context
        self._pages = 0
        self.walled = 0
        """Connections that the browser tried to make itself; all were refused."""

    async def draw(self, url: str, site: str, answer: Answer, *, seconds: float) -> DrawnPage:
        """Draw the page at a URL. Pages of one ``site`` share cookies and storage, others do not.

        At most ``seconds`` pass while nothing is asked for, and four times that in all. Raises
        ``BrowserProblem``.
        """
        async with self._free:
            tools = await self._started()
            try:
                async with self._alone if self._narrow else nullcontext():
                    began = time.monotonic()
                    async with asyncio.timeout(4 * seconds + _CLOSING):
                        return await self._drawn(tools, url, site, answer, seconds, began)
            except TimeoutError:
                await self._stop(tools)
                raise BrowserProblem("it did not end, and the browser was started anew") from None
            except DevToolsError as error:
                if tools.closed:
                    await self._stop(tools)
                raise BrowserProblem(str(error)) from None

    async def close(self) -> None:
        """End the browser."""
        await self._stop(self._tools)
        if self._wall is not None:
            self._wall.close()
            self._wall = None

    # -- its life ------------------------------------------------------------------------------

    async def _started(self) -> DevTools:
        async with self._starting:
            tools = self._tools
            if tools is not None and not tools.closed:
                if self._pages < _PAGES or self._busy:
                    return tools
                await self._stop(tools)
            elif tools is not None:
                await self._stop(tools)
            if self._wall is None:
                self._wall = await asyncio.start_server(self._refuse, "127.0.0.1", 0)
            try:
                async with asyncio.timeout(_START):
                    address = self._wanted
                    if not address.startswith("ws"):
                        address = await self._launched()
                    self._tools = tools = await DevTools.connect(address)
                    tools.listen("", self._closing_windows(tools))
                    await tools.send("Target.setDiscoverTargets", {"discover": True})
                    self._narrow = not await _roomy(tools)
            except (TimeoutError, DevToolsError, OSError) as error:
                await self._stop(self._tools)
                why = str(error) or f"no answer within {_START:g} s"
                raise BrowserProblem(f"{self._wanted} did not start: {why}") from None
            self._pages = 0
            return tools

    async def _launched(self) -> str:
        """Start the program; the address of its DevTools."""
        self._folder = tempfile.TemporaryDirectory(
            prefix="sonde-browser-", ignore_cleanup_errors=True
        )
        command = [self._wanted, *_FLAGS, f"--user-data-dir={self._folder.name}"]
        if unsandboxed(self._wanted):
            command.append("--no-sandbox")
        watch = Path(__file__).with_name("browser_watch.py")
        self._process = process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-I",
            str(watch),
            str(self._memory),
            *command,
            "about:blank",
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            start_new_session=True,  # a Ctrl-C in the terminal is for sonde
        )
        assert process.stderr is not None
        said = b""
        while line := await process.stderr.readline():
            said = line
            if found := re.search(rb"DevTools listening on (ws://\S+)", line):
                self._draining = asyncio.create_task(_drain(process.stderr))
                return found[1].decode()
        raise DevToolsError(said.decode("utf-8", "replace").strip()[:200] or "it ended at once")

    async def _stop(self, tools: DevTools | None) -> None:
        """End what was started with these tools, unless that was done already."""
        if tools is not self._tools:
            return
        self._tools = None
        self._sites.clear()
        self._busy.clear()
        if tools is not None:
            await tools.close()
        process, self._process = self._process, None
        if process is not None:
            assert process.stdin is not None
            process.stdin.close()  # the watch does the rest
            with suppress(TimeoutError):
                async with asyncio.timeout(_CLOSING):
                    await process.wait()
            if process.returncode is None:
                process.kill()
        if self._folder is not None:
            self._folder.cleanup()
            self._folder = None

    async def _refuse(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.walled += 1
        with suppress(OSError):
            writer.write(
                b"HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
            )
            await writer.drain()
        writer.close()

    def _closing_windows(self, tools: DevTools) -> Callable[[str, Mapping[str, Any]], None]:
        tasks: set[asyncio.Task[None]] = set()

        async def shut(target: str) -> None:
            with suppress(DevToolsError):
                await tools.send("Target.closeTarget", {"targetId": target})

        def heard(event: str, said: Mapping[str, Any]) -> None:
            if event == "Target.targetCreated" and said["targetInfo"].get("openerId"):
                task = asyncio.ensure_future(shut(said["targetInfo"]["targetId"]))
                tasks.add(task)
                task.add_done_callback(tasks.discard)

        return heard

    # -- one page ------------------------------------------------------------------------------

    async def _context(self, tools: DevTools, site: str) -> str:
        """The context of a site: its cookies and its storage, apart from those of others."""
        known = self._sites.get(site)
        if known is not None:
            self._sites.move_to_end(site)
            return known
        for other, context in list(self._sites.items()):
            if len(self._sites) < (1 if self._narrow else _SITES):
                break
            if not self._busy.get(context):
                del self._sites[other]
                await tools.send("Target.disposeBrowserContext", {"browserContextId": context})
        assert self._wall is not None
        port = self._wall.sockets[0].getsockname()[1]
        made = await tools.send(
            "Target.createBrowserContext",
            {
                "proxyServer": f"http://127.0.0.1:{port}",
                "proxyBypassList": "<-loopback>",
                "disposeOnDetach": True,
            },
        )
        context = str(made["browserContextId"])
        self._sites[site] = context
        await tools.send(
            "Browser.setDownloadBehavior", {"behavior": "deny", "browserContextId": context}
        )
        return context

    async def _drawn(
        self, tools: DevTools, url: str, site: str, answer: Answer, seconds: float, began: float
    ) -> DrawnPage:
        context = await self._context(tools, site)
        self._busy[context] = self._busy.get(context, 0) + 1
        self._pages += 1
        target = ""
        page = None
        try:
            made = await tools.send(
                "Target.createTarget", {"url": "about:blank", "browserContextId": context}
            )
            target = made["targetId"]
            attached = await tools.send(
                "Target.attachToTarget", {"targetId": target, "flatten": True}
            )
            page = _Page(tools, attached["sessionId"], answer)
            html, ended = await page.drawn(url, seconds)
            return DrawnPage(html, time.monotonic() - began, ended)
        finally:
            if page is not None:
                page.end()
            if self._busy.get(context):
                self._busy[context] -= 1
                if not self._busy[context]:
                    del self._busy[context]
            if target and not tools.closed:
                await self._close(tools, target)

    async def _close(self, tools: DevTools, target: str) -> None:
        try:
            async with asyncio.timeout(_CLOSING):
                await tools.send("Target.closeTarget", {"targetId": target})
        except TimeoutError:
            await self._stop(tools)
        except DevToolsError:
            pass


class _Page:
    """One page that is drawn."""

    def __init__(self, tools: DevTools, session: str, answer: Answer) -> None:
        self._tools = tools
        self._session = session
        self._answer = answer
        self._asked: set[asyncio.Task[None]] = set()
        self._loaded = False
        self._crashed = asyncio.get_running_loop().create_future()
        self._frame = ""
        self._touched = time.monotonic()
        tools.listen(session, self._heard)

    def end(self) -> None:
        self._tools.listen(self._session, None)
        for task in self._asked:
            task.cancel()
        if not self._crashed.done():
            self._crashed.cancel()

    async def drawn(self, url: str, seconds: float) -> tuple[str, str]:
        send = self._send
        await send("Page.enable")
        tree = await send("Page.getFrameTree")
        self._frame = tree["frameTree"]["frame"]["id"]
        await send("Network.enable")
        await send("Network.setBypassServiceWorker", bypass=True)
        await send("Page.addScriptToEvaluateOnNewDocument", source=_BEFORE)
        await send("Fetch.enable", patterns=[{"urlPattern": "*", "requestStage": "Request"}])
        began = time.monotonic()
        going = asyncio.ensure_future(send("Page.navigate", url=url))
        try:
            ended = await self._settled(began, seconds)
            for _ in range(_SCROLLS if ended == "quiet" else 0):
                before = await self._look(_GROWTH)
                if not await self._look(_SCROLL):
                    break
                self._touched = time.monotonic()
                ended = await self._settled(began, seconds)
                if ended != "quiet" or await self._look(_GROWTH) == before:
                    break
            html = await self._look(f"{_SERIALISE}({_LIMIT})")
        finally:
            going.cancel()
            await asyncio.gather(going, return_exceptions=True)
        if not isinstance(html, str):
            raise BrowserProblem("it has no document")
        return html, ended

    async def _settled(self, began: float, seconds: float) -> str:
        """Wait until the network and the text are quiet, or for as long as a page may take."""
        idle = 0.0
        last, before = time.monotonic(), None
        while True:
            await asyncio.sleep(_STILL)
            now = time.monotonic()
            if not self._asked:
                idle += now - last
            last = now
            if idle > seconds or now - began > 3 * seconds:
                return "limit"
            if self._asked or not self._loaded or now - self._touched < _QUIET:
                continue
            seen = await self._look(_GROWTH)
            if seen == before:
                return "quiet"
            before = seen

    async def _look(self, expression: str) -> Any:
        """The value of an expression in the page."""
        async with asyncio.timeout(_EVALUATE):
            found = await self._send("Runtime.evaluate", expression=expression, returnByValue=True)
        return found.get("result", {}).get("value")

    async def _send(self, method: str, **parameters: Any) -> dict[str, Any]:
        """A command to the page; a crash of the page ends the wait."""
        sending = asyncio.ensure_future(self._tools.send(method, parameters, self._session))
        await asyncio.wait((sending, self._crashed), return_when=asyncio.FIRST_COMPLETED)
        if self._crashed.done():
            sending.cancel()
            await asyncio.gather(sending, return_exceptions=True)
            raise BrowserProblem("the page crashed")
        return sending.result()

    def _heard(self, event: str, said: Mapping[str, Any]) -> None:
        if event == "Fetch.requestPaused":
            self._touched = time.monotonic()
            task = asyncio.ensure_future(self._answered(said))
            self._asked.add(task)
            task.add_done_callback(self._done)
        elif event == "Page.loadEventFired":
            self._loaded = True
        elif event == "Page.javascriptDialogOpening":
            self._tell("Page.handleJavaScriptDialog", accept=False)
        elif event == "Inspector.targetCrashed" and not self._crashed.done():
            self._crashed.set_result(None)

    def _done(self, task: asyncio.Task[None]) -> None:
        self._asked.discard(task)
        self._touched = time.monotonic()

    def _tell(self, method: str, **parameters: Any) -> None:
        task = asyncio.ensure_future(self._told(method, parameters))
        self._asked.add(task)
        task.add_done_callback(self._asked.discard)

    async def _told(self, method: str, parameters: Mapping[str, Any]) -> None:
        with suppress(DevToolsError):
            await self._tools.send(method, parameters, self._session)

    async def _answered(self, said: Mapping[str, Any]) -> None:
        """Answer a request that the page has made."""
        asked = said["request"]
        kind = said.get("resourceType", "Other")
        request = BrowserRequest(
            url=asked["url"] + asked.get("urlFragment", ""),
            method=asked["method"],
            kind=kind,
            headers=asked.get("headers", {}),
            moves=kind == "Document" and said.get("frameId") == self._frame,
        )
        got = await self._answer(request)
        number = said["requestId"]
        if got is None:
            await self._told(
                "Fetch.failRequest", {"requestId": number, "errorReason": "BlockedByClient"}
            )
            return
        await self._told(
            "Fetch.fulfillRequest",
            {
                "requestId": number,
                "responseCode": got.status,
                "responseHeaders": [{"name": name, "value": value} for name, value in got.headers],
                "body": base64.b64encode(got.body).decode(),
            },
        )


async def _roomy(tools: DevTools) -> bool:
    """Whether a browser has room for several contexts; Lightpanda has not."""
    made = []
    try:
        for _ in range(2):
            answer = await tools.send("Target.createBrowserContext", {})
            made.append(answer["browserContextId"])
    except DevToolsError:
        return False
    finally:
        for context in made:
            await tools.send("Target.disposeBrowserContext", {"browserContextId": context})
    return True


async def _drain(stream: asyncio.StreamReader) -> None:
    """Read on, so that whoever writes does not stand still."""
    with suppress(OSError, ValueError):
        while await stream.read(65_536):
            pass
