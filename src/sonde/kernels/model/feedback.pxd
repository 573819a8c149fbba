cimport cython
from sonde.kernels.model.places cimport Places
from sonde.kernels.model.signals cimport Signal

cdef double NONE

cdef class Feedback(Signal):
    cdef public Places places
    cdef public int near_up, near_down, wide_up, wide_down
    cdef public double pending
    cdef public double[::1] error, near_sum, wide_sum
    cdef public int[::1] near_count, wide_count
    cdef signed char[::1] touched
    cdef double[::1] basename_sum, domain_sum
    cdef int[::1] basename_count, domain_count

    cpdef void heard(self, double error) noexcept
    @cython.final
    cdef inline double error_of(self, int node) noexcept
    @cython.final
    cdef void flow_back(self, int node, double error)
    @cython.final
    cdef void take_over(self, long long start, long long end)
    @cython.final
    cdef void reserve_keys(self)
    @cython.final
    cdef inline void show(self, int target, int slot) noexcept
