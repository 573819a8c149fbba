"""Estimators that go by what the other children of a node's parents have brought."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, ClassVar

from sonde.errors import SpecError
from sonde.estimators.assembly import Assembly, Leaf

PARTS = ("weight", "worth", "share", "words", "base")
"""What the kernel keeps of a row besides its estimate, each in a column of its own."""

GROUNDS = (
    "the number of these links",
    "their scores",
    "its share of those pages' scores",
    "the words of the links",
    "what other nodes with such links brought against expectations",
)


@dataclass(frozen=True)
class ParentYield(Leaf):
    """The mean yield of a node's visited parents: what their visited children have brought.

    A parent's yield is shrunk towards what pages of its score yield, as if it had `patience`
    more children of that kind; a parent that has shown more children weighs more.
    """

    patience: float = 10.0

    name: ClassVar[str] = "yield"

    def __post_init__(self) -> None:
        if not 0 < self.patience < float("inf"):
            raise SpecError(f"estimator '{self}': k must be a number above 0")

    def __str__(self) -> str:
        changed = (
            f"{OPTIONS[part.name]}={getattr(self, part.name):g}"
            for part in fields(self)
            if getattr(self, part.name) != part.default
        )
        return ":".join([self.name, *changed])

    def features(self) -> tuple[str, ...]:
        return ("deg", "e:sum", *(f"{self}.{part}" for part in PARTS), str(self))

    def remembers(self) -> bool:
        return True

    def weights(self) -> tuple[float, ...]:
        """Of the number of links, of their scores, of shares, of words and of ratios."""
        return 0.0, 0.0, 0.0, 0.0, 0.0

    def reasons(self, leaf: Any, slot: int) -> tuple[str, ...]:
        parents, children, brought, expected, *terms = leaf.yields.grounds(slot)
        pages = (
            "the page that links to it"
            if parents == 1
            else f"the {parents:,} pages that link to it"
        )
        if children:
            kids = "child" if children == 1 else "children"
            yielded = f"yielded {brought / children:.3g} on average over {children:,} {kids}"
        else:
            yielded = "has shown no children yet" if parents == 1 else "have shown no children yet"
        lines = [f"{pages} {yielded}: {expected:.3g} expected"]
        for weight, term, what in zip(self.weights(), terms, GROUNDS, strict=True):
            if weight and term:
                lines.append(f"{what}: {term:+.3g}")
        return tuple(lines)

    def grow(self, assembly: Assembly) -> Any:
        modules = assembly.kernels.yields
        signal = assembly.signal(
            str(self),
            lambda: modules.Yields(
                assembly.frontier,
                assembly.links,
                assembly.columns,
                str(self),
                assembly.nodes,
                self.patience,
                self.weights(),
            ),
        )
        return assembly.single(modules.Expectation(signal, assembly.columns[str(self)]))


@dataclass(frozen=True)
class Auto(ParentYield):
    """Parent yield, times what nodes with as many links of such scores have brought against what
    yields expected of them; and a little for many links, promising ones, a large share of the
    parents' scores, and words that have stood for more than the average.

    The weights are in units of a positive gain: those of the number of links, of their scores and
    of the share multiply logarithms; that of words multiplies a difference of gains, that of
    ratios by how much they differ from 1.
    """

    degree: float = 0.07
    link: float = 0.3
    share: float = 0.1
    words: float = 1.0
    ratio: float = 1.0

    name: ClassVar[str] = "auto"

    def __post_init__(self) -> None:
        super().__post_init__()
        if not all(0 <= weight < float("inf") for weight in self.weights()):
            raise SpecError(f"estimator '{self}': weights are numbers of 0 or more")

    def reads_words(self) -> bool:
        return self.words > 0

    def weights(self) -> tuple[float, ...]:
        return self.degree, self.link, self.share, self.words, self.ratio


OPTIONS = {
    "patience": "k",
    "degree": "deg",
    "link": "e",
    "share": "share",
    "words": "words",
    "ratio": "ratio",
}
"""The text form of each parameter."""
