#include "search/fast.hpp"

#include "search/boruvka.hpp"

namespace sepool {
namespace {

constexpr Edge kCanonicalArcs = 1 << 17;    // larger graphs are taken as they are numbered
constexpr std::int64_t kPairSteps = 60'000;  // nodes times edges, up to which a graph is merged pair by pair

}  // namespace

bool merges_by_pairs(const GraphView& graph) { return graph.num_nodes * (graph.num_arcs() / 2) <= kPairSteps; }

void merge_quickly(const GraphView& graph, Workspace& work, const Control& control) {
    if (!merges_by_pairs(graph)) return merge_by_rounds(graph, work.tree, control);
    work.problem.read(graph);
    merge_tree(work.problem, Linkage::relative, work.merger, work.tree, control);
}

void fast(const GraphView& graph, int height, Workspace& work, Levels& out, Control& control) {
    const Node* names = nullptr;  // of the leaves in `graph`
    if (graph.num_arcs() > kCanonicalArcs) {
        control.enter("merging", 0.05);
        merge_by_rounds(graph, work.tree, control);
    } else {
        control.enter("labelling", 0.0);
        const std::vector<Node>& order = work.canonical.order(graph, control);
        names = order.data();
        control.enter("merging", 0.1);
        if (merges_by_pairs(graph)) {
            work.problem.read(graph, order, work.relabelled, work.position);
            merge_tree(work.problem, Linkage::relative, work.merger, work.tree, control);
        } else {
            relabel(graph, order, work.relabelled, work.position);
            merge_by_rounds(work.relabelled.view(), work.tree, control);
        }
    }
    control.enter("compressing", 0.7);
    work.compressor.run(work.tree, height, work.keep, control);
    work.filler.run(work.tree, work.keep, height, graph, names, out);
}

}  // namespace sepool
