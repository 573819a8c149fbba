"""Text as UTF-8, without making characters of it: what stands at a place, and moving pieces.

A buffer is a ``bytearray`` (compiled, a pointer to its bytes) that holds valid UTF-8; a place is an
index into it at which a character begins. White space and letters are Python's.
"""

import cython
from cython.cimports.sonde.kernels import byte

if cython.compiled:
    from cython.cimports.cpython.unicode import Py_UNICODE_ISALNUM, Py_UNICODE_ISSPACE
    from cython.cimports.libc.string import memchr, memcpy, memmove
else:

    def Py_UNICODE_ISALNUM(code):
        return chr(code).isalnum()

    def Py_UNICODE_ISSPACE(code):
        return chr(code).isspace()


ONES = cython.declare(cython.ulonglong, 0x0101010101010101)


def find(codes, value, at, end):
    """Where a byte stands next, or the end."""
    if at >= end:
        return end
    if not cython.compiled:
        place = codes.find(value, at, end)
        return end if place < 0 else place
    found: cython.p_uchar = cython.cast(
        cython.p_uchar, memchr(codes + at, value, cython.cast(cython.size_t, end - at))
    )
    if found == cython.NULL:
        return end
    return found - codes


def move(codes, to, at, count):
    """Bytes to another place of the same buffer."""
    if count <= 0 or to == at:
        return
    if not cython.compiled:
        codes[to : to + count] = codes[at : at + count]
    else:
        memmove(codes + to, codes + at, cython.cast(cython.size_t, count))


def copy(out, to, codes, at, count):
    """Bytes to another buffer."""
    if count <= 0:
        return
    if not cython.compiled:
        out[to : to + count] = codes[at : at + count]
    else:
        memcpy(out + to, codes + at, cython.cast(cython.size_t, count))


def width_at(codes, at):
    """How many bytes the character has."""
    first: cython.uint = codes[at]
    if first < 0x80:
        return 1
    if first < 0xE0:
        return 2
    return 3 if first < 0xF0 else 4


def code_at(codes, at):
    """The character's number."""
    first: cython.uint = codes[at]
    if first < 0x80:
        return first
    second: cython.uint = codes[at + 1] & 0x3F
    if first < 0xE0:
        return (first & 0x1F) << 6 | second
    third: cython.uint = codes[at + 2] & 0x3F
    if first < 0xF0:
        return (first & 0x0F) << 12 | second << 6 | third
    fourth: cython.uint = codes[at + 3] & 0x3F
    return (first & 0x07) << 18 | second << 12 | third << 6 | fourth


def space_at(codes, at):
    """The width of the white space character here, 0 if it is another one."""
    first: cython.uint = codes[at]
    if first < 0x80:
        return 1 if byte.is_space(first) else 0
    return width_at(codes, at) if Py_UNICODE_ISSPACE(code_at(codes, at)) else 0


def word_at(codes, at):
    """The width of the letter, digit or underscore here, 0 if it is another character."""
    first: cython.uint = codes[at]
    if first < 0x80:
        return 1 if byte.is_alphanumeric(first) or first == byte.UNDERSCORE else 0
    return width_at(codes, at) if Py_UNICODE_ISALNUM(code_at(codes, at)) else 0


def past_spaces(codes, at, end):
    width: cython.int
    while at < end:
        width = space_at(codes, at)
        if width == 0:
            break
        at += width
    return at


def before_spaces(codes, begin, end):
    """Where the text before the end ends, white space left out."""
    at: cython.Py_ssize_t
    while end > begin:
        at = end - 1
        while at > begin and codes[at] & 0xC0 == 0x80:
            at -= 1
        if space_at(codes, at) == 0:
            break
        end = at
    return end


def follows(codes, at, end, text):
    """Whether an ASCII text stands here."""
    size: cython.Py_ssize_t = len(text)
    i: cython.Py_ssize_t
    if at + size > end:
        return False
    for i in range(size):
        if codes[at + i] != text[i]:
            return False
    return True


def characters_before(text: bytes, places: cython.int[:, ::1]):
    """Turn places in a text, in bytes and in order, into how many characters stand before each."""
    codes: cython.p_uchar = text
    size: cython.Py_ssize_t = len(text)
    at: cython.Py_ssize_t = 0
    count: cython.int = 0
    row: cython.Py_ssize_t
    column: cython.Py_ssize_t
    eight: cython.ulonglong = 0
    follow: cython.ulonglong
    if text.isascii():
        return
    for row in range(places.shape[0]):
        for column in range(places.shape[1]):
            if cython.compiled:  # eight bytes at once: how many do not continue a character
                while at + 8 <= places[row, column] and at + 8 <= size:
                    memcpy(cython.address(eight), codes + at, 8)
                    follow = (eight >> 7) & ~(eight >> 6) & ONES
                    count += 8 - cython.cast(cython.int, (follow * ONES & byte.MASK) >> 56)
                    at += 8
            while at < places[row, column] and at < size:
                count += codes[at] & 0xC0 != 0x80
                at += 1
            places[row, column] = count
