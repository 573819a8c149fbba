cdef enum:
    OPENED = 256

cdef struct Name:
    unsigned long long key
    long long stop

cdef struct Attribute:
    unsigned long long key
    long long value, end, after
