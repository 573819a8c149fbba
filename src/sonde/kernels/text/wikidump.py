"""Pages of a MediaWiki dump, read as dumps are written: nested elements, text, five references.

That is a subset of XML in which well-formedness is quickly seen. A page that is anything else
(comments, other references, carriage returns, an element within a text, anything malformed) is not
judged here: the scanner says that it does not know, and a parser has to be asked.
"""

import cython
from cython.cimports.sonde.kernels import byte
from cython.cimports.sonde.kernels.text.utf8 import copy, find, follows

if not cython.compiled:
    DEEPEST = 12
    MOST_ATTRIBUTES = 8
    TITLE = 0
    NS = 1
    MODEL = 2
    TEXT = 3
    REDIRECT = 4
    ORDINARY = [0] * 256

# Bytes that need no second look: no control characters, no sign of markup, and no byte with which
# one of the two characters beyond U+FFFD begins.
for _code in range(256):
    ORDINARY[_code] = (_code >= byte.SPACE or _code in (byte.TAB, byte.NEWLINE)) and _code not in (
        byte.LESS,
        byte.GREATER,
        byte.AMPERSAND,
        0xEF,
    )


class Scanner:
    def __init__(self) -> None:
        if not cython.compiled:
            self.begins = [-1] * 5
            self.ends = [-1] * 5
            self.open_at = [0] * DEEPEST
            self.open_size = [0] * DEEPEST
            self.name_at = [0] * MOST_ATTRIBUTES
            self.name_size = [0] * MOST_ATTRIBUTES

    def scan(self, data: bytes, begin: cython.Py_ssize_t, end: cython.Py_ssize_t):
        """The fields of ``data[begin:end]`` if it is a page as dumps have them, and no other in it.

        Title, namespace, model, text and redirect: where each begins and ends, -1 if it is missing.
        ``foreign`` then says whether there are other characters than those of ASCII.
        """
        if not 0 <= begin <= end <= len(data):
            raise ValueError(f"no bytes {begin} to {end} in {len(data)}")
        if not self.scanned(data, begin, end):
            return None
        return [(self.begins[i], self.ends[i]) for i in range(5)]

    def scanned(self, codes, at, end):
        depth: cython.int = 0
        field: cython.int
        begun: cython.Py_ssize_t = -1  # where the content of a field that is open begins
        less: cython.Py_ssize_t
        name: cython.Py_ssize_t
        i: cython.int
        self.foreign = False
        for i in range(5):
            self.begins[i] = self.ends[i] = -1
        while at < end:
            less = find(codes, byte.LESS, at, end)
            if less >= end or (depth == 0 and less > at) or not self.takes(codes, at, less):
                return False
            if less + 1 < end and codes[less + 1] == byte.SLASH:
                at = name_end(codes, less + 2, end)
                if at >= end or codes[at] != byte.GREATER or depth == 0:
                    return False
                depth -= 1
                if not same(
                    codes, less + 2, at - less - 2, self.open_at[depth], self.open_size[depth]
                ):
                    return False
                if begun >= 0:
                    field = field_of(codes, less + 2, at - less - 2)
                    self.begins[field] = begun
                    self.ends[field] = less
                    begun = -1
                at += 1
                if depth == 0:
                    return at == end
                continue
            if begun >= 0 or depth == DEEPEST:
                return False
            name = name_end(codes, less + 1, end)
            if name == less + 1 or (depth > 0 and same_as_page(codes, less + 1, name)):
                return False
            field = field_of(codes, less + 1, name - less - 1)
            at = self.attributes(codes, name, end, field == REDIRECT)
            if at < 0:
                return False
            if codes[at - 2] == byte.SLASH:
                if field >= 0 and field != REDIRECT:
                    self.begins[field] = self.ends[field] = at
                if depth == 0:
                    return False
                continue
            self.open_at[depth] = less + 1
            self.open_size[depth] = name - less - 1
            depth += 1
            if field >= 0 and field != REDIRECT:
                begun = at
        return False

    def takes(self, codes, at, end):
        """Whether text is plain; remembers whether it is foreign."""
        seen: cython.int = is_plain(codes, at, end)
        if seen >= 0x80:
            self.foreign = True
        return seen >= 0

    def attributes(self, codes, at, end, redirect):
        """The place after the tag whose attributes begin here, -1 if it is not a plain one."""
        count: cython.int = 0
        name: cython.Py_ssize_t
        close: cython.Py_ssize_t
        i: cython.int
        if redirect:
            self.begins[REDIRECT] = self.ends[REDIRECT] = at
        while True:
            name = at
            while at < end and codes[at] == byte.SPACE:
                at += 1
            if at >= end:
                return -1
            if codes[at] == byte.GREATER:
                return at + 1
            if codes[at] == byte.SLASH:
                return at + 2 if at + 1 < end and codes[at + 1] == byte.GREATER else -1
            if at == name or count == MOST_ATTRIBUTES:
                return -1
            name = at
            at = name_end(codes, at, end)
            if at == name or not follows(codes, at, end, b'="'):
                return -1
            for i in range(count):
                if same(codes, name, at - name, self.name_at[i], self.name_size[i]):
                    return -1
            self.name_at[count] = name
            self.name_size[count] = at - name
            count += 1
            close = find(codes, byte.QUOTE, at + 2, end)
            if (
                close >= end
                or find(codes, byte.LESS, at + 2, close) < close
                or find(codes, byte.AMPERSAND, at + 2, close) < close
                or find(codes, byte.TAB, at + 2, close) < close
                or find(codes, byte.NEWLINE, at + 2, close) < close
                or not self.takes(codes, at + 2, close)
            ):
                return -1
            if redirect and at - name == 5 and follows(codes, name, end, b"title"):
                self.begins[REDIRECT] = at + 2
                self.ends[REDIRECT] = close
            at = close + 1


def name_end(codes, at, end):
    """The place after a name of letters, digits, and a few signs but for its first character."""
    begin: cython.Py_ssize_t = at
    code: cython.uint
    while at < end:
        code = codes[at]
        if byte.is_letter(code) or code == byte.UNDERSCORE:
            at += 1
        elif at > begin and (
            byte.ZERO <= code <= byte.COLON or code == byte.HYPHEN or code == byte.DOT
        ):
            at += 1
        else:
            break
    return at


def same(codes, at, size, other, other_size):
    i: cython.Py_ssize_t
    if size != other_size:
        return False
    for i in range(size):
        if codes[at + i] != codes[other + i]:
            return False
    return True


def same_as_page(codes, at, end):
    """A page within a page: the outer one was cut short."""
    return end - at == 4 and follows(codes, at, end, b"page")


def field_of(codes, at, size):
    """The number of the field that an element of this name is, or -1."""
    end: cython.Py_ssize_t = at + size
    if size == 2:
        return NS if follows(codes, at, end, b"ns") else -1
    if size == 4:
        return TEXT if follows(codes, at, end, b"text") else -1
    if size == 5:
        if follows(codes, at, end, b"title"):
            return TITLE
        return MODEL if follows(codes, at, end, b"model") else -1
    if size == 8 and follows(codes, at, end, b"redirect"):
        return REDIRECT
    return -1


def is_plain(codes, at, end):
    """-1 unless text has the characters of XML alone, the five references, and no ``>``.

    Otherwise all its bytes, or'ed.
    """
    code: cython.uint
    seen: cython.uint = 0
    after: cython.Py_ssize_t
    while at < end:
        code = codes[at]
        if ORDINARY[code]:
            seen |= code
            at += 1
        elif code == byte.AMPERSAND:
            after = entity_end(codes, at, end)
            if after < 0:
                return -1
            at = after
        elif code < 0x80 or (at + 2 < end and codes[at + 1] == 0xBF and codes[at + 2] >= 0xBE):
            return -1
        else:
            seen |= code
            at += 1
    return cython.cast(cython.int, seen)


def entity_end(codes, at, end):
    """The place after one of the five references, or -1."""
    if follows(codes, at, end, b"&lt;") or follows(codes, at, end, b"&gt;"):
        return at + 4
    if follows(codes, at, end, b"&amp;"):
        return at + 5
    if follows(codes, at, end, b"&quot;") or follows(codes, at, end, b"&apos;"):
        return at + 6
    return -1


def unescaped(data: bytes, begin: cython.Py_ssize_t, end: cython.Py_ssize_t):
    """A piece of plain text with its references replaced, between two line ends."""
    if not (begin == end or 0 <= begin < end <= len(data)):
        raise ValueError(f"no bytes {begin} to {end} in {len(data)}")
    store: bytearray = bytearray(end - begin + 2)
    codes: cython.p_uchar = data
    out: cython.p_uchar = store
    at: cython.Py_ssize_t = begin
    to: cython.Py_ssize_t = 1
    place: cython.Py_ssize_t
    out[0] = byte.NEWLINE
    while at < end:
        place = find(codes, byte.AMPERSAND, at, end)
        copy(out, to, codes, at, place - at)
        to += place - at
        at = place
        if at >= end:
            break
        if at + 4 > end:
            raise ValueError("a reference is cut short")
        if codes[at + 1] == byte.SMALL_L:
            out[to] = byte.LESS
            at += 4
        elif codes[at + 1] == byte.SMALL_G:
            out[to] = byte.GREATER
            at += 4
        elif codes[at + 1] == byte.SMALL_Q:
            out[to] = byte.QUOTE
            at += 6
        elif codes[at + 2] == byte.SMALL_M:
            out[to] = byte.AMPERSAND
            at += 5
        else:
            out[to] = byte.APOSTROPHE
            at += 6
        to += 1
    out[to] = byte.NEWLINE
    return store, to + 1
