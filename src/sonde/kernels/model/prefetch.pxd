# A hint that what stands at a place in memory is wanted soon. Loops over the links of a visit go
# all over large arrays: asked for in advance, many places are under way at once.
cdef extern from *:
    """
    #if defined(__GNUC__) || defined(__clang__)
    #define sonde_prefetch(place) __builtin_prefetch(place)
    #else
    #define sonde_prefetch(place) (void)(place)
    #endif
    """
    void prefetch "sonde_prefetch"(const void* place) noexcept nogil
