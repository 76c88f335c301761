// Checks of graphs in CSR, before the core relies on them.
#pragma once

#include "types.hpp"

namespace sepool {

// Throws std::invalid_argument unless all neighbours exist, rows are symmetric and sorted and name no node twice nor their own, weights are
// positive, loops are not negative, and volumes can be added. node_ptr and the view describe a disjoint union; its pointers are in order.
void check_graphs(std::int64_t num_graphs, const std::int64_t* node_ptr, const GraphView& graphs);

}  // namespace sepool
