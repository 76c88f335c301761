// Graphs whose nodes are clusters of another graph: contraction, and the logarithms of their volumes.
#pragma once

#include <vector>

#include "log2.hpp"
#include "team.hpp"
#include "types.hpp"

namespace sepool {

// log2 of the share of a volume in the whole. Shares keep the terms of H small, so that rounding stays far below the least change
// that counts; those of small volumes come from a table.
class LogShares {
public:
    void reset(Weight total);
    Weight total() const { return total_; }
    double operator()(Weight volume) const {
        if (volume < static_cast<Weight>(table_.size())) return table_[volume];
        return fixed_log2(static_cast<double>(volume) * inverse_total_);
    }

private:
    Weight total_ = -1;
    double inverse_total_ = 0;
    std::vector<double> table_;
};

// The items that move: nodes of a graph or clusters of nodes, with their volumes. `inner` (null: none) is the weight of the edges
// inside an item that count as edges of its cluster, as they do when the item itself is no level of the tree.
struct Items {
    GraphView graph;
    const Weight* volume = nullptr;
    const Weight* inner = nullptr;

    Node size() const { return graph.num_nodes; }
    Weight inside(Node u) const { return inner ? inner[u] : 0; }
};

// Items that own their arrays.
struct ItemGraph {
    Graph graph;
    std::vector<Weight> volume, inner;

    Items view() const { return {graph.view(), volume.data(), inner.empty() ? nullptr : inner.data()}; }
};

// Clusters of the items as items. Rows are in the order of the first edge, which depends on nothing but labels and rows.
// With `keep_inner` the weight inside the clusters is kept as theirs.
class Contractor {
public:
    void run(const Items& items, const std::vector<Node>& label, Node count, bool keep_inner, ItemGraph& out, Team& team);

    // The members of every label, in order: those of label c are members[begin[c]] .. members[begin[c + 1] - 1].
    static void sort_members(const std::vector<Node>& label, Node count, std::vector<Edge>& begin, std::vector<Node>& members);

private:
    struct Rows {  // of some clusters
        std::vector<Node> indices;
        std::vector<Weight> weights;
    };
    struct Scratch {  // of one thread
        std::vector<Weight> weight_to;
        std::vector<Node> reached;
        Rows rows;
    };

    std::vector<Edge> begin_;
    std::vector<Node> members_;
    std::vector<Scratch> scratch_;
};

}  // namespace sepool
