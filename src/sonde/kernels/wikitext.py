"""Wikitext stripped of its markup, character by character, in place.

Text is an array of code points; nothing that is done here makes it longer. Each pass does what one
substitution by a regular expression would, which is named in it; their order matters, since what
one of them takes out may bring together what another one looks for.

Marks that stand for links (``\\x02``, decimal digits, ``\\x04`` where one begins, ``\\x03`` where
it ends) go last, together with superfluous white space: what remains is the text, and their places.
"""

import cython
import numpy as np

if cython.compiled:
    from cython.cimports.cpython.unicode import Py_UNICODE_ISALNUM as is_alphanumeric
    from cython.cimports.cpython.unicode import Py_UNICODE_ISSPACE as is_space
else:

    def is_alphanumeric(code):
        return chr(code).isalnum()

    def is_space(code):
        return chr(code).isspace()


if not cython.compiled:  # characters by their names
    TAB = 9
    NEWLINE = 10
    BLANK = 32
    BANG = 33
    APOSTROPHE = 39
    DASH = 45
    DOT = 46
    SLASH = 47
    COLON = 58
    LESS = 60
    EQUALS = 61
    GREATER = 62
    LINE = 95
    OPEN = 123
    PIPE = 124
    CLOSE = 125
    BEGIN = 2
    END = 3
    NUMBERED = 4
    MOST_NAME = 41  # characters of a parameter's name


def key_of(name):
    """A number for each name of up to ten small letters and digits."""
    key = 0
    for character in name:
        key = key * 37 + ("abcdefghijklmnopqrstuvwxyz0123456789".index(character) + 1)
    return key


BLOCK_TAGS = np.array(
    [
        key_of(name)
        for name in "br p div li ul ol dl dd dt td th tr table hr h1 h2 h3 h4 h5 h6 pre center"
        " blockquote gallery".split()
    ],
    dtype=np.int64,
)
ANY_TAG = np.zeros(0, dtype=np.int64)


@cython.cfunc
@cython.inline
@cython.exceptval(check=False)
def is_word(code: cython.uint) -> cython.bint:
    return code == LINE or is_alphanumeric(code)


@cython.cfunc
@cython.exceptval(check=False)
def follows(
    codes: cython.uint[::1], at: cython.Py_ssize_t, end: cython.Py_ssize_t, text: bytes
) -> cython.bint:
    """Whether an ASCII text stands here."""
    i: cython.Py_ssize_t
    size: cython.Py_ssize_t = len(text)
    if at + size > end:
        return False
    for i in range(size):
        if codes[at + i] != text[i]:
            return False
    return True


def strip(codes: cython.uint[::1], end: cython.Py_ssize_t, braces: cython.bint, tags: cython.bint):
    """The text's length without templates' names, tags, and the markup of lines and letters.

    ``braces`` says whether there are, or were, templates and tables in it.
    """
    if braces:
        end = without_templates(codes, end)
        end = without_parameters(codes, end)
    if tags:
        end = without_tags(codes, end, BLOCK_TAGS)
        end = without_tags(codes, end, ANY_TAG)
    end = without_headings(codes, end)
    end = without_line_starts(codes, end)
    end = without_quotes(codes, end)
    return without_magic(codes, end)


@cython.cfunc
@cython.exceptval(check=False)
def without_templates(codes: cython.uint[::1], end: cython.Py_ssize_t) -> cython.Py_ssize_t:
    r"""``\{\{[^{}|\n]*`` and ``\}\}`` to a space each."""
    at: cython.Py_ssize_t = 0
    kept: cython.Py_ssize_t = 0
    code: cython.uint
    while at < end:
        code = codes[at]
        if code == OPEN and at + 1 < end and codes[at + 1] == OPEN:
            at += 2
            while at < end and not (
                codes[at] == OPEN or codes[at] == CLOSE or codes[at] == PIPE or codes[at] == NEWLINE
            ):
                at += 1
            code = BLANK
        elif code == CLOSE and at + 1 < end and codes[at + 1] == CLOSE:
            at += 2
            code = BLANK
        else:
            at += 1
        codes[kept] = code
        kept += 1
    return kept


@cython.cfunc
@cython.exceptval(check=False)
def without_parameters(codes: cython.uint[::1], end: cython.Py_ssize_t) -> cython.Py_ssize_t:
    r"""``\|\s*\w[\w .-]{0,40}=[ \t]*(?:https?://[^\s|{}]*)?`` to a space."""
    at: cython.Py_ssize_t = 0
    kept: cython.Py_ssize_t = 0
    ahead: cython.Py_ssize_t
    name: cython.Py_ssize_t
    while at < end:
        codes[kept] = codes[at]
        kept += 1
        at += 1
        if codes[kept - 1] != PIPE:
            continue
        ahead = at
        while ahead < end and is_space(codes[ahead]):
            ahead += 1
        name = ahead
        if ahead >= end or not is_word(codes[ahead]):
            continue
        while (
            ahead < end
            and ahead - name < MOST_NAME
            and (
                is_word(codes[ahead])
                or codes[ahead] == BLANK
                or codes[ahead] == DOT
                or codes[ahead] == DASH
            )
        ):
            ahead += 1
        if ahead >= end or codes[ahead] != EQUALS:
            continue
        ahead += 1
        while ahead < end and (codes[ahead] == BLANK or codes[ahead] == TAB):
            ahead += 1
        if follows(codes, ahead, end, b"http://") or follows(codes, ahead, end, b"https://"):
            while ahead < end and not (
                is_space(codes[ahead])
                or codes[ahead] == PIPE
                or codes[ahead] == OPEN
                or codes[ahead] == CLOSE
            ):
                ahead += 1
        codes[kept - 1] = BLANK
        at = ahead
    return kept


@cython.cfunc
@cython.exceptval(check=False)
def without_tags(
    codes: cython.uint[::1], end: cython.Py_ssize_t, names: cython.longlong[::1]
) -> cython.Py_ssize_t:
    r"""``</?NAME\b[^<>]*>`` to a space, or ``</?[a-zA-Z][^<>]*>`` to nothing for no names."""
    at: cython.Py_ssize_t = 0
    kept: cython.Py_ssize_t = 0
    ahead: cython.Py_ssize_t
    named: cython.bint = names.shape[0] > 0
    while at < end:
        if codes[at] == LESS:
            ahead = at + 1
            if ahead < end and codes[ahead] == SLASH:
                ahead += 1
            if named:
                if not is_named(codes, ahead, end, names):
                    ahead = -1
            elif ahead >= end or not is_letter(codes[ahead]):
                ahead = -1
            if ahead >= 0:
                while ahead < end and codes[ahead] != LESS and codes[ahead] != GREATER:
                    ahead += 1
                if ahead < end and codes[ahead] == GREATER:
                    at = ahead + 1
                    if named:
                        codes[kept] = BLANK
                        kept += 1
                    continue
        codes[kept] = codes[at]
        kept += 1
        at += 1
    return kept


@cython.cfunc
@cython.inline
@cython.exceptval(check=False)
def is_letter(code: cython.uint) -> cython.bint:
    return 97 <= (code | 32) <= 122


@cython.cfunc
@cython.exceptval(check=False)
def is_named(
    codes: cython.uint[::1],
    at: cython.Py_ssize_t,
    end: cython.Py_ssize_t,
    names: cython.longlong[::1],
) -> cython.bint:
    """Whether the word that begins here is one of the names, in any case."""
    key: cython.longlong = 0
    size: cython.Py_ssize_t = 0
    code: cython.uint
    i: cython.Py_ssize_t
    while at < end and is_word(codes[at]):
        code = codes[at]
        if is_letter(code):
            key = key * 37 + cython.cast(cython.longlong, (code | 32) - 96)
        elif 48 <= code <= 57:
            key = key * 37 + cython.cast(cython.longlong, code - 48 + 27)
        else:
            return False
        size += 1
        if size > 10:
            return False
        at += 1
    for i in range(names.shape[0]):
        if key == names[i]:
            return size > 0
    return False


@cython.cfunc
@cython.exceptval(check=False)
def without_headings(codes: cython.uint[::1], end: cython.Py_ssize_t) -> cython.Py_ssize_t:
    r"""``\n=++([^\n]*+)`` to a line end and the group, without blanks and then ``=`` at its end."""
    at: cython.Py_ssize_t = 0
    kept: cython.Py_ssize_t = 0
    begun: cython.Py_ssize_t
    while at < end:
        codes[kept] = codes[at]
        kept += 1
        at += 1
        if codes[kept - 1] != NEWLINE or at >= end or codes[at] != EQUALS:
            continue
        while at < end and codes[at] == EQUALS:
            at += 1
        begun = kept
        while at < end and codes[at] != NEWLINE:
            codes[kept] = codes[at]
            kept += 1
            at += 1
        while kept > begun and (codes[kept - 1] == BLANK or codes[kept - 1] == TAB):
            kept -= 1
        while kept > begun and codes[kept - 1] == EQUALS:
            kept -= 1
    return kept


@cython.cfunc
@cython.exceptval(check=False)
def without_line_starts(codes: cython.uint[::1], end: cython.Py_ssize_t) -> cython.Py_ssize_t:
    r"""``\n(?:[*#:;]+|----+|!|(?:File|Image):[^|\n]*)`` to a line end."""
    at: cython.Py_ssize_t = 0
    kept: cython.Py_ssize_t = 0
    code: cython.uint
    while at < end:
        code = codes[at]
        codes[kept] = code
        kept += 1
        at += 1
        if code != NEWLINE or at >= end:
            continue
        if is_list(codes[at]):
            while at < end and is_list(codes[at]):
                at += 1
        elif codes[at] == BANG:
            at += 1
        elif follows(codes, at, end, b"----"):
            while at < end and codes[at] == DASH:
                at += 1
        elif follows(codes, at, end, b"File:") or follows(codes, at, end, b"Image:"):
            while at < end and codes[at] != PIPE and codes[at] != NEWLINE:
                at += 1
    return kept


@cython.cfunc
@cython.inline
@cython.exceptval(check=False)
def is_list(code: cython.uint) -> cython.bint:
    return code == 42 or code == 35 or code == COLON or code == 59


@cython.cfunc
@cython.exceptval(check=False)
def without_quotes(codes: cython.uint[::1], end: cython.Py_ssize_t) -> cython.Py_ssize_t:
    """``''+`` to nothing."""
    at: cython.Py_ssize_t = 0
    kept: cython.Py_ssize_t = 0
    while at < end:
        if codes[at] == APOSTROPHE and at + 1 < end and codes[at + 1] == APOSTROPHE:
            while at < end and codes[at] == APOSTROPHE:
                at += 1
            continue
        codes[kept] = codes[at]
        kept += 1
        at += 1
    return kept


@cython.cfunc
@cython.exceptval(check=False)
def without_magic(codes: cython.uint[::1], end: cython.Py_ssize_t) -> cython.Py_ssize_t:
    r"""``__[A-Z]+__`` to nothing, and ``\|`` to a space."""
    at: cython.Py_ssize_t = 0
    kept: cython.Py_ssize_t = 0
    ahead: cython.Py_ssize_t
    while at < end:
        if codes[at] == LINE and at + 1 < end and codes[at + 1] == LINE:
            ahead = at + 2
            while ahead < end and 65 <= codes[ahead] <= 90:
                ahead += 1
            if (
                ahead > at + 2
                and ahead + 1 < end
                and codes[ahead] == LINE
                and codes[ahead + 1] == LINE
            ):
                at = ahead + 2
                continue
        codes[kept] = BLANK if codes[at] == PIPE else codes[at]
        kept += 1
        at += 1
    return kept


def settle(
    codes: cython.uint[::1],
    end: cython.Py_ssize_t,
    numbers: cython.int[::1],
    starts: cython.int[::1],
    ends: cython.int[::1],
):
    """White space to single spaces, marks to places.

    The length of the text, and how many links are in it: their numbers, in the order in which they
    begin, and where they start and end. Marks for which there is no room stay in the text.
    """
    at: cython.Py_ssize_t = 0
    kept: cython.Py_ssize_t = 0
    ahead: cython.Py_ssize_t
    links: cython.int = 0
    last: cython.int = -1  # the innermost link that is open; `ends` chains those around it
    number: cython.longlong
    other: cython.int
    begun: cython.bint = False
    apart: cython.bint = False
    code: cython.uint
    while at < end:
        code = codes[at]
        if is_space(code):
            apart = begun
            at += 1
            continue
        begun = True
        if apart:
            if kept > 0 and codes[kept - 1] != BLANK:
                codes[kept] = BLANK
                kept += 1
            apart = False
        if code == END:
            at += 1
            if last >= 0:
                other = ends[last]
                ends[last] = cython.cast(cython.int, kept)
                last = -2 - other
            continue
        if code == BEGIN:
            ahead = at + 1
            number = 0
            while ahead < end and 48 <= codes[ahead] <= 57 and number < 100_000_000:
                number = 10 * number + cython.cast(cython.longlong, codes[ahead] - 48)
                ahead += 1
            if (
                ahead > at + 1
                and ahead < end
                and codes[ahead] == NUMBERED
                and links < numbers.shape[0]
            ):
                numbers[links] = cython.cast(cython.int, number)
                starts[links] = cython.cast(cython.int, kept)
                ends[links] = -2 - last
                last = links
                links += 1
                at = ahead + 1
                continue
        codes[kept] = code
        kept += 1
        at += 1
    while last >= 0:  # never closed
        other = ends[last]
        ends[last] = cython.cast(cython.int, kept)
        last = -2 - other
    for other in range(links):
        if starts[other] < ends[other] and codes[starts[other]] == BLANK:
            starts[other] += 1
    return kept, links
