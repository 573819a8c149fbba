from sonde.kernels.model.feedback cimport Feedback
from sonde.kernels.model.regression cimport Regression

cdef class Relevance(Regression):
    cdef public bint fixed
    cdef public Feedback feedback
    cdef public double share, gained
    cdef public long long samples
