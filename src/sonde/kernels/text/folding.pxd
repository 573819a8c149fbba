cdef class Folding:
    cdef object define
    cdef int[::1] entries
    cdef public bytearray spelt

    cdef int entry(self, unsigned int code) except? -7
