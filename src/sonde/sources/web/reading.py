"""An HTML document, read: text, links, and what it says of itself.

The parser puts the document in order, and writes it out again; the kernel reads that in one pass
(walking a tree from Python would cost more than all else that is done to a page). ``page`` explains
what is visible and why.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

import numpy as np
from selectolax.lexbor import LexborHTMLParser

from sonde.kernels import markup

from .address import Base
from .nesting import ELEMENTS, shallow

_MOUNT = "#root:empty,#app:empty,#__next:empty,#__nuxt:empty,app-root:empty,#svelte:empty"
_MANY_SCRIPTS = 3
_SHELL_TEXT = 200
_SHELL_LINKS = 5
_NOTES = 256  # tags in a head that are looked at
_HREFS = 10  # for each link that is taken, so many hrefs are looked at

_ATTRIBUTE = re.compile(r' ([^ ][^ =>]*)="([^"]*)"')
_ENTITY = re.compile("&(amp|lt|gt|nbsp|quot);")
_CHARACTER = {"amp": "&", "lt": "<", "gt": ">", "nbsp": "\xa0", "quot": '"'}


@dataclass(slots=True)
class Reading:
    """What was found. ``links`` are (url, start, end, nofollow)."""

    text: str = ""
    content: str = ""
    title: str = ""
    language: str = ""
    canonical: str | None = None
    robots: list[str] = field(default_factory=list)
    links: list[tuple[str, int, int, bool]] = field(default_factory=list)
    cut: bool = False
    shell: bool = False  # little text, few links, scripts: an application draws the page


def read(html: str, url: str, max_links: int) -> Reading:
    """Read a document."""
    within = shallow(html)
    found = Reading(cut=len(within) < len(html))
    # ``scripting`` keeps the content of a noscript in the head from spilling into the body.
    tree = LexborHTMLParser(within, scripting=True)
    ordered = tree.html or ""
    raw = ordered.encode("utf-8", "replace")
    size = len(raw)
    text = np.empty(size, dtype=np.uint8)
    content = np.empty(size, dtype=np.uint8)
    stack = np.empty(size, dtype=np.intc)
    anchors = np.empty((min(size // 8, _HREFS * max_links), 7), dtype=np.intc)
    notes = np.empty(_NOTES, dtype=np.intc)
    length, apart, hrefs, noted, scripts, cut = markup.scan(
        raw, *ELEMENTS, text, content, stack, anchors, notes
    )
    found.text = text[:length].tobytes().decode()
    found.content = found.text if apart < 0 else content[:apart].tobytes().decode()
    if size != len(ordered):  # places are in bytes: a view of them as characters
        ordered = raw.decode("latin-1")
    base, refreshes = _heed(found, ordered, notes[:noted].tolist(), Base(url))
    links = found.links
    links += [(target, 0, 0, False) for target in refreshes]
    join = base.join
    for start, stop, first, last, rel, rel_stop, _ in anchors[:hrefs].tolist():
        target = join(_value(ordered[start:stop]))
        if target is None or target == url:
            continue
        if len(links) >= max_links:
            cut = True
            break
        nofollow = rel < rel_stop and "nofollow" in _value(ordered[rel:rel_stop]).lower().split()
        links.append((target, first, last, nofollow))
    found.cut = found.cut or cut
    if scripts and len(found.text) < _SHELL_TEXT and len(links) < _SHELL_LINKS:
        found.shell = scripts >= _MANY_SCRIPTS or tree.css_first(_MOUNT) is not None
    return found


def _value(view: str) -> str:
    """A value from the view of the bytes, its entities undone."""
    text = view if view.isascii() else view.encode("latin-1").decode()
    return _ENTITY.sub(_named, text) if "&" in text else text


def _named(entity: re.Match[str]) -> str:
    return _CHARACTER[entity[1]]


def _heed(found: Reading, html: str, places: list[int], base: Base) -> tuple[Base, list[str]]:
    """Take in what the head says; what links are relative to, and the URLs that it refreshes to."""
    refreshes: list[str] = []
    based = False
    for place in places:
        stop = html.index(">", place)
        name, _, rest = html[place:stop].partition(" ")
        if name == "title":
            if not found.title:
                title = html[stop + 1 : html.index("</title>", stop)]
                found.title = " ".join(_value(title).split())
            continue
        attributes = {key: _value(value) for key, value in _ATTRIBUTE.findall(" " + rest)}
        if name == "html":
            found.language = found.language or attributes.get("lang", "")
        elif name == "base":
            target = base.join(attributes.get("href", "")) if not based else None
            if target is not None:
                base, based = Base(target), True
        elif name == "link":
            if found.canonical is None and "canonical" in attributes.get("rel", "").lower().split():
                found.canonical = base.join(attributes.get("href", ""))
        elif attributes.get("name", "").lower() in ("robots", "sonde"):
            found.robots.append(attributes.get("content", ""))
        elif attributes.get("http-equiv", "").lower() == "refresh":
            href = attributes.get("content", "").partition("=")[2].strip(" \"'")
            target = base.join(href) if href else None
            if target is not None:
                refreshes.append(target)
    return base, refreshes
