"""Words of texts as numbers of 16 bits, found in one pass over the characters.

A word is a run of two or more letters and digits. Its number is the FNV-1a hash of its characters
in lower case, folded to 16 bits; a `salt` gives the same word another number in another place.
"""

import cython
import numpy as np

FNV_START = 2166136261
FNV_TIMES = 16777619
MASK = 0xFFFFFFFF
QUESTION = 63
FRAGMENT = 35
SLASH = 47
DOT = 46


def lettered(letter):
    """Whether a character is a letter or a digit."""
    if letter < 128:
        return (97 <= letter <= 122) or (65 <= letter <= 90) or (48 <= letter <= 57)
    return chr(letter).isalnum()


def number_of(text, start, end, salt):
    """The number of the word that stands in text[start:end]."""
    value: cython.uint = FNV_START
    letter: cython.uint
    i: cython.Py_ssize_t
    if salt > 0:  # as a first character that no word has
        value = ((value ^ salt) * FNV_TIMES) & MASK
    for i in range(start, end):
        letter = cython.cast(cython.uint, text[i])
        if 65 <= letter <= 90:
            letter += 32
        elif letter >= 128:  # the lower case of some is two characters, of which the first counts
            letter = ord(chr(letter).lower()[0])
        value = ((value ^ letter) * FNV_TIMES) & MASK
    return (value ^ (value >> 16)) & 0xFFFF


def gather(text, start, end, salt, out, first, count, most):
    """Write the words inside text[start:end] behind the `count` of out[first:], each once, up to
    `most`; their number. A word that the bounds cut through is left out."""
    number: cython.ushort
    known: cython.bint
    place: cython.Py_ssize_t = start
    begin: cython.Py_ssize_t
    i: cython.int
    if start > 0 and lettered(text[start - 1]):
        while place < end and lettered(text[place]):
            place += 1
    while place < end and count < most:
        if not lettered(text[place]):
            place += 1
            continue
        begin = place
        while place < end and lettered(text[place]):
            place += 1
        if place - begin < 2 or (place == end and end < text.shape[0] and lettered(text[end])):
            continue
        number = number_of(text, begin, place, salt)
        known = False
        for i in range(count):
            if out[first + i] == number:
                known = True
                break
        if not known:
            out[first + count] = number
            count += 1
    return count


def gather_address(text, begin, end, out, first, count, most):
    """The same for the last two parts of the address text[begin:end], without query and ending."""
    start: cython.Py_ssize_t
    stop: cython.Py_ssize_t = begin
    dot: cython.Py_ssize_t = -1
    slashes: cython.int = 0
    while stop < end and text[stop] != QUESTION and text[stop] != FRAGMENT:
        stop += 1
    start = stop
    while start > begin:
        if text[start - 1] == SLASH:
            slashes += 1
            if slashes == 2:
                break
        elif text[start - 1] == DOT and slashes == 0 and dot < 0:
            dot = start - 1
        start -= 1
    return gather(text, start, stop if dot < 0 else dot, 1, out, first, count, most)


def spelled(text: str, starts, ends, addresses, window: cython.Py_ssize_t, most: cython.int):
    """The words of links whose anchors stand at these places of a text: of the anchor, then of the
    address, then of `window` characters on either side. All words in one array, and where those
    of each link end."""
    links: cython.Py_ssize_t = len(addresses)
    link: cython.Py_ssize_t
    total: cython.Py_ssize_t = 0
    place: cython.Py_ssize_t = 0
    start: cython.Py_ssize_t
    end: cython.Py_ssize_t
    size: cython.Py_ssize_t
    around: cython.Py_ssize_t = window
    count: cython.int
    # As numbers of 32 bits, so that no character is looked up through Python. A space in front of
    # each address keeps it apart from the one before.
    words: cython.uint[::1] = np.frombuffer(_wide(text), np.uint32)
    paths: cython.uint[::1] = np.frombuffer(_wide(" ".join(["", *addresses, ""])), np.uint32)
    numbers = np.zeros(links * most, dtype=np.uint16)
    out: cython.ushort[::1] = numbers
    ends_at = np.zeros(links, dtype=np.int64)
    stops: cython.longlong[::1] = ends_at
    for link in range(links):
        start = starts[link]
        end = ends[link]
        size = len(addresses[link])
        count = gather(words, start, end, 0, out, total, 0, most)
        count = gather_address(paths, place + 1, place + 1 + size, out, total, count, most)
        place += 1 + size
        if around > 0:
            start = max(start - around, 0)
            end = min(end + around, words.shape[0])
            count = gather(words, start, end, 0, out, total, count, most)
        total += count
        stops[link] = total
    return numbers[:total], ends_at


def _wide(text):
    return bytearray(text.encode("utf-32-le", "surrogatepass"))  # a writable buffer
