from sonde.kernels.model.rankings cimport Chance
from sonde.kernels.model.chooser cimport Chooser
from sonde.kernels.model.dice cimport Dice
from sonde.kernels.model.frontier cimport Frontier, Leaf
from sonde.kernels.model.links cimport Links
from sonde.kernels.model.neighbourhood cimport Neighbourhood
from sonde.kernels.model.neighbourhood cimport Signal

cdef class Model:
    cdef public Frontier frontier
    cdef public Links links
    cdef public Dice dice
    cdef public Chooser chooser
    cdef public Neighbourhood neighbourhood
    cdef public object signals, places, quickness
    cdef public double certain, slack
    cdef public long long step
    cdef public int chosen
    cdef public double predicted
    cdef int[::1] candidates

    cpdef int pick(self)
    cdef int alternative(self, Leaf leaf, double threshold)
    cpdef void snapshot(self, int slot, double[::1] out)
    cpdef void learn(self, int leaf, double[::1] snapshot, double gain)
    cpdef void visit(self, int node, double score, long long start, long long end)
