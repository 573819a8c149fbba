"""URL patterns: how a user names URLs, in one of four ways.

==================  =============================================================================
``?action=edit``    a query with this parameter; ``?oldid`` whatever its value; name and value may
                    be globs, as in ``?filter_*``
``*/wiki/User:*``   a glob: ``*`` stands for any characters, all else for itself; it has to fit the
                    whole URL, or all of it from the path on where it begins with ``/``
``/print/``         any other text: a URL that has it in it
``re:/p/[0-9]+$``   a regular expression, found anywhere in the URL (``(?i)`` for either case)
==================  =============================================================================

Except by ``re:``, upper and lower case are one, and percent-escapes are undone on both sides:
``Служебная:`` fits ``%D0%A1%D0%BB...``. A ``re:`` sees the URL as it is sent.

No pattern takes long, whatever the URL: globs are looked for piece by piece, and expressions are
run by RE2, whose time grows with the length of a URL and not faster. It has no look-around and no
back-references for that.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol
from urllib.parse import unquote

from sonde.errors import InputError

_MOST_MEMORY = 8 << 20  # bytes of one expression
_LONGEST = 1_000


class PlainUrl:
    """A URL as patterns see it: as it is sent, and folded."""

    __slots__ = ("_parameters", "folded", "path", "sent")

    def __init__(self, url: str) -> None:
        self.sent = url
        self.folded = folded(url)
        self.path = self.folded.find("/", self.folded.find("//") + 2)
        self._parameters: list[tuple[str, str]] | None = None

    @property
    def parameters(self) -> list[tuple[str, str]]:
        """Names and values of the query, in their order."""
        if self._parameters is None:
            query = self.sent.partition("?")[2].replace(";", "&")
            self._parameters = [
                (folded(name.replace("+", " ")), folded(value.replace("+", " ")))
                for name, _, value in (part.partition("=") for part in query.split("&") if part)
            ]
        return self._parameters


def folded(text: str) -> str:
    """Without case and percent-escapes."""
    return (unquote(text) if "%" in text else text).casefold()


class UrlPattern(Protocol):
    """Some URLs. ``text`` is what the user wrote."""

    @property
    def text(self) -> str: ...

    def fits(self, url: PlainUrl) -> bool:
        """Whether a normalised URL is one of them."""


class _Glob:
    """Pieces with anything between them."""

    __slots__ = ("_first", "_last", "_least", "_middle")

    def __init__(self, glob: str) -> None:
        pieces = glob.split("*")
        self._first, self._last = pieces[0], pieces[-1]
        self._middle = [piece for piece in pieces[1:-1] if piece]
        self._least = len(self._first) + len(self._last)

    def fits(self, text: str, start: int) -> bool:
        """Whether a text fits from a place on. The leftmost place is good enough for each piece:
        what follows then has the most room."""
        if len(text) - start < self._least or not text.startswith(self._first, start):
            return False
        if not text.endswith(self._last):
            return False
        end = len(text) - len(self._last)
        at = start + len(self._first)
        for piece in self._middle:
            at = text.find(piece, at, end)
            if at < 0:
                return False
            at += len(piece)
        return True


class _WholeGlob:
    def __init__(self, text: str) -> None:
        self.text = text
        self._from_path = text.startswith("/")
        self._glob = _Glob(folded(text))

    def fits(self, url: PlainUrl) -> bool:
        return self._glob.fits(url.folded, url.path if self._from_path else 0)


class _Part:
    def __init__(self, text: str) -> None:
        self.text = text
        self._part = folded(text)

    def fits(self, url: PlainUrl) -> bool:
        return self._part in url.folded


class _Parameter:
    def __init__(self, text: str) -> None:
        self.text = text
        name, equals, value = text[1:].partition("=")
        if not name:
            raise InputError(f"a pattern such as ?action=edit names a parameter, not {text!r}")
        self._name = _Word(folded(name))
        self._value = _Word(folded(value) if equals else "*")

    def fits(self, url: PlainUrl) -> bool:
        if "?" not in url.sent:
            return False
        return any(
            self._name.fits(name) and self._value.fits(value) for name, value in url.parameters
        )


class _Word:
    """A name or a value, or a glob of them."""

    __slots__ = ("_glob", "_word")

    def __init__(self, word: str) -> None:
        self._word = word
        self._glob = _Glob(word) if "*" in word else None

    def fits(self, text: str) -> bool:
        return text == self._word if self._glob is None else self._glob.fits(text, 0)


class _Expression:
    def __init__(self, text: str) -> None:
        import re2  # its library is looked for only by those who use it

        self.text = text
        options = re2.Options()
        options.log_errors = False
        options.max_mem = _MOST_MEMORY
        try:
            self._compiled = re2.compile(text.removeprefix("re:"), options)
        except re2.error as error:
            said = error.args[0] if error.args else ""
            why = said.decode("utf-8", "replace") if isinstance(said, bytes) else str(said)
            raise InputError(f"not a regular expression of RE2: {text!r}: {why}") from None

    def fits(self, url: PlainUrl) -> bool:
        return self._compiled.search(url.sent) is not None


def url_pattern(text: str) -> UrlPattern:
    """The pattern that a text stands for.

    >>> url_pattern("/fr/*").fits(PlainUrl("https://a.example/FR/x"))
    True
    """
    bare = text.strip()
    if not bare or not bare.isprintable() or bare == "re:":
        raise InputError(f"not a pattern of URLs: {text!r:.200}")
    if len(bare) > _LONGEST:
        raise InputError(f"a pattern of URLs has {_LONGEST} characters at most: {text!r:.60}...")
    if bare.startswith("re:"):
        return _Expression(bare)
    if bare.startswith("?"):
        return _Parameter(bare)
    return _WholeGlob(bare) if "*" in bare else _Part(bare)


class UrlPatterns:
    """Several patterns, asked in their order."""

    def __init__(self, texts: Sequence[str]) -> None:
        self.patterns = tuple(url_pattern(text) for text in texts)

    def __bool__(self) -> bool:
        return bool(self.patterns)

    def first(self, url: PlainUrl) -> str | None:
        """The first pattern that fits a URL, as it was written; ``None`` where none does."""
        for pattern in self.patterns:
            if pattern.fits(url):
                return pattern.text
        return None

    def fit(self, url: str) -> bool:
        """Whether one of them fits a normalised URL."""
        return bool(self.patterns) and self.first(PlainUrl(url)) is not None
