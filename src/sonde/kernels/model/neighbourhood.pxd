from sonde.kernels.model.signals cimport Aggregate

cdef class Neighbourhood(Aggregate):
    cdef public int hop, truth
    cdef bint weighted
    cdef public int[::1] depth
    cdef public double[::1] truths

    cdef void reach(self, int count, int hop) noexcept
