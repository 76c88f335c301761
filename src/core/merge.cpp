#include "merge.hpp"

#include <algorithm>

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

// No heap, no hash: the keys of all pairs stand in one array, -1 for pairs that are gone, and the largest is looked up
// anew for each merge. Each pair is entered with its two ends in the lists of its clusters: entry 2i and 2i + 1 of pair i.
void Merger::run_small(MergeProblem& problem, Linkage linkage) {
    const auto& pairs = problem.pairs;
    auto& volume = problem.volume;
    const auto n = static_cast<Node>(volume.size());
    const auto m = static_cast<Node>(pairs.size());
    const double log_total = Log2()(problem.total);

    name_.resize(n), head_.assign(n, -1), slot_.assign(n, -1);
    key_.resize(m), weight_.resize(m), end_.resize(2 * m), next_.resize(2 * m);
    for (Node u = 0; u < n; ++u) name_[u] = u;
    for (Node i = 0; i < m; ++i) {
        weight_[i] = pairs[i].c;
        end_[2 * i] = pairs[i].a, end_[2 * i + 1] = pairs[i].b;
        for (const Node e : {2 * i, 2 * i + 1}) next_[e] = head_[end_[e]], head_[end_[e]] = e;
        key_[i] = linkage_key(linkage, pairs[i].c, volume[pairs[i].a], volume[pairs[i].b], log_total);
    }
    for (;;) {
        const Node best = largest_key();
        if (best < 0) return;
        const Node a = end_[2 * best], b = end_[2 * best + 1];
        merges_.push_back({name_[a], name_[b], weight_[best]});
        name_[a] = n + static_cast<Node>(merges_.size()) - 1;
        volume[a] += volume[b];
        key_[best] = -1;
        // One list of both: pairs with a common neighbour become one pair.
        Node list = -1;
        for (const Node cluster : {a, b}) {
            for (Node e = head_[cluster], after; e >= 0; e = after) {
                after = next_[e];
                const Node i = e / 2, other = end_[e ^ 1];
                if (key_[i] < 0) continue;
                if (slot_[other] >= 0) {
                    weight_[slot_[other]] += weight_[i];
                    key_[i] = -1;
                    continue;
                }
                slot_[other] = i;
                end_[e] = a;
                next_[e] = list;
                list = e;
            }
        }
        head_[a] = list;
        for (Node e = list; e >= 0; e = next_[e]) {
            const Node other = end_[e ^ 1];
            slot_[other] = -1;
            key_[e / 2] = linkage_key(linkage, weight_[e / 2], volume[a], volume[other], log_total);
        }
    }
}

// The first of the largest keys, or -1 if all pairs are gone. Four maxima at a time: they do not wait for each other.
Node Merger::largest_key() const {
    const auto m = key_.size();
    double top[4] = {-1, -1, -1, -1};
    std::size_t i = 0;
    for (; i + 4 <= m; i += 4)
        for (int j = 0; j < 4; ++j) top[j] = std::max(top[j], key_[i + j]);
    for (; i < m; ++i) top[0] = std::max(top[0], key_[i]);
    const double best = std::max(std::max(top[0], top[1]), std::max(top[2], top[3]));
    if (best < 0) return -1;
    return static_cast<Node>(std::find(key_.begin(), key_.end(), best) - key_.begin());
}

}  // namespace sepool
