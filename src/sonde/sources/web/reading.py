"""The walk over a parsed HTML tree.

Kept as one loop with local names: it runs once for each node of each page. ``page`` explains what
is visible and why.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from selectolax.lexbor import LexborHTMLParser, LexborNode, create_tag

from .address import Base
from .nesting import shallow

_HIDDEN = '[hidden],[aria-hidden="true" i]'
_MOUNT = "#root:empty,#app:empty,#__next:empty,#__nuxt:empty,app-root:empty,#svelte:empty"
_MANY_SCRIPTS = 3
_SHELL_TEXT = 200
_SHELL_LINKS = 5

# What happens when the walk enters an element; elements not named are inline text.
_SKIP, _BLOCK, _ANCHOR, _CHROME, _META, _LINK, _BASE, _TITLE, _SCRIPT, _FRAME, _OPEN = range(1, 12)
_POINTING = (_ANCHOR, _FRAME)


def _tags(names: str) -> list[int]:
    return [create_tag(name).tag_id for name in names.split()]


_TEXT = next(LexborHTMLParser("x").body.iter(include_text=True)).tag_id  # type: ignore[union-attr]
_ACTIONS = (
    dict.fromkeys(
        _tags(
            "style template noscript svg iframe object embed audio video canvas noframes noembed"
            " datalist"
        ),
        _SKIP,
    )
    | dict.fromkeys(
        _tags(
            "address article blockquote body br button center dd details dialog dir div dl dt"
            " fieldset figcaption figure form h1 h2 h3 h4 h5 h6 hgroup hr html img input legend li"
            " main menu ol optgroup option p pre section select summary table tbody td textarea"
            " tfoot th thead tr ul caption"
        ),
        _BLOCK,
    )
    | dict.fromkeys(_tags("a area"), _ANCHOR)
    | dict.fromkeys(_tags("nav header footer aside"), _CHROME)
    | dict.fromkeys(_tags("frame"), _FRAME)
    | dict(
        zip(
            _tags("meta link base title script"),
            (_META, _LINK, _BASE, _TITLE, _SCRIPT),
            strict=True,
        )
    )
)


@dataclass(slots=True)
class Reading:
    """What the walk found. ``links`` are (url, start, end, nofollow)."""

    text: str = ""
    content: str = ""
    title: str = ""
    language: str = ""
    canonical: str | None = None
    robots: list[str] = field(default_factory=list)
    links: list[tuple[str, int, int, bool]] = field(default_factory=list)
    cut: bool = False
    shell: bool = False  # little text, few links, scripts: an application draws the page


class _Text:
    """Text in the making: raw pieces since the last boundary, collapsed segments before it.

    A boundary (the edge of an anchor or of navigation) must know its exact place in the collapsed
    text. Collapsing per segment rather than per text node is what keeps that cheap.
    """

    __slots__ = ("chrome", "content", "gap", "length", "pieces", "segments")

    def __init__(self) -> None:
        self.pieces: list[str] = []
        self.segments: list[str] = []
        self.content: list[str] = []
        self.length = 0
        self.gap = False  # white space is owed before the next word
        self.chrome = 0  # how many navigation elements are open

    def boundary(self) -> int:
        """Collapse what is pending; the place where the next character will stand."""
        if self.pieces:
            raw = "".join(self.pieces)
            self.pieces.clear()
            words = raw.split()
            if not words:
                self.gap = True
                return self.length
            segment = " ".join(words)
            if (self.gap or raw[0].isspace()) and self.length:
                segment = " " + segment
            self.gap = raw[-1].isspace()
            self.segments.append(segment)
            self.length += len(segment)
            if not self.chrome:
                self.content.append(segment)
        return self.length

    def edge_of_chrome(self, step: int) -> None:
        self.pieces.append("\n")
        self.boundary()
        self.chrome += step
        if self.content and self.content[-1] != " ":
            self.content.append(" ")


def read(html: str, url: str, max_links: int) -> Reading:
    """Walk the document once."""
    # ``scripting`` keeps the content of a noscript in the head from spilling into the body.
    within = shallow(html)
    tree = LexborHTMLParser(within, scripting=True)
    found = Reading(cut=len(within) < len(html))
    root = tree.root
    if root is None:
        return found
    found.language = root.attrs.get("lang") or ""
    hidden = {node.mem_id for node in tree.css(_HIDDEN)}
    base = Base(url)
    based = False
    text = _Text()
    pieces = text.pieces
    add = pieces.append
    joined: dict[str, str | None] = {"": None}
    urls: list[str] = []
    starts: list[int] = []
    ends: list[int] = []
    nofollows: list[bool] = []
    open_links: list[int] = []
    scripts = 0
    stack: list[tuple[LexborNode, int]] = []
    action_of = _ACTIONS.get

    node: LexborNode = root
    while True:
        tag = node.tag_id
        child = None
        if tag == _TEXT:
            add(node.text_content or "")
        else:
            action = action_of(tag, 0)
            if hidden and node.mem_id in hidden:
                action = _SKIP
            if action == 0:
                child = node.first_child
            elif action == _BLOCK:
                add("\n")
                child = node.first_child
            elif action in _POINTING:
                attrs = node.attrs
                href = attrs.get("href" if action == _ANCHOR else "src")
                child = node.first_child
                if href and href[0] != "#":
                    target = joined.get(href, "")
                    if target == "":
                        target = joined[href] = base.join(href)
                    if target is not None and target != url:
                        if len(urls) >= max_links:
                            found.cut = True
                        else:
                            place = text.boundary()
                            if child is not None:
                                open_links.append(len(urls))
                                action = _OPEN  # closed again when the walk leaves it
                            urls.append(target)
                            starts.append(place)
                            ends.append(place)
                            rel = attrs.get("rel")
                            nofollows.append(bool(rel) and _nofollow(rel))
            elif action == _CHROME:
                child = node.first_child
                if child is not None:
                    text.edge_of_chrome(1)
            elif action == _SCRIPT:
                scripts += 1
            elif action == _TITLE:
                if not found.title:
                    found.title = " ".join(node.text().split())
            elif action == _META:
                target = _read_meta(node, found, base)
                if target is not None and len(urls) < max_links:
                    urls.append(target)
                    starts.append(0)
                    ends.append(0)
                    nofollows.append(False)
            elif action == _LINK:
                if found.canonical is None and _is_canonical(node):
                    found.canonical = base.join(node.attrs.get("href") or "")
            elif action == _BASE and not based:
                href = node.attrs.get("href")
                target = base.join(href) if href else None
                if target is not None:
                    base, based = Base(target), True
                    joined = {"": None}
            if child is not None:
                stack.append((node, action))
                node = child
                continue
        while True:
            if not stack:  # the root has no siblings that matter
                break
            sibling = node.next
            if sibling is not None:
                node = sibling
                break
            node, action = stack.pop()
            if action == _BLOCK:
                add("\n")
            elif action == _OPEN:
                ends[open_links.pop()] = text.boundary()
            elif action == _CHROME:
                text.edge_of_chrome(-1)
        if not stack:
            break

    text.boundary()
    found.text = "".join(text.segments)
    if len(text.content) == len(text.segments):
        found.content = found.text
    else:
        found.content = " ".join("".join(text.content).split())
    whole = found.text
    for number, place in enumerate(starts):  # an anchor begins at its first visible character
        if place < ends[number] and whole[place] == " ":
            starts[number] += 1
    found.links = list(zip(urls, starts, ends, nofollows, strict=True))
    if scripts and len(whole) < _SHELL_TEXT and len(urls) < _SHELL_LINKS:
        found.shell = scripts >= _MANY_SCRIPTS or tree.css_first(_MOUNT) is not None
    return found


def _nofollow(rel: str | None) -> bool:
    return rel is not None and "nofollow" in rel.lower().split()


def _is_canonical(node: LexborNode) -> bool:
    return "canonical" in (node.attrs.get("rel") or "").lower().split()


def _read_meta(node: LexborNode, found: Reading, base: Base) -> str | None:
    """Note what a meta element says to robots; the URL that it refreshes to, if any."""
    attrs = node.attrs
    name = (attrs.get("name") or "").lower()
    content = attrs.get("content") or ""
    if name in ("robots", "sonde"):
        found.robots.append(content)
    elif (attrs.get("http-equiv") or "").lower() == "refresh":
        target = content.partition("=")[2].strip(" \"'")
        return base.join(target) if target else None
    return None
