cdef class Summit:
    cdef public int count
    cdef public long long came
    cdef public int[::1] heap, place
    cdef public long long[::1] turn
    cdef public double[::1] score

    cpdef int top(self)
    cpdef put(self, int item, double score)
    cpdef drop(self, int item)
    cdef bint _before(self, int one, int other) noexcept
    cdef void _rise(self, int item) noexcept
    cdef void _sink(self, int item) noexcept
