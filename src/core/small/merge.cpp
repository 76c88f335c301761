// MERGE of at most 64 clusters. Sets of clusters are words of bits and the pairs stand in a square table, so a merge is a
// loop over the neighbours of two clusters, without a decision for any of them.

#include <algorithm>

#include "small/masks.hpp"
#include "small/small.hpp"
#include "stages/merge.hpp"

namespace sepool::small {
namespace {

constexpr int kMostPairs = kMaskBits * (kMaskBits - 1) / 2;

// Four maxima at a time: they do not wait for each other. The length is a multiple of four.
double largest(const double* key, Node length) {
    double top[4] = {-1, -1, -1, -1};
    for (Node i = 0; i < length; i += 4)
        for (int j = 0; j < 4; ++j) top[j] = top[j] < key[i + j] ? key[i + j] : top[j];
    const double a = top[0] < top[1] ? top[1] : top[0], b = top[2] < top[3] ? top[3] : top[2];
    return a < b ? b : a;
}

template <Linkage linkage>
class SmallMerge {
public:
    SmallMerge(const MergeProblem& problem, std::vector<Pair>& merges)
        : n_(static_cast<Node>(problem.volume.size())), m_(static_cast<Node>(problem.pairs.size())), padded_((m_ + 4) & ~3),
          log_total_(Log2()(problem.total)), merges_(merges) {
        std::fill(key_ + m_, key_ + padded_, -1.0);
        weight_[m_] = 0;
        const int row = n_ <= kMaskBits / 2 ? kMaskBits / 2 : kMaskBits;
        for (Node u = 0; u < n_; ++u) {
            std::fill_n(pair_[u], row, static_cast<std::uint16_t>(m_));
            name_[u] = u, near_[u] = 0;
            volume_[u] = problem.volume[u], size_[u] = static_cast<double>(problem.volume[u]);
        }
        for (Node i = 0; i < m_; ++i) {
            const Pair& p = problem.pairs[i];
            near_[p.a] |= bit(p.b), near_[p.b] |= bit(p.a);
            enter(i, p.a, p.b, p.c);
        }
    }

    void run() {
        merges_.resize(n_);
        Node made = 0;
        for (double top; (top = largest(key_, padded_)) >= 0; ++made) {
            const auto best = static_cast<Node>(std::find(key_, key_ + m_, top) - key_);  // the first: ties go by position
            const Node a = end_[best][0], b = end_[best][1];
            Pair& merge = merges_[made];
            merge.a = name_[a], merge.b = name_[b], merge.c = weight_[best];
            name_[a] = n_ + made;
            volume_[a] += volume_[b], size_[a] = static_cast<double>(volume_[a]);
            key_[best] = -1;
            near_[a] = (near_[a] | near_[b]) & ~(bit(a) | bit(b));
            for (Mask left = near_[a]; left; left = without_least(left)) {
                const int x = least(left);
                const Node i = pair_[a][x], j = pair_[b][x], lower = i < j ? i : j;
                near_[x] = (near_[x] | bit(a)) & ~bit(b);
                key_[i + j - lower] = -1;
                enter(lower, a, x, weight_[i] + weight_[j]);
            }
        }
        merges_.resize(made);
    }

private:
    void enter(Node i, Node a, Node b, Weight c) {
        weight_[i] = c;
        end_[i][0] = static_cast<std::uint8_t>(a), end_[i][1] = static_cast<std::uint8_t>(b);
        pair_[a][b] = pair_[b][a] = static_cast<std::uint16_t>(i);
        // linkage_key with the smaller of two volumes that are converted already: no branch.
        double factor = static_cast<double>(c);
        if (linkage == Linkage::relative) factor /= size_[a] < size_[b] ? size_[a] : size_[b];
        key_[i] = factor * (log_total_ - Log2()(volume_[a] + volume_[b]));
    }

    Node n_, m_, padded_;
    double log_total_;
    std::vector<Pair>& merges_;
    // Pair i has the position i; pairs of two joined clusters become the first of them. Pair m stands for all that do not
    // exist: its weight is 0, its key that of pairs that are gone.
    Weight weight_[kMostPairs + 1];
    double key_[kMostPairs + 4];
    std::uint8_t end_[kMostPairs + 1][2];
    std::uint16_t pair_[kMaskBits][kMaskBits];
    Mask near_[kMaskBits];
    Node name_[kMaskBits];
    Weight volume_[kMaskBits];
    double size_[kMaskBits];  // the volumes once more
};

}  // namespace

void read_problem(const GraphView& graph, const Node* order, MergeProblem& problem) {
    const Node n = graph.num_nodes;
    int position[kMaskBits];
    Mask near[kMaskBits];
    Weight weight[kMaskBits];  // from the node at hand to every other
    for (Node i = 0; i < n; ++i) position[order[i]] = i, weight[i] = 1;
    fill_masks(graph, near, [&](Node u) { return position[u]; });
    problem.volume.resize(n);
    problem.pairs.resize(graph.num_arcs() / 2);
    problem.total = 0;
    Pair* p = problem.pairs.data();
    for (Node i = 0; i < n; ++i) {
        const Node u = order[i];
        problem.volume[i] = graph.degree(u) + graph.loop(u);
        problem.total += problem.volume[i];
        for (Edge e = graph.indptr[u]; graph.weights && e < graph.indptr[u + 1]; ++e) weight[position[graph.indices[e]]] = graph.weights[e];
        for (Mask later = near[u] & (~Mask{1} << i); later; later = without_least(later), ++p)
            p->a = i, p->b = least(later), p->c = weight[p->b];
    }
    problem.pairs.resize(p - problem.pairs.data());
}

void merge(const MergeProblem& problem, Linkage linkage, std::vector<Pair>& merges) {
    if (linkage == Linkage::gain) SmallMerge<Linkage::gain>(problem, merges).run();
    else SmallMerge<Linkage::relative>(problem, merges).run();
}

}  // namespace sepool::small
