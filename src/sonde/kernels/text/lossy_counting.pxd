cimport cython

@cython.final
cdef class LossyCounting:
    cdef readonly Py_ssize_t limit, sums, most_new, closed, live, new, room
    cdef readonly int page
    cdef unsigned long long[::1] keys
    cdef int[::1] counts, deltas, pages
    cdef long long[:, ::1] sum

    cdef void make_room(self, Py_ssize_t room)
    cdef Py_ssize_t place(self, unsigned long long key) noexcept
    cpdef Py_ssize_t find(self, unsigned long long key) noexcept
    cpdef int count(self, unsigned long long key) noexcept
    cpdef void turn(self) noexcept
    cpdef Py_ssize_t see(self, unsigned long long key)
    cpdef void close(self)
    cdef void gather(self, Py_ssize_t room, Py_ssize_t least)
