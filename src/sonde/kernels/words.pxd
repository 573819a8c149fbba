cimport cython
from sonde.kernels.links cimport Links

cdef double PATIENCE

cdef class Vocabulary:
    cdef public Links links
    cdef public double[::1] gained, pages
    cdef public long long[::1] stamp
    cdef public double total, count, mean
    cdef public long long stamps

    @cython.final
    cdef void settle(self) noexcept
    @cython.final
    cdef void learn(self, int node, double gain, long long start, long long end) noexcept
    @cython.final
    cdef void note(self, long long link, double gain) noexcept
    cpdef double value(self, long long link) noexcept
