from sonde.kernels.model.dice cimport Dice
from sonde.kernels.citations.expansion cimport Expansion, Heap, Weights

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
    cdef public Heap highest

    cpdef visited(self, int node, double links, double fresh, double elapsed, double score)
    cpdef remove(self, int node)
    cpdef int pick(self, Dice dice)
    cdef int _pull(self, Dice dice)
    cdef double _change(self, int node) noexcept
    cdef double _share(self, double change) noexcept
    cdef _fill(self)

cdef class Tracking:
    cdef public const long long[::1] rows
    cdef public const int[::1] sources, targets, arriving
    cdef public const double[::1] arrivals
    cdef public double window
    cdef public Expansion expansion
    cdef public Recrawl recrawl
    cdef public Dice dice
    cdef public long long head, tail, expanded, recrawled
    cdef public int arrived, pooled
    cdef public unsigned char[::1] known
    cdef public int[::1] present, indegree, degree, seen, crawls, links, pool, place
    cdef public double[::1] last

    cpdef slide(self, double now)
    cdef void _linked(self, int node) noexcept
    cdef void _unlinked(self, int node) noexcept
    cdef void _leave(self, int node) noexcept
    cpdef crawl(self, int node, double now)
    cpdef step(self, double now, double expand, bint anywhere)
