from sonde.kernels.signals cimport Signal

cdef class ExactNavigation(Signal):
    cdef public int column
    cdef public double keep
    cdef public int[::1] indegree
    cdef public double[::1] rank, following
    cdef public object order

    cdef double settled(self, int node) noexcept
    cdef double reached(self, int node) noexcept

cdef class Navigation(Signal):
    cdef public int column
    cdef public double keep, precision, tolerance
    cdef public int[::1] indegree
    cdef public double[::1] share, residual, shown, inflow
    cdef public signed char[::1] waiting
    cdef int[::1] queue
    cdef long long queued
    cdef public long long pushes

    cdef int divisor(self, int node) noexcept
    cdef void enqueue(self, int node)
    cdef void push(self, int node)
    cdef void show(self, int node)
    cdef void rerank(self, int node)
