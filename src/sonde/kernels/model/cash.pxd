cimport cython
from sonde.kernels.model.signals cimport Signal
from sonde.kernels.model.tournament cimport Tournament

cdef class Cash(Signal):
    cdef public int column, n_sum
    cdef public bint by_link, by_score
    cdef public double[::1] cash
    cdef public double given, virtual
    cdef public bint endowed
    cdef public object rankings

    cdef double weight(self, long long link) noexcept

cdef class Wealth(Tournament):
    cdef public double divisor
    cdef double least
    cdef int found

    @cython.final
    cdef void look_into(self, int block) noexcept
