cdef enum:
    MOST_NAME = 41
    NAMES = 24

cdef long long[24] BLOCK_KEYS

cdef Py_ssize_t without_templates(unsigned char* codes, Py_ssize_t end) noexcept
cdef Py_ssize_t parameter_end(unsigned char* codes, Py_ssize_t at, Py_ssize_t end) noexcept
cdef Py_ssize_t without_parameters(unsigned char* codes, Py_ssize_t end) noexcept
cdef Py_ssize_t without_tags(unsigned char* codes, Py_ssize_t end, bint blocks) noexcept
cdef bint is_block(unsigned char* codes, Py_ssize_t at, Py_ssize_t end) noexcept
cdef Py_ssize_t without_headings(unsigned char* codes, Py_ssize_t end) noexcept
cdef Py_ssize_t without_line_starts(unsigned char* codes, Py_ssize_t end) noexcept
cdef bint is_list(unsigned int code) noexcept
cdef Py_ssize_t without_quotes(unsigned char* codes, Py_ssize_t end) noexcept
cdef Py_ssize_t without_magic(unsigned char* codes, Py_ssize_t end) noexcept
cdef void without_pipes(unsigned char* codes, Py_ssize_t end) noexcept
