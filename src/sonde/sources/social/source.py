"""Visits accounts through an API."""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from sonde.net.client import Client
from sonde.net.polite_fetch import PoliteFetch
from sonde.net.retries import Retries
from sonde.net.secret import Secret
from sonde.protocols import Allowance
from sonde.records import Failure, Link, Node, Outcome, Skip
from sonde.scorers.scoring_process import prepared
from sonde.sources.context import SourceContext
from sonde.sources.facts import PageFacts, PageVisit, Record, VisitEnded
from sonde.sources.page import read_html
from sonde.sources.social.description import (
    SEARCH,
    ApiDescription,
    PostsEndpoint,
    endpoint_of,
    filled,
    id_of,
    name_of,
    node_of,
    one,
    pick,
    text_at,
)
from sonde.sources.social.exchanges import ApiAnswer, Exchanges
from sonde.sources.social.window_pace import WindowPace
from sonde.sources.social.windows import Window, Windows

_BAR = " | "

ANSWER = 5_000_000
"""The longest answer of an API that is read, in bytes."""


class AccountPost(NamedTuple):
    """One post: who said what, and whom it mentions (nodes); what it is called, where it is."""

    author: str
    text: str
    mentions: Sequence[str] = ()
    id: str = ""
    link: str = ""


class Mention(NamedTuple):
    """A link: a node, and the place of the posts that lead to it."""

    url: str
    start: int
    end: int


@dataclass(frozen=True)
class PostDocument:
    """What an account has said, as a document for the scorer (see ``scorers.document``).

    ``content`` is all posts; ``text`` is the same, and then for each account that is mentioned the
    posts that mention it, one place after the other. A link stands at its place, so that its α is
    that of the posts that mention the other, all of them together. A bar stands between posts: no
    phrase begins in one and ends in the next.
    """

    url: str
    title: str
    text: str
    content: str
    links: tuple[Mention, ...]
    main: None = None
    window: int = 0
    language: str = ""

    def context(self, link: Any, /) -> str:
        """The posts that mention the other."""
        return self.text[link.start : link.end]


def document(
    node: str, title: str, own: Iterable[str], said: Iterable[tuple[str, str]]
) -> PostDocument:
    """A document of one's `own` posts and of what was `said` of others: (node, text) pairs."""
    content = _BAR.join(map(_one_line, own))
    about: dict[str, list[str]] = {}
    for other, text in said:
        if other != node:
            about.setdefault(other, []).append(_one_line(text))
    parts = [content]
    place = len(content)
    links = []
    for other, texts in about.items():
        section = _BAR.join(texts)
        place += len(_BAR)
        links.append(Mention(other, place, place + len(section)))
        parts.append(section)
        place += len(section)
    return PostDocument(node, title, _BAR.join(parts), content, tuple(links))


def _one_line(text: str) -> str:
    return " ".join(text.split())


class ApiSource:
    """Accounts of one API. Use ``close()`` at the end."""

    def __init__(
        self,
        description: ApiDescription,
        server: str,
        tokens: Sequence[tuple[str, Secret]],
        pages: int,
        rate: tuple[int, float] | None,
        context: SourceContext,
    ) -> None:
        self.description = description
        self.server = server
        self.pages = pages
        assert context.scorer is not None
        self.scorer = context.scorer
        self.keeper = context.keeper
        self.retries = Retries(context.settings.retries)
        self.text = context.settings.text
        self._tokens = tokens
        self.windows = _windows(description, rate, len(tokens))
        self.pace = WindowPace(self.windows)
        assert context.client is not None
        self.client = Client(context.client)
        limits = replace(context.limits, body=min(context.limits.body, ANSWER))
        self.polite = PoliteFetch(self.client, limits=limits)
        self.aliases: dict[str, str] = {}  # a node by the id of an account that was named otherwise
        self._scored = False

    # -- life ----------------------------------------------------------------------------------

    def recall(self) -> str:
        """Take in what the run knows."""
        kept = self.keeper.recalled("windows")
        if kept is not None:
            self.windows.restore(json.loads(kept), time.time())
        self.aliases = json.loads(self.keeper.recalled("aliases") or b"{}")
        learned = self.keeper.recalled("scorer")
        if learned is not None and hasattr(self.scorer, "restore"):
            self.scorer.restore(json.loads(learned))
        return ""

    def before_commit(self) -> None:
        """What the scorer has learned belongs with the visits that taught it."""
        if self._scored and hasattr(self.scorer, "state"):
            self._scored = False
            self.keeper.keep("scorer", json.dumps(self.scorer.state()).encode())

    def facts(self) -> dict[str, Any]:
        """How much of the windows is used."""
        now = time.time()
        return {
            f"free in {name}": self.windows.free(name, now)
            for name in self.description.endpoints
            if name != "lookup"
        }

    async def close(self) -> None:
        """Close connections."""
        await self.client.close()

    def headers(self, token: int) -> dict[str, str | Secret]:
        """What goes with a request: the token, where there is one."""
        told: dict[str, str | Secret] = {"Accept": "application/json"}
        if self._tokens:
            name, _, value = self.description.token_header.partition(":")
            secret = self._tokens[token][1]
            told[name.strip()] = Secret(value.strip().replace("{token}", secret.reveal()))
        return told

    def origin_of_token(self, token: int) -> str | None:
        """Where a token comes from; never the token itself."""
        return self._tokens[token][0] if self._tokens else None

    # -- one visit -----------------------------------------------------------------------------

    async def visit(self, node: Node, allowance: Allowance) -> Outcome:
        """Visit an account, or search."""
        name = str(node)
        exchange = Exchanges(self, allowance, endpoint_of(name, self.description))
        try:
            if name.startswith(SEARCH):
                return await self._search(name, exchange)
            return await self._account(name, exchange)
        except VisitEnded as ended:
            return self._problem(name, ended.outcome)
        finally:
            exchange.end()

    def _problem(self, name: str, outcome: Failure | Skip) -> Outcome:
        if isinstance(outcome, Skip):
            return outcome
        waits = outcome.reason == "http-429"  # the windows see to it that it is not repeated soon
        retry = self.retries.again(name, outcome.reason, counted=not waits)
        return Failure(outcome.reason, retry)

    async def _search(self, name: str, exchange: Exchanges) -> Outcome:
        search = self.description.search
        if search is None:
            return Failure(f"{self.description.name} has no search")
        url = filled(search.url, server=self.server, query=name.removeprefix(SEARCH))
        posts = []
        async for answer in exchange.pages("search", url, search):
            posts += self._posts(search, answer)
        said = [(post.author, post.text) for post in posts]
        return await self._scored_visit(name, "", [], said, url, posts)

    async def _account(self, name: str, exchange: Exchanges) -> Outcome:
        number = id_of(name)
        lookup = self.description.lookup
        if number is None and lookup is not None:
            found = await exchange.ask("lookup", filled(lookup.url, server=self.server, name=name))
            number = text_at(found.data, lookup.id)
            if not number:
                return Failure("unknown account")
            self._called(number, name)
        endpoint = self.description.posts
        url = filled(endpoint.url, server=self.server, id=number or name)
        posts: list[AccountPost] = []
        title = ""
        async for answer in exchange.pages("posts", url, endpoint):
            if not posts:
                title = self._identified(name, number, endpoint, answer)
            posts += self._posts(endpoint, answer)
        said = [(other, post.text) for post in posts for other in dict.fromkeys(post.mentions)]
        texts = [post.text for post in posts]
        return await self._scored_visit(name, title, texts, said, url, posts)

    def _identified(
        self, name: str, number: str | None, posts: PostsEndpoint, answer: ApiAnswer
    ) -> str:
        """Learn who an account is from its first post; its name for people."""
        first = one(answer.data, posts.items)
        if number is None and first is not None:
            self._called(text_at(first, posts.author_id), name)
        return text_at(first, posts.author_name) or name_of(name)

    def _called(self, number: str, name: str) -> None:
        """An account with this id is known by a name that does not have the id in it."""
        if number and number != name and number not in self.aliases:
            self.aliases[number] = name
            self.keeper.keep("aliases", json.dumps(self.aliases).encode())

    def _posts(self, endpoint: PostsEndpoint, answer: ApiAnswer) -> list[AccountPost]:
        found = []
        for item in pick(answer.data, endpoint.items):
            said = text_at(item, endpoint.text)
            if endpoint.html and said:
                said = read_html(said.encode(), answer.url).text
            mentions = [
                self._node(
                    text_at(other, endpoint.mention_id), text_at(other, endpoint.mention_name)
                )
                for other in (pick(item, endpoint.mentions) if endpoint.mentions else ())
                if text_at(other, endpoint.mention_id)
            ]
            author_id = text_at(item, endpoint.author_id)
            author = self._node(author_id, text_at(item, endpoint.author_name))
            name, link = text_at(item, endpoint.id), text_at(item, endpoint.link)
            if name and "/" not in name:  # a number, perhaps of this account's own posts
                name = f"{author_id}/{name}"
            found.append(AccountPost(author, said, mentions, name, link))
        return found

    def _node(self, number: str, name: str) -> str:
        return self.aliases.get(number) or node_of(number, name, self.description)

    async def _scored_visit(
        self,
        name: str,
        title: str,
        own: list[str],
        said: list[tuple[str, str]],
        url: str,
        posts: list[AccountPost],
    ) -> Outcome:
        self.retries.succeeded(name)
        page = document(name, title, own, said)
        await prepared(self.scorer, page)
        beta, alphas = self.scorer.score(page)
        self._scored = True
        found = [self._kept(post, url) for post in posts]
        return PageVisit(
            score=beta,
            records=tuple(dict.fromkeys(record.mark for record in found)),
            found=found,
            links=[
                Link(link.url, alpha, "posts")
                for link, alpha in zip(page.links, alphas, strict=True)
            ],
            facts=PageFacts(
                final_url=url,
                status=200,
                media_type="application/json",
                title=title[:500],
                text=page.content if self.text else None,
            ),
        )

    def _kept(self, post: AccountPost, url: str) -> Record:
        """A post as the run keeps it."""
        said = post.text if self.text else ""
        own = post.id or Record(f"{post.author}\n{post.text}", "post").mark
        about = {"author": post.author, "mentions": list(post.mentions)}
        return Record(own, "post", post.link or url, "", said, about)


def _windows(description: ApiDescription, rate: tuple[int, float] | None, tokens: int) -> Windows:
    """The windows of an API, or the one that the user's own plan is, for all endpoints."""
    if rate is None:
        return Windows(description.windows, description.endpoints, tokens)
    planned = dict.fromkeys(description.endpoints, ("plan",))
    return Windows({"plan": Window(*rate)}, planned, tokens)
