from sonde.kernels.model.dice cimport Dice

cdef class Weights:
    cdef public long long leaves
    cdef public double[::1] sums

    cpdef double total(self)
    cpdef double get(self, int item)
    cpdef put(self, int item, double weight)
    cpdef int draw(self, Dice dice)
