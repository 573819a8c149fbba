cdef enum:
    DEEPEST = 12
    MOST_ATTRIBUTES = 8
    TITLE = 0
    NS = 1
    MODEL = 2
    TEXT = 3
    REDIRECT = 4

cdef unsigned char[256] ORDINARY

cdef class Scanner:
    cdef public bint foreign
    cdef Py_ssize_t[5] begins, ends
    cdef Py_ssize_t[12] open_at, open_size
    cdef Py_ssize_t[8] name_at, name_size

    cdef bint scanned(self, unsigned char* codes, Py_ssize_t at, Py_ssize_t end) noexcept
    cdef bint takes(self, unsigned char* codes, Py_ssize_t at, Py_ssize_t end) noexcept
    cdef Py_ssize_t attributes(
        self, unsigned char* codes, Py_ssize_t at, Py_ssize_t end, bint redirect
    ) noexcept

cdef Py_ssize_t name_end(unsigned char* codes, Py_ssize_t at, Py_ssize_t end) noexcept
cdef bint same(
    unsigned char* codes, Py_ssize_t at, Py_ssize_t size, Py_ssize_t other, Py_ssize_t other_size
) noexcept
cdef bint same_as_page(unsigned char* codes, Py_ssize_t at, Py_ssize_t end) noexcept
cdef int field_of(unsigned char* codes, Py_ssize_t at, Py_ssize_t size) noexcept
cdef int is_plain(unsigned char* codes, Py_ssize_t at, Py_ssize_t end) noexcept
cdef Py_ssize_t entity_end(unsigned char* codes, Py_ssize_t at, Py_ssize_t end) noexcept
