cimport cython

cdef unsigned long long FNV_START, FNV_TIMES, MASK

cdef class Wordings:
    cdef public int count
    cdef public long long[::1] first
    cdef public unsigned short[::1] words
    cdef int[::1] table

    @cython.final
    cdef int number(self, const unsigned char[::1] data, long long begin, long long size)
    @cython.final
    cdef long long slot_of(self, const unsigned char[::1] data, long long begin, long long size) noexcept
    @cython.final
    cdef void rebuild(self)
