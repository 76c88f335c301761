// Stage 1 in rounds: every cluster joins its best neighbour, all at once. For graphs of millions of edges.
#pragma once

#include "types.hpp"

namespace sepool {

// Builds the merge tree of `graph` by Boruvka rounds with the linkage `relative` of merge.hpp. O(m) a round, and every
// round leaves at most half of the clusters that have neighbours.
void merge_by_rounds(const GraphView& graph, Tree& tree, const Control& control);

// Goes on with a tree: node i of `items` is the node names[i], which has no parent yet. `total` is the volume of the whole graph.
void merge_by_rounds(const GraphView& items, std::vector<Node> names, Weight total, Tree& tree, const Control& control);

}  // namespace sepool
