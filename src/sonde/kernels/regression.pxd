from sonde.kernels.linear cimport Linear

cdef class Regression(Linear):
    cdef public double[:, ::1] inverse
    cdef double[::1] sample, direction
