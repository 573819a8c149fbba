from sonde.kernels.feedback cimport Feedback
from sonde.kernels.regression cimport Regression

cdef class Relevance(Regression):
    cdef public bint fixed
    cdef public Feedback feedback
    cdef public double share, gained
    cdef public long long samples
