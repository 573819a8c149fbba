"""The words of a link: of its anchor, of its target's address, and of its window.

Words are numbers of 16 bits, two bytes each, so that an estimator can count them in tables of a
fixed size and a run can keep them in little space. Two words that share a number are told apart by
the others beside them. Words of addresses have numbers of their own: `jazz` in a path is another
sign than in a text.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from itertools import accumulate

from sonde.kernels.text.link_words import words_of_links

MOST = 16
"""How many words of a link count, the anchor's first."""


POSITIONS = (b"\x01\x00", b"", b"\x02\x00")
"""The word that says where a link stands, by its position (see ``sources.main_text``): in a menu,
in main text, which goes without saying, or in a footer."""


def link_words(anchor: str, target: str = "", window: str = "") -> bytes:
    """The distinct words of one link: of the anchor, of the last two parts of the target's address,
    of the window.

    >>> len(link_words("tide gauge", "https://a.example/sea/level.html", "a tide gauge here")) // 2
    5
    """
    return words_of_links(
        f"{anchor} {window}", [0], [len(anchor)], [target], len(window) + 1, MOST
    )[0]


page_words: Callable[[str, list[int], list[int], list[str], int], list[bytes]]
page_words = partial(words_of_links, most=MOST)
"""The words of the links of a page: given its text, where their anchors start and end in it, their
targets, and how many characters on either side belong to a link."""


def words_of(texts: Sequence[str], urls: Sequence[str | None]) -> list[bytes]:
    """The words of links that have a text, an address, or both."""
    ends = list(accumulate((len(text) + 1 for text in texts), initial=0))
    starts, stops = ends[:-1], [end - 1 for end in ends[1:]]
    return page_words(" ".join(texts), starts, stops, [url or "" for url in urls], 0)
