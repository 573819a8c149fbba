cimport cython
from sonde.kernels.model.dice cimport Dice
from sonde.kernels.model.frontier cimport Leaf

cdef class Tournament(Leaf):
    cdef public int column
    cdef public int[::1] block_top, shelf_top
    cdef public double[::1] block_bound, shelf_bound

    @cython.final
    cdef void mend_block(self, int block) noexcept
    @cython.final
    cdef void mend_shelf(self, int shelf) noexcept
    @cython.final
    cdef int best_of_shelves(self) noexcept
    @cython.final
    cdef int best_of_ready(self) noexcept

cdef class Chance(Leaf):
    cdef public Dice dice

cdef class Custom(Leaf):
    cdef public object predict, teach
