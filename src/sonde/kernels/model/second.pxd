from sonde.kernels.model.signals cimport Aggregate

cdef class SecondLevel(Aggregate):
    cdef public double[:, ::1] gathered

    cdef void gather(self, int visit, double beta, double alpha) noexcept
    cdef bint matters(self, double beta, double alpha) noexcept
    cdef void pass_on(self, int visit, double beta, double alpha)
    cdef void spread(self, int visit, double terms, double beta, double alpha, double product,
                     double beta_top, double alpha_top, double product_top)
