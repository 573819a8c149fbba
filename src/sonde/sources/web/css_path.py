"""CSS selectors that take no longer than the page is long.

A selector such as ``p div div div`` makes a matcher try all ways to place its parts among the
elements around: on a page of deep nesting, made for it, that takes hours. Here a selector is a path
of steps (its parts between spaces). Each step is looked for within what the step before has found,
the outermost of it, so that every element is looked at once a step. Within a step stand only
combinators that leave no choice (``>`` and ``+``), one ``~`` and one ``:has()`` at most.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from selectolax.lexbor import LexborHTMLParser, LexborNode, SelectolaxError

from sonde.errors import InputError

_PAIRS = {"(": ")", "[": "]"}


@dataclass(frozen=True, slots=True)
class CssPath:
    """Alternatives, each the steps of one path with the number of ``>`` in them."""

    alternatives: tuple[tuple[tuple[str, int], ...], ...]

    @classmethod
    def of(cls, selector: str, where: str) -> CssPath:
        """The path that a selector is; ``InputError`` for what is none, or takes too long."""
        try:
            LexborHTMLParser("<p>").css(selector)
        except SelectolaxError:
            raise InputError(f"{where}: not a CSS selector: {selector!r}") from None
        found = []
        for alternative in _split(selector, ","):
            steps = tuple((step, _count(step, ">")) for step in _steps(alternative))
            inside = _insides(alternative)
            if (
                not steps
                or _count(alternative, "~") > 1
                or alternative.lower().count(":has(") > 1
                or any(" " in " ".join(part.split()) or "~" in part for part in inside)
            ):
                raise InputError(
                    f"{where}: {selector!r} takes too long on some pages: one ~ and one :has() at"
                    " most, and no spaces or ~ within brackets"
                )
            found.append(steps)
        return cls(tuple(found))

    def all(self, root: LexborNode) -> list[LexborNode]:
        """The elements within a root that it selects."""
        if all(len(steps) == 1 for steps in self.alternatives):  # in the order of the page
            joined = ", ".join(steps[0][0] for steps in self.alternatives)
            ups = max(steps[0][1] for steps in self.alternatives)
            return list(_within(root, joined, ups))
        found: dict[int, LexborNode] = {}
        for steps in self.alternatives:
            roots = [root]
            for step, ups in steps:
                matched = [node for each in outermost(roots) for node in _within(each, step, ups)]
                roots = list({node.mem_id: node for node in matched}.values())
            found |= {node.mem_id: node for node in roots}
        return list(found.values())

    def first(self, root: LexborNode) -> LexborNode | None:
        """The first of them, if there is one."""
        return next(iter(self.all(root)), None)


def outermost(nodes: list[LexborNode], levels: int = 1) -> list[LexborNode]:
    """Those of some elements that stand within fewer than so many others of them."""
    chosen = {node.mem_id for node in nodes}
    depth: dict[int, int] = {}  # of elements: how many chosen ones are around them
    kept = []
    for node in nodes:
        path = []
        above = node.parent
        while above is not None and above.mem_id not in depth:
            path.append(above.mem_id)
            above = above.parent
        inside = 0
        if above is not None:
            inside = depth[above.mem_id] + (above.mem_id in chosen)
        for name in reversed(path):
            depth[name] = inside
            inside += name in chosen
        if inside < levels:
            kept.append(node)
    return kept


def _within(root: LexborNode, step: str, ups: int) -> Iterator[LexborNode]:
    """What a step selects within a root, all of its parts."""
    own = root.mem_id
    for node in root.css(step):
        above: LexborNode | None = node
        for _ in range(ups + 1):
            if above is None or above.mem_id == own:
                break
            above = above.parent
        else:
            yield node


def _split(selector: str, mark: str) -> Iterator[str]:
    """The parts of a selector between marks that stand outside of brackets and quotes."""
    part, closing, quote = "", [], ""
    escaped = False
    for character in selector:
        if escaped:
            escaped = False
        elif character == "\\":
            escaped = True
        elif quote:
            quote = "" if character == quote else quote
        elif character in "\"'":
            quote = character
        elif character in _PAIRS:
            closing.append(_PAIRS[character])
        elif closing and character == closing[-1]:
            closing.pop()
        elif not closing and character == mark:
            if part.strip():
                yield part.strip()
            part = ""
            continue
        part += character
    if part.strip():
        yield part.strip()


def _steps(selector: str) -> list[str]:
    """The parts between spaces; what ``>``, ``+`` or ``~`` joins is one."""
    steps: list[str] = []
    glued = False
    for word in _split(" ".join(selector.split()), " "):
        if steps and (glued or word[0] in ">+~"):
            steps[-1] += f" {word}"
        else:
            steps.append(word)
        glued = word[-1] in ">+~"
    return steps


def _count(step: str, mark: str) -> int:
    return max(0, len(list(_split(f"x{step}x", mark))) - 1)


def _insides(selector: str) -> list[str]:
    """What stands within round brackets, quoted text left out."""
    found, depth, quote = [], 0, ""
    for character in selector:
        if quote:
            quote = "" if character == quote else quote
        elif character in "\"'":
            quote = character
        elif character == "(":
            depth += 1
            found.append("")
        elif character == ")":
            depth -= 1
        elif depth > 0:
            found[-1] += character
    return [part.strip() for part in found]
