cimport cython

cpdef enum:
    UNSEEN = -1
    DROPPED = -2
    FIRST_VISIT = -3

cdef class Frontier

cdef class Leaf:
    cdef public Frontier frontier
    cdef public int number
    cdef public bint active
    cdef public double best_value, lowest

    cdef void opened(self, int block, int shelf)
    cdef void refresh(self) noexcept
    cdef int best(self)
    cdef int within(self, double threshold, int[::1] out)
    cpdef double estimate(self, int slot)
    cdef double opinion(self, double[::1] snapshot) noexcept
    cdef double limit(self, int block) noexcept
    cpdef int rank(self, int slot, int limit)
    cdef void learn(self, double[::1] snapshot, double gain)
    cdef void activate(self)

@cython.final
cdef class Frontier:
    cdef public object leaves
    cdef public int width, rows, blocks, live, shelves
    cdef public bint grouped
    cdef public int[::1] slot_of
    cdef public int[::1] row_node, row_seq, row_block, node_group
    cdef public signed char[::1] row_live
    cdef public double[:, ::1] features
    cdef public int[::1] block_first, block_rows, block_room, block_live, block_seq, block_next
    cdef public int[::1] shelf_live, shelf_seq
    cdef public int[::1] group_head, group_tail
    cdef public int[::1] ready
    cdef public int ready_count
    cdef public bint restricted
    cdef public int seen, visits
    cdef public int[::1] changed
    cdef public long long changes
    cdef public int[::1] listed

    cdef int block_of(self, int slot) noexcept
    cdef inline int visit_of(self, int node) noexcept
    cpdef int add(self, int node)
    cdef int open_block(self, int group)
    cdef void reserve_changes(self, long long count)
    cdef void announce(self) noexcept
    cpdef void take(self, int slot) noexcept
    cpdef void put_back(self, int slot)
    cdef void settle(self, int node) noexcept
    cpdef void drop(self, int node) noexcept
    cdef void leave(self, int node, int state) noexcept
    cpdef int selectable(self)
    cdef int list_blocks(self)
    cdef int nth(self, int rank)
