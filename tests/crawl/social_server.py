"""A network on loopback: real posts in the shapes of real APIs, behind windows that are strict.

A request over a limit is answered with 429 and remembered in ``over``: a test that finds anything
there has failed. The server's windows slide, which is the strictest that they can be.
"""

from __future__ import annotations

import html
import json
import lzma
import re
import time
from collections import defaultdict, deque
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

POSTS = Path(__file__).parents[3] / "shared" / "data" / "mentions-2017.tsv.xz"
_MENTION = re.compile(r"@(u\d+)")


def real_posts(most: int = 60_000) -> list[tuple[str, str]]:
    """(author, text) of real posts; the test is skipped where they are not at hand."""
    if not POSTS.exists():
        pytest.skip(f"needs the posts in {POSTS.name}")
    return read_posts(POSTS, most)


def read_posts(path: Path, most: int) -> list[tuple[str, str]]:
    """(author, text) of a file of posts."""
    found = []
    with lzma.open(path, "rt", encoding="utf-8") as file:
        next(file)
        for line in file:
            _, author, text = line.rstrip("\n").split("\t", 2)
            found.append((author, text))
            if len(found) == most:
                break
    return found


class Windows:
    """At most k requests in any d seconds for each key."""

    def __init__(self, requests: int, seconds: float) -> None:
        self.requests = requests
        self.seconds = seconds
        self.times: dict[str, deque[float]] = defaultdict(deque)
        self.over: list[str] = []

    def admit(self, key: str) -> tuple[bool, int, float]:
        """Whether a request is within the limit, how many remain, when the first one leaves."""
        now = time.time()
        times = self.times[key]
        while times and times[0] <= now - self.seconds:
            times.popleft()
        if len(times) >= self.requests:
            self.over.append(key)
            return False, 0, times[0] + self.seconds
        times.append(now)
        return True, self.requests - len(times), times[0] + self.seconds


class Network:
    """Accounts and posts, answered as Mastodon, Bluesky and a forum of its own would."""

    def __init__(
        self,
        posts: Iterable[tuple[str, str]],
        *,
        windows: dict[str, Windows] | None = None,
        tokens: tuple[str, ...] = (),
        headers: str = "x",
    ) -> None:
        self.posts: dict[str, list[str]] = defaultdict(list)
        for author, text in posts:
            self.posts[author].append(text)
            for other in _MENTION.findall(text):
                self.posts[other]
        self.windows = windows or {}
        self.tokens = tokens
        self.headers = headers
        self.asked: list[tuple[str, str]] = []
        self.seen_tokens: set[str] = set()

    @property
    def over(self) -> list[str]:
        return [key for window in self.windows.values() for key in window.over]

    async def __call__(self, request: web.Request) -> web.StreamResponse:
        token = request.headers.get("Authorization", "").removeprefix("Bearer ")
        if self.tokens and token not in self.tokens:
            return web.json_response({"error": "The access token is invalid"}, status=401)
        self.seen_tokens.add(token)
        endpoint = "search" if "search" in request.path else "posts"
        self.asked.append((endpoint, request.path_qs))
        headers: dict[str, str] = {}
        for name in ("all", endpoint):
            if name in self.windows:
                window = self.windows[name]
                good, remaining, reset = window.admit(token)
                headers |= _stated(self.headers, window, remaining, reset)
                if not good:
                    return web.json_response(
                        {"error": "Too many requests"},
                        status=429,
                        headers={"Retry-After": "1", **headers},
                    )
        answer = self._answer(request)
        if answer is None:
            return web.json_response({"error": "Record not found"}, status=404, headers=headers)
        data, more = answer
        return web.Response(
            text=json.dumps(data),
            content_type="application/json",
            headers=headers | more,
        )

    def _answer(self, request: web.Request) -> tuple[Any, dict[str, str]] | None:
        path, query = request.path, request.query
        if path == "/api/v1/accounts/lookup":
            name = query["acct"]
            return (_account(name), {}) if name in self.posts else None
        found = re.fullmatch(r"/api/v1/accounts/(\d+)/statuses", path)
        if found:
            return self._statuses(request, f"u{found[1]}")
        if path == "/api/v2/search":
            statuses = [
                _status(author, number, text)
                for author, number, text in self._matching(query["q"], 40)
            ]
            return {"accounts": [], "statuses": statuses, "hashtags": []}, {}
        if path == "/xrpc/app.bsky.feed.getAuthorFeed":
            return self._feed(query["actor"], int(query["limit"]), query.get("cursor"))
        if path == "/xrpc/app.bsky.feed.searchPosts":
            hits = self._matching(query["q"], int(query["limit"]))
            return {"posts": [_view(*hit) for hit in hits]}, {}
        if path == "/forum/posts":
            return self._forum(query["user"], int(query.get("page", "1")))
        return None

    def _matching(self, words: str, most: int) -> list[tuple[str, int, str]]:
        hits = [
            (author, number, text)
            for author, texts in self.posts.items()
            for number, text in enumerate(texts)
            if words.lower() in text.lower()
        ]
        return hits[:most]

    def _statuses(
        self, request: web.Request, author: str
    ) -> tuple[list[Any], dict[str, str]] | None:
        if author not in self.posts:
            return None
        texts = self.posts[author]
        limit = min(40, int(request.query.get("limit", "20")))
        before = int(request.query.get("max_id", len(texts)))
        page = [(number, texts[number]) for number in range(before - 1, -1, -1)][:limit]
        more = {}
        if page and page[-1][0] > 0:
            url = request.url.update_query(max_id=str(page[-1][0]))
            back = request.url.update_query(min_id=str(page[0][0]))
            more["Link"] = f'<{url}>; rel="next", <{back}>; rel="prev"'
        return [_status(author, number, text) for number, text in page], more

    def _feed(
        self, actor: str, limit: int, cursor: str | None
    ) -> tuple[dict[str, Any], dict[str, str]] | None:
        author = actor.removeprefix("did:plc:").removesuffix(".example")
        if author not in self.posts:
            return None
        texts = self.posts[author]
        start = int(cursor or "0")
        page = list(enumerate(texts))[start : start + limit]
        data: dict[str, Any] = {
            "feed": [{"post": _view(author, number, text)} for number, text in page]
        }
        if start + limit < len(texts):
            data["cursor"] = str(start + limit)
        return data, {}

    def _forum(self, user: str, page: int) -> tuple[dict[str, Any], dict[str, str]] | None:
        if user not in self.posts:
            return None
        texts = self.posts[user][(page - 1) * 10 : page * 10]
        listed = [
            {"body": text, "by": user, "to": [{"user": name} for name in _MENTION.findall(text)]}
            for text in texts
        ]
        return {"result": {"posts": listed}}, {}


def _stated(style: str, window: Windows, remaining: int, reset: float) -> dict[str, str]:
    left = max(0, round(reset - time.time()))
    if style == "x":  # as Mastodon writes it
        moment = (
            time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(reset)) + f".{int(reset % 1 * 1e6):06}Z"
        )
        return {
            "X-RateLimit-Limit": str(window.requests),
            "X-RateLimit-Remaining": str(remaining),
            "X-RateLimit-Reset": moment,
        }
    if style == "ietf":
        return {"RateLimit": f'"default";r={remaining};t={left}'}
    return {}


def _account(name: str) -> dict[str, Any]:
    return {"id": name.removeprefix("u"), "username": name, "acct": name, "display_name": name}


def _status(author: str, number: int, text: str) -> dict[str, Any]:
    return {
        "id": str(number),
        "uri": f"http://127.0.0.1/users/{author}/statuses/{number}",
        "content": f"<p>{html.escape(text)}</p>",
        "account": _account(author),
        "reblog": None,
        "mentions": [
            {"id": name[1:], "username": name, "acct": name, "url": f"http://127.0.0.1/@{name}"}
            for name in dict.fromkeys(_MENTION.findall(text))
        ],
        "visibility": "public",
    }


def _view(author: str, number: int, text: str) -> dict[str, Any]:
    facets = []
    for found in _MENTION.finditer(text):
        start = len(text[: found.start()].encode())
        facets.append(
            {
                "index": {"byteStart": start, "byteEnd": start + len(found[0])},
                "features": [
                    {"$type": "app.bsky.richtext.facet#mention", "did": f"did:plc:{found[1]}"}
                ],
            }
        )
    facets.append({"features": [{"$type": "app.bsky.richtext.facet#link", "uri": "x:"}]})
    return {
        "uri": f"at://did:plc:{author}/app.bsky.feed.post/{number}",
        "cid": f"cid{number}",
        "author": {"did": f"did:plc:{author}", "handle": f"{author}.example"},
        "record": {"$type": "app.bsky.feed.post", "text": text, "facets": facets},
        "indexedAt": "2017-06-21T10:05:17Z",
    }
