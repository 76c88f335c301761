// The nodes of a graph that have other edges than in an earlier one.
#pragma once

#include "types.hpp"

namespace sepool {

// 1 for every node whose edges, weights (times the unit of their graph) or loops changed; `number` has the nodes' ids in the graph
// before, -1 for new ones. The graphs need not be checked. Rows are compared by 64-bit sums where their order differs.
std::vector<std::int8_t> compare_rows(const GraphView& before, double unit_before, const GraphView& after, double unit_after,
                                      const Node* number);

}  // namespace sepool
