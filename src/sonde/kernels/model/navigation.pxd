from sonde.kernels.model.signals cimport Signal

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
    cdef int divisor(self, int visit) noexcept
    cdef void enqueue(self, int visit)
    cdef void push(self, int visit)
    cdef void show(self, int visit)
    cdef void rerank(self, int visit)
