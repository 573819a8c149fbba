from sonde.kernels.frontier cimport Leaf

cdef class Custom(Leaf):
    cdef public object predict, teach
