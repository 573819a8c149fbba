"""Characters, as far as words are concerned: which are letters, and which scripts have no spaces.

A *letter* is a letter, a digit, an underscore, or a mark on one, of a script that puts spaces or
signs between words; a run of letters is a word. Chinese, Japanese, Thai, Lao, Khmer, Burmese and
their neighbours write without spaces: their characters touch others without being one word with
them, and phrases of theirs are looked for as strings.
"""

from __future__ import annotations

import re
import unicodedata

UNSPACED = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u1950-\u19ff\u1a20-\u1aaf\ua9e0-\ua9ff\uaa60-\uaadf"
    "\u2e80-\u2fdf\u3005-\u3007\u3021-\u302f\u3031-\u3035\u3038-\u303c\u3041-\u312f\u31a0-\u31bf"
    "\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff66-\uff9f"
    "\U00011700-\U0001174f\U0001aff0-\U0001b16f\U00020000-\U0003ffff]"
)
"""A character of a script without spaces: South-East Asian ones, then Han, kana and bopomofo."""

_ALNUM = re.compile(r"\w")


def is_letter(character: str) -> bool:
    """Whether a character belongs to a word, in a script that has words."""
    if UNSPACED.match(character):
        return False
    return bool(_ALNUM.match(character)) or unicodedata.category(character)[0] == "M"
