// Fetching ahead, for loops over large arrays.
#pragma once

namespace sepool {

// Requests memory that will be needed soon: on large graphs, most of the time is spent waiting for the targets of pointers.
inline void prefetch(const void* address) {
#if defined(__GNUC__)
    __builtin_prefetch(address);
#else
    (void)address;
#endif
}

}  // namespace sepool
