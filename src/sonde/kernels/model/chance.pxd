from sonde.kernels.model.frontier cimport Leaf
from sonde.kernels.model.dice cimport Dice

cdef class Chance(Leaf):
    cdef public Dice dice
