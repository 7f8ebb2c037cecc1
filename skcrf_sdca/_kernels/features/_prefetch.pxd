"""Asks for memory before it is read."""


cdef extern from *:
    """
    #if defined(__GNUC__)
    #define skcrf_prefetch(address) __builtin_prefetch(address)
    #else
    #define skcrf_prefetch(address) ((void) (address))
    #endif
    """
    void prefetch "skcrf_prefetch"(const void* address) noexcept nogil
