from sonde.kernels.model.dice cimport Dice

cdef class Weights:
    cdef public long long leaves
    cdef public double[::1] sums

    cpdef double total(self)
    cpdef double get(self, int item)
    cpdef put(self, int item, double weight)
    cpdef int draw(self, Dice dice)

cdef class Heap:
    cdef public int count
    cdef public long long came
    cdef public int[::1] heap, place
    cdef public long long[::1] turn
    cdef public double[::1] score

    cpdef int top(self)
    cpdef put(self, int item, double score)
    cpdef drop(self, int item)
    cdef bint _before(self, int one, int other) noexcept
    cdef void _rise(self, int item) noexcept
    cdef void _sink(self, int item) noexcept

cdef enum:
    UNSEEN = 0
    WAITING = 1
    TAKEN = 2

cdef class Expansion:
    cdef public double explore, chance
    cdef public int waiting
    cdef public int[::1] apparent
    cdef public unsigned char[::1] state
    cdef public Heap highest
    cdef public Weights weights

    cpdef cite(self, int node)
    cpdef enter(self, int node)
    cpdef take(self, int node)
    cpdef int pick(self, Dice dice)
