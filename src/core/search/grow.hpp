// A first clustering by growing one cluster after the other, each next to the last: best on regular graphs.
#pragma once

#include "types.hpp"

namespace sepool {

class Grower {
public:
    // Labels for the nodes of `graph`, whose volumes are given (they may hold more than the edges here). A cluster grows by
    // the neighbour that keeps inside * log2(reference / volume) / volume largest, past its peak and back to it.
    void run(const GraphView& graph, const std::vector<Weight>& volume, double log_reference, std::vector<Node>& label,
             const Control& control);

private:
    std::vector<Weight> to_taken_, to_cluster_;
    std::vector<double> key_;  // of the nodes around the cluster at hand: the share of its volume that leads there
    std::vector<Node> members_, frontier_;
};

}  // namespace sepool
