// The order of interchangeable nodes by colours.

#include <algorithm>
#include <numeric>

#include "graph/canonical.hpp"

namespace sepool {
namespace {

// The numbers 0, 1, ... of equal items in their order.
template <class Less>
std::vector<Weight> dense_ranks(Edge count, const Less& less) {
    std::vector<Edge> order(count);
    std::iota(order.begin(), order.end(), Edge{0});
    std::sort(order.begin(), order.end(), less);
    std::vector<Weight> rank(count);
    Weight at = 0;
    for (Edge i = 0; i < count; ++i) {
        if (i && less(order[i - 1], order[i])) ++at;
        rank[order[i]] = at;
    }
    return rank;
}

// First by the colour, then by the value, if there are any.
template <class First, class Second>
auto by(const First* colour, const Second* value) {
    return [=](Edge a, Edge b) {
        if (colour && colour[a] != colour[b]) return colour[a] < colour[b];
        return value && value[a] < value[b];
    };
}

}  // namespace

// Colours become loops, those of arcs weights, each together with the loops and weights of the graph. They are numbered anew,
// for refinement hashes them: the order must not depend on the numbers that colours have in a larger batch.
void Canonical::rank_by_colours(const GraphView& graph, Team& team, const Control& control) {
    const Node n = graph.num_nodes;
    const Edge begin = graph.indptr[0];
    GraphView view = graph;
    view.colours = view.arc_colours = nullptr;
    std::vector<Weight> loops, weights;
    std::vector<Edge> rows;
    if (graph.colours) {
        loops = dense_ranks(n, by(graph.colours, graph.loops));
        view.loops = loops.data();
    }
    if (graph.arc_colours) {
        weights = dense_ranks(graph.num_arcs(), by(graph.arc_colours + begin, graph.weights ? graph.weights + begin : nullptr));
        rows.resize(n + 1);
        for (Node u = 0; u <= n; ++u) rows[u] = graph.indptr[u] - begin;
        view.indptr = rows.data(), view.indices = graph.indices + begin, view.weights = weights.data();
    }
    if (!coloured_) coloured_ = std::make_unique<Canonical>();
    const std::vector<Node>& order = coloured_->order(view, team, control);
    rank_.resize(n);
    for (Node i = 0; i < n; ++i) rank_[order[i]] = i;
}

}  // namespace sepool
