cimport cython

cdef int LEVELS
cdef double PATIENCE

cdef class Ratios:
    cdef public double[::1] brought, foreseen, ratio

    @cython.final
    cdef inline int level(self, double amount) noexcept
    @cython.final
    cdef void note(self, int level, double foreseen, double gain) noexcept
    @cython.final
    cdef void settle(self, double usual) noexcept
