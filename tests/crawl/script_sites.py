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


def _prose(name: str, count: int = 80) -> str:
    return " ".join(f"{name}word{number}" for number in range(count))


def mixed(pages: int = 40) -> Handler:
    """Plain pages, a third that a script draws, and a third that stay empty whatever one does."""

    async def serve(request: web.Request) -> web.StreamResponse:
        path = request.path
        if path == "/app.js":
            return script(APP)
        if path.startswith("/api/"):
            name = path[5:-5]
            if name.startswith("empty"):
                raise web.HTTPForbidden
            return web.json_response(
                {"title": name, "text": f"tide gauge {_prose(name)}", "links": ["/"]}
            )
        if path == "/":
            names = [
                f"{kind}{number}" for number in range(pages) for kind in ("plain", "drawn", "empty")
            ]
            return shell(
                "".join(f'<p><a href="/{name}">{name} tide gauge</a></p>' for name in names)
            )
        if path.startswith(("/drawn", "/empty")):
            return shell()
        if path.startswith("/plain"):
            return shell(f"<p>tide gauge {_prose(path[1:])}</p>")
        raise web.HTTPNotFound

    return serve


CATALOGUE = """
const list = document.getElementById('root');
let number = 0;
const more = () => fetch('/api/items?from=' + number).then(a => a.json()).then(items => {
  for (const item of items) {
    const row = document.createElement('div');
    row.style.height = '150px';
    row.innerHTML = '<a href="/item' + item + '">tide gauge number ' + item + '</a>';
    list.appendChild(row);
  }
  number += items.length;
});
more();
addEventListener('scroll', () => {
  if (innerHeight + scrollY + 10 >= document.documentElement.scrollHeight) more();
});
"""


def catalogue(items: int = 80) -> Handler:
    """A list that grows when it is scrolled, of plain pages."""

    async def serve(request: web.Request) -> web.StreamResponse:
        path = request.path
        if path == "/app.js":
            return script(CATALOGUE)
        if path == "/":
            return shell()
        if path == "/api/items":
            start = int(request.query["from"])
            return web.json_response(list(range(start, min(start + 20, items))))
        if path.startswith("/item"):
            return shell(f"<p>tide gauge {_prose(path[1:])}</p><script>1</script>")
        raise web.HTTPNotFound

    return serve
