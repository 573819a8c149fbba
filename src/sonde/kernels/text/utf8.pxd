cdef Py_ssize_t find(unsigned char* codes, int value, Py_ssize_t at, Py_ssize_t end) noexcept
cdef void move(unsigned char* codes, Py_ssize_t to, Py_ssize_t at, Py_ssize_t count) noexcept
cdef void copy(
    unsigned char* out, Py_ssize_t to, unsigned char* codes, Py_ssize_t at, Py_ssize_t count
) noexcept
cdef int width_at(unsigned char* codes, Py_ssize_t at) noexcept
cdef unsigned int code_at(unsigned char* codes, Py_ssize_t at) noexcept
cdef int space_at(unsigned char* codes, Py_ssize_t at) noexcept
cdef int word_at(unsigned char* codes, Py_ssize_t at) noexcept
cdef Py_ssize_t past_spaces(unsigned char* codes, Py_ssize_t at, Py_ssize_t end) noexcept
cdef Py_ssize_t before_spaces(unsigned char* codes, Py_ssize_t begin, Py_ssize_t end) noexcept
cdef bint follows(unsigned char* codes, Py_ssize_t at, Py_ssize_t end, bytes text) noexcept
