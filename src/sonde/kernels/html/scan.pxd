cpdef enum:
    OPENED = 256
    LINK = 1
    NAVIGATION = 2
    ASIDE = 4
    SECTION = 8
    MAIN = 16
    HEADING = 32
    BEGINS = 64
    NAMED = 128

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
    unsigned long long kind, ident
    int role
