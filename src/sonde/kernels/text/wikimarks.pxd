cdef enum:
    ASIDE = 1
    BEGIN = 2
    END = 3
    DIGITS = 8
    DEEPEST = 4

cdef Py_ssize_t without_comments(unsigned char* codes, Py_ssize_t end) noexcept
cdef Py_ssize_t put_mark(unsigned char* out, Py_ssize_t to, int mark, long long number) noexcept
cdef int paired_name(unsigned char* codes, Py_ssize_t at, Py_ssize_t end) noexcept
cdef Py_ssize_t tag_end(unsigned char* codes, Py_ssize_t at, Py_ssize_t end) noexcept
cdef Py_ssize_t link_end(unsigned char* codes, Py_ssize_t at, Py_ssize_t end) noexcept
cdef Py_ssize_t external_label(unsigned char* codes, Py_ssize_t at, Py_ssize_t end) noexcept

cdef class Aside:
    cdef public list verbatim
    cdef public list notes

    cdef Py_ssize_t taken(
        self, unsigned char* codes, Py_ssize_t begin, Py_ssize_t end, unsigned char* out, Py_ssize_t to
    )
    cdef void note(self, unsigned char* codes, Py_ssize_t begin, Py_ssize_t end)

cdef Py_ssize_t mark_round(
    unsigned char* codes, Py_ssize_t end, unsigned char* out, list targets, kind_of, caption_of
) except -1
cdef Py_ssize_t without_externals(unsigned char* codes, Py_ssize_t end) noexcept
