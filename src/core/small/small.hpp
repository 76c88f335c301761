// The switch between the code in this folder, for small graphs, problems and trees, and the general code. Both give the same
// trees, bit for bit.
#pragma once

#include <atomic>

#include "types.hpp"

namespace sepool::small {

constexpr Node kMostNodes = 64;                // a set of nodes is a word of bits
constexpr std::int64_t kMostScanned = 60'000;  // clusters times pairs
constexpr Node kMostInner = 256;               // inner nodes of a tree with tables,
constexpr Node kMostEntries = 1 << 12;         // and the sum of their depths

extern std::atomic<bool> enabled;  // false in tests of the general code

inline bool takes(bool small) { return small && enabled.load(std::memory_order_relaxed); }

// A graph, problem or tree with that many nodes, clusters or leaves.
inline bool fits(std::int64_t nodes) { return takes(nodes <= kMostNodes); }

// A problem that is merged by scanning all keys.
inline bool fits_scan(std::int64_t clusters, std::int64_t pairs) { return takes(clusters * pairs <= kMostScanned); }

inline bool fits(const Tree& tree) { return fits(tree.num_leaves) && tree.size() - tree.num_leaves <= kMostNodes; }

}  // namespace sepool::small
