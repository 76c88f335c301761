// The finaliser of SplitMix64: a hash of 64 bits.
#pragma once

#include <cstdint>

namespace sepool {

inline std::uint64_t mix(std::uint64_t x) {
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ull;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBull;
    return x ^ (x >> 31);
}

}  // namespace sepool
