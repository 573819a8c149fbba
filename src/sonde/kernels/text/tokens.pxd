cdef bint is_unspaced(unsigned int code) noexcept nogil
cdef bint is_word(unsigned int code) noexcept nogil
cdef bint is_cut(unsigned long long before, unsigned long long code) noexcept nogil
