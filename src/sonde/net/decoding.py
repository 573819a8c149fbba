"""Content-Encoding undone, with a limit on what comes out.

A few kilobytes can unpack to gigabytes. So output is limited, not trusted: decoding stops at the
limit and says that the body was cut. A body that ends early gives what could be unpacked of it.
"""

from __future__ import annotations

import io
import zlib

import brotli
import zstandard

ACCEPTED = "gzip, deflate, br, zstd"
"""What the client may say that it accepts."""

_MOST_LAYERS = 2
_ZSTD_WINDOW = 8 * 1024 * 1024  # RFC 9659: what a decoder of the Web must support, and no more
_STEP = 256 * 1024
_FIRST_PIECE = 512
_MOST_MEMBERS = 10_000
"""Of one gzip body: a member costs microseconds, however little is in it."""


class BadEncoding(ValueError):
    """The body is not what its Content-Encoding says, or the coding is not known."""


def unpack(body: bytes, coding: str, limit: int) -> tuple[bytes, bool]:
    """The body without its content codings, and whether it was cut at ``limit`` bytes."""
    layers = [name for part in coding.lower().split(",") if (name := part.strip())]
    layers = [name for name in layers if name != "identity"]
    if len(layers) > _MOST_LAYERS:
        raise BadEncoding(f"{len(layers)} layers of content coding")
    cut = False
    for name in reversed(layers):
        if not body:
            break
        try:
            body, cut_here = _unpack(name, body, limit)
        except (zlib.error, brotli.error, zstandard.ZstdError) as error:
            raise BadEncoding(f"{name}: {error}") from None
        cut = cut or cut_here
    if len(body) > limit:
        return body[:limit], True
    return body, cut


def _unpack(name: str, body: bytes, limit: int) -> tuple[bytes, bool]:
    if name in ("gzip", "x-gzip"):
        return _inflate(body, 31, limit)
    if name == "deflate":
        # Servers send zlib's format or the bare one; the first byte of zlib's is x8.
        return _inflate(body, 15 if body[0] & 0x0F == 8 else -15, limit)
    if name == "br":
        return _unbrotli(body, limit)
    if name == "zstd":
        return _unzstd(body, limit)
    raise BadEncoding(f"unknown content coding {name!r}")


def _inflate(body: bytes, wbits: int, limit: int) -> tuple[bytes, bool]:
    """gzip may have several members. What follows one is handed back as a copy, so the body goes in
    small pieces at first: many small members would take quadratic time otherwise."""
    out = bytearray()
    view = memoryview(body)
    at = 0
    for _ in range(_MOST_MEMBERS):
        stream = zlib.decompressobj(wbits)
        piece = _FIRST_PIECE
        while at < len(view) and not stream.eof:
            given = view[at : at + piece]
            try:
                out += stream.decompress(given, limit + 1 - len(out))
            except zlib.error:
                if out:  # rubbish after a whole member: browsers ignore it
                    return bytes(out), False
                raise
            if len(out) > limit:
                return bytes(out[:limit]), True
            at += len(given) - len(stream.unused_data)
            piece = min(2 * piece, _STEP)
        if at >= len(view) or wbits != 31:
            return bytes(out), False
    return bytes(out), True


def _unbrotli(body: bytes, limit: int) -> tuple[bytes, bool]:
    stream = brotli.Decompressor()
    out = bytearray(stream.process(body, output_buffer_limit=_STEP))
    while not stream.is_finished() and not stream.can_accept_more_data():
        if len(out) > limit:
            return bytes(out[:limit]), True
        out += stream.process(b"", output_buffer_limit=_STEP)
    return bytes(out[:limit]), len(out) > limit


def _unzstd(body: bytes, limit: int) -> tuple[bytes, bool]:
    stream = zstandard.ZstdDecompressor(max_window_size=_ZSTD_WINDOW)
    out = bytearray()
    with stream.stream_reader(io.BytesIO(body), read_across_frames=True) as reader:
        while len(out) <= limit:
            step = reader.read(min(_STEP, limit + 1 - len(out)))
            if not step:
                break
            out += step
    return bytes(out[:limit]), len(out) > limit
