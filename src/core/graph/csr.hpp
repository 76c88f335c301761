// CSR with integer weights from edge lists, which are checked here.
#pragma once

#include <string>

#include "types.hpp"

namespace sepool {

// Edge lists of several graphs, one after the other. Node ids are local to their graph.
template <class Id>
struct EdgeLists {
    std::int64_t num_graphs = 0;
    const std::int64_t* node_ptr = nullptr;
    const std::int64_t* edge_ptr = nullptr;
    const Id* u = nullptr;
    const Id* v = nullptr;
    std::int64_t step_u = 1, step_v = 1;  // from one edge to the next: 2 in a table with a row an edge
    const double* w = nullptr;  // null: every edge weighs 1
    bool both = false;          // every edge is listed in both directions
    bool self_loops = false;    // count loops in the volumes instead of dropping them

    Id first(std::int64_t i) const { return u[i * step_u]; }
    Id second(std::int64_t i) const { return v[i * step_v]; }
};

struct Csr {
    Graph graph;               // the disjoint union; neighbours are local ids
    std::vector<double> unit;  // the weight of one unit, for each graph
};

// Throws std::invalid_argument with the offending value in its text. Threads work on one large graph together; the rows do not depend on
// their number.
template <class Id>
Csr build_csr(const EdgeLists<Id>& lists, int num_threads = 1);

namespace small {

// False for lists that need the general code; `out` is then undefined.
template <class Id>
bool build_csr(const EdgeLists<Id>& lists, Csr& out);

}  // namespace small

}  // namespace sepool
