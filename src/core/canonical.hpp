// A labelling of the nodes that does not depend on how the input was numbered.
#pragma once

#include "types.hpp"

namespace sepool {

// Refines an ordered partition of the nodes until every cell sees every other cell equally often (an equitable
// partition, the fixed point of Weisfeiler-Lehman), then sets one node of the first open cell apart and refines again,
// until all cells are single nodes. Splitters are queued the Hopcroft way: O((n + m) log n).
//
// Isomorphic graphs get isomorphic labellings whenever the nodes of an equitable cell are interchangeable, which holds
// for nearly all graphs met in practice; strongly regular graphs are the known exception.
class Canonical {
public:
    // Returns the nodes in canonical order; valid until the next call.
    const std::vector<Node>& order(const GraphView& graph, const Control& control);

private:
    static bool is_small(const GraphView& graph);
    void order_small(const GraphView& graph);  // canonical_small.cpp
    void split_initially(const GraphView& graph);
    void refine(const GraphView& graph, const Control& control);
    void refine_by_node(const GraphView& graph, Node v);
    void refine_by_cell(const GraphView& graph, Node begin);
    void touch(Node u, Node cell);
    void split_cell(Node begin);
    void split_in_two(Node begin);
    void enqueue(Node begin);

    std::vector<Node> order_, position_, cell_;        // cell_[u]: where u's cell begins
    std::vector<Node> length_, touched_length_;        // by the beginning of a cell
    std::vector<char> queued_;                         // by the beginning of a cell
    std::vector<std::uint64_t> seen_;                  // weight of the edges from the splitter to a node
    std::vector<Node> queue_, splitter_, touched_cells_, touched_;
    std::size_t queue_head_ = 0;
    Node cells_ = 0, touched_cell_count_ = 0;
};

// Rewrites `graph` so that node i is the old order[i].
void relabel(const GraphView& graph, const std::vector<Node>& order, Graph& out, std::vector<Node>& position);

}  // namespace sepool
