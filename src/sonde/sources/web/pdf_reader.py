"""Reads a PDF from standard input and prints its title and text as JSON: a program of its own.

A few kilobytes of a PDF can ask for hours of work and for any amount of memory, and no reader
bounds that. So the system does: this runs as a process with limits, which whoever needs the text
starts (``sources.web.pdf``). It imports nothing of sonde, so that it starts quickly.
"""

from __future__ import annotations

import io
import json
import logging
import sys


def limit(seconds: int, memory: int) -> None:
    """No more processor time and memory than this, where the system can be told so."""
    try:
        import resource
    except ImportError:  # Windows: the time is bounded by whoever started this
        return
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
    resource.setrlimit(resource.RLIMIT_AS, (memory, memory))


def extracted(body: bytes, pages: int, characters: int) -> dict[str, str] | None:
    """The title and the text of so much of a PDF; ``None`` where it cannot be read."""
    import pypdf

    logging.getLogger("pypdf").setLevel(logging.CRITICAL)  # it comments on every oddity
    parts: list[str] = []
    size = 0
    title = ""
    try:
        reader = pypdf.PdfReader(io.BytesIO(body), strict=False)
        if reader.is_encrypted:
            return None
        if reader.metadata is not None:
            title = str(reader.metadata.title or "")
        for sheet in reader.pages[:pages]:
            text = sheet.extract_text()
            parts.append(text)
            size += len(text)
            if size >= characters:
                break
    except Exception:  # a reader of hostile files fails in more ways than it documents
        if not parts:
            return None
    return {"title": " ".join(title.split()), "text": "\n".join(parts)[:characters]}


if __name__ == "__main__":
    limit(int(sys.argv[1]), int(sys.argv[2]))
    found = extracted(sys.stdin.buffer.read(), int(sys.argv[3]), int(sys.argv[4]))
    sys.stdout.write(json.dumps(found))
