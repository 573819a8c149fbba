"""Sites that need a browser: every page is drawn by its own script."""

from __future__ import annotations

from aiohttp import web
from crawl_sites import Handler

SHELL = (
    '<div id="root"></div><script src="/app.js"></script><script>1</script><script>2</script>'
    '<link rel="stylesheet" href="/style.css"><img src="/picture.png">'
)
"""What a server sends for every page of an application."""

APP = """
const root = document.getElementById('root');
const name = location.pathname.slice(1) || 'index';
fetch('/api/' + name + '.json').then(answer => answer.json()).then(page => {
  root.innerHTML = '<h1>' + page.title + '</h1><p>' + page.text + '</p>' +
    page.links.map(link => '<a href="' + link + '">' + link.slice(1) + ' tide gauge</a>').join(' ');
});
"""


def shell(body: str = SHELL) -> web.Response:
    return web.Response(
        text=f"<!doctype html><html><head></head><body>{body}</body></html>",
        content_type="text/html",
    )


def script(text: str) -> web.Response:
    return web.Response(text=text, content_type="text/javascript")


def application(pages: int = 12) -> Handler:
    """A single-page application: an index, and pages that it leads to, each from an API."""

    async def serve(request: web.Request) -> web.StreamResponse:
        path = request.path
        if path == "/robots.txt":
            raise web.HTTPNotFound
        if path == "/app.js":
            return script(APP)
        if path.startswith("/api/"):
            name = path[5:-5]
            links = [f"/page{number}" for number in range(pages)] if name == "index" else ["/"]
            words = " ".join(f"{name}word{number}" for number in range(60))
            return web.json_response(
                {"title": name, "text": f"tide gauge {name} {words}", "links": links}
            )
        if path == "/" or path.startswith("/page"):
            return shell()
        raise web.HTTPNotFound

    return serve
