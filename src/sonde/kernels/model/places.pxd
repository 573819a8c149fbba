from sonde.kernels.model.signals cimport Signal

cdef class Places(Signal):
    cdef public int deg, rfu_mean, rfu_sum, bfu_mean, bfu_sum, linked, repeated, repeats_sum
    cdef public int domains, basenames
    cdef public long long start
    cdef public int[::1] domain, basename
    cdef public double[::1] rfu, bfu, repeats
