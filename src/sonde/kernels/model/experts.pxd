cimport cython
from sonde.kernels.model.chooser cimport Armed, Chooser
from sonde.kernels.model.dice cimport Dice
from sonde.kernels.model.frontier cimport Frontier, Leaf

cdef int DRAWN

cdef class Panel(Armed):
    cdef public double positive, positives

    @cython.final
    cdef double fraction(self, double gain) noexcept

cdef class Hedge(Panel):
    cdef public Frontier frontier
    cdef public Dice sampler
    cdef public double rate, share
    cdef public double[::1] weights, percentiles
    cdef public int[::1] drawn
    cdef public double fractions, count

    @cython.final
    cdef double percentile(self, Leaf leaf, double[::1] snapshot, int rows)

@cython.final
cdef class Thompson(Panel):
    cdef public double capacity
    cdef public double[::1] wins, losses

    cdef double gamma(self, double shape)
    cdef double normal(self)
