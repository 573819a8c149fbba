from sonde.kernels.model.dice cimport Dice
from sonde.kernels.model.frontier cimport Leaf

cdef class Chooser:
    cdef int choose(self, long long step)
    cpdef void reward(self, int leaf, double gain)
    cpdef void follow(self, long long step, int leaf)
    cdef void switch(self, bint on)
    cdef void witness(self, double[::1] snapshot, double gain)

cdef class Single(Chooser):
    cdef public Leaf leaf

cdef class Hybrid(Chooser):
    cdef public Chooser first, second
    cdef public long long steps
    cdef public bint switched

    cdef void turn(self, long long step)

cdef class Armed(Chooser):
    cdef public Dice dice
    cdef public object arms
    cdef public int[::1] arm_of

cdef class Bandit(Armed):
    cdef public double epsilon
    cdef public bint renewed
    cdef public long long exploring, period, age
    cdef public int leader
    cdef public long long[::1] pulls, told
    cdef public double[::1] rewards

    cdef int leading(self) noexcept
    cdef void renew(self)
    cdef Chooser pull(self, int arm)
    cdef int arm_for(self, long long step)
