cimport cython
from sonde.kernels.model.links cimport Links
from sonde.kernels.model.neighbourhood cimport Signal
from sonde.kernels.model.rankings cimport Tournament

cdef double WORD_PATIENCE
cdef int HEARD

@cython.final
cdef class Vocabulary:
    cdef public Links links
    cdef public double[::1] gained, pages, worth
    cdef public int[::1] known
    cdef public int knowing
    cdef public long long[::1] stamp
    cdef public double total, count, mean
    cdef public long long stamps

    cdef void settle(self) noexcept
    cdef inline void judge(self, int word) noexcept
    cdef void learn(self, int node, double gain) noexcept
    cpdef double value(self, long long link) noexcept

cdef int DOUBLINGS
cdef double RATIO_PATIENCE

@cython.final
cdef class Ratios:
    cdef public double[::1] brought, foreseen, ratio

    cdef inline int level(self, double amount) noexcept
    cdef void note(self, int level, double foreseen, double gain) noexcept
    cdef void settle(self, double usual) noexcept

cdef int LEVELS
cdef double LEVEL_PATIENCE, GUESS, GUESSES, FAIR_SHARE

@cython.final
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

    cdef void expect(self, double[::1] snapshot, double gain) noexcept
    cdef void reserve_visits(self, int visits)
    cdef void count(self, double score, long long start, long long end) noexcept
    cdef void reach(self, int visit, double score, long long start, long long end) noexcept
    cdef int level(self, double score) noexcept
    cdef void show(self, int visit) noexcept
    cdef void pass_on(self, int visit)
    cdef void rebase(self, int slot) noexcept
    cdef inline int link_level(self, double score) noexcept
    cdef inline double ratio(self, int slot) noexcept
    cdef inline void weigh(self, int slot) noexcept
    cdef void revise(self)
    cdef void rescale(self)

cdef class Expectation(Tournament):
    cdef public Yields yields
