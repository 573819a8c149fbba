cimport cython
from sonde.kernels.model.frontier cimport Frontier

@cython.final
cdef class Boxes:
    cdef Frontier frontier
    cdef int[::1] columns
    cdef int terms
    cdef public double[:, ::1] least, greatest

    cpdef void reserve(self, int blocks)
    cpdef void fit_all(self)
    cdef void fit(self, int block) noexcept
    cdef inline void widen(self, int block, int slot) noexcept
    cdef inline double corner(self, int block, double[::1] weights) noexcept
