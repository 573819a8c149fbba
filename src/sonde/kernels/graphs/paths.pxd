cdef class Walker:
    cdef const long long[::1] indptr
    cdef const int[::1] targets
    cdef const double[::1] values
    cdef const int[::1] by_value
    cdef long long[::1] first
    cdef signed char[::1] visited, seen
    cdef int[::1] path, best_path, order
    cdef int[::1] heap, born
    cdef double[::1] keys
    cdef long long heap_size, highest
    cdef int limit, best_length, born_count
    cdef double best, top
    cdef public long long filled

    cdef bint ahead(self, int a, int b) noexcept
    cdef void push(self, int node) noexcept
    cdef int pop(self) noexcept
    cdef void extend(self, int depth, double total) noexcept
    cdef double search(self, int node) noexcept
    cdef void discover(self, int node) noexcept
    cdef void look_up(self) noexcept
