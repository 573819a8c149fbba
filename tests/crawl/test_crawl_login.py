"""Logging in: by the site's own form, charged, renewed once, and on no disk."""

from __future__ import annotations

import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from crawl_sites import FAST, Handler, Site, html, prose
from test_crawl_visits import pages, settled

from sonde.crawling import Crawl, crawl, read_config
from sonde.errors import InputError
from sonde.sources.web.source import WebSource
from sonde.track.tracker import track_live

PASSWORD = "hunter2-of-the-tide"
FORM = (
    "<form action=/search><input name=q></form>"
    "<form method=post action=/session><input type=hidden name=csrf value=t0ken>"
    "<input name=user><input type=password name=word>"
    "<input type=submit name=go value=Enter></form>"
)


class Members:
    """A site for members. A session is good for so many pages. ``sent`` are the forms that came."""

    def __init__(self, pages: int = 12, lasts: int = 10**9, private: tuple[int, ...] = ()) -> None:
        self.sent: list[dict[str, str]] = []
        self.sessions: dict[str, int] = {}
        self._pages = pages
        self._lasts = lasts
        self._private = private

    async def __call__(self, request: web.Request) -> web.StreamResponse:
        if request.path == "/login":
            return html(f"<p>{prose(0)}{FORM}", head="<title>Log in</title>")
        if request.path == "/session":
            form = {name: str(value) for name, value in (await request.post()).items()}
            self.sent.append(form)
            if form.get("word") != PASSWORD or form.get("csrf") != "t0ken":
                return html(f"wrong {FORM}")
            key = f"s3ss10n-{len(self.sent)}"
            self.sessions[key] = self._lasts
            response = web.HTTPFound("/welcome")
            response.set_cookie("sid_key", key)
            raise response
        if request.path == "/robots.txt":
            return web.Response(text="User-agent: *\nDisallow: /login\nDisallow: /session\n")
        if request.path == "/logout":
            self.sessions.clear()
        key = request.cookies.get("sid_key", "")
        if self.sessions.get(key, 0) <= 0:
            raise web.HTTPFound(f"/login?next={request.path}")
        if request.path == "/welcome":
            return html(prose(99))
        self.sessions[key] -= 1
        number = int(request.path.strip("/") or 0)
        if number in self._private:
            raise web.HTTPFound(f"/login?next={request.path}")
        links = "".join(
            f"<p><a href=/{other}>tide gauge</a>"
            for other in (2 * number + 1, 2 * number + 2)
            if other < self._pages
        )
        again = web.Response(
            text=f"<html lang=en><p>tide gauge {prose(number)}{links}<a href=/logout>x</a>",
            content_type="text/html",
        )
        again.set_cookie("sid_key", key)
        return again


@pytest.fixture
def secret(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TIDE_PASSWORD", PASSWORD)


def login(site: Site, **more: Any) -> dict[str, Any]:
    return {
        "page": site.url("/login"),
        "fields": {"user": "me", "word": "env:TIDE_PASSWORD"},
        **more,
    }


@pytest.mark.usefixtures("secret")
def test_a_crawl_logs_in_by_the_form_and_pays_for_it(tmp_path: Path) -> None:
    members = Members()
    with Site(members) as site:
        result = crawl(site.url("/0"), path=tmp_path / "run", budget=100, login=login(site), **FAST)
        assert result.visits == 12
        assert members.sent == [{"csrf": "t0ken", "go": "Enter", "user": "me", "word": PASSWORD}]
        # robots.txt, the form, its sending, the page that leads to, and twelve pages
        assert result.requests == site.total == 1 + 3 + 12
        assert "/logout" not in site.counts
        Crawl.resume(tmp_path / "run", budget="+10").run_to_end()
        assert len(members.sent) == 1  # nothing was left that needs one


def contents(folder: Path) -> bytes:
    """All that is in a folder, unpacked."""
    found = []
    for path in folder.rglob("*"):
        if path.is_file():
            data = path.read_bytes()
            found.append(data)
            while data.startswith(b"\x1f\x8b"):
                unpacker = zlib.decompressobj(31)
                found.append(unpacker.decompress(data))
                data = unpacker.unused_data
    return b"\n".join(found)


@pytest.mark.usefixtures("secret")
def test_no_secret_is_on_the_disk(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    members = Members(lasts=5)
    with Site(members) as site:
        settings = {**FAST, "pages": True}
        crawl(site.url("/0"), path=tmp_path / "run", budget=9, login=login(site), **settings)
        Crawl.resume(tmp_path / "run", budget="+50").run_to_end()
        kept = contents(tmp_path / "run")
        assert b"tide gauge" in kept
        assert b"env:TIDE_PASSWORD" in kept
        assert len(members.sessions) >= 3  # the second process begins one
        for word in (PASSWORD, "t0ken", *members.sessions):
            assert word.encode() not in kept
        assert b"sid_key" not in kept
        assert PASSWORD not in caplog.text


@pytest.mark.parametrize("per_host", [1, 64])  # one connection: it is the lease's own
@pytest.mark.usefixtures("secret")
def test_a_session_that_ends_is_renewed_and_charged(per_host: int) -> None:
    members = Members(lasts=5)
    with Site(members) as site:
        settings = {**FAST, "concurrency": 1, "per_host": per_host}
        result = crawl(site.url("/0"), budget=100, login=login(site), **settings)
        assert result.visits == 12
        assert len(members.sent) == 3
        # Each renewal: the page that was refused, the form, its sending, where that leads.
        assert result.requests == site.total == 1 + 3 + 12 + 2 * 4


@pytest.mark.usefixtures("secret")
def test_what_is_not_asked_for_gives_its_turn_back() -> None:
    with Site(Members()) as site:
        running = Crawl(site.url("/0"), budget=40, login=login(site), **FAST)
        running.run_to_end()
        assert running.session is not None
        source = running.session.hooks.source
        assert isinstance(source, WebSource)
        assert "/logout" not in site.counts
        assert [(host.open, host.reserved) for host in source.access.hosts] == [(0, 0)]


@pytest.mark.usefixtures("secret")
def test_such_a_run_cannot_be_tracked(tmp_path: Path) -> None:
    with Site(Members()) as site:
        crawl(site.url("/0"), path=tmp_path / "run", budget=9, login=login(site), **FAST)
        before = site.total
        with pytest.raises(InputError, match="its crawl logs in"):
            track_live(tmp_path / "run", duration=0.01)
        assert site.total == before


@pytest.mark.parametrize("per_host", [1, 2, 64])
@pytest.mark.usefixtures("secret")
def test_visits_at_the_same_time_renew_once(per_host: int) -> None:
    members = Members(pages=40, lasts=20)
    with Site(members) as site:
        settings = {**FAST, "per_host": per_host, "concurrency": 8}
        seeds = [site.url(f"/{number}") for number in range(8)]
        result = crawl(seeds, budget=200, login=login(site), **settings)
        assert result.visits == 40
        assert len(members.sent) <= 3
        assert result.requests == site.total


@pytest.mark.usefixtures("secret")
def test_a_page_that_asks_again_is_no_visit_and_renewals_end() -> None:
    members = Members(private=(3, 4, 5))
    with Site(members) as site:
        found = settled(site, "/0", login=login(site), concurrency=1)
        for number in (3, 4, 5):
            event = found[f"/{number}"]
            assert (event.outcome, event.reason) == ("skip", "login")
        assert found["/logout"].reason == "logout"
        assert (found["/logout"].requests, "/logout" in site.counts) == (0, False)
        assert len(members.sent) == 2
        assert sum(event.requests for event in found.values()) == site.total


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"fields": {"user": "me", "pin": "env:TIDE_PASSWORD"}}, "no form there has the fields"),
        ({"success": "Goodbye"}, "its success is not to be seen"),
        ({"page": "/gone"}, "its page could not be fetched: http-404"),
        ({"fields": {"user": "me", "word": "file:wrong"}}, "the form came back"),
    ],
)
@pytest.mark.usefixtures("secret")
def test_a_login_that_fails_ends_the_crawl_in_a_line(
    change: dict[str, Any], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("wrong").write_text("nonsense\n")
    Path("wrong").chmod(0o600)
    with Site(members := Members()) as site:
        if "page" in change:
            handler = pages({"/": prose(1)})
            site._handler = handler
            change = {"page": site.url("/gone")}
        with pytest.raises(InputError, match=said) as error:
            crawl(site.url("/0"), budget=50, login=login(site) | change, **FAST)
        assert "\n" not in str(error.value)
        assert PASSWORD not in str(error.value)
        assert len(members.sent) <= 1


@pytest.mark.parametrize("status", [302, 307])
@pytest.mark.usefixtures("secret")
def test_what_is_filled_in_goes_nowhere_else(status: int) -> None:
    stolen: list[Any] = []

    async def thief(request: web.Request) -> web.StreamResponse:
        stolen.append(await request.read())
        return html("thanks")

    with Site(thief, hosts=2) as elsewhere:

        def site_of(where: Callable[[], str]) -> Handler:
            async def answer(request: web.Request) -> web.StreamResponse:
                if request.path == "/login":
                    return html(FORM.replace("/session", where()))
                if request.path == "/session":
                    return web.Response(
                        status=status, headers={"Location": elsewhere.url("/", host=2)}
                    )
                return web.Response(status=404)

            return answer

        for where in (lambda: elsewhere.url("/", host=2), lambda: "/session"):
            with (
                Site(site_of(where)) as site,
                pytest.raises(InputError, match=r"secrets to|another site"),
            ):
                crawl(site.url("/0"), budget=50, login=login(site), **FAST)
    assert stolen == []


def test_pages_that_ask_to_log_in_have_a_reason_of_their_own() -> None:
    box = "<form><input name=u><input type=password name=p></form>"

    async def elsewhere(request: web.Request) -> web.StreamResponse:
        raise web.HTTPFound("/accounts/login?next=/members")

    answers = {
        "/": prose(1)
        + "".join(
            f"<a href=/{name}>x</a>"
            for name in ("members", "basic", "titled", "boxed", "login-forms")
        ),
        "/members": elsewhere,
        "/accounts/login?next=/members": prose(2) + box,
        "/basic": web.Response(status=401),
        "/titled": html(prose(3) + box, head="<title>Please sign in - Tides</title>"),
        "/boxed": html(f"tide gauge {prose(4)} {box}", head="<title>Tides</title>"),
        "/login-forms": html(
            prose(5) + box.replace("<", "&lt;"), head="<title>How to write a login form</title>"
        ),
    }
    with Site(pages(answers)) as site:
        found = settled(site)
        assert {path for path, event in found.items() if event.reason == "login"} == {
            "/members",
            "/basic",
            "/titled",
        }
        assert found["/boxed"].outcome == found["/login-forms"].outcome == "visit"
        assert sum(event.requests for event in found.values()) == site.total


@pytest.mark.parametrize(
    ("told", "said"),
    [
        ({"fields": {"a": "b"}}, "page must be the URL"),
        ({"page": "https://a.example/in"}, "fields must be such as"),
        ({"page": "https://a.example/in", "fields": {"password": "open"}}, "is secret: env:"),
        ({"page": "https://a.example/in", "fields": {"a": 1}}, "must be a text"),
        ({"page": "https://a.example/in", "fields": {"a": "b"}, "sucess": ""}, "unknown setting"),
        ({"page": "https://a.example/in", "fields": {"a": "env:NOBODY"}}, "NOBODY is not set"),
        (["x"], "login must be a table"),
        ([{"page": "https://a.example/in", "fields": {"a": "b"}}] * 2, "there are two for"),
    ],
)
def test_what_is_no_login_is_said_before_anything_is_sent(told: Any, said: str) -> None:
    with pytest.raises(InputError, match=said):
        crawl("https://a.example/", budget=1, contact="a@b.example", login=told)


def test_a_file_has_a_login_as_a_table(tmp_path: Path) -> None:
    path = tmp_path / "crawl.toml"
    path.write_text('login = { page = "https://a.example/in", fields = { user = "me" } }\n')
    assert read_config(path).settings["login"]["fields"] == {"user": "me"}
