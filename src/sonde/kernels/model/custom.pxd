from sonde.kernels.model.frontier cimport Leaf

cdef class Custom(Leaf):
    cdef public object predict, teach
