from sonde.kernels.linear cimport Linear
from sonde.kernels.signals cimport Signal

cdef class Cash(Signal):
    cdef public int column, n_sum
    cdef public bint by_link, by_score
    cdef public double[::1] cash
    cdef public double given, virtual
    cdef public bint endowed
    cdef public object rankings

    cdef double weight(self, long long link) noexcept
