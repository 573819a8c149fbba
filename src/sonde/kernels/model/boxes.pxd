cimport cython
from sonde.kernels.model.frontier cimport Frontier

cdef class Boxes:
    cdef Frontier frontier
    cdef int[::1] columns
    cdef int terms
    cdef public double[:, ::1] least, greatest

    cpdef void reserve(self, int blocks)
    cpdef void fit_all(self)
    @cython.final
    cdef void fit(self, int block) noexcept
    @cython.final
    cdef inline void widen(self, int block, int slot) noexcept
    @cython.final
    cdef inline double corner(self, int block, double[::1] weights) noexcept
