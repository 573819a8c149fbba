"""Pseudonyms: names that only the holder of a key can turn back.

A name is encrypted (AES-SIV: the same name gives the same pseudonym, and nothing but the key gives
the name back), so that a run folder is of use to others and names nobody, while the crawl itself
can go on. How long a name is can be guessed from its pseudonym.

``Pseudonymous`` wraps a source: outside, in the explorer and the run, there are pseudonyms only;
inside, the source sees names. Titles, texts and addresses, which tell who somebody is, are left
out, and what the source keeps is encrypted too.
"""

from __future__ import annotations

import base64
import hashlib
import os
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from sonde.errors import InputError
from sonde.net.secret import Secret, secret_from
from sonde.protocols import Keeper, KeptPage, Source, Value, VisitAllowance
from sonde.records import Link, Node, Outcome, Visit
from sonde.sources.facts import PageFacts, PageVisit

_MARK = "p-"
_END = b"."
_KEY_SIZE = 32
_IN_THE_OPEN = "a source that keeps tables or pages of its own cannot be pseudonymised"


class Pseudonyms:
    """Turns names into pseudonyms, and back."""

    def __init__(self, secret: Secret) -> None:
        try:
            from cryptography.hazmat.primitives.ciphers.aead import AESSIV
        except ImportError:
            raise InputError("pseudonyms need: pip install 'sonde[pseudonyms]'") from None
        self._cipher = AESSIV(hashlib.sha512(secret.reveal().encode()).digest())

    @classmethod
    def of(cls, where: str) -> Pseudonyms:
        """By the key in ``env:VARIABLE`` or ``file:PATH``."""
        path = _path(where)
        secret = secret_from(where if path is None else f"file:{path}")
        if not isinstance(secret, Secret):
            raise InputError("the key of pseudonyms is given as env:VARIABLE or file:PATH")
        return cls(secret)

    def hidden(self, name: str) -> str:
        """The pseudonym of a name."""
        sealed = self._sealed(name.encode("utf-8", "surrogatepass"), b"name")
        return _MARK + base64.b32encode(sealed).decode().rstrip("=").lower()

    def revealed(self, pseudonym: str) -> str:
        """The name behind a pseudonym."""
        letters = pseudonym.removeprefix(_MARK).upper()
        try:
            sealed = base64.b32decode(letters + "=" * (-len(letters) % 8))
        except ValueError:
            raise InputError(f"not a pseudonym: {pseudonym!r:.200}") from None
        return self._opened(sealed, b"name").decode("utf-8", "surrogatepass")

    def sealed(self, state: bytes) -> bytes:
        """Any bytes, encrypted."""
        return self._sealed(state, b"state")

    def opened(self, sealed: bytes) -> bytes:
        """What was encrypted."""
        return self._opened(sealed, b"state")

    def _sealed(self, plain: bytes, purpose: bytes) -> bytes:
        # The end is there because nothing at all cannot be encrypted.
        return bytes(self._cipher.encrypt(plain + _END, [purpose]))

    def _opened(self, sealed: bytes, purpose: bytes) -> bytes:
        from cryptography.exceptions import InvalidTag

        try:
            return bytes(self._cipher.decrypt(sealed, [purpose])).removesuffix(_END)
        except (InvalidTag, ValueError):
            raise InputError("the key is not the one that the pseudonyms were made with") from None


def _path(where: str) -> Path | None:
    kind, _, rest = where.partition(":")
    return Path(rest).expanduser() if kind == "file" else None


def make_key(where: str) -> None:
    """Make the key of a new run, if it is to be in a file that is not there."""
    path = _path(where)
    if path is None or path.exists():
        return
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except OSError as error:
        raise InputError(f"{path}: cannot be made: {error.strerror or error}") from None
    with os.fdopen(file, "w", encoding="ascii") as made:
        made.write(os.urandom(_KEY_SIZE).hex() + "\n")


class HiddenKeeper:
    """A keeper for a source that sees names, over one that may not."""

    def __init__(self, keeper: Keeper, pseudonyms: Pseudonyms) -> None:
        self._keeper = keeper
        self._pseudonyms = pseudonyms

    def recalled(self, part: str) -> bytes | None:
        kept = self._keeper.recalled(part)
        return None if kept is None else self._pseudonyms.opened(kept)

    def visits(self) -> Iterator[tuple[Node, Visit]]:
        reveal = self._pseudonyms.revealed
        for node, visit in self._keeper.visits():
            links = [Link(reveal(str(link.target)), link.score, link.group) for link in visit.links]
            yield reveal(str(node)), replace(visit, links=links)

    def keep(self, part: str, state: bytes) -> None:
        self._keeper.keep(part, self._pseudonyms.sealed(state))

    def commit(self) -> None:
        self._keeper.commit()

    def rows(self, table: str) -> Iterator[tuple[Value, ...]]:
        raise InputError(_IN_THE_OPEN)

    def write(self, table: str, rows: Sequence[Sequence[Value]]) -> None:
        raise InputError(_IN_THE_OPEN)

    def clear(self, table: str) -> None:
        raise InputError(_IN_THE_OPEN)

    def pages(self) -> Iterator[KeptPage]:
        raise InputError(_IN_THE_OPEN)

    def text(self, lease: int) -> str | None:
        return None

    def left_out(self, reason: str) -> Iterator[str]:
        raise InputError(_IN_THE_OPEN)

    def sketch(self, lease: int) -> bytes | None:
        return None

    def retried(self) -> Iterator[tuple[str, int]]:
        for node, count in self._keeper.retried():
            yield self._pseudonyms.revealed(node), count


class Pseudonymous:
    """A source whose nodes are pseudonyms. What else the source has is its own."""

    def __init__(self, source: Source, pseudonyms: Pseudonyms) -> None:
        self._source = source
        self._pseudonyms = pseudonyms

    def __getattr__(self, name: str) -> Any:
        return getattr(self._source, name)

    async def visit(self, node: Node, allowance: VisitAllowance) -> Outcome:
        """Visit by name, and tell without."""
        outcome = await self._source.visit(self._pseudonyms.revealed(str(node)), allowance)
        if not isinstance(outcome, Visit):
            return outcome
        hide = self._pseudonyms.hidden
        hidden: dict[str, Any] = {
            "links": [
                Link(hide(str(link.target)), link.score, link.group) for link in outcome.links
            ],
            "records": tuple(hide(str(record)) for record in outcome.records),
        }
        if isinstance(outcome, PageVisit):
            hidden["found"] = ()
            hidden["refused"] = [(hide(other), reason) for other, reason in outcome.refused]
            if outcome.facts is not None:
                hidden["facts"] = PageFacts(
                    final_url=str(node),
                    status=outcome.facts.status,
                    media_type=outcome.facts.media_type,
                    flags=outcome.facts.flags,
                )
        return replace(outcome, **hidden)
