# What byte.py says, for the compiler.
from libc.string cimport memchr

cdef enum:
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
    SMALL = 32

cdef extern from *:
    """
    #define sonde_MASK 0xFFFFFFFFFFFFFFFFULL
    #define sonde_FNV_START 0xCBF29CE484222325ULL
    #define sonde_FNV_PRIME 0x100000001B3ULL
    #define sonde_GOLDEN 0x9E3779B97F4A7C15ULL
    #define sonde_SPLITMIX 0xBF58476D1CE4E5B9ULL
    """
    const unsigned long long MASK "sonde_MASK"
    const unsigned long long FNV_START "sonde_FNV_START"
    const unsigned long long FNV_PRIME "sonde_FNV_PRIME"
    const unsigned long long GOLDEN "sonde_GOLDEN"
    const unsigned long long SPLITMIX "sonde_SPLITMIX"

cdef inline bint is_blank(unsigned int code) noexcept nogil:
    return code <= SPACE and (
        code == SPACE or TAB <= code <= NEWLINE or FORM_FEED <= code <= RETURN
    )

cdef inline bint is_space(unsigned int code) noexcept nogil:
    return code == SPACE or TAB <= code <= RETURN or 28 <= code <= 31

cdef inline bint is_visible(unsigned int code) noexcept nogil:
    return EXCLAMATION <= code < DELETE

cdef inline bint is_digit(unsigned int code) noexcept nogil:
    return ZERO <= code <= NINE

cdef inline bint is_letter(unsigned int code) noexcept nogil:
    return SMALL_A <= (code | SMALL) <= SMALL_Z

cdef inline bint is_alphanumeric(unsigned int code) noexcept nogil:
    return is_letter(code) or is_digit(code)

cdef inline unsigned int digit(unsigned int code) noexcept nogil:
    return code - ZERO if code <= NINE else (code | SMALL) - SMALL_A + 10

cdef inline bint ends_name(unsigned int code) noexcept nogil:
    return code == GREATER or code == SLASH or is_blank(code)

cdef inline long long found(
    const unsigned char[::1] codes, long long at, unsigned int code
) noexcept nogil:
    cdef long long size = codes.shape[0]
    if at >= size:
        return size
    cdef const unsigned char* begin = &codes[0]
    cdef const unsigned char* place = <const unsigned char*>memchr(begin + at, code, size - at)
    return size if place == NULL else place - begin

cdef inline bint same_name(
    const unsigned char[::1] codes, long long at, long long start, long long width
) noexcept nogil:
    cdef long long letter = 0
    while letter < width and (codes[at + letter] | SMALL) == (codes[start + letter] | SMALL):
        letter += 1
    return letter == width

cdef inline bint ends_comment(const unsigned char[::1] codes, long long at) noexcept nogil:
    return codes[at] == GREATER and codes[at - 1] == HYPHEN and codes[at - 2] == HYPHEN

cdef inline unsigned long long hashed(
    unsigned long long key, unsigned int code
) noexcept nogil:
    return ((key ^ code) * FNV_PRIME) & MASK

cdef inline unsigned long long mixed(unsigned long long key) noexcept nogil:
    key ^= key >> 30
    key = (key * SPLITMIX) & MASK
    key ^= key >> 27
    key = (key * GOLDEN) & MASK
    return key ^ (key >> 31)

cdef inline unsigned long long eight_bytes(
    const unsigned char[::1] codes, long long at
) noexcept nogil:
    cdef unsigned long long word = codes[at]
    word |= <unsigned long long>codes[at + 1] << 8
    word |= <unsigned long long>codes[at + 2] << 16
    word |= <unsigned long long>codes[at + 3] << 24
    word |= <unsigned long long>codes[at + 4] << 32
    word |= <unsigned long long>codes[at + 5] << 40
    word |= <unsigned long long>codes[at + 6] << 48
    word |= <unsigned long long>codes[at + 7] << 56
    return word
