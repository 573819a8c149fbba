"""The obvious reading of a page: a walk over the parsed tree, node by node."""

from __future__ import annotations

from typing import NamedTuple

from selectolax.lexbor import LexborHTMLParser, LexborNode

from sonde.sources.page import Base, shallow

_SKIPPED = (
    "script style template noscript svg iframe object embed audio video canvas noframes noembed"
    " datalist title"
)
_BLOCKS = (
    "address article blockquote body br button center dd details dialog dir div dl dt fieldset"
    " figcaption figure form h1 h2 h3 h4 h5 h6 hgroup hr html img input legend li main menu ol"
    " optgroup option p pre section select summary table tbody td textarea tfoot th thead tr ul"
    " caption"
)
SKIPPED = frozenset(_SKIPPED.split())
BLOCKS = frozenset(_BLOCKS.split())
CHROME = frozenset(("nav", "header", "footer", "aside"))
NAVIGATION = frozenset(["navigation", "banner", "contentinfo", "search", "menu", "menubar"])


class Where(NamedTuple):
    """What is said of the place: it is navigation, it is beside the text, it is in a section."""

    navigation: bool = False
    aside: bool = False
    section: bool = False

    def within(self, tag: str, role: str) -> Where:
        """The same of what is in an element there."""
        navigation, aside, section = self
        if tag == "nav" or (tag in ("header", "footer") and not section):
            navigation = True
        if tag == "aside":
            aside = True
        if tag in ("article", "main"):
            aside = False
        if tag not in ("html", "body") and role.lower().split(" ")[0] in NAVIGATION:
            navigation = True
        sections = ("nav", "aside", "main", "article", "section")
        return Where(navigation, aside, section or tag in sections)

    @property
    def content(self) -> bool:
        return not self.navigation and not self.aside


class Walk:
    """Visible text as a list of (character, whether it counts as content), and the links."""

    def __init__(self, html: str, url: str) -> None:
        self.url = url
        self.characters: list[tuple[str, bool]] = []
        self.links: list[tuple[str, int, int, bool]] = []
        self.spans: list[tuple[str, int, int, bool]] = []
        self.title = ""
        self.base = Base(url)
        tree = LexborHTMLParser(shallow(html.encode()).decode(), scripting=True)
        if tree.root is None:
            return
        for element in tree.root.css("base[href]"):
            target = self.base.join(element.attrs.get("href") or "")
            if target is not None and not self._concealed(element):
                self.base = Base(target)
                break
        self._enter(tree.root, Where())
        self.text, places = self._collapsed([character for character, _ in self.characters])
        self.content, _ = self._collapsed(
            [character if own else "\n" for character, own in self.characters]
        )
        for target, start, end, nofollow in self.spans:
            first, last = places[start], places[end]
            if first < last and self.text[first] == " ":
                first += 1
            self.links.append((target, first, last, nofollow))

    @staticmethod
    def _concealed(element: LexborNode) -> bool:
        node: LexborNode | None = element
        while node is not None:
            attrs = node.attributes if node.is_element_node else {}
            hidden = (attrs.get("aria-hidden") or "").lower() == "true" or "hidden" in attrs
            if hidden or node.tag in SKIPPED:
                return True
            node = node.parent
        return False

    @staticmethod
    def _collapsed(characters: list[str]) -> tuple[str, list[int]]:
        """The text, and for each character how much text came before it."""
        text: list[str] = []
        places = []
        gap = False
        for character in characters:
            places.append(len(text))
            if character.isspace():
                gap = True
                continue
            if gap and text:
                text.append(" ")
            gap = False
            text.append(character)
        places.append(len(text))
        return "".join(text), places

    def _say(self, text: str, content: bool) -> None:
        self.characters += [(character, content) for character in text]

    def _enter(self, node: LexborNode, where: Where) -> None:
        if node.is_text_node:
            self._say(node.text_content or "", where.content)
            return
        if not node.is_element_node:
            return
        tag = node.tag or ""
        attrs = dict(node.attributes)
        if "hidden" in attrs or (attrs.get("aria-hidden") or "").lower() == "true":
            return
        if tag == "title" and not self.title:
            self.title = " ".join(node.text().split())
        if tag in SKIPPED:
            return
        block = tag in BLOCKS or tag in CHROME
        if block:
            self._say("\n", where.content)
        pointing = {"a": "href", "area": "href", "frame": "src"}.get(tag)
        href = attrs.get(pointing) if pointing is not None else None
        target = self.base.join(href) if href and href[0] != "#" else None
        start = len(self.characters)
        child = node.first_child
        number = len(self.spans)
        if target is not None and target != self.url:
            rel = (attrs.get("rel") or "").lower().split()
            self.spans.append((target, start, start, "nofollow" in rel))
        inside = where.within(tag, attrs.get("role") or "")
        while child is not None:
            self._enter(child, inside)
            child = child.next
        if target is not None and target != self.url:
            kept, first, _, nofollow = self.spans[number]
            self.spans[number] = (kept, first, len(self.characters), nofollow)
        if block:
            self._say("\n", where.content)
