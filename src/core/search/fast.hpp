// The method `fast`: merge in rounds, compress optimally, no moves.
#pragma once

#include "workspace.hpp"

namespace sepool {

// Appends the tree of `graph` to `out`.
void fast(const GraphView& graph, int height, Workspace& work, Levels& out, Control& control);

// True for graphs that are merged pair by pair with the linkage `relative`; others are merged in rounds.
bool merges_by_pairs(const GraphView& graph);

// Builds the merge tree of `graph` in work.tree, by pairs or in rounds.
void merge_quickly(const GraphView& graph, Workspace& work, const Control& control);

}  // namespace sepool
