// A first clustering by modularity, for chains and sparse blocks, whose clusters are complete early.
#pragma once

#include "search/random.hpp"
#include "types.hpp"

namespace sepool {

class ModularityMover {
public:
    // Labels for the nodes of `graph`, whose volumes are given (they may hold more than the edges here): every node moves
    // to the neighbouring cluster that raises modularity most, again and again until none moves (Louvain's first phase).
    void run(const GraphView& graph, const std::vector<Weight>& volume, Random& random, std::vector<Node>& label, const Control& control);

private:
    std::vector<Node> order_, touched_;
    std::vector<Weight> to_cluster_;
    std::vector<double> cluster_volume_;
};

}  // namespace sepool
