cimport cython

cdef unsigned int START, PRIME, BITS

cdef unsigned int foreign(unsigned int letter) noexcept

@cython.final
cdef class Numbered:
    cdef str text
    cdef unsigned int kind
    cdef void* data
    cdef Py_ssize_t size
    cdef unsigned int[::1] lower
    cdef int[::1] starts, ends
    cdef unsigned short[::1] numbers
    cdef int count
    cdef unsigned int first

    cdef void turn_to(self, str text)
    cdef inline unsigned int character(self, Py_ssize_t place) noexcept
    cdef inline unsigned int letter(self, Py_ssize_t place) noexcept
    cdef Py_ssize_t read(self, Py_ssize_t start, Py_ssize_t end) noexcept
    cdef int gather(self, Py_ssize_t start, Py_ssize_t end, unsigned short[::1] out,
                    Py_ssize_t first, int count, int most) noexcept
    cdef void read_address(self) noexcept
