// Invariants of the stages, for SEPOOL_ASSERT.
#pragma once

#include <vector>

#include "types.hpp"

namespace sepool {

inline bool is_permutation(const std::vector<Node>& order, Node n) {
    std::vector<char> present(n, 0);
    for (const Node u : order)
        if (u < 0 || u >= n || present[u]++) return false;
    return static_cast<Node>(order.size()) == n;
}

// Leaves first, children before parents, the root last; volumes add up and cuts are not negative.
inline bool is_sound(const Tree& tree) {
    const Node size = tree.size(), n = tree.num_leaves;
    if (size <= n || tree.parent[tree.root()] != -1) return false;
    std::vector<Weight> sum(size, 0);
    for (Node t = 0; t < size; ++t) {
        if (t >= n && sum[t] != tree.volume[t]) return false;
        if (tree.volume[t] < 0 || tree.cut[t] < 0 || (t < n && tree.cut[t] != 0)) return false;
        if (t == tree.root()) break;
        const Node p = tree.parent[t];
        if (p <= t || p < n || p >= size) return false;
        sum[p] += tree.volume[t];
    }
    return true;
}

// The root stays, leaves are not among the nodes that may stay, and no path is longer than the height.
inline bool respects_height(const Tree& tree, const std::vector<char>& keep, int height) {
    if (static_cast<Node>(keep.size()) != tree.size() || !keep[tree.root()]) return false;
    std::vector<int> depth(tree.size(), 1);
    for (Node t = tree.root() - 1; t >= 0; --t) {
        depth[t] = depth[tree.parent[t]] + keep[t];
        if (depth[t] > height || (t < tree.num_leaves && keep[t])) return false;
    }
    return true;
}

}  // namespace sepool
