"""Pages as files: a folder, or a tar archive of one, with or without HTTP headers in front.

A file's name is its path; where the name itself spells a URL with ``^`` for ``/``, as in WebKB,
it is that URL.
"""

from __future__ import annotations

import io
import mimetypes
import re
import tarfile
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path, PurePosixPath
from typing import IO, NamedTuple
from urllib.parse import unquote

from sonde.data.streams import SUFFIXES, Stream, open_raw
from sonde.errors import InputError
from sonde.net.urls import normalise

HERE = "http://folder.invalid/"
"""Where pages of a folder live that has no address; it is taken off their names again."""

MOST_PAGE = 1 << 25
"""Bytes of one page. Longer ones are left out."""

_LOOKED_AT = 1024
_SPELT_URL = re.compile(r"https?:\^\^")
_HEADERS = re.compile(
    rb"(?:HTTP/\d[^\n]*\n)?(?:[A-Za-z][A-Za-z0-9-]*:[^\n]*\n(?:[ \t][^\n]*\n)*)+\r?\n"
)
_CONTENT_TYPE = re.compile(rb"^content-type:[ \t]*([^\r\n]*)", re.IGNORECASE | re.MULTILINE)
_HTML = ("text/html", "application/xhtml+xml", None)


class RawPage(NamedTuple):
    """A page before it is read. ``moved`` is where it redirects to, if that is all it does."""

    url: str
    body: bytes
    content_type: str = ""
    moved: str = ""


def is_tar(path: Path) -> bool:
    """Whether a file's name says that it is a tar archive, compressed or not."""
    stem = path.stem if path.suffix in SUFFIXES else path.name
    return stem.endswith(".tar") or path.suffix in (".tgz", ".tbz", ".txz")


def pages_in_tar(
    path: Path, problems: Counter[str], at: Callable[[int], None], base: str, threads: int
) -> Iterator[RawPage]:
    """The pages of a tar archive, in its order."""
    suffix = {".tgz": ".gz", ".tbz": ".bz2", ".txz": ".xz"}.get(path.suffix, path.suffix)
    with open_raw(path) as raw:
        try:
            with (
                io.BufferedReader(Stream(raw, suffix, problems, threads), 1 << 18) as stream,
                tarfile.open(fileobj=stream, mode="r|") as archive,
            ):
                for number, member in enumerate(archive):
                    if number % 64 == 0:  # to ask is to wait for the thread that reads
                        at(raw.tell())
                    if member.isfile() and _may_be_page(member.name):
                        body = _bounded(archive.extractfile(member), member.size, problems)
                        if body is not None:
                            yield from _page(member.name, body, base)
        except tarfile.TarError:
            problems["truncated archives"] += 1


def pages_in_file(path: Path, name: str, problems: Counter[str], base: str) -> Iterator[RawPage]:
    """The page in one file of a folder, if it may be one; ``name`` is its path in the folder."""
    if not _may_be_page(name):
        return
    try:
        with path.open("rb") as file:
            body = _bounded(file, path.stat().st_size, problems)
    except OSError:
        problems["files that cannot be read"] += 1
        return
    if body is not None:
        yield from _page(name, body, base)


def address(name: str, base: str) -> str | None:
    """The URL of a file."""
    last = PurePosixPath(name).name
    if _SPELT_URL.match(last):
        return normalise(last.replace("^", "/"))
    path = name.replace("%", "%25").replace("?", "%3F").replace("#", "%23")
    return normalise(base + path.removeprefix("./"))


def shown(url: str, base: str) -> str:
    """The name of the node at a URL: its path where the folder has no address of its own."""
    return unquote(url[len(HERE) :]) if base == HERE and url.startswith(HERE) else url


def base_from(given: str | None) -> str:
    """Where the folder lives on the Web."""
    if given is None:
        return HERE
    base = normalise(given)
    if base is None:
        raise InputError(f"--base {given}: not an http or https URL")
    return base if base.endswith("/") else base + "/"


def _may_be_page(name: str) -> bool:
    last = PurePosixPath(name).name
    return bool(_SPELT_URL.match(last)) or mimetypes.guess_type(last)[0] in _HTML


def _bounded(file: IO[bytes] | None, size: int, problems: Counter[str]) -> bytes | None:
    if file is None:
        return None
    if size > MOST_PAGE:
        problems["pages too long to read"] += 1
        return None
    body = file.read()
    if len(body) < size:
        problems["pages cut short"] += 1
    return body


def _is_binary(body: bytes) -> bool:
    """Whether a file is no text at all, whatever its name leaves open."""
    return b"\0" in body[:_LOOKED_AT] and not body.startswith((b"\xff\xfe", b"\xfe\xff"))


def _page(name: str, body: bytes, base: str) -> Iterator[RawPage]:
    url = address(name, base)
    if url is None or _is_binary(body):
        return
    content_type = ""
    headers = _HEADERS.match(body) if body[:1].isalpha() else None
    if headers:
        found = _CONTENT_TYPE.search(headers[0])
        content_type = found[1].decode("latin-1").strip() if found else ""
        body = body[headers.end() :]
    if not content_type or "html" in content_type.lower():
        yield RawPage(url, body, content_type)
