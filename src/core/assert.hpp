// Invariants, checked in debug and fuzz builds and compiled out of releases.
#pragma once

#if defined(SEPOOL_ASSERTIONS)
#include <cstdio>
#include <cstdlib>
#define SEPOOL_ASSERT(condition)                                                                         \
    do {                                                                                                 \
        if (condition) break;                                                                            \
        std::fprintf(stderr, "%s:%d: the invariant %s does not hold\n", __FILE__, __LINE__, #condition); \
        std::abort();                                                                                    \
    } while (false)
#else
#define SEPOOL_ASSERT(condition) ((void)0)
#endif
