cdef unsigned int FNV_START, FNV_TIMES, MASK, QUESTION, FRAGMENT, SLASH, DOT

cdef bint lettered(unsigned int letter)
cdef unsigned int number_of(unsigned int[::1] text, Py_ssize_t start, Py_ssize_t end,
                            unsigned int salt)
cdef int gather(unsigned int[::1] text, Py_ssize_t start, Py_ssize_t end, unsigned int salt,
                unsigned short[::1] out, Py_ssize_t first, int count, int most)
cdef int gather_address(unsigned int[::1] text, Py_ssize_t begin, Py_ssize_t end,
                        unsigned short[::1] out, Py_ssize_t first, int count, int most)
