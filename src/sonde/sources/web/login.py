"""Logging in by a form, as its user would, and knowing a page that asks for it.

A *login* names the page with the form, and what to fill in; secrets among that come from the
environment or a file. Before the first page of its domain is asked for, the form is fetched and
sent, with whatever else a browser would send along; the cookies that come back are the client's to
keep (``net.session_cookies``). Both requests are charged to the visit that needed them, wait for
their turns, and are in no archive. What is filled in goes to the domain of the form alone, and from
a secure page to no other.

When a page later asks to log in, the session has ended: it is renewed, and the page asked for once
more. A renewal that did not help is the last.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any
from urllib.parse import urlencode

from selectolax.lexbor import LexborHTMLParser

from sonde.errors import InputError
from sonde.net.charset import decode
from sonde.net.client_settings import SECRET_NAMES
from sonde.net.exchange import FetchOutcome, FetchProblem, Response
from sonde.net.polite_fetch import PoliteFetch
from sonde.net.secret import Secret, revealed, secret_from
from sonde.net.session_cookies import within
from sonde.net.urls import domain_of, host_of, normalise
from sonde.protocols import Allowance
from sonde.records import Skip
from sonde.sources.context import SourceSettings
from sonde.sources.facts import VisitEnded
from sonde.sources.form_fields import untouched_fields
from sonde.sources.page import shallow

_PASSWORD = re.compile(rb"""type\s*=\s*["']?password""", re.IGNORECASE)
_ADDRESS = re.compile(
    r"(?:^|[/?&=:._-])(?:log-?_?in|log-?_?on|sign-?_?in|userlogin|authenticate|sso|anmelden"
    r"|connexion)(?=[/?&=:._-]|$)",
    re.IGNORECASE,
)
_TITLE = re.compile(
    r"\b(?:log ?in|log on|login|sign ?in|anmelde\w*|connexion|se connecter|iniciar sesión|accedi"
    r"|вход|войти)\b|ログイン|登录|登入|로그인",
    re.IGNORECASE,
)
_TITLE_TAG = re.compile(rb"<title[^>]*>([^<]{0,500})", re.IGNORECASE)
_HEAD = 65_536
_LOGOUT = re.compile(r"(?:^|[/?&=:._-])(?:log-?_?out|log-?_?off|sign-?_?out)(?=[/?&=:._-]|$)", re.I)
_HTML = ("text/html", "application/xhtml+xml", "")
_LATER = ("budget", "crawl-delay", "later")


@dataclass(frozen=True)
class Login:
    """Where the form is and what to fill in. ``success`` is a text that only those see who are
    logged in; without it, a page without the form counts as one of those."""

    page: str
    fields: Mapping[str, str | Secret]
    success: str = ""

    @property
    def domain(self) -> str:
        """Whose pages it is for."""
        return domain_of(host_of(self.page))

    @classmethod
    def of(cls, data: Mapping[str, Any]) -> Login:
        """A login as a file says it."""
        known = [each.name for each in fields(cls)]
        for name in data:
            if name not in known:
                raise InputError(f"login: unknown setting {name!r} (known: {', '.join(known)})")
        page = normalise(data["page"]) if isinstance(data.get("page"), str) else None
        if page is None:
            raise InputError("login: page must be the URL of the page that has the form")
        filled = data.get("fields")
        if not isinstance(filled, Mapping) or not filled:
            raise InputError('login: fields must be such as { name = "me", pass = "env:PASSWORD" }')
        success = data.get("success", "")
        if not isinstance(success, str):
            raise InputError("login: success must be a text")
        return cls(page, {name: _value(name, value) for name, value in filled.items()}, success)


def _value(name: str, value: object) -> str | Secret:
    if not isinstance(value, str):
        raise InputError(f"login: the field {name} must be a text")
    told = secret_from(value)
    if isinstance(told, str) and SECRET_NAMES.search(name):
        raise InputError(f"login: the field {name} is secret: env:VARIABLE or file:PATH")
    return told


def logins_of(settings: SourceSettings) -> tuple[Login, ...]:
    """The logins of a user's settings."""
    said = settings.login
    if said is None:
        return ()
    logins = tuple(map(Login.of, [said] if isinstance(said, Mapping) else said))
    domains = [login.domain for login in logins]
    for domain in domains:
        if domains.count(domain) > 1:
            raise InputError(f"login: there are two for {domain}")
    return logins


# -- pages that ask for it -------------------------------------------------------------------------


def asks_to_log_in(answer: FetchOutcome) -> bool:
    """Whether an answer is no page but the wish that one logs in: a 401, or a page for passwords
    that says so in its address or its title. A box for logging in beside a text is none."""
    if isinstance(answer, FetchProblem):
        return answer.reason == "http-401"
    body = answer.body
    if answer.media_type not in _HTML or (b"assword" not in body and b"ASSWORD" not in body):
        return False
    if _PASSWORD.search(body) is None:
        return False
    path = answer.url.split("/", 3)[3]
    said = _TITLE_TAG.search(body[:_HEAD])
    title = "" if said is None else said[1].decode("utf-8", "replace")
    if _ADDRESS.search(path) is None and _TITLE.search(title) is None:
        return False
    # A page about forms shows one, too: as text.
    return _tree(answer).css_first("form input[type=password i]") is not None


# -- sessions --------------------------------------------------------------------------------------


class LoginSession:
    """A login, and how it stands. ``renewals`` counts how often the form was sent."""

    def __init__(self, login: Login, polite: PoliteFetch) -> None:
        self.login = login
        self.renewals = 0
        self._polite = polite
        self._vain = False  # a renewal did not help
        self._one = asyncio.Lock()

    def refusal(self, url: str) -> str | None:
        """Why a URL is not asked for: it is that of the form, whatever its query, or to ask for it
        is to log out."""
        if url.partition("?")[0] == self.login.page.partition("?")[0]:
            return "login"
        return None if _LOGOUT.search(url.split("/", 3)[3]) is None else "logout"

    @property
    def busy(self) -> bool:
        """Whether somebody is logging in."""
        return self._one.locked()

    def has_ended(self, answer: FetchOutcome) -> bool:
        """Whether a page shows that nobody is logged in."""
        if isinstance(answer, FetchProblem):
            return answer.reason == "http-401" or answer.detail == "login"
        if answer.media_type not in _HTML:
            return False
        if self.login.success:
            return self.login.success not in _text(answer)
        return not self._vain and self._form(answer) is not None

    async def begin(self, allowance: Allowance) -> None:
        """Log in, unless that was done."""
        async with self._one:
            if not self.renewals:
                why = await self._log_in(allowance)
                if why:
                    raise InputError(f"the login at {self.login.page} failed: {why}")

    async def renew(self, since: int, allowance: Allowance) -> bool:
        """Log in anew, after so many renewals; whether the page is worth another request."""
        async with self._one:
            if self.renewals > since:  # meanwhile somebody else has
                return True
            if self._vain:
                return False
            self._vain = bool(await self._log_in(allowance))
            return not self._vain

    def give_up(self) -> None:
        """A renewal has not helped."""
        self._vain = True

    async def _log_in(self, allowance: Allowance) -> str:
        """Fetch the form and send it; what went wrong, if anything."""
        got = await self._asked(self.login.page, allowance)
        if isinstance(got, FetchProblem):
            return f"its page could not be fetched: {got.reason} {got.detail}".rstrip()
        request = self._form(got)
        if request is None:
            names = ", ".join(self.login.fields)
            return f"no form there has the fields {names} (it has {_fields_of(got) or 'none'})"
        action, body = request
        if not self._safe(got.url, action):
            return f"its form would send the secrets to {action}"
        got = await self._asked(action, allowance, body)
        self.renewals += 1
        if isinstance(got, FetchProblem):
            return f"the form was answered by {got.reason} {got.detail}".rstrip()
        if self.login.success:
            return "" if self.login.success in _text(got) else "its success is not to be seen"
        if self._form(got) is None:
            return ""
        return (
            "the form came back: are the fields right? (a text in"
            " success tells pages for those who are logged in)"
        )

    async def _asked(
        self, url: str, allowance: Allowance, form: bytes | None = None
    ) -> FetchOutcome:
        def gate(target: str, group: str, redirected: bool) -> str | None:
            return None if self._safe(url, target) else "it leads to another site"

        got = await self._polite.fetch(
            url, allowance, gate=gate, wanted=_HTML.__contains__, form=form, robots=False
        )
        if isinstance(got, FetchProblem) and got.reason == "budget":
            raise VisitEnded(Skip("budget", retry=True))
        if isinstance(got, FetchProblem) and got.detail in _LATER:
            raise VisitEnded(Skip(got.detail, retry=True))
        return got

    def _safe(self, page: str, target: str) -> bool:
        """Whether what is filled in on one page may go to another."""
        if page.startswith("https:") and not target.startswith("https:"):
            return False
        return within(host_of(target), [self.login.domain])

    def _form(self, answer: Response) -> tuple[str, bytes] | None:
        """The form on a page, filled in: where it goes, and what is sent."""
        names = self.login.fields
        if not all(name.encode() in answer.body for name in names):
            return None
        for node in _tree(answer).css("form"):
            inputs = {each.attrs.get("name") for each in node.css("input[name], select[name]")}
            if inputs.issuperset(names):
                action = normalise(node.attrs.get("action") or "", base=answer.url) or answer.url
                pairs = [
                    *untouched_fields(node, names),
                    *((name, revealed(value)) for name, value in names.items()),
                ]
                return action, urlencode(pairs).encode()
        return None


def _tree(answer: Response) -> LexborHTMLParser:
    return LexborHTMLParser(shallow(_text(answer).encode("utf-8", "replace")).decode())


def _text(answer: Response) -> str:
    return decode(answer.body, answer.content_type)[0]


def _fields_of(answer: Response) -> str:
    found = _tree(answer).css("form input[name], form select[name]")
    return ", ".join(dict.fromkeys(str(each.attrs.get("name")) for each in found[:20]))


class LoginSessions:
    """The sessions of a crawl, by domain."""

    def __init__(self, logins: Sequence[Login], polite: PoliteFetch) -> None:
        self._sessions = {login.domain: LoginSession(login, polite) for login in logins}

    def of(self, url: str) -> LoginSession | None:
        """The session that a normalised URL belongs to, if one does."""
        if not self._sessions:
            return None
        return self._sessions.get(domain_of(host_of(url)))
