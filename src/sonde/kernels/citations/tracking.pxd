from sonde.kernels.model.dice cimport Dice
from sonde.kernels.citations.expansion cimport Expansion
from sonde.kernels.citations.recrawl cimport Recrawl

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
