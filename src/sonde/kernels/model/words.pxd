cimport cython
from sonde.kernels.model.links cimport Links

cdef double PATIENCE
cdef int HEARD

cdef class Vocabulary:
    cdef public Links links
    cdef public double[::1] gained, pages, worth
    cdef public int[::1] known
    cdef public int knowing
    cdef public long long[::1] stamp
    cdef public double total, count, mean
    cdef public long long stamps

    @cython.final
    cdef void settle(self) noexcept
    @cython.final
    cdef inline void judge(self, int word) noexcept
    @cython.final
    cdef void learn(self, int node, double gain) noexcept
    cpdef double value(self, long long link) noexcept
