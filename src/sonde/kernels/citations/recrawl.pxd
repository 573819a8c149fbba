from sonde.kernels.model.dice cimport Dice
from sonde.kernels.citations.summit cimport Summit
from sonde.kernels.citations.weights cimport Weights

cdef enum:
    U = 0
    OR = 1
    YR = 2
    YRU = 3
    LDU = 4
    FRESH = 5
    BANDIT = 6
    ARMS = 5
    MEMORY = 200
    HALVINGS = 200

cdef double STRAY

cdef class Recrawl:
    cdef public int policy, count, picked, arm
    cdef public long long planned, since
    cdef public double rate, level
    cdef public int[::1] members, place, intervals, changes
    cdef public double[::1] watched, means
    cdef public long long[::1] pulls
    cdef public Weights links, yields, plan
    cdef public Summit summit

    cpdef visited(self, int node, double links, double fresh, double elapsed, double score)
    cpdef remove(self, int node)
    cpdef int pick(self, Dice dice)
    cdef int _pull(self, Dice dice)
    cdef double _change(self, int node) noexcept
    cdef double _share(self, double change) noexcept
    cdef _fill(self)
