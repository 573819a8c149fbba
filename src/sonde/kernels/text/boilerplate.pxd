cimport cython
from sonde.kernels.text.lossy_counting cimport LossyCounting

cdef enum:
    RUN = 6
    LONGEST = 32
    WORDS = 0
    REPEATS = 1
    LINKED = 2
    CORES = 3
    ENTERED = 4
    STRONG = 5
    ECHO = 512
    HEADINGS = 3

@cython.final
cdef class Imprint:
    cdef readonly Py_ssize_t words, size, blocks, parts, runs, nodes
    cdef int[::1] start, block, part, piece, part_block, run_at
    cdef int[::1] first, begin, node, flags, linked
    cdef int[::1] parent, marks
    cdef unsigned char[::1] link, number
    cdef unsigned long long[::1] word, part_key, run_key
    cdef unsigned long long[::1] key, said
    cdef unsigned long long[::1] kind, ident, path

    cdef void make_room(self, Py_ssize_t pieces, Py_ssize_t nodes)
    cdef void read(self, const int[:, ::1] pieces, const unsigned long long[:, ::1] nodes)
    cdef void find_echoes(self) noexcept
    cdef bint is_linkish(self, Py_ssize_t block) noexcept
    cdef bint is_apart(self, Py_ssize_t block) noexcept

@cython.final
cdef class Site:
    cdef readonly LossyCounting counts, slots
    cdef readonly long long pages, with_main, turn

    cpdef void learn(self, Imprint page)
    cpdef void judge(self, Imprint page, unsigned char[::1] kept)
    cdef void take_in(
        self, Imprint page, unsigned long long[::1] slots, unsigned char[::1] repeated
    )
    cdef void name_slots(self, Imprint page, unsigned long long[::1] slots)
    cdef void sum_up(self, Imprint page, unsigned long long[::1] slots, unsigned char[::1] repeated)
    cdef void add(self, Py_ssize_t at, int[:, ::1] sums, Py_ssize_t node) noexcept
    cdef void mark(self, Imprint page, unsigned char[::1] repeated) noexcept
    cdef Py_ssize_t core(
        self, Imprint page, unsigned char[::1] repeated, unsigned char[::1] verdicts
    ) noexcept
    cdef void judge_slots(
        self,
        Imprint page,
        unsigned long long[::1] slots,
        Py_ssize_t core,
        unsigned char[::1] verdicts,
    ) noexcept
    cdef bint is_trusted(self) noexcept
    cpdef void main(self, Imprint page, unsigned char[::1] kept)
    cdef void find_main(
        self,
        Imprint page,
        unsigned long long[::1] slots,
        unsigned char[::1] repeated,
        unsigned char[::1] kept,
    )

cdef unsigned int degree(
    long long count, long long enough, long long half, long long most, long long least
) noexcept
cpdef spans(Imprint page, unsigned char[::1] kept)
