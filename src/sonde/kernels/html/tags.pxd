cimport cython

cpdef enum:
    SKIP = 1
    BLOCK = 2
    ANCHOR = 3
    CHROME = 4
    NOTE = 5
    TITLE = 6
    SCRIPT = 7
    FRAME = 8
    ROOT = 9
    ACTION = 15
    VOID = 16
    RAW = 32
    LAST = 64
    FLAT = 128

@cython.final
cdef class Names:
    cdef unsigned long long[::1] keys
    cdef int[::1] numbers
    cdef long long last

    cpdef int number(self, unsigned long long key) noexcept nogil
