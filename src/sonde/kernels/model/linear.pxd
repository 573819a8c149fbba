cimport cython
from sonde.kernels.model.boxes cimport Boxes
from sonde.kernels.model.frontier cimport Leaf

cdef double ROUNDING
cdef int LATEST, SHORTEST, FREE, LISTED, CHAINED, FAMILIES, LIST, BOXES, ALL, FEW, TURN, DEAR, LONGEST, RETRY

cdef class Linear(Leaf):
    cdef public int terms
    cdef public int[::1] columns
    cdef public double[::1] weights, ceiling, pace, before
    cdef public double offset
    cdef public double[::1] block_bound
    cdef public bint known, lasting
    cdef public int[::1] listed
    cdef public int listed_count
    cdef public signed char[::1] row_listed, block_listed
    cdef int[::1] next_equal, last_equal, taken
    cdef int families
    cdef double[::1] keys, mixing
    cdef public double unlisted_bound
    cdef public int unlisted_seq
    cdef public int size, listed_before
    cdef public double horizon
    cdef public long long work, rebuilt_at, refilled_at
    cdef public Boxes boxes
    cdef public int way, few, turn, dear, searches, turns, waiting, patience
    cdef public long long cost, list_cost
    cdef double top_value, top_raw, guard
    cdef int top_seq, top_slot

    @cython.final
    cdef inline double raw(self, int slot) noexcept
    @cython.final
    cdef inline double bound(self, int slot) noexcept
    @cython.final
    cdef double highest_bound(self, int block) noexcept
    @cython.final
    cdef bint covered(self) noexcept
    @cython.final
    cdef void rebuild(self)
    @cython.final
    cdef void raise_ceiling(self) noexcept
    @cython.final
    cdef void gather(self, int block)
    @cython.final
    cdef void succeed(self, int slot)
    @cython.final
    cdef inline bint matters(self, double bound, int slot) noexcept
    @cython.final
    cdef inline bint equal(self, int slot, int other) noexcept
    @cython.final
    cdef int place(self, int slot) noexcept
    @cython.final
    cdef void join(self, int slot)
    @cython.final
    cdef void enlist(self, int slot)
    @cython.final
    cdef double cut(self, int count)
    @cython.final
    cdef void refill(self)
    @cython.final
    cdef inline bint promising(self, double upper, int seq) noexcept
    @cython.final
    cdef inline void offer(self, double raw, int seq, int slot) noexcept
    @cython.final
    cdef void look_through_list(self)
    @cython.final
    cdef void search_all(self)
    @cython.final
    cdef bint paid(self, long long price) noexcept
    @cython.final
    cdef void search_ready(self)
    @cython.final
    cdef void weigh(self, int block) noexcept
    @cython.final
    cdef void weigh_all(self)
    @cython.final
    cdef void search_boxes(self)
    @cython.final
    cdef void open_box(self, int block)
    @cython.final
    cdef void take_turns(self)
    @cython.final
    cdef void cover(self)
