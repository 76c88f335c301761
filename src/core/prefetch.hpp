// Fetching ahead, for loops over large arrays.
#pragma once

namespace sepool {

// Asks for memory that will be needed soon. What a node points to lies anywhere, and it is waiting for it that takes the time
// on large graphs.
inline void prefetch(const void* address) {
#if defined(__GNUC__)
    __builtin_prefetch(address);
#else
    (void)address;
#endif
}

}  // namespace sepool
