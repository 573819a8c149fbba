cimport cython
from sonde.kernels.model.dice cimport Dice
from sonde.kernels.model.neighbourhood cimport Signal
from sonde.kernels.model.rankings cimport Tournament
from sonde.kernels.model.yields cimport Yields

cdef int TERMS, ROUNDS
cdef double FAIR_SHARE

cdef class Forecast(Signal):
    cdef public Yields yields
    cdef public int column
    cdef public double prior, forget, optimism, spread
    cdef public Dice dice
    cdef public double[::1] start, weights, drawn, parts, target
    cdef public double[:, ::1] moments, factor
    cdef public long long due
    cdef public bint told
    cdef public object rankings

    @cython.final
    cdef void learn(self, double[::1] snapshot, double gain)
    cdef void sample(self, double gain)
    @cython.final
    cdef void note(self, double[:, ::1] moments, double[::1] target, double weight, double value) noexcept
    @cython.final
    cdef void take_apart(self, double[::1] row) noexcept
    @cython.final
    cdef void weigh(self, int slot) noexcept
    cdef double judge(self) noexcept
    @cython.final
    cdef double weigh_parts(self, double[::1] weights) noexcept
    @cython.final
    cdef double doubt(self) noexcept
    cdef void fit(self)
    @cython.final
    cdef void solve(self, double[:, ::1] moments, double[::1] target, double[::1] start, double[::1] out)
    @cython.final
    cdef void back(self, double[::1] step) noexcept
    @cython.final
    cdef void draw(self)

cdef class Hurdle(Forecast):
    cdef public double[:, ::1] size_moments, seen
    cdef public double[::1] size_target, usual, sizes, first, chances
    cdef public signed char[::1] scored
    cdef public long long count

    @cython.final
    cdef double chance(self) noexcept

cdef class Foresight(Tournament):
    cdef public Forecast forecast
