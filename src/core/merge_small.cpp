// MERGE of at most 64 clusters. Sets of clusters are words of bits and the pairs stand in a square table, so a merge is a
// loop over the neighbours of two clusters, and what is done for each needs no decision.

#include <algorithm>
#include <cstring>
#include <limits>

#include "masks.hpp"
#include "merge.hpp"

namespace sepool {
namespace {

constexpr int kPlaceBits = 11;  // enough for all pairs of 64 clusters
constexpr std::uint64_t kPlaces = (1 << kPlaceBits) - 1;

// The key with the place of its pair in the lowest digits: one maximum finds both. Of keys equal to 2^-41, which are ties
// but for rounding, the first wins.
double with_place(double key, Node place) {
    key = std::max(key, std::numeric_limits<double>::min());  // a denormal number might be flushed to 0, and its place with it
    std::uint64_t digits;
    std::memcpy(&digits, &key, sizeof digits);
    digits = (digits & ~kPlaces) | (kPlaces - static_cast<std::uint64_t>(place));
    std::memcpy(&key, &digits, sizeof key);
    return key;
}

Node place_of(double key) {
    std::uint64_t digits;
    std::memcpy(&digits, &key, sizeof digits);
    return static_cast<Node>(kPlaces - (digits & kPlaces));
}

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
            const Node best = place_of(top), a = end_[best][0], b = end_[best][1];
            Pair& merge = merges_[made];
            merge.a = name_[a], merge.b = name_[b], merge.c = weight_[best];
            name_[a] = n_ + made;
            volume_[a] += volume_[b], size_[a] = static_cast<double>(volume_[a]);
            key_[best] = -1;
            near_[a] = (near_[a] | near_[b]) & ~(bit(a) | bit(b));
            for (Mask left = near_[a]; left; left = without_least(left)) {
                const int x = least(left);
                const Node i = pair_[a][x], j = pair_[b][x], first = i < j ? i : j;
                near_[x] = (near_[x] | bit(a)) & ~bit(b);
                key_[i + j - first] = -1;
                enter(first, a, x, weight_[i] + weight_[j]);
            }
        }
        merges_.resize(made);
    }

private:
    void enter(Node i, Node a, Node b, Weight c) {
        weight_[i] = c;
        end_[i][0] = static_cast<std::uint8_t>(a), end_[i][1] = static_cast<std::uint8_t>(b);
        pair_[a][b] = pair_[b][a] = static_cast<std::uint16_t>(i);
        // linkage_key, but the smaller volume is found among numbers that are converted already: no branch.
        double key = static_cast<double>(c) * (log_total_ - Log2()(volume_[a] + volume_[b]));
        if (linkage == Linkage::relative) key /= size_[a] < size_[b] ? size_[a] : size_[b];
        key_[i] = with_place(key, i);
    }

    Node n_, m_, padded_;
    double log_total_;
    std::vector<Pair>& merges_;
    // Pair m stands for all that do not exist: its weight is 0, its key that of pairs that are gone.
    Weight weight_[kPlaces + 1];
    double key_[kPlaces + 5];
    std::uint8_t end_[kPlaces + 1][2];
    std::uint16_t pair_[kMaskBits][kMaskBits];
    Mask near_[kMaskBits];
    Node name_[kMaskBits];
    Weight volume_[kMaskBits];
    double size_[kMaskBits];  // the volumes once more
};

}  // namespace

bool fits_masks(Node clusters) { return clusters <= kMaskBits; }

void fill_problem(const GraphView& graph, const Node* order, MergeProblem& problem) {
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

void merge_by_masks(const MergeProblem& problem, Linkage linkage, std::vector<Pair>& merges) {
    if (linkage == Linkage::gain) SmallMerge<Linkage::gain>(problem, merges).run();
    else SmallMerge<Linkage::relative>(problem, merges).run();
}

}  // namespace sepool
