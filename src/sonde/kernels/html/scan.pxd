cdef enum:
    OPENED = 256

cdef struct Name:
    unsigned long long key
    long long stop

cdef struct Attribute:
    unsigned long long key
    long long value, end, after

cdef struct Tag:
    long long end
    bint closed, hidden
    long long href, href_end, rel, rel_end
