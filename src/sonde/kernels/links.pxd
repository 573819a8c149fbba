cdef class Links:
    cdef public bint remember, wordy
    cdef public long long count
    cdef public int[::1] target
    cdef public double[::1] alpha
    cdef public double[::1] beta
    cdef public long long[::1] word_first
    cdef public int[::1] words
    cdef public long long[::1] first, last
    cdef public long long[::1] in_head, in_tail, in_next
    cdef public int[::1] in_source

    cdef void visited(self, int node, double score, long long start, long long end)
