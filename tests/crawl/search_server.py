"""A search engine on loopback: SQLite's full-text index over real text, behind a search form.

``docstrings`` is text that is at hand wherever Python is: what the standard library says of its
modules, classes and functions. ``Engine`` answers as web applications do: a page with forms, pages
of ranked results with snippets, links to the next page, and no more than so many of them.
"""

from __future__ import annotations

import ast
import html
import sqlite3
import sysconfig
import threading
import weakref
from collections.abc import Iterable
from pathlib import Path
from urllib.parse import urlencode

from aiohttp import web

FRAME = """<!doctype html><html lang=en><head><title>{title}</title></head><body>
<nav><ul><li><a href="/">Home</a></li><li><a href="/about">About</a></li>
<li><a href="/help">Help</a></li></ul></nav><main>{main}</main></body></html>"""
HOME = """<h1>The library</h1>
<form action="/login" method=post><input name=user><input type=password name=word></form>
<form action="/find?old=1" role=search method={method}><input type=hidden name=lang value=en>
<select name=order><option value=rank selected>best first<option value=date>newest first</select>
<input type=search name=q><input type=submit value=Go></form>"""


def docstrings(most: int = 1_500) -> list[tuple[str, str]]:
    """(name, text) of what the standard library says of itself."""
    found: list[tuple[str, str]] = []
    folder = Path(sysconfig.get_paths()["stdlib"])
    for path in sorted(folder.glob("*.py")):
        try:
            tree = ast.parse(path.read_text(encoding="utf-8"))
        except (SyntaxError, UnicodeDecodeError):
            continue
        for node in ast.walk(tree):
            if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef)):
                text = ast.get_docstring(node)
                if text and len(text) > 80:
                    found.append((f"{path.stem}.{getattr(node, 'name', '')}", text))
        if len(found) >= most:
            break
    return found[:most]


class Engine:
    """Serves searches; ``asked`` has every request."""

    def __init__(
        self,
        records: Iterable[tuple[str, str]],
        *,
        method: str = "get",
        page: int = 10,
        most_pages: int = 10,
        robots: str = "",
    ) -> None:
        self._database = sqlite3.connect(":memory:", check_same_thread=False)
        weakref.finalize(self, self._database.close)
        self._lock = threading.Lock()
        self._database.execute("CREATE VIRTUAL TABLE records USING fts5(name, text)")
        self._database.executemany("INSERT INTO records VALUES (?, ?)", records)
        (self.size,) = self._database.execute("SELECT count(*) FROM records").fetchone()
        self.method = method
        self.page = page
        self.most_pages = most_pages
        self.robots = robots
        self.asked: list[str] = []
        self.sent: list[dict[str, str]] = []

    async def __call__(self, request: web.Request) -> web.StreamResponse:
        self.asked.append(request.path_qs)
        if request.path == "/robots.txt":
            return web.Response(text=self.robots, status=200 if self.robots else 404)
        if request.path == "/":
            main = HOME.format(method=self.method)
            return web.Response(
                text=FRAME.format(title="Search", main=main), content_type="text/html"
            )
        if request.path != "/find":
            return web.Response(status=404)
        posted = await request.post() if request.method == "POST" else {}
        fields = {**request.query, **{name: str(value) for name, value in posted.items()}}
        self.sent.append(fields)
        return web.Response(
            text=FRAME.format(title="Results", main=self._results(fields)),
            content_type="text/html",
        )

    def _results(self, fields: dict[str, str]) -> str:
        words = fields.get("q", "")
        number = int(fields.get("page", "1"))
        quoted = " ".join('"{}"'.format(word.replace('"', "")) for word in words.split())
        with self._lock:
            hits = self._database.execute(
                "SELECT rowid, name, snippet(records, 1, '<b>', '</b>', ' ... ', 40) FROM records"
                " WHERE records MATCH ? ORDER BY rank LIMIT ? OFFSET ?",
                (quoted or '""', self.page + 1, (number - 1) * self.page),
            ).fetchall()
        if not hits:
            return "<p>Nothing was found.</p>"
        items = "".join(
            f'<li class="hit first"><h3><a href="/record/{row}">{html.escape(name)}</a></h3>'
            f"<p>{html.escape(text).replace('&lt;b&gt;', '<b>').replace('&lt;/b&gt;', '</b>')}</p>"
            for row, name, text in hits[: self.page]
        )
        more = ""
        if len(hits) > self.page and number < self.most_pages:
            query = urlencode({**fields, "page": str(number + 1)})
            more = f'<p><a href="/find?{html.escape(query)}">Next »</a></p>'
        return f"<p>Results for {html.escape(words)}</p><ol class=results>{items}</ol>{more}"
