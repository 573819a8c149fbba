"""Pages drawn by a real browser, within an exact budget. Skipped where no browser is installed."""

from __future__ import annotations

import asyncio
import itertools
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from crawl_sites import FAST, Handler, Site
from script_sites import application, script, shell

import sonde.sources.web.rendering as rendering
from sonde.cli import main
from sonde.crawling import Crawl, Settled
from sonde.errors import InputError
from sonde.net.browser import Browser, BrowserAnswer, BrowserProblem, BrowserRequest
from sonde.net.browsers import find_browser
from sonde.sources.page import Page
from sonde.sources.web.rendering import RenderChoice
from sonde.store.reader import RunReader
from sonde.store.warcreader import read_archived

try:
    CHROMIUM = find_browser("chromium")
except InputError:
    CHROMIUM = ""
needs_browser = pytest.mark.skipif(not CHROMIUM, reason="no browser is installed (chromium)")
pytestmark = pytest.mark.slow


def drawn(
    site: Site, path: str = "/", budget: int = 100, **settings: Any
) -> tuple[dict[str, Settled], int]:
    """Crawl with a browser; what came of each path, and the requests that were spent."""
    heard: list[Settled] = []

    def hear(event: object) -> None:
        if isinstance(event, Settled):
            heard.append(event)

    values = {**FAST, "render": "auto", **settings}
    result = Crawl([site.url(path)], budget=budget, on_event=hear, **values).run_to_end()
    return {"/" + str(event.node).split("/", 3)[3]: event for event in heard}, result.requests


def one_page(body: str, answers: dict[str, Callable[[], web.Response]] | None = None) -> Handler:
    """A site of one page that needs a browser, and what its script may ask for."""

    async def serve(request: web.Request) -> web.StreamResponse:
        if request.path == "/":
            return shell(body)
        made = (answers or {}).get(request.path)
        if made is None:
            raise web.HTTPNotFound
        return made()

    return serve


def scripted(text: str) -> str:
    return f'<div id="root"></div><script>{text}</script><script>1</script><script>2</script>'


SAYS = "document.getElementById('root').innerHTML = '<p>tide gauge of the harbour wall</p>';"


# -- the budget ------------------------------------------------------------------------------------


@needs_browser
@pytest.mark.parametrize("budget", [1, 2, 3, 5, 17, 100])
def test_the_server_counts_what_was_spent_and_never_more_than_the_budget(budget: int) -> None:
    with Site(application(8)) as site:
        outcomes, spent = drawn(site, budget=budget)
        assert site.total == spent <= budget
        if budget == 100:
            assert len(outcomes) == 9
            assert all(page.score > 0 and page.flags == "rendered" for page in outcomes.values())
            # The script is fetched once, pictures and style sheets never.
            assert site.counts["/app.js"] == 1
            assert not {"/style.css", "/picture.png", "/favicon.ico"} & set(site.counts)


@needs_browser
def test_a_lazy_list_is_scrolled_within_limits() -> None:
    endless = """
      let number = 0;
      const more = () => fetch('/more?from=' + number).then(a => a.json()).then(items => {
        for (const item of items) {
          const row = document.createElement('div');
          row.style.height = '200px';
          row.innerHTML = '<a href="/item' + item + '">tide gauge ' + item + '</a>';
          document.body.appendChild(row);
        }
        number += items.length;
      });
      more();
      addEventListener('scroll', () => {
        if (innerHeight + scrollY + 10 >= document.documentElement.scrollHeight) more();
      });
    """

    async def serve(request: web.Request) -> web.StreamResponse:
        if request.path == "/":
            return shell(scripted(endless))
        if request.path == "/more":
            start = int(request.query["from"])
            return web.json_response(list(range(start, start + 20)))
        raise web.HTTPNotFound

    with Site(serve) as site:
        outcomes, spent = drawn(site, depth=0)
        loads = sum(count for path, count in site.counts.items() if path.startswith("/more"))
        assert 3 <= loads <= 12
        assert site.total == spent
        assert outcomes["/"].score > 0


# -- what a page must not do -----------------------------------------------------------------------


@needs_browser
def test_nothing_leaves_that_sonde_does_not_send() -> None:
    tries = (
        SAYS
        + """
      navigator.serviceWorker && navigator.serviceWorker.register('/worker.js');
      try { new Worker('/worker.js'); } catch (e) {}
      window.open('/window');
      const link = document.createElement('a'); link.href = '/clicked'; link.target = '_blank';
      document.body.appendChild(link); link.click();
      new WebSocket('ws://' + location.host + '/socket');
      navigator.sendBeacon('/beacon', 'x');
      fetch('/post', {method: 'POST', body: 'x'}).catch(() => 0);
      new Image().src = '/image.png';
      new EventSource('/events');
      const frame = document.createElement('iframe'); frame.src = '/frame';
      document.body.appendChild(frame);
      const hint = document.createElement('link'); hint.rel = 'prefetch'; hint.href = '/ahead';
      document.head.appendChild(hint);
    """
    )
    with Site(one_page(scripted(tries), {"/worker.js": lambda: script("1")})) as site:
        outcomes, spent = drawn(site, depth=0)
        assert outcomes["/"].score > 0
        assert set(site.counts) <= {"/robots.txt", "/", "/worker.js"}
        assert site.total == spent


@needs_browser
def test_other_hosts_and_metadata_services_are_out_of_reach() -> None:
    with Site(one_page("", {"/": lambda: web.Response(text="secret")}), hosts=2) as other:
        reach = (
            SAYS
            + f"""
          for (const url of ['{other.url("/", host=2)}', 'http://169.254.169.254/latest/',
                             'http://localhost:{other.port}/', 'http://[::1]:{other.port}/',
                             'file:///etc/passwd'])
            fetch(url).then(a => a.text()).then(t => document.body.append('got ' + t))
                      .catch(() => 0);
        """
        )
        with Site(one_page(scripted(reach))) as site:
            outcomes, spent = drawn(site, depth=0, hosts=("127.0.0.1",))
            assert outcomes["/"].score > 0
            assert other.total == 0
            assert site.total == spent


@needs_browser
def test_names_are_looked_up_by_sonde_alone_and_their_addresses_guarded() -> None:
    async def lookup(host: str) -> list[str]:
        return ["169.254.169.254"] if host == "inside.test" else ["127.0.0.1"]

    reach = (
        "fetch('http://inside.test/').catch(() => 0); fetch('http://other.test/').catch(() => 0);"
    )
    with Site(one_page(scripted(SAYS + reach))) as site:
        heard: list[Settled] = []
        settings = {**FAST, "render": "auto", "scope": "web", "lookup": lookup, "depth": 0}
        result = Crawl(
            [f"http://app.test:{site.port}/"],
            budget=20,
            on_event=lambda event: heard.append(event) if isinstance(event, Settled) else None,
            **settings,
        ).run_to_end()
        assert heard[0].score > 0
        # Tried and refused at the address, or at a port where nobody is: nothing reached a server.
        assert site.total <= result.requests
        assert set(site.counts) == {"/robots.txt", "/"}


@needs_browser
def test_downloads_are_refused_and_routes_of_the_script_are_links(tmp_path: Path) -> None:
    routes = (
        SAYS
        + """
      history.pushState({}, '', '/route/one');
      document.body.insertAdjacentHTML('beforeend', '<a href="two">tide gauge two</a>');
      const link = document.createElement('a'); link.href = '/file.zip'; link.download = 'x.zip';
      document.body.appendChild(link); link.click();
    """
    )

    async def serve(request: web.Request) -> web.StreamResponse:
        if request.path in ("/", "/route/two"):
            return shell(scripted(routes))
        raise web.HTTPNotFound

    with Site(serve) as site:
        outcomes, spent = drawn(site, budget=12, depth=1)
        assert outcomes["/route/two"].score > 0  # as the page's own address had become
        assert site.total == spent
        assert not list(tmp_path.rglob("*.zip"))


@needs_browser
def test_a_redirect_of_what_a_page_asks_for_is_followed_within_the_same_bounds() -> None:
    ask = """
      fetch('/moved').then(a => a.text()).then(text => {
        document.getElementById('root').innerHTML = '<p>tide gauge ' + text + '</p>';
      });
    """

    async def serve(request: web.Request) -> web.StreamResponse:
        if request.path == "/":
            return shell(scripted(ask))
        if request.path == "/moved":
            raise web.HTTPFound("/there")
        if request.path == "/there":
            return web.Response(text="of the harbour")
        raise web.HTTPNotFound

    with Site(serve) as site:
        outcomes, spent = drawn(site, depth=0)
        assert outcomes["/"].score > 0
        assert site.counts["/there"] == site.counts["/moved"] == 1
        assert site.total == spent


@needs_browser
def test_a_storm_of_redirects_is_bounded() -> None:
    async def serve(request: web.Request) -> web.StreamResponse:
        number = int(request.path.removeprefix("/p") or 0) if request.path != "/" else 0
        return shell(scripted(f"location.href = '/p{number + 1}';"))

    with Site(serve) as site:
        _, spent = drawn(site, depth=0)
        assert site.total == spent <= 12


@needs_browser
def test_robots_txt_holds_for_what_a_page_asks_for() -> None:
    async def serve(request: web.Request) -> web.StreamResponse:
        if request.path == "/robots.txt":
            return web.Response(text="User-agent: *\nDisallow: /api/")
        return await application(2)(request)

    with Site(serve) as site:
        outcomes, _ = drawn(site)
        assert outcomes["/"].score == 0
        assert not any(path.startswith("/api/") for path in site.counts)


# -- pages that misbehave --------------------------------------------------------------------------

HANGS = scripted(SAYS + "while (true) {}")
EATS = scripted("const all = []; while (true) all.push(new Array(1e6).fill(Math.random()));")
ASKS = scripted(SAYS + "setInterval(() => fetch('/again?' + Math.random()), 20);")


@needs_browser
@pytest.mark.parametrize("body", [HANGS, EATS, ASKS], ids=["hangs", "eats", "asks"])
def test_a_page_that_does_not_end_costs_itself_and_not_the_crawl(
    body: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rendering, "SECONDS", 1.0)
    monkeypatch.setattr(rendering, "REQUESTS", 10)
    good = application(2)

    async def serve(request: web.Request) -> web.StreamResponse:
        if request.path == "/page1":
            return shell(body)
        return await good(request)

    with Site(serve) as site:
        outcomes, spent = drawn(site, budget=40)
        assert site.total == spent
        assert outcomes["/page0"].score > 0
        assert "/page1" in outcomes


@needs_browser
def test_a_banner_does_not_hide_the_page_and_shadow_trees_are_read() -> None:
    covered = """
      document.body.innerHTML = '<main aria-hidden="true" id=m></main><div role=dialog>Yes?</div>';
      const part = document.createElement('x-part');
      part.attachShadow({mode: 'open'}).innerHTML =
        '<p>The tide gauge stands at the harbour wall, where it has stood for years.</p>' +
        '<a href="/next">next</a>';
      document.getElementById('m').appendChild(part);
    """
    with Site(one_page(scripted(covered))) as site:
        outcomes, _ = drawn(site)
        assert outcomes["/"].score > 0
        assert "/next" in outcomes


# -- the browser itself ----------------------------------------------------------------------------


def serve_only(body: str) -> Callable[[BrowserRequest], Awaitable[BrowserAnswer | None]]:
    async def answer(request: BrowserRequest) -> BrowserAnswer | None:
        if not request.moves:
            return None
        return BrowserAnswer(200, [("Content-Type", "text/html")], body.encode())

    return answer


@needs_browser
def test_sites_share_nothing_and_pages_of_one_site_do() -> None:
    remembers = """<p id=p></p><script>
      document.getElementById('p').textContent = 'before: ' + localStorage.getItem('x');
      localStorage.setItem('x', 'seen'); open('/other'); alert('?');
    </script>"""

    async def look() -> list[str]:
        browser = Browser(CHROMIUM)
        try:
            return [
                (
                    await browser.draw("http://a.example/", site, serve_only(remembers), seconds=5)
                ).html
                for site in ("a", "b", "a")
            ]
        finally:
            await browser.close()

    first, second, third = asyncio.run(look())
    assert "before: null" in first
    assert "before: null" in second
    assert "before: seen" in third


@needs_browser
def test_a_browser_that_is_gone_is_started_again() -> None:
    async def look() -> str:
        browser = Browser(CHROMIUM)
        try:
            await browser.draw("http://a.example/", "a", serve_only("one"), seconds=5)
            assert browser._process is not None
            browser._process.kill()  # the watch; its browser stays, and its tools answer
            assert browser._tools is not None
            with suppress(Exception):
                await browser._tools.send("Browser.crash")
            with suppress(BrowserProblem):
                await browser.draw("http://a.example/", "a", serve_only("two"), seconds=5)
            page = await browser.draw("http://a.example/", "a", serve_only("three"), seconds=5)
            return page.html
        finally:
            await browser.close()

    assert "three" in asyncio.run(look())


@needs_browser
def test_one_that_eats_too_much_memory_is_ended() -> None:
    async def look() -> None:
        browser = Browser(CHROMIUM, memory=1_000_000)
        try:
            with pytest.raises(BrowserProblem):
                await browser.draw("http://a.example/", "a", serve_only(HANGS), seconds=20)
        finally:
            await browser.close()

    asyncio.run(look())


@needs_browser
def test_a_browser_that_runs_already_is_used_by_its_address(tmp_path: Path) -> None:
    command = [CHROMIUM, "--headless=new", "--remote-debugging-port=0", "--no-sandbox"]
    process = subprocess.Popen(
        [*command, f"--user-data-dir={tmp_path}"], stderr=subprocess.PIPE, start_new_session=True
    )
    try:
        assert process.stderr is not None
        lines = iter(process.stderr.readline, b"")
        line = next(line for line in lines if b"listening on ws://" in line)
        address = line.split()[-1].decode()
        with Site(application(2)) as site:
            outcomes, spent = drawn(site, browser=address)
            assert outcomes["/page1"].score > 0
            assert site.total == spent
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()


def _descendants(mark: str) -> list[int]:
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):
            if mark.encode() in path.read_bytes():
                found.append(int(path.parent.name))
    return found


@needs_browser
@pytest.mark.skipif(not Path("/proc/self").exists(), reason="looks for processes in /proc")
def test_the_browser_dies_with_sonde(tmp_path: Path) -> None:
    with Site(application(500)) as site:
        options = ["--topic", "tide gauge", "--budget", "1000", "--allow-private"]
        options += ["--delay", "0", "--render", "auto", "-o", str(tmp_path / "run")]
        crawl = subprocess.Popen(
            [sys.executable, "-m", "sonde", "crawl", site.url("/"), *options],
            env={**os.environ, "TMPDIR": str(tmp_path)},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        mark = f"--user-data-dir={tmp_path}"
        try:
            deadline = time.monotonic() + 60
            while not _descendants(mark) and time.monotonic() < deadline:
                time.sleep(0.1)
            assert _descendants(mark)
        finally:
            crawl.kill()
            crawl.wait()
        deadline = time.monotonic() + 60
        while _descendants(mark) and time.monotonic() < deadline:
            time.sleep(0.1)
        assert not _descendants(mark)


# -- what is kept, and said ------------------------------------------------------------------------


@needs_browser
def test_a_run_keeps_the_page_as_drawn_and_explains_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with Site(application(3)) as site:
        folder = tmp_path / "run"
        settings = {**FAST, "render": "auto", "pages": True}
        Crawl([site.url("/")], budget=4, path=folder, **settings).run_to_end()
        result = Crawl.resume(folder, budget="+20").run_to_end()
        assert site.total == result.requests
        with RunReader(folder) as run:
            (row,) = run.rows("SELECT warc, rendered FROM pages WHERE final_url LIKE '%/page1'")
            kept = read_archived(folder / "pages", row[0])
            assert b"page1word7" in kept.body
            assert kept.header("content-type").startswith("text/html")
        capsys.readouterr()
        assert main(["explain", str(folder), site.url("/page1")]) == 0
        said = capsys.readouterr().out
        assert "drawn by a browser: " in said
        assert re.search("requests [12],", said)  # the script too, where it is the first
        assert main(["export", str(folder), "--jsonl", str(tmp_path / "text.jsonl")]) == 0
        texts = [json.loads(line) for line in (tmp_path / "text.jsonl").read_text().splitlines()]
        assert any("page1word7" in (page["text"] or "") for page in texts)


def test_without_a_browser_pages_are_marked_and_the_way_out_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with Site(application(3)) as site:
        arguments = ["crawl", site.url("/"), "--topic", "tide gauge", "--budget", "9"]
        arguments += ["--allow-private", "--delay", "0", "-o", str(tmp_path / "run")]
        assert main([*arguments, "--render", "auto"]) == 0
        said = capsys.readouterr().err
        assert "no browser was found" in said
        assert "install chromium" in said
        with RunReader(tmp_path / "run") as run:
            assert next(run.rows("SELECT flags FROM pages")) == ("needs-script",)
        assert main([*arguments, "--render", "always"]) == 2
        assert main([*arguments, "--render", "auto", "--browser", "/no/such"]) == 2
        assert capsys.readouterr().err.count("\n") == 2
        assert main([*arguments[:-1], str(tmp_path / "other")]) == 0
        assert "--render auto" in capsys.readouterr().err


# -- when it is worth it ---------------------------------------------------------------------------


def page_like(url: str, needs: bool) -> Page:
    return Page(url=url, needs_script=needs)


def test_the_first_of_a_shape_is_drawn_where_it_looks_like_a_shell() -> None:
    choice = RenderChoice()
    assert choice.wanted("http://a.example/x/1", page_like("", True))
    assert not choice.wanted("http://a.example/x/1", page_like("", False))


def test_where_drawing_paid_all_pages_of_the_shape_are_drawn_and_others_are_not() -> None:
    choice = RenderChoice()
    choice.learn("http://a.example/x/1", 0.9, 2, 1.0)
    assert choice.wanted("http://a.example/x/2", page_like("", False))
    assert not choice.wanted("http://a.example/y", page_like("", False))
    assert not choice.wanted("http://b.example/x/2", page_like("", False))


def test_where_it_did_not_pay_it_is_tried_ever_more_rarely() -> None:
    choice = RenderChoice()
    tried = []
    for number in range(200):
        if choice.wanted(f"http://a.example/x/{number}", page_like("", True)):
            tried.append(number)
            choice.learn(f"http://a.example/x/{number}", 0.0, 5, 2.0)
    gaps = [after - before for before, after in itertools.pairwise(tried)]
    assert gaps == sorted(gaps)
    assert 4 <= len(tried) <= 8


def test_what_was_learned_survives() -> None:
    choice, other = RenderChoice(), RenderChoice()
    for number in range(50):
        choice.learn(f"http://a{number % 7}.example/x/{number}", number / 50, number, 0.5)
    other.restore(choice.state())
    for number in range(50):
        for needs in (True, False):
            url = f"http://a{number % 7}.example/x/{number}"
            assert choice.wanted(url, page_like("", needs)) == other.wanted(
                url, page_like("", needs)
            )
