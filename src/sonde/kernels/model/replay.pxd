from sonde.kernels.model.model cimport Model

cdef class Value:
    cdef public int kind
    cdef public double[::1] scores
    cdef public long long[::1] record_first
    cdef public int[::1] records
    cdef signed char[::1] seen

    cdef double gain(self, int node) noexcept
