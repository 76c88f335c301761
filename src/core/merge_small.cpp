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

}  // namespace

bool fits_masks(const MergeProblem& problem) { return problem.volume.size() <= kMaskBits; }

void merge_by_masks(MergeProblem& problem, Linkage linkage, std::vector<Pair>& merges) {
    const auto n = static_cast<Node>(problem.volume.size());
    const auto m = static_cast<Node>(problem.pairs.size());
    const double log_total = Log2()(problem.total);
    Weight* const volume = problem.volume.data();
    // Pair m stands for all that do not exist: its weight is 0, its key that of pairs that are gone.
    Weight weight[kPlaces + 1];
    double key[kPlaces + 5];
    std::uint8_t end[kPlaces + 1][2];
    std::uint16_t pair[kMaskBits][kMaskBits];
    Mask near[kMaskBits];
    Node name[kMaskBits];
    const Node padded = (m + 4) & ~3;
    std::fill(key + m, key + padded, -1.0);
    weight[m] = 0;
    for (Node u = 0; u < n; ++u) {
        name[u] = u, near[u] = 0;
        std::fill_n(pair[u], n, static_cast<std::uint16_t>(m));
    }
    const auto enter = [&](Node i, Node a, Node b, Weight c) {
        weight[i] = c;
        end[i][0] = static_cast<std::uint8_t>(a), end[i][1] = static_cast<std::uint8_t>(b);
        pair[a][b] = pair[b][a] = static_cast<std::uint16_t>(i);
        key[i] = with_place(linkage_key(linkage, c, volume[a], volume[b], log_total), i);
    };
    for (Node i = 0; i < m; ++i) {
        const Pair& p = problem.pairs[i];
        near[p.a] |= bit(p.b), near[p.b] |= bit(p.a);
        enter(i, p.a, p.b, p.c);
    }
    merges.resize(n);
    Node made = 0;
    for (double top; (top = largest(key, padded)) >= 0; ++made) {
        const Node best = place_of(top), a = end[best][0], b = end[best][1];
        Pair& merge = merges[made];
        merge.a = name[a], merge.b = name[b], merge.c = weight[best];
        name[a] = n + made;
        volume[a] += volume[b];
        key[best] = -1;
        near[a] = (near[a] | near[b]) & ~(bit(a) | bit(b));
        for (Mask left = near[a]; left; left = without_least(left)) {
            const int x = least(left);
            const Node i = pair[a][x], j = pair[b][x];
            near[x] = (near[x] | bit(a)) & ~bit(b);
            key[std::max(i, j)] = -1;
            enter(std::min(i, j), a, x, weight[i] + weight[j]);
        }
    }
    merges.resize(made);
}

}  // namespace sepool
