cimport cython
from sonde.kernels.model.neighbourhood cimport Signal
from sonde.kernels.model.regression cimport Regression

cdef class Places(Signal):
    cdef public int deg, rfu_mean, rfu_sum, bfu_mean, bfu_sum, linked, repeated, repeats_sum
    cdef public int domains, basenames
    cdef public long long start
    cdef public int[::1] domain, basename
    cdef public double[::1] rfu, bfu, repeats

cdef double NONE

@cython.final
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
    cdef inline double error_of(self, int node) noexcept
    cdef void flow_back(self, int node, double error)
    cdef void take_over(self, long long start, long long end)
    cdef void reserve_keys(self)
    cdef inline void show(self, int target, int slot) noexcept

cdef double MIDDLE, STEPS
cdef int ROWS

@cython.final
cdef class Quickness(Signal):
    cdef public int column
    cdef public double[::1] mean, deviation, shown
    cdef public int[::1] answers, rows
    cdef public signed char[::1] heard_of

    cdef void reserve_groups(self, long long groups)
    cpdef void heard(self, int group, double seconds)
    cdef void rewrite(self, int group)

cdef class Relevance(Regression):
    cdef public bint fixed
    cdef public Feedback feedback
    cdef public double share, gained
    cdef public long long samples
