// Single steps of the core: comparison and rewiring of graphs, and the stages of Algorithm 1 for tests and studies.

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <algorithm>

#include "arrays.hpp"
#include "build.hpp"
#include "graph/changes.hpp"
#include "graph/rewire.hpp"

namespace sepool {
namespace {

Out<std::int8_t> changed_nodes(In<std::int64_t> old_indptr, In<Node> old_indices, std::optional<In<Weight>> old_weights,
                               std::optional<In<Weight>> old_loops, double old_unit, In<std::int64_t> indptr, In<Node> indices,
                               std::optional<In<Weight>> weights, std::optional<In<Weight>> loops, double unit, In<Node> number) {
    const GraphView before = unchecked_view(old_indptr, old_indices, old_weights, old_loops);
    const GraphView after = unchecked_view(indptr, indices, weights, loops);
    if (number.shape(0) != static_cast<std::size_t>(after.num_nodes)) fail("number must have an entry for every node");
    for (std::size_t u = 0; u < number.shape(0); ++u)
        if (number.data()[u] < -1 || number.data()[u] >= before.num_nodes) fail("number must be -1 or a node of the earlier graph");
    nb::gil_scoped_release release;
    std::vector<std::int8_t> changed = compare_rows(before, old_unit, after, unit, number.data());
    nb::gil_scoped_acquire acquire;
    return give(std::move(changed));
}

nb::tuple rewired(In<Node> u, In<Node> v, In<std::int64_t> group_ptr, std::optional<In<std::int64_t>> between, double attempts,
                  std::uint64_t seed) {
    const std::size_t m = u.shape(0);
    if (v.shape(0) != m) fail("u and v must have the same length");
    const std::vector<Edge> groups(group_ptr.data(), group_ptr.data() + group_ptr.shape(0));
    if (groups.empty() || groups.front() != 0 || groups.back() != static_cast<Edge>(m) || !std::is_sorted(groups.begin(), groups.end()))
        fail("group_ptr must rise from 0 to the number of edges");
    std::vector<EdgePair> edges(m);
    for (std::size_t e = 0; e < m; ++e) {
        edges[e] = {u.data()[e], v.data()[e]};
        const std::int64_t nodes = between ? static_cast<std::int64_t>(between->shape(0)) : kMaxNodes;
        if (std::min(edges[e].u, edges[e].v) < 0 || std::max(edges[e].u, edges[e].v) >= nodes) fail("u and v must be nodes");
    }
    {
        nb::gil_scoped_release release;
        rewire(edges, groups, between ? between->data() : nullptr, attempts, seed);
    }
    std::vector<Node> first(m), second(m);
    for (std::size_t e = 0; e < m; ++e) first[e] = edges[e].u, second[e] = edges[e].v;
    return nb::make_tuple(give(std::move(first)), give(std::move(second)));
}

nb::tuple merge_stage(In<std::int64_t> indptr, In<Node> indices, std::optional<In<Weight>> weights, std::optional<In<Weight>> loops,
                      const std::string& linkage) {
    const GraphView view = single_view(indptr, indices, weights, loops);
    Tree tree;
    const Control control;
    if (linkage == "gain" || linkage == "relative") {
        MergeProblem problem;
        Merger merger;
        problem.read(view);
        merge_tree(problem, linkage == "gain" ? Linkage::gain : Linkage::relative, merger, tree, control);
    } else fail("linkage must be gain or relative, got '" + linkage + "'");
    return nb::make_tuple(give(std::move(tree.parent)), give(std::move(tree.volume)), give(std::move(tree.cut)));
}

Out<std::int8_t> compress(Node num_leaves, In<Node> parent, In<Weight> volume, In<Weight> cut, int height, bool optimal) {
    check_height(height);
    const std::size_t size = parent.shape(0);
    double inside = 0;
    if (num_leaves < 1 || size <= static_cast<std::size_t>(num_leaves) || volume.shape(0) != size || cut.shape(0) != size)
        fail("a tree has at least one leaf and a root, and parent, volume and cut have an entry for every node");
    for (std::size_t t = 0; t < size; ++t) {
        const bool last = t + 1 == size;
        const std::int64_t p = parent.data()[t];
        if (last ? p != -1 : p <= static_cast<std::int64_t>(t) || p < num_leaves || p >= static_cast<std::int64_t>(size))
            fail("node " + std::to_string(t) + " has parent " + std::to_string(p) +
                 "; children precede parents, leaves come first and the root, with -1, last");
        if (volume.data()[t] < 0 || cut.data()[t] < 0) fail("volumes and cuts must not be negative");
        inside += static_cast<double>(cut.data()[t]);
    }
    if (inside > 0x1p61) fail("the cuts add up to more than 2^61");
    Tree tree;
    tree.num_leaves = num_leaves;
    tree.parent.assign(parent.data(), parent.data() + parent.shape(0));
    tree.volume.assign(volume.data(), volume.data() + volume.shape(0));
    tree.cut.assign(cut.data(), cut.data() + cut.shape(0));
    std::vector<char> keep;
    const Control control;
    if (optimal) OptimalCompressor().run(tree, height, keep, control);
    else remove_greedily(tree, height, keep, control);
    return give(std::vector<std::int8_t>(keep.begin(), keep.end()));
}

Out<double> log2_of_volumes(In<Weight> volumes) {
    const Log2 log2;
    std::vector<double> logs(volumes.shape(0));
    for (std::size_t i = 0; i < logs.size(); ++i) {
        if (volumes.data()[i] < 0) fail("volumes must not be negative, got " + std::to_string(volumes.data()[i]));
        logs[i] = log2(volumes.data()[i]);
    }
    return give(std::move(logs));
}

Out<Node> canonical_order(In<std::int64_t> indptr, In<Node> indices, std::optional<In<Weight>> weights, std::optional<In<Weight>> loops,
                          std::optional<In<Weight>> colours, std::optional<In<Weight>> arc_colours) {
    Canonical canonical;
    const Control control;
    Team team(1);
    GraphView view = single_view(indptr, indices, weights, loops);
    add_colours(view, indptr.shape(0) - 1, indices.shape(0), colours, arc_colours);
    std::vector<Node> order = canonical.order(view, team, control);
    return give(std::move(order));
}

}  // namespace

void define_stages(nb::module_& m) {
    m.def("changed_nodes", &changed_nodes, nb::arg("old_indptr"), nb::arg("old_indices"), nb::arg("old_weights").none(),
          nb::arg("old_loops").none(), nb::arg("old_unit"), nb::arg("indptr"), nb::arg("indices"), nb::arg("weights").none(),
          nb::arg("loops").none(), nb::arg("unit"), nb::arg("number"),
          "1 for every node whose edges are not those of the node that it was in an earlier graph.");
    m.def("rewired", &rewired, nb::arg("u"), nb::arg("v"), nb::arg("group_ptr"), nb::arg("between").none(), nb::arg("attempts"),
          nb::arg("seed"), "Edges with random ends and the same degrees.");
    m.def("merge_tree", &merge_stage, nb::arg("indptr"), nb::arg("indices"), nb::arg("weights").none(), nb::arg("loops").none(),
          nb::arg("linkage"), "Stage 1 alone: parent, volume and cut of every tree node, children before parents, the root last.");
    m.def("compress", &compress, nb::arg("num_leaves"), nb::arg("parent"), nb::arg("volume"), nb::arg("cut"), nb::arg("height"),
          nb::arg("optimal"), "Stage 2 alone: 1 for every inner node that stays.");
    m.def("canonical_order", &canonical_order, nb::arg("indptr"), nb::arg("indices"), nb::arg("weights").none(), nb::arg("loops").none(),
          nb::arg("colours") = nb::none(), nb::arg("arc_colours") = nb::none(), "The nodes in canonical order.");
    m.def("log2", &log2_of_volumes, nb::arg("volumes"), "Logarithms of volumes by the core's own operations; 0 for 0.");
}

}  // namespace sepool
