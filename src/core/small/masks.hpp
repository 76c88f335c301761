// Sets of at most 64 nodes as the bits of a word.
#pragma once

#include "types.hpp"

#if defined(_MSC_VER)
#include <intrin.h>
#endif

namespace sepool::small {

using Mask = std::uint64_t;

constexpr int kMaskBits = 64;

inline Mask bit(int i) { return Mask{1} << i; }

// The least member of a set that is not empty.
inline int least(Mask set) {
#if defined(_MSC_VER)
    unsigned long at;
    _BitScanForward64(&at, set);
    return static_cast<int>(at);
#else
    return __builtin_ctzll(set);
#endif
}

inline Mask without_least(Mask set) { return set & (set - 1); }

// The number of members; plain arithmetic, since not every target processor has an instruction for it.
inline int size_of(Mask set) {
    set -= (set >> 1) & 0x5555555555555555ULL;
    set = (set & 0x3333333333333333ULL) + ((set >> 2) & 0x3333333333333333ULL);
    set = (set + (set >> 4)) & 0x0f0f0f0f0f0f0f0fULL;
    return static_cast<int>((set * 0x0101010101010101ULL) >> 56);
}

// The neighbours of every node of a small graph, numbered by `number`. Rows hold no repeats, so the bits of a row are the
// difference between its begin and its end while all bits are flipped one after the other: one straight loop instead of one
// for every row, whose lengths the processor cannot predict.
template <class Number>
void fill_masks(const GraphView& graph, Mask* near, Number number) {
    Mask flipped[kMaskBits * kMaskBits];
    const Edge begin = graph.indptr[0], arcs = graph.num_arcs();
    Mask all = flipped[0] = 0;
    for (Edge e = 0; e < arcs; ++e) flipped[e + 1] = all ^= bit(number(graph.indices[begin + e]));
    for (Node u = 0; u < graph.num_nodes; ++u) near[u] = flipped[graph.indptr[u + 1] - begin] ^ flipped[graph.indptr[u] - begin];
}

}  // namespace sepool::small
