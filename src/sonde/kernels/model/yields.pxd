cimport cython
from sonde.kernels.model.links cimport Links
from sonde.kernels.model.neighbourhood cimport Signal
from sonde.kernels.model.rankings cimport Tournament

cdef double WORD_PATIENCE
cdef int HEARD

cdef class Vocabulary:
    cdef public Links links
    cdef public double[::1] gained, pages, worth
    cdef public int[::1] known
    cdef public int knowing
    cdef public long long[::1] stamp
    cdef public double total, count, mean
    cdef public long long stamps

    @cython.final
    cdef void settle(self) noexcept
    @cython.final
    cdef inline void judge(self, int word) noexcept
    @cython.final
    cdef void learn(self, int node, double gain) noexcept
    cpdef double value(self, long long link) noexcept

cdef int DOUBLINGS
cdef double RATIO_PATIENCE

cdef class Ratios:
    cdef public double[::1] brought, foreseen, ratio

    @cython.final
    cdef inline int level(self, double amount) noexcept
    @cython.final
    cdef void note(self, int level, double foreseen, double gain) noexcept
    @cython.final
    cdef void settle(self, double usual) noexcept

cdef int LEVELS
cdef double LEVEL_PATIENCE, GUESS, GUESSES, FAIR_SHARE

cdef class Yields(Signal):
    cdef public int deg, e_sum, weight, worth, share, words, base, estimate, rank
    cdef public double patience, by_degree, by_link, by_share, by_words, by_ratio, by_rank, by_ahead, budget, outlook
    cdef public Vocabulary vocabulary
    cdef public Ratios of_degree, of_link
    cdef public object rankings
    cdef public double gain
    cdef public bint told
    cdef public long long due
    cdef public int[::1] children, shown_children
    cdef public double[::1] brought, shown_yield, shown_weight, gains, levels
    cdef public double positive, positives, promised, promises
    cdef public double gained, samples, gained_positive, samples_positive
    cdef public double scale, promise, unit

    @cython.final
    cdef void expect(self, double[::1] snapshot, double gain) noexcept
    @cython.final
    cdef void reserve_visits(self, int visits)
    @cython.final
    cdef void count(self, double score, long long start, long long end) noexcept
    @cython.final
    cdef void reach(self, int visit, double score, long long start, long long end) noexcept
    @cython.final
    cdef int level(self, double score) noexcept
    @cython.final
    cdef void show(self, int visit) noexcept
    @cython.final
    cdef void pass_on(self, int visit)
    @cython.final
    cdef void rebase(self, int slot) noexcept
    @cython.final
    cdef inline int link_level(self, double score) noexcept
    @cython.final
    cdef inline double ratio(self, int slot) noexcept
    @cython.final
    cdef inline void weigh(self, int slot) noexcept
    @cython.final
    cdef void revise(self)
    @cython.final
    cdef void rescale(self)

cdef class Expectation(Tournament):
    cdef public Yields yields
