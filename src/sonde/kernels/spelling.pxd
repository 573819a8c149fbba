cimport cython

cdef unsigned int FNV_START, FNV_TIMES, MASK, QUESTION, FRAGMENT, SLASH, DOT

cdef unsigned int foreign(unsigned int letter) noexcept

@cython.final
cdef class Numbered:
    cdef unsigned int[::1] text, lower
    cdef int[::1] starts, ends
    cdef unsigned short[::1] numbers
    cdef int count
    cdef unsigned int first

    cdef void read(self, Py_ssize_t start, Py_ssize_t end) noexcept
    cdef int gather(self, Py_ssize_t start, Py_ssize_t end, unsigned short[::1] out,
                    Py_ssize_t first, int count, int most) noexcept
    cdef void read_address(self, Py_ssize_t start, Py_ssize_t end) noexcept
