cimport cython

@cython.final
cdef class Names:
    cdef unsigned long long[::1] keys
    cdef int[::1] numbers
    cdef long long last

    cpdef int number(self, unsigned long long key) noexcept nogil
