cdef class Dice:
    cdef public unsigned long long s0, s1, s2, s3

    cdef unsigned long long turn(self) noexcept
    cpdef double uniform(self)
    cpdef long long below(self, long long count)
