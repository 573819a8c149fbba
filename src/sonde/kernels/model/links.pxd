cimport cython
from sonde.kernels.model.wordings cimport Wordings

cdef class Links:
    cdef public bint remember, keep_scores, wordy
    cdef public long long count, scores_from
    cdef public int[::1] target
    cdef public double[::1] alpha
    cdef public Wordings wordings
    cdef public int[::1] wording
    cdef public int visits
    cdef public int[::1] node
    cdef public double[::1] beta
    cdef public long long[::1] first, last
    cdef public int[::1] in_tail, in_next, in_visit

    cdef void visited(self, int node, double score, long long start, long long end)
    @cython.final
    cdef void reserve_visits(self)
    @cython.final
    cdef inline double score(self, long long link) noexcept
    @cython.final
    cdef inline long long words_of(self, long long link) noexcept
    @cython.final
    cdef inline long long first_in(self, int node) noexcept
    @cython.final
    cdef inline long long next_in(self, int node, long long link) noexcept
