cimport cython

cdef int UNKNOWN, OTHER, NOTHING, LETTER, FIRST
cdef unsigned int PLANE, ROOM

@cython.final
cdef class Lexicon:
    cdef object classify
    cdef object define
    cdef bytearray classes
    cdef unsigned long long[::1] keys
    cdef int[::1] labels

    cdef int class_of(self, unsigned int code) except -1
    cdef int label_of(
        self, unsigned long long key, bytes text, Py_ssize_t begin, Py_ssize_t end
    ) except -1
