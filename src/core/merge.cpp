#include "merge.hpp"

#include <algorithm>

namespace sepool {
namespace {

// Up to this many steps (merges times pairs) a plain scan beats heap and hash tables.
constexpr std::int64_t kScanLimit = 60'000;

// Part by part: a pair put together elsewhere and copied as a whole would wait for its parts to be written.
void append(std::vector<Pair>& pairs, Node a, Node b, Weight c) {
    pairs.emplace_back();
    Pair& p = pairs.back();
    p.a = a, p.b = b, p.c = c;
}

}  // namespace

void fill_problem(const GraphView& graph, MergeProblem& problem) {
    const Node n = graph.num_nodes;
    problem.volume.resize(n);
    problem.pairs.clear();
    problem.pairs.reserve(static_cast<std::size_t>(graph.num_arcs()) / 2);
    problem.total = 0;
    for (Node u = 0; u < n; ++u) {
        problem.volume[u] = graph.degree(u) + graph.loop(u);
        problem.total += problem.volume[u];
        for (Edge e = graph.indptr[u]; e < graph.indptr[u + 1]; ++e)
            if (graph.indices[e] > u) append(problem.pairs, u, graph.indices[e], graph.weight(e));
    }
}

bool is_small_problem(std::int64_t clusters, std::int64_t pairs) { return clusters * pairs <= kScanLimit; }

const std::vector<Pair>& Merger::run(MergeProblem& problem, Linkage linkage, const Control& control) {
    merges_.clear();
    if (is_small_problem(static_cast<std::int64_t>(problem.volume.size()), static_cast<std::int64_t>(problem.pairs.size())))
        fits_masks(static_cast<Node>(problem.volume.size())) ? merge_by_masks(problem, linkage, merges_) : run_small(problem, linkage);
    else merge_by_heap(problem, linkage, merges_, control);
    return merges_;
}

// No heap, no hash: the keys of all pairs stand in one array, -1 for pairs that are gone, and the largest is looked up
// anew for each merge. Each pair is entered with its two ends in the lists of its clusters: entry 2i and 2i + 1 of pair i.
void Merger::run_small(MergeProblem& problem, Linkage linkage) {
    const auto n = static_cast<Node>(problem.volume.size());
    const auto m = static_cast<Node>(problem.pairs.size());
    const double log_total = Log2()(problem.total);
    name_.resize(n), head_.assign(n, -1), slot_.assign(n, -1);
    key_.resize(m), weight_.resize(m), end_.resize(2 * m), next_.resize(2 * m);
    Weight* const volume = problem.volume.data();
    Weight* const weight = weight_.data();
    double* const key = key_.data();
    Node* const name = name_.data();
    Node* const head = head_.data();
    Node* const slot = slot_.data();
    Node* const end = end_.data();
    Node* const next = next_.data();
    for (Node u = 0; u < n; ++u) name[u] = u;
    for (Node i = 0; i < m; ++i) {
        const Pair& p = problem.pairs[i];
        weight[i] = p.c;
        end[2 * i] = p.a, end[2 * i + 1] = p.b;
        next[2 * i] = head[p.a], head[p.a] = 2 * i;
        next[2 * i + 1] = head[p.b], head[p.b] = 2 * i + 1;
        key[i] = linkage_key(linkage, p.c, volume[p.a], volume[p.b], log_total);
    }
    for (Node made = n;; ++made) {
        const Node best = largest_key();
        if (best < 0) return;
        const Node a = end[2 * best], b = end[2 * best + 1];
        append(merges_, name[a], name[b], weight[best]);
        name[a] = made;
        volume[a] += volume[b];
        key[best] = -1;
        // One list of both: pairs with a common neighbour become one pair.
        Node list = -1;
        for (const Node cluster : {a, b}) {
            for (Node e = head[cluster], after; e >= 0; e = after) {
                after = next[e];
                const Node i = e >> 1, other = end[e ^ 1];
                if (key[i] < 0) continue;
                if (slot[other] >= 0) {
                    weight[slot[other]] += weight[i];
                    key[i] = -1;
                    continue;
                }
                slot[other] = i;
                end[e] = a;
                next[e] = list;
                list = e;
            }
        }
        head[a] = list;
        for (Node e = list; e >= 0; e = next[e]) {
            const Node other = end[e ^ 1];
            slot[other] = -1;
            key[e >> 1] = linkage_key(linkage, weight[e >> 1], volume[a], volume[other], log_total);
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
