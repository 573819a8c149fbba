"""What an API looks like, in TOML: endpoints, where things are in an answer, windows.

    name = "forum"
    [windows.all]
    requests = 60
    per = "1m"
    [posts]
    url = "{server}/users/{id}/posts?count=50"
    windows = ["all"]
    items = "posts[]"
    text = "body"
    author_id = "user.id"
    author_name = "user.name"
    mentions = "mentioned[]"
    mention_id = "id"
    mention_name = "name"
    id = "id"                # of a post; without it a post is called by what it says
    link = "url"             # where a person reads it
    next = { by = "cursor", path = "cursor", parameter = "after" }
    [lookup]
    url = "{server}/users?name={name}"
    windows = ["all"]
    id = "users[].id"
    [search]
    ...

``posts`` gives what an account has said and ``search``, which has the same keys, what was said
about ``{query}`` and by whom. ``lookup`` turns a name into an id; without it ``{id}`` is whatever
the user called the account.
"""

from __future__ import annotations

import string
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from sonde.durations import seconds_from
from sonde.errors import InputError
from sonde.sources.options import read_options
from sonde.sources.social.paging import PAGINGS, Next
from sonde.sources.social.windows import Window

_NAMES = {"posts": {"server", "id"}, "search": {"server", "query"}, "lookup": {"server", "name"}}


@dataclass(frozen=True)
class PostsEndpoint:
    """An endpoint that lists posts. Paths are those of ``picking``, within an item."""

    url: str
    text: str
    author_id: str
    items: str = "[]"
    windows: tuple[str, ...] = ()
    author_name: str = ""
    mentions: str = ""
    mention_id: str = ""
    mention_name: str = ""
    html: bool = False
    id: str = ""
    link: str = ""
    next: Next | None = None


@dataclass(frozen=True)
class LookupEndpoint:
    """An endpoint that knows the id of a name."""

    url: str
    id: str
    windows: tuple[str, ...] = ()


@dataclass(frozen=True)
class ApiDescription:
    """An API. ``token_header`` is how a token is sent, with ``{token}`` in it."""

    name: str
    server: str
    windows: Mapping[str, Window]
    posts: PostsEndpoint
    lookup: LookupEndpoint | None
    search: PostsEndpoint | None
    token_header: str

    @property
    def endpoints(self) -> dict[str, tuple[str, ...]]:
        """The windows of each endpoint that there is."""
        found = {"posts": self.posts, "lookup": self.lookup, "search": self.search}
        return {name: each.windows for name, each in found.items() if each is not None}


def read_description(text: str, where: str) -> ApiDescription:
    """Read TOML; whatever is wrong with it is said with its place."""
    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"{where}: not TOML: {error}") from None
    windows = {
        name: _window(table, f"{where}: windows.{name}")
        for name, table in _table(data.pop("windows", {}), f"{where}: windows").items()
    }
    posts = _posts(data.pop("posts", None), f"{where}: posts", windows)
    if posts is None:
        raise InputError(f"{where}: there is no table [posts]")
    if posts.mentions and not posts.mention_id:
        raise InputError(f"{where}: posts: mentions without a mention_id")
    search = _posts(data.pop("search", None), f"{where}: search", windows)
    lookup = None
    if "lookup" in data:
        place = f"{where}: lookup"
        lookup = read_options(LookupEndpoint, _table(data.pop("lookup"), place), place, noun="key")
        _check(place, "lookup", lookup.url, lookup.windows, windows)
    top = read_options(_Top, data, where, noun="key")
    if "{token}" not in top.token_header or ":" not in top.token_header:
        raise InputError(f"{where}: token_header must be Name: value with {{token}} in it")
    return ApiDescription(top.name, top.server, windows, posts, lookup, search, top.token_header)


@dataclass(frozen=True)
class _Top:
    name: str
    server: str = ""
    token_header: str = "Authorization: Bearer {token}"


@dataclass(frozen=True)
class _WindowTable:
    requests: int
    per: float | str


def _window(table: Any, where: str) -> Window:
    told = read_options(_WindowTable, _table(table, where), where, noun="key")
    seconds = seconds_from(told.per) if isinstance(told.per, str) else float(told.per)
    if told.requests < 1 or seconds <= 0:
        raise InputError(f"{where}: a window needs at least 1 request in a positive time")
    return Window(told.requests, seconds)


def _posts(table: Any, where: str, windows: Mapping[str, Window]) -> PostsEndpoint | None:
    if table is None:
        return None
    values = _table(table, where)
    follow = values.pop("next", None)
    posts = read_options(PostsEndpoint, values, where, noun="key")
    _check(where, where.rpartition(" ")[2], posts.url, posts.windows, windows)
    if follow is None:
        return posts
    told = read_options(Next, _table(follow, f"{where}.next"), f"{where}.next", noun="key")
    if told.by not in PAGINGS:
        raise InputError(f"{where}.next: by must be one of {', '.join(PAGINGS)}, not {told.by!r}")
    return PostsEndpoint(
        **{**{k: getattr(posts, k) for k in PostsEndpoint.__annotations__}, "next": told}
    )


def _check(
    where: str, endpoint: str, url: str, named: tuple[str, ...], windows: Mapping[str, Window]
) -> None:
    try:
        holes = {name for _, name, _, _ in string.Formatter().parse(url) if name is not None}
    except ValueError as error:
        raise InputError(f"{where}: url: {error}") from None
    if holes - _NAMES[endpoint]:
        known = ", ".join(f"{{{name}}}" for name in sorted(_NAMES[endpoint]))
        raise InputError(
            f"{where}: url may have {known} in it, not {{{min(holes - _NAMES[endpoint])}}}"
        )
    if not url.startswith("{server}/"):
        raise InputError(f"{where}: url must begin with {{server}}/")
    for name in named:
        if name not in windows:
            raise InputError(f"{where}: there is no window {name!r}")
    if not named:
        raise InputError(f"{where}: name the windows that hold for it: windows = [...]")


def _table(value: Any, where: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise InputError(f"{where} must be a table")
    return dict(value)


def filled(url: str, **values: str) -> str:
    """A URL with its holes filled; all but the server's address is quoted."""
    quoted = {
        name: value if name == "server" else quote(value, safe="") for name, value in values.items()
    }
    return url.format(**quoted)
