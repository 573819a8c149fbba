cimport cython
from sonde.kernels.model.signals cimport Signal

cdef double MIDDLE, STEPS
cdef int ROWS

cdef class Quickness(Signal):
    cdef public int column
    cdef public double[::1] mean, deviation, shown
    cdef public int[::1] answers, rows
    cdef public signed char[::1] heard_of

    @cython.final
    cdef void reserve_groups(self, long long groups)
    cpdef void heard(self, int group, double seconds)
    @cython.final
    cdef void rewrite(self, int group)
