// Large arrays on large pages.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>
#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace sepool {

// Reserves `size` values. Linux may give large pages on request, as NumPy does for its arrays; a large array then has a few
// hundred times fewer pages to be touched for the first time.
template <class T>
void reserve_on_large_pages(std::vector<T>& values, std::size_t size) {
    values.reserve(size);
#if defined(__linux__) && defined(MADV_HUGEPAGE)
    constexpr std::uintptr_t kPage = 4096, kWorthIt = 1 << 22;
    const auto begin = reinterpret_cast<std::uintptr_t>(values.data()), end = begin + values.capacity() * sizeof(T);
    const std::uintptr_t first = (begin + kPage - 1) & ~(kPage - 1);
    if (end - begin >= kWorthIt) madvise(reinterpret_cast<void*>(first), end - first, MADV_HUGEPAGE);  // a wish: it may fail
#endif
}

}  // namespace sepool
