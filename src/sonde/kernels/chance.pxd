from sonde.kernels.frontier cimport Leaf
from sonde.kernels.dice cimport Dice

cdef class Chance(Leaf):
    cdef public Dice dice
