// A small generator with an explicit seed: the same on every platform.
#pragma once

#include <utility>

#include "types.hpp"

namespace sepool {

class Random {
public:
    explicit Random(std::uint64_t seed) : state_(seed * 0x9e3779b97f4a7c15ULL + 0x2545f4914f6cdd1dULL) {}

    Node below(Node n) {
        state_ = state_ * 6364136223846793005ULL + 1442695040888963407ULL;
        return static_cast<Node>(((state_ >> 32) * static_cast<std::uint64_t>(n)) >> 32);
    }

    template <class It>
    void shuffle(It begin, It end) {
        for (auto i = static_cast<Node>(end - begin); i > 1; --i) std::swap(begin[i - 1], begin[below(i)]);
    }

private:
    std::uint64_t state_;
};

}  // namespace sepool
