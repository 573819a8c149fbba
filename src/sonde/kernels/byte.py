"""Bytes: the codes of characters (ASCII), and what kernels ask of bytes and make of them.

Compiled kernels take this from ``byte.pxd`` and inline it; this file, which is not compiled, is for
kernels that run as Python. A test holds the two together.
"""

TAB = 9
NEWLINE = 10
FORM_FEED = 12
RETURN = 13
SPACE = 32
EXCLAMATION = 33
QUOTE = 34
NUMBER_SIGN = 35
AMPERSAND = 38
APOSTROPHE = 39
PARENTHESIS = 40
ASTERISK = 42
HYPHEN = 45
DOT = 46
SLASH = 47
ZERO = 48
NINE = 57
COLON = 58
SEMICOLON = 59
LESS = 60
EQUALS = 61
GREATER = 62
QUESTION = 63
CAPITAL_A = 65
CAPITAL_Z = 90
OPEN_BRACKET = 91
CLOSE_BRACKET = 93
UNDERSCORE = 95
BACKTICK = 96
SMALL_A = 97
SMALL_E = 101
SMALL_F = 102
SMALL_G = 103
SMALL_H = 104
SMALL_L = 108
SMALL_M = 109
SMALL_Q = 113
SMALL_R = 114
SMALL_S = 115
SMALL_T = 116
SMALL_U = 117
SMALL_X = 120
SMALL_Z = 122
OPEN_BRACE = 123
PIPE = 124
CLOSE_BRACE = 125
DELETE = 127
SMALL = 32  # the bit that makes a small letter of a capital one

MASK = 0xFFFFFFFFFFFFFFFF  # keeps integers of Python in the 64 bits that they have in C
FNV_START = 0xCBF29CE484222325
FNV_PRIME = 0x100000001B3
GOLDEN = 0x9E3779B97F4A7C15  # odd, and nothing repeats in it: 2^64 over the golden ratio
SPLITMIX = 0xBF58476D1CE4E5B9


def is_blank(code):
    """White space as HTML has it."""
    return code <= SPACE and (
        code == SPACE or TAB <= code <= NEWLINE or FORM_FEED <= code <= RETURN
    )


def is_space(code):
    """White space as Python has it, of ASCII."""
    return code == SPACE or TAB <= code <= RETURN or 28 <= code <= 31


def is_visible(code):
    """Whether it shows, and is of ASCII."""
    return EXCLAMATION <= code < DELETE


def is_digit(code):
    return ZERO <= code <= NINE


def is_letter(code):
    return SMALL_A <= (code | SMALL) <= SMALL_Z


def is_alphanumeric(code):
    """Of ASCII, as the two above."""
    return is_letter(code) or is_digit(code)


def digit(code):
    """What a digit is worth, one of base 16 included."""
    return code - ZERO if code <= NINE else (code | SMALL) - SMALL_A + 10


def ends_name(code):
    """Whether the name of an element or of an attribute ends before it."""
    return code == GREATER or code == SLASH or is_blank(code)


def found(codes, at, code):
    """Where a byte stands next; the end where it does not."""
    size = codes.shape[0]
    while at < size and codes[at] != code:
        at += 1
    return min(at, size)


def same_name(codes, at, start, width):
    """Whether the name at one place stands at another, in any case. Both are within the bytes."""
    letter = 0
    while letter < width and (codes[at + letter] | SMALL) == (codes[start + letter] | SMALL):
        letter += 1
    return letter == width


def ends_comment(codes, at):
    """Whether this is the last of ``-->``."""
    return codes[at] == GREATER and codes[at - 1] == HYPHEN and codes[at - 2] == HYPHEN


def hashed(key, code):
    """The hash (FNV-1a) of what has the hash `key`, and this behind it."""
    return ((key ^ code) * FNV_PRIME) & MASK


def mixed(key):
    """The bits of a number, spread over all of it."""
    key ^= key >> 30
    key = (key * SPLITMIX) & MASK
    key ^= key >> 27
    key = (key * GOLDEN) & MASK
    return key ^ (key >> 31)


def eight_bytes(codes, at):
    """Eight bytes as one number, spelled so that a C compiler makes one load of them."""
    word = codes[at]
    word |= codes[at + 1] << 8
    word |= codes[at + 2] << 16
    word |= codes[at + 3] << 24
    word |= codes[at + 4] << 32
    word |= codes[at + 5] << 40
    word |= codes[at + 6] << 48
    word |= codes[at + 7] << 56
    return word
