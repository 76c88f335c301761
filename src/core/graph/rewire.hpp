// Random graphs with the degrees of a given one.
#pragma once

#include "types.hpp"

namespace sepool {

struct EdgePair {
    Node u, v;
};

// Swaps the ends of random pairs of edges of one group, `attempts` times the number of edges: a-b and c-d become a-d and c-b, unless
// that makes a loop, an edge that exists or, with `between`, an edge inside one of its clusters. Edges of a group are consecutive, from
// group_ptr[g] to group_ptr[g + 1]; no edge repeats.
void rewire(std::vector<EdgePair>& edges, const std::vector<Edge>& group_ptr, const std::int64_t* between, double attempts,
            std::uint64_t seed);

}  // namespace sepool
