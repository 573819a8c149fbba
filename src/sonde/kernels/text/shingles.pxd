cimport cython

@cython.final
cdef class Bands:
    cdef readonly Py_ssize_t width, deepest, pages, live, room
    cdef unsigned long long[::1] keys
    cdef int[::1] first, last, size, following

    cdef void make_room(self, Py_ssize_t room)
    cdef Py_ssize_t place(self, unsigned long long key) noexcept
    cdef void grow(self)


@cython.final
cdef class ShingleSet:
    cdef readonly Py_ssize_t live, room
    cdef unsigned int[::1] keys

    cdef void make_room(self, Py_ssize_t room)
    cdef bint put(self, unsigned int key)
    cdef void grow(self)
