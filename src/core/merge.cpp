#include "merge.hpp"

namespace sepool {
namespace {

// Up to this many steps (merges times pairs) a plain scan beats heap and hash tables.
constexpr std::int64_t kScanLimit = 60'000;

}  // namespace

void fill_problem(const GraphView& graph, MergeProblem& problem) {
    const Node n = graph.num_nodes;
    problem.volume.resize(n);
    problem.pairs.clear();
    problem.total = 0;
    for (Node u = 0; u < n; ++u) {
        problem.volume[u] = graph.degree(u) + graph.loop(u);
        problem.total += problem.volume[u];
        for (Edge e = graph.indptr[u]; e < graph.indptr[u + 1]; ++e)
            if (graph.indices[e] > u) problem.pairs.push_back({u, graph.indices[e], graph.weight(e)});
    }
}

bool is_small_problem(std::int64_t clusters, std::int64_t pairs) { return clusters * pairs <= kScanLimit; }

const std::vector<Pair>& Merger::run(MergeProblem& problem, Linkage linkage, const Control& control) {
    merges_.clear();
    if (is_small_problem(static_cast<std::int64_t>(problem.volume.size()), static_cast<std::int64_t>(problem.pairs.size()))) run_small(problem, linkage);
    else merge_by_heap(problem, linkage, merges_, control);
    return merges_;
}

// One pass over the pairs a merge: the merged cluster's pairs are renamed, joined and rated anew, and the best is found.
void Merger::run_small(MergeProblem& problem, Linkage linkage) {
    auto& pairs = problem.pairs;
    auto& volume = problem.volume;
    const auto n = static_cast<Node>(volume.size());
    const double log_total = Log2()(problem.total);
    const auto rate = [&](const Pair& p) { return linkage_key(linkage, p.c, volume[p.a], volume[p.b], log_total); };

    name_.resize(n);
    for (Node u = 0; u < n; ++u) name_[u] = u;
    slot_.assign(n, -1);
    key_.resize(pairs.size());
    std::size_t best = 0;
    for (std::size_t i = 0; i < pairs.size(); ++i) {
        key_[i] = rate(pairs[i]);
        if (key_[i] > key_[best]) best = i;
    }
    while (!pairs.empty()) {
        const Node a = pairs[best].a, b = pairs[best].b;
        merges_.push_back({name_[a], name_[b], pairs[best].c});
        name_[a] = n + static_cast<Node>(merges_.size()) - 1;
        volume[a] += volume[b];

        touched_.clear();
        std::size_t kept = 0;
        best = 0;
        double best_key = -1;
        for (std::size_t i = 0; i < pairs.size(); ++i) {
            const Pair p = pairs[i];
            const bool at_a = p.a == a || p.a == b, at_b = p.b == a || p.b == b;
            if (at_a && at_b) continue;
            if (at_a || at_b) {
                const Node other = at_a ? p.b : p.a;
                if (slot_[other] >= 0) {
                    pairs[slot_[other]].c += p.c;
                    continue;
                }
                slot_[other] = static_cast<Node>(kept);
                touched_.push_back(other);
                pairs[kept++] = {a, other, p.c};
            } else {
                pairs[kept] = p;
                key_[kept] = key_[i];
                if (key_[kept] > best_key) best_key = key_[kept], best = kept;
                ++kept;
            }
        }
        pairs.resize(kept);
        for (const Node other : touched_) {
            const auto i = static_cast<std::size_t>(slot_[other]);
            slot_[other] = -1;
            key_[i] = rate(pairs[i]);
            if (key_[i] > best_key || (key_[i] == best_key && i < best)) best_key = key_[i], best = i;
        }
    }
}

}  // namespace sepool
