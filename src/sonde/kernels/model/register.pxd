cimport cython

@cython.final
cdef class Register:
    cdef public int count
    cdef public object others, strangers
    cdef public unsigned char[::1] pool
    cdef public long long[::1] offsets
    cdef long long[::1] table

    cpdef int find(self, object node) except -2
    cpdef int number(self, object node) except -2
    cdef int search(self, object text, bint add) except -2
    cdef long long slot_of(self, long long hashed, const char* data, Py_ssize_t size) noexcept
    cdef bint holds(self, long long number, const char* data, Py_ssize_t size) noexcept
    cdef void write(self, const char* data, Py_ssize_t size)
    cdef void rebuild(self)
