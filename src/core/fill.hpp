// Stage 3: FILL, which gives every leaf the same depth, and the tree as level-by-level arrays.
#pragma once

#include "types.hpp"

namespace sepool {

// Level 0 are the graph's nodes, level `height` is the root alone. Clusters of a level are numbered so that siblings are
// neighbours and go by their first node.
struct Levels {
    std::vector<Node> count;     // nodes on each level, height + 1 of them
    std::vector<Node> parent;    // levels 0 .. height - 1 one after the other: index of the parent on the next level
    std::vector<Weight> volume;  // levels 0 .. height
    std::vector<Weight> cut;     // levels 0 .. height: weight of the edges that leave
    double entropy = 0;
};

// `name[u]` is the caller's number of leaf u (null: u itself). Chains that FILL adds change no entropy (Proposition 1).
void fill(const Tree& tree, const std::vector<char>& keep, int height, const GraphView& graph, const Node* name, Levels& out);

}  // namespace sepool
