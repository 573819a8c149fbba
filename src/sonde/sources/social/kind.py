"""The kinds of source that are networks: named, told their options, made."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

from sonde.errors import InputError
from sonde.net.exchange import REASONS
from sonde.net.secret import Secret, secret_from
from sonde.net.urls import normalise, origin_of
from sonde.scorers.topic import Topic
from sonde.sources.context import SourceContext, SourceSettings
from sonde.sources.kind import FETCHING, Kind
from sonde.sources.social.description import (
    SEARCH,
    ApiDescription,
    endpoint_of,
    read_description,
    spelt,
)

if TYPE_CHECKING:
    from sonde.sources.social.source import ApiSource

_LEAST_PAGES = 1


@dataclass(frozen=True)
class NetworkOptions:
    """Where, as whom, and how many pages of posts of each account."""

    server: str = ""
    tokens: tuple[str, ...] = ()
    pages: int = 2

    def __post_init__(self) -> None:
        if self.pages < _LEAST_PAGES:
            raise InputError(f"pages must be {_LEAST_PAGES} or more, not {self.pages}")
        for where in self.tokens:
            if not where.startswith(("env:", "file:")):
                raise InputError("a token is given as env:VARIABLE or file:PATH")


@dataclass(frozen=True)
class ApiOptions(NetworkOptions):
    """The same, with a description; ``text`` is what the file said when the crawl was made."""

    file: str = ""
    text: str = ""


_Options = TypeVar("_Options", bound=NetworkOptions)


class NetworkKind(Kind[_Options]):
    """What all networks share."""

    nouns = ("account", "accounts")
    options: type[Any] = NetworkOptions
    place: str | None = "server"
    heeds = FETCHING | {
        "topic",
        "exact",
        "scorer",
        "scorer_seconds",
        "allow_pickle",
        "text",
        "pseudonymise",
    }
    defaults: Mapping[str, Any] = {"concurrency": 8}
    changeable = frozenset(["tokens"])
    grouped = True
    reasons: ClassVar[Mapping[str, str]] = REASONS | {
        "leaves the server": "a redirect leads to another server, which has no business with a"
        " token",
        "unknown account": "the server knows no account of this name",
    }

    _description: ClassVar[ApiDescription]

    def described(self, options: _Options) -> ApiDescription:
        """The description of the network."""
        return self._description

    def settled(self, options: _Options) -> _Options:
        server = options.server or self.described(options).server
        if not server:
            raise InputError(f"name the server, as in {self.name}:{self.name}.example")
        address = normalise(server if "://" in server else f"https://{server}")
        if address is None:
            raise InputError(f"not a server: {server!r:.200}")
        _secrets(options)  # a token that is missing is found out now
        return replace(options, server=origin_of(address))

    def seeds(self, options: _Options, topic: str | None) -> Sequence[str]:
        if self.described(options).search is None or not topic:
            return super().seeds(options, topic)
        return [SEARCH + phrase.spelt for phrase in Topic.of(topic).wanted]

    def spelt(self, options: _Options, seed: str) -> str:
        node = spelt(seed)
        if not node or not node.isprintable() or "/" in node:
            raise InputError(f"not an account of {self.name}: {seed!r:.200}")
        if node.startswith(SEARCH) and self.described(options).search is None:
            raise InputError(f"{self.name} has no search: {seed!r:.200}")
        return node

    def group(self, options: _Options, node: str) -> str:
        return endpoint_of(node, self.described(options))

    def rate(self, options: _Options) -> tuple[int, float]:
        description = self.described(options)
        windows = [description.windows[name] for name in description.posts.windows]
        tightest = min(windows, key=lambda each: each.requests / each.seconds)
        return tightest.requests * max(1, len(options.tokens)), tightest.seconds

    def plan(
        self,
        options: _Options,
        settings: SourceSettings,
        seeds: Sequence[str],
        requests: int | None,
    ) -> dict[str, Any]:
        description = self.described(options)
        return {
            "windows": {
                name: f"{each.requests} requests in {each.seconds:g} s for each token"
                for name, each in description.windows.items()
            }
        }

    def make(self, options: _Options, context: SourceContext) -> ApiSource:
        from sonde.sources.social.source import ApiSource  # the HTTP client takes its time

        secrets = _secrets(options)
        rate = context.settings.rate
        if rate is not None and len(secrets) > 1:
            # The plan is for all tokens together; each has its share.
            rate = max(1, rate[0] // len(secrets)), rate[1]
        description = self.described(options)
        return ApiSource(description, options.server, secrets, options.pages, rate, context)


def _secrets(options: NetworkOptions) -> list[tuple[str, Secret]]:
    found = []
    for where in options.tokens:
        secret = secret_from(where)
        assert isinstance(secret, Secret)
        found.append((where, secret))
    return found


# The networks that sonde knows are described as a user would describe another one.

MASTODON = """
name = "mastodon"

[windows.all]  # of an account, or of an address without a token; servers say their own
requests = 300
per = "5m"

[lookup]
url = "{server}/api/v1/accounts/lookup?acct={name}"
windows = ["all"]
id = "id"

[posts]
url = "{server}/api/v1/accounts/{id}/statuses?limit=40&exclude_reblogs=true"
windows = ["all"]
items = "[]"
id = "id"
link = "url"
text = "content"
html = true
author_id = "account.id"
author_name = "account.acct"
mentions = "mentions[]"
mention_id = "id"
mention_name = "acct"
next = { by = "link" }

[search]  # in posts, where the server and the token allow that
url = "{server}/api/v2/search?q={query}&type=statuses&limit=40"
windows = ["all"]
items = "statuses[]"
id = "id"
link = "url"
text = "content"
html = true
author_id = "account.id"
author_name = "account.acct"
mentions = "mentions[]"
mention_id = "id"
mention_name = "acct"
"""

BLUESKY = """
name = "bluesky"
server = "https://public.api.bsky.app"

[windows.all]  # of an address
requests = 3000
per = "5m"

[posts]
url = "{server}/xrpc/app.bsky.feed.getAuthorFeed?actor={id}&limit=100&filter=posts_with_replies"
windows = ["all"]
items = "feed[]"
id = "post.uri"
text = "post.record.text"
author_id = "post.author.did"
author_name = "post.author.handle"
mentions = "post.record.facets[].features[]"
mention_id = "did"
next = { by = "cursor", path = "cursor", parameter = "cursor" }

[search]
url = "{server}/xrpc/app.bsky.feed.searchPosts?q={query}&limit=100"
windows = ["all"]
items = "posts[]"
id = "uri"
text = "record.text"
author_id = "author.did"
author_name = "author.handle"
mentions = "record.facets[].features[]"
mention_id = "did"
next = { by = "cursor", path = "cursor", parameter = "cursor" }
"""


class Mastodon(NetworkKind[NetworkOptions]):
    """Accounts of a Mastodon server."""

    name = "mastodon"
    summary = "accounts of a Mastodon server, linked by mentions: mastodon:SERVER"
    _description = read_description(MASTODON, "mastodon")


class Bluesky(NetworkKind[NetworkOptions]):
    """Accounts of Bluesky, by its public app view."""

    name = "bluesky"
    summary = "accounts of Bluesky by its public app view, linked by mentions: bluesky:"
    _description = read_description(BLUESKY, "bluesky")


class Api(NetworkKind[ApiOptions]):
    """Accounts of any JSON API that a TOML file describes."""

    name = "api"
    summary = "accounts of a JSON API that a TOML file describes: api:FILE"
    options = ApiOptions
    place = "file"

    def settled(self, options: ApiOptions) -> ApiOptions:
        if not options.file:
            raise InputError("name the file that describes the API, as in api:forum.toml")
        try:
            text = Path(options.file).read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise InputError(f"{options.file}: cannot be read: {error}") from None
        read_description(text, options.file)
        return super().settled(replace(options, text=text))

    def described(self, options: ApiOptions) -> ApiDescription:
        return read_description(options.text, options.file)
