"""The words of a text in UTF-8: where each begins, and a hash of it.

A word is a run of letters, digits and underscores, as Python has them. A script that puts no spaces
between its words (Chinese, Japanese, Thai, Lao, Burmese, Khmer) is cut where a hash of two
neighbouring characters says so, every three characters or so: the same characters are cut alike
wherever they stand, which is all that comparing texts needs.
"""

import cython

if cython.compiled:
    from cython.cimports.sonde.kernels import byte
    from cython.cimports.sonde.kernels.text.utf8 import code_at, width_at, word_at
else:
    from sonde.kernels import byte
    from sonde.kernels.text.utf8 import code_at, width_at, word_at


def is_unspaced(code):
    """Whether a character is of a script without spaces."""
    if code < 0x0E00:
        return False
    return (
        code < 0x0F00
        or 0x1000 <= code <= 0x109F
        or 0x1780 <= code <= 0x17FF
        or 0x3005 <= code <= 0x3007
        or 0x3040 <= code <= 0x30FF
        or 0x31F0 <= code <= 0x31FF
        or 0x3400 <= code <= 0x4DBF
        or 0x4E00 <= code <= 0x9FFF
        or 0xF900 <= code <= 0xFAFF
        or 0x20000 <= code <= 0x3FFFF
    )


def is_word(code):
    """Whether a character of ASCII is a letter, a digit or an underscore."""
    return byte.is_alphanumeric(code) or code == byte.UNDERSCORE


def is_cut(before, code):
    """Whether a word of an unspaced script ends between two of its characters."""
    return byte.mixed(before << 32 | code) % 3 == 0


def plain(array):
    """An array whose items are Python's integers, not NumPy's, where a kernel runs as Python."""
    return array if cython.compiled else memoryview(array)


def tokenise(
    text: bytes,
    starts: cython.int[::1],
    keys: cython.ulonglong[::1],
    numbers: cython.uchar[::1],
):
    """Write the place of each word, its hash, and whether it is a number (of ASCII digits); how
    many words there are.

    There must be room for as many words as the text has bytes.
    """
    if not cython.compiled:
        starts, keys, numbers = memoryview(starts), memoryview(keys), memoryview(numbers)
    codes: cython.p_uchar = text
    size: cython.Py_ssize_t = len(text)
    at: cython.Py_ssize_t = 0
    byte_at: cython.Py_ssize_t
    count: cython.Py_ssize_t = 0
    width: cython.int
    key: cython.ulonglong = 0
    code: cython.uint
    before: cython.uint = 0  # the last character, if it was of an unspaced script
    inside: cython.bint = False
    digits: cython.bint
    while at < size:
        code = codes[at]
        if code < 0x80:
            if not is_word(code):
                if inside:
                    keys[count - 1] = byte.mixed(key)
                    inside = False
                    before = 0
                at += 1
                continue
            if inside and before:
                keys[count - 1] = byte.mixed(key)
                inside = False
            if not inside:
                inside = True
                starts[count] = cython.cast(cython.int, at)
                numbers[count] = 1
                count += 1
                key = byte.FNV_START
            before = 0
            digits = True
            while True:  # the rest of the word, mostly
                digits = digits and byte.is_digit(code)
                key = byte.hashed(key, code)
                at += 1
                if at == size:
                    break
                code = codes[at]
                if code >= 0x80 or not is_word(code):
                    break
            if not digits:
                numbers[count - 1] = 0
            continue
        width = word_at(codes, at)
        code = code_at(codes, at)
        if not is_unspaced(code):
            code = 0
        elif width == 0:
            width = width_at(codes, at)  # a vowel sign, which is no letter
        if width == 0:
            if inside:
                keys[count - 1] = byte.mixed(key)
                inside = False
                before = 0
            at += width_at(codes, at)
            continue
        if inside and (before or code) and (not (before and code) or is_cut(before, code)):
            keys[count - 1] = byte.mixed(key)
            inside = False
        if not inside:
            inside = True
            starts[count] = cython.cast(cython.int, at)
            count += 1
            key = byte.FNV_START
        numbers[count - 1] = 0
        before = code
        for byte_at in range(at, at + width):
            key = byte.hashed(key, codes[byte_at])
        at += width
    if inside:
        keys[count - 1] = byte.mixed(key)
    return count
