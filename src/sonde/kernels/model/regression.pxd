cimport cython
from sonde.kernels.model.linear cimport Linear

cdef class Regression(Linear):
    cdef public double[:, ::1] inverse
    cdef double[::1] sample, direction
    cdef public int regressed
    cdef public double error

    @cython.final
    cdef double predicted(self, double[::1] snapshot) noexcept
