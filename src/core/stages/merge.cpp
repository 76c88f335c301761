#include "stages/merge.hpp"

#include "assert.hpp"
#include "graph/canonical.hpp"
#include "invariants.hpp"
#include "small/small.hpp"

namespace sepool {

void MergeProblem::read(const GraphView& graph) {
    const Node n = graph.num_nodes;
    volume.resize(n);
    pairs.clear();
    pairs.reserve(static_cast<std::size_t>(graph.num_arcs()) / 2);
    total = 0;
    for (Node u = 0; u < n; ++u) {
        volume[u] = graph.degree(u) + graph.loop(u);
        total += volume[u];
        for (Edge e = graph.indptr[u]; e < graph.indptr[u + 1]; ++e)
            if (graph.indices[e] > u) pairs.push_back({u, graph.indices[e], graph.weight(e)});
    }
}

void MergeProblem::read(const GraphView& graph, const std::vector<Node>& order, Graph& scratch, std::vector<Node>& position, Team& team) {
    if (small::fits(graph.num_nodes)) {
        small::read_problem(graph, order.data(), *this);
        return;
    }
    relabel(graph, order, scratch, position, team);
    read(scratch.view());
}

const std::vector<Pair>& Merger::run(MergeProblem& problem, Linkage linkage, const Control& control) {
    merges_.clear();
    const auto clusters = static_cast<std::int64_t>(problem.volume.size()), pairs = static_cast<std::int64_t>(problem.pairs.size());
    if (small::fits(clusters)) small::merge(problem, linkage, merges_);
    else if (small::fits_scan(clusters, pairs)) small::merge_by_scan(problem, linkage, merges_);
    else merge_by_heap(problem, linkage, merges_, control);
    return merges_;
}

void merge_tree(MergeProblem& problem, Linkage linkage, Merger& merger, Tree& tree, const Control& control) {
    tree.start(problem.volume);
    for (const Pair& p : merger.run(problem, linkage, control)) tree.merge(p.a, p.b, p.c);
    tree.close();
    SEPOOL_ASSERT(is_sound(tree));
}

}  // namespace sepool
