#include "arrays.hpp"

#include "graph/check.hpp"

namespace sepool {

GraphView unchecked_view(const In<std::int64_t>& indptr, const In<Node>& indices, const std::optional<In<Weight>>& weights,
                         const std::optional<In<Weight>>& loops) {
    if (indptr.shape(0) < 1) fail("indptr must have one entry more than there are nodes");
    const std::int64_t* rows = indptr.data();
    const std::size_t total = indptr.shape(0) - 1;
    if (rows[0] != 0) fail("indptr must start with 0 and have one entry more than there are nodes");
    for (std::size_t u = 0; u < total; ++u)
        if (rows[u + 1] < rows[u]) fail("indptr must not fall");
    const auto arcs = static_cast<std::size_t>(rows[total]);
    if (indices.shape(0) != arcs || (weights && weights->shape(0) != arcs)) fail("indices and weights must have indptr[-1] entries");
    if (loops && loops->shape(0) != total) fail("loops must have an entry for every node");
    GraphView view;  // a union of graphs can have more nodes than one may: its num_nodes is set in the parts
    if (total <= static_cast<std::size_t>(kMaxNodes)) view.num_nodes = static_cast<Node>(total);
    view.indptr = rows, view.indices = indices.data();
    if (weights) view.weights = weights->data();
    if (loops) view.loops = loops->data();
    return view;
}

GraphView union_view(const In<std::int64_t>& node_ptr, const In<std::int64_t>& indptr, const In<Node>& indices,
                     const std::optional<In<Weight>>& weights, const std::optional<In<Weight>>& loops) {
    const std::int64_t* nodes = node_ptr.data();
    if (node_ptr.shape(0) < 1 || nodes[0] != 0) fail("node_ptr must start with 0");
    for (std::size_t b = 1; b < node_ptr.shape(0); ++b) {
        if (nodes[b] <= nodes[b - 1]) fail("graph " + std::to_string(b - 1) + " has no nodes, or node_ptr falls");
        if (nodes[b] - nodes[b - 1] > kMaxNodes)
            fail("graph " + std::to_string(b - 1) + " has more than " + std::to_string(kMaxNodes) + " nodes");
    }
    const auto total = static_cast<std::size_t>(nodes[node_ptr.shape(0) - 1]);
    if (indptr.shape(0) != total + 1) fail("indptr must start with 0 and have one entry more than there are nodes");
    const GraphView view = unchecked_view(indptr, indices, weights, loops);
    check_graphs(static_cast<std::int64_t>(node_ptr.shape(0)) - 1, nodes, view);
    return view;
}

GraphView single_view(const In<std::int64_t>& indptr, const In<Node>& indices, const std::optional<In<Weight>>& weights,
                      const std::optional<In<Weight>>& loops) {
    if (indptr.shape(0) < 2) fail("indptr must have one entry more than there are nodes, and there must be a node");
    const std::int64_t node_ptr[2] = {0, static_cast<std::int64_t>(indptr.shape(0)) - 1};
    const std::size_t shape[1] = {2};
    return union_view(In<std::int64_t>(node_ptr, 1, shape, nb::handle()), indptr, indices, weights, loops).part(0, node_ptr[1]);
}

void add_colours(GraphView& view, std::size_t nodes, std::size_t arcs, const std::optional<In<Weight>>& colours,
                 const std::optional<In<Weight>>& arc_colours) {
    if (colours && colours->shape(0) != nodes) fail("colours must have an entry for every node");
    if (arc_colours && arc_colours->shape(0) != arcs) fail("arc_colours must have indptr[-1] entries");
    if (colours) view.colours = colours->data();
    if (arc_colours) view.arc_colours = arc_colours->data();
}

void check_height(int height) {
    if (height < 1 || height > kMaxHeight)
        fail("height must be between 1 and " + std::to_string(kMaxHeight) + ", got " + std::to_string(height));
}

}  // namespace sepool
