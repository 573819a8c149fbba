cimport cython
from sonde.kernels.model.frontier cimport Frontier
from sonde.kernels.model.links cimport Links

cdef class Signal:
    cdef public Frontier frontier
    cdef public Links links

    cdef void visited(self, int node, double score, long long start, long long end)
    cpdef void reserve_nodes(self, long long nodes)

cdef class Aggregate(Signal):
    cdef public int deg, n_sum, e_sum, ne_sum, n_max, e_max, ne_max, n_avg, e_avg, ne_avg

    cdef double[::1] alpha, alpha_top

    @cython.final
    cdef void reserve_rows(self, long long count)
    @cython.final
    cdef void add(self, int count, double terms, double beta, double beta_top, double product,
                  double product_top) noexcept
    @cython.final
    cdef void raise_to(self, int column, int count, double level, bint times_alpha) noexcept
    @cython.final
    cdef void divide(self, int average, int total, int count) noexcept

cdef class Neighbourhood(Aggregate):
    cdef public int hop, truth
    cdef bint weighted
    cdef public int[::1] depth
    cdef public double[::1] truths

    cdef void reach(self, int count, int hop) noexcept

cdef class SecondLevel(Aggregate):
    cdef public double[:, ::1] gathered

    cdef void gather(self, int visit, double beta, double alpha) noexcept
    cdef bint matters(self, double beta, double alpha) noexcept
    cdef void pass_on(self, int visit, double beta, double alpha)
    cdef void spread(self, int visit, double terms, double beta, double alpha, double product,
                     double beta_top, double alpha_top, double product_top)
