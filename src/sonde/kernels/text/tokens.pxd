cdef bint is_unspaced(unsigned int code) noexcept nogil
cdef unsigned long long mixed(unsigned long long key) noexcept nogil
cdef bint is_cut(unsigned long long before, unsigned long long code) noexcept nogil
