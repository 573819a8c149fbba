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

import re
import string
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qsl, quote, urlencode, urlsplit, urlunsplit

from sonde.durations import seconds_from
from sonde.errors import InputError
from sonde.net.urls import normalise, origin_of
from sonde.sources.options import read_options
from sonde.sources.social.windows import Window
from sonde.whole_text import whole

PAGINGS = ("link", "cursor", "last", "url", "page")

_LINK = re.compile(r"<([^>]*)>([^<]*)")
_NEXT = re.compile(r"""rel\s*=\s*"?[^";,]*\bnext\b""", re.IGNORECASE)


@dataclass(frozen=True)
class Next:
    """Where the next page is: ``by`` is one of ``PAGINGS``.

    ``link``    the header ``Link: <URL>; rel="next"``
    ``cursor``  a value in the answer that is sent back as a parameter; the end where there is none
    ``last``    a value in the last item, sent as a parameter; the end at an empty page
    ``url``     a URL in the answer
    ``page``    a parameter that counts from 1; the end at an empty page
    """

    by: str
    path: str = ""
    parameter: str = ""


def next_url(
    rule: Next, url: str, data: Any, items: Sequence[Any], headers: Mapping[str, str]
) -> str | None:
    """The URL of the next page; ``None`` at the end, and where it would be another origin's."""
    if not items:
        return None
    found: str | None = None
    if rule.by == "link":
        for target, parameters in _LINK.findall(headers.get("Link", "")):
            if _NEXT.search(parameters):
                found = normalise(target, base=url)
    elif rule.by == "url":
        found = normalise(text_at(data, rule.path), base=url) if text_at(data, rule.path) else None
    elif rule.by == "page":
        value = dict(parse_qsl(urlsplit(url).query)).get(rule.parameter, "1")
        found = _with(url, rule.parameter, str(int(value) + 1)) if value.isdigit() else None
    else:
        value = text_at(data if rule.by == "cursor" else items[-1], rule.path)
        found = _with(url, rule.parameter, value) if value else None
    if found is None or found == url or origin_of(found) != origin_of(url):
        return None
    return found


def _with(url: str, name: str, value: str) -> str:
    parts = urlsplit(url)
    pairs = [pair for pair in parse_qsl(parts.query, keep_blank_values=True) if pair[0] != name]
    return urlunsplit(parts._replace(query=urlencode([*pairs, (name, value)])))


def pick(data: Any, path: str) -> list[Any]:
    """All values at a JSON path: names with dots between them, ``[]`` for each of a list. What is
    null, or is not of the shape that the path expects, is left out: an API may leave out what it
    likes.

    >>> pick({"post": {"facets": [{"did": "a"}, {"did": "b"}, {}]}}, "post.facets[].did")
    ['a', 'b']
    """
    found = [data]
    for step in path.split(".") if path else []:
        name = step.removesuffix("[]")
        if name:
            found = [value[name] for value in found if isinstance(value, dict) and name in value]
        if step.endswith("[]"):
            found = [value for several in found if isinstance(several, list) for value in several]
    return [value for value in found if value is not None]


def one(data: Any, path: str) -> Any:
    """The first value at a path, or ``None``."""
    return next(iter(pick(data, path)), None)


def text_at(data: Any, path: str) -> str:
    """The first value at a path as a text: numbers are written out, all else is empty."""
    value = one(data, path)
    return whole(str(value)) if isinstance(value, (str, int, float)) else ""


_NAMES = {"posts": {"server", "id"}, "search": {"server", "query"}, "lookup": {"server", "name"}}


@dataclass(frozen=True)
class PostsEndpoint:
    """An endpoint that lists posts. Paths are those of ``pick``, within an item."""

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


# -- accounts as nodes ------------------------------------------------------------------------

SEARCH = "?"
"""A node that begins so is a search."""

_ID = "#"


def node_of(number: str, name: str, description: ApiDescription) -> str:
    """The node of an account that an answer tells of. Where mentions have no names, ids alone."""
    if name and name != number and description.posts.mention_name:
        return f"{name}{_ID}{number}"
    return number


def id_of(node: str) -> str | None:
    """The id in a node, where it has one."""
    _, mark, number = node.rpartition(_ID)
    return number if mark and number else None


def name_of(node: str) -> str:
    """What a person calls the account."""
    return node if id_of(node) is None else node.rpartition(_ID)[0]


def spelt(name: str) -> str:
    """The one spelling of a seed."""
    bare = name.strip()
    return bare if bare.startswith(SEARCH) else bare.removeprefix("@")


def endpoint_of(node: str, description: ApiDescription) -> str:
    """Where a node's first request goes."""
    if node.startswith(SEARCH):
        return "search" if description.search is not None else "posts"
    if id_of(node) is None and description.lookup is not None:
        return "lookup"
    return "posts"
