cimport cython
from sonde.kernels.model.neighbourhood cimport Signal
from sonde.kernels.model.rankings cimport Tournament

cdef class Cash(Signal):
    cdef public int column, n_sum
    cdef public bint by_link, by_score
    cdef public double[::1] cash
    cdef public double given, virtual
    cdef public bint endowed
    cdef public object rankings

    cdef double weight(self, long long link) noexcept

cdef class Wealth(Tournament):
    cdef public double divisor
    cdef double least
    cdef int found

    @cython.final
    cdef void look_into(self, int block) noexcept

cdef class ExactNavigation(Signal):
    cdef public int column
    cdef public double keep
    cdef public int[::1] indegree
    cdef public double[::1] rank, following

    cdef double settled(self, int visit) noexcept
    cdef double reached(self, int node) noexcept

cdef class Navigation(Signal):
    cdef public int column
    cdef public double keep, precision, tolerance
    cdef public int[::1] indegree
    cdef public double[::1] share, residual, shown, inflow
    cdef public signed char[::1] waiting
    cdef int[::1] queue
    cdef long long queued

    cdef void reserve_visits(self, int visits)
    cdef void reserve_queue(self)
    cdef int divisor(self, int visit) noexcept
    cdef void enqueue(self, int visit)
    cdef void push(self, int visit)
    cdef void show(self, int visit)
    cdef void rerank(self, int visit)
