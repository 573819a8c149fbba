cimport cython

@cython.final
cdef class Bands:
    cdef readonly Py_ssize_t width, deepest, pages, live, room
    cdef unsigned long long[::1] keys
    cdef int[::1] first, last, size, following

    cdef void make_room(self, Py_ssize_t room)
    cdef Py_ssize_t place(self, unsigned long long key) noexcept
    cdef void grow(self)
