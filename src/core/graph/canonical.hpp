// Canonical order: a numbering of the nodes that does not depend on that of the input.
#pragma once

#include <memory>

#include "team.hpp"
#include "types.hpp"

namespace sepool {

// Refines an ordered partition of the nodes until all nodes of a cell have equally many neighbours in every other cell (an
// equitable partition, the fixed point of Weisfeiler-Lehman), then individualises one node of the first open cell and refines
// again, until all cells are single nodes. Splitters are queued the Hopcroft way: O((n + m) log n).
//
// The individualised node is one of the largest component of the graph, for refinement does not separate rings of different
// length, and the lowest of these: any would do if they are interchangeable. Isomorphic graphs get isomorphic orders whenever
// the nodes of an equitable cell and component size are interchangeable, which holds for nearly all graphs met in practice;
// strongly regular graphs are the known exception.
//
// Of a graph with colours, the individualised node is the one that comes first in the canonical order of the graph with its colours
// as loops and weights. The renumbered graph, and with it the shape of every tree, is thus the same with any colours; they
// decide alone which of the interchangeable nodes stands where.
class Canonical {
public:
    // Returns the nodes in canonical order; valid until the next call. The team works on large graphs alone.
    const std::vector<Node>& order(const GraphView& graph, Team& team, const Control& control);

private:
    void reset(const GraphView& graph);
    void split_initially(const GraphView& graph);
    void split_by_colours(const GraphView& graph, Team& team, const Control& control);
    void individualise(const GraphView& graph, Node begin);
    void measure_components(const GraphView& graph);
    bool is_preferred(Node a, Node b) const;
    void rank_by_colours(const GraphView& graph, Team& team, const Control& control);
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
    std::vector<std::uint64_t> links_;                 // weight of the edges from the splitter to a node
    std::vector<Node> queue_, splitter_, touched_cells_, touched_;
    std::vector<Node> component_, component_size_;     // of a node, and of a component
    std::vector<Node> candidates_;                     // nodes of the cell at candidates_begin_, the last is next
    std::vector<Node> rank_;                           // of a node by its colours; empty without
    std::unique_ptr<Canonical> coloured_;              // for the ranks
    Node candidates_begin_ = -1;
    std::size_t queue_head_ = 0;
    Node cells_ = 0, touched_cell_count_ = 0;
};

namespace small {

bool has_order(const GraphView& graph);
// False, without an order, if colours have to decide: `rank` then has to order the nodes.
bool order(const GraphView& graph, const Node* rank, Node* order);

}  // namespace small

// Rewrites `graph` so that node i is the old order[i].
void relabel(const GraphView& graph, const std::vector<Node>& order, Graph& out, std::vector<Node>& position, Team& team);

}  // namespace sepool
