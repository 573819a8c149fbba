from sonde.kernels.model.dice cimport Dice
from sonde.kernels.citations.summit cimport Summit
from sonde.kernels.citations.weights cimport Weights

cdef enum:
    UNSEEN = 0
    WAITING = 1
    TAKEN = 2

cdef class Expansion:
    cdef public double explore, chance
    cdef public int waiting
    cdef public int[::1] apparent
    cdef public unsigned char[::1] state
    cdef public Summit summit
    cdef public Weights weights

    cpdef cite(self, int node)
    cpdef enter(self, int node)
    cpdef take(self, int node)
    cpdef int pick(self, Dice dice)
