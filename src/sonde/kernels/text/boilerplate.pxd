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

@cython.final
cdef class Imprint:
    cdef readonly Py_ssize_t words, size, blocks, parts, runs, nodes
    cdef int[::1] start, block, part, first, begin, node, flags, linked, part_block, run_at
    cdef int[::1] parent, marks
    cdef unsigned char[::1] link, number
    cdef unsigned long long[::1] word, key, part_key, run_key, kind, ident

    cdef void read(
        self, unsigned long long[::1] keys, int[:, ::1] pieces, unsigned long long[:, ::1] nodes
    )
    cdef bint is_linkish(self, Py_ssize_t block) noexcept
    cdef bint is_apart(self, Py_ssize_t block) noexcept

@cython.final
cdef class Site:
    cdef readonly LossyCounting counts, slots
    cdef readonly long long pages, with_main, turn

    cpdef void learn(self, Imprint page)
    cdef void name_slots(self, Imprint page, unsigned long long[::1] slots)
    cdef void sum_up(self, Imprint page, unsigned long long[::1] slots, unsigned char[::1] repeated)
    cdef void mark(self, Imprint page, unsigned char[::1] repeated) noexcept
    cdef Py_ssize_t core(self, Imprint page, unsigned char[::1] repeated) noexcept
    cdef void judge_slots(
        self,
        Imprint page,
        unsigned long long[::1] slots,
        Py_ssize_t core,
        unsigned char[::1] verdicts,
    ) noexcept
    cdef bint is_trusted(self) noexcept
    cpdef void main(self, Imprint page, unsigned char[::1] kept)

cdef unsigned int degree(
    long long count, long long enough, long long half, long long most, long long least
) noexcept
cpdef spans(Imprint page, unsigned char[::1] kept)
