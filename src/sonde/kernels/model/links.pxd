cimport cython

@cython.final
cdef class LinkWords:
    cdef public int count
    cdef public long long[::1] first
    cdef public unsigned short[::1] words
    cdef int[::1] table

    cdef int number(self, const unsigned char[::1] data, long long begin, long long size)
    cdef long long slot_of(self, const unsigned char[::1] data, long long begin, long long size) noexcept
    cdef void rebuild(self)

@cython.final
cdef class Links:
    cdef public bint remember, keep_scores, wordy
    cdef public long long count, scores_from
    cdef public int[::1] target
    cdef public double[::1] alpha
    cdef public LinkWords link_words
    cdef public int[::1] list_of
    cdef public int visits
    cdef public int[::1] node
    cdef public double[::1] beta
    cdef public long long[::1] first, last
    cdef public int[::1] in_tail, in_next, in_visit

    cdef void visited(self, int node, double score, long long start, long long end)
    cdef void reserve_visits(self)
    cdef inline double score(self, long long link) noexcept
    cdef inline long long words_of(self, long long link) noexcept
    cdef inline long long first_in(self, int node) noexcept
    cdef inline long long next_in(self, int node, long long link) noexcept
