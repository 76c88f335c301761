// Properties of all results of the core, checked without the core's own arithmetic.
#pragma once

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>

#include "build.hpp"

namespace fuzz {

using sepool::Edge;
using sepool::GraphView;
using sepool::Levels;
using sepool::Node;
using sepool::Tree;
using sepool::Weight;

inline void require(bool ok, const char* what) {
    if (!ok) throw std::logic_error(what);
}

inline bool near(double a, double b) { return std::abs(a - b) <= 1e-9 * std::max(1.0, std::abs(b)); }

inline double log2_or_0(Weight v) { return v > 0 ? std::log2(static_cast<double>(v)) : 0; }

// Rows are sorted, symmetric, without loops and repeats, in range, with weights above 0.
inline void check_rows(const GraphView& g) {
    for (Node u = 0; u < g.num_nodes; ++u) {
        require(g.indptr[u] <= g.indptr[u + 1], "rows fall");
        require(g.loop(u) >= 0, "a loop is negative");
        for (Edge e = g.indptr[u]; e < g.indptr[u + 1]; ++e) {
            const Node v = g.indices[e];
            require(v >= 0 && v < g.num_nodes && v != u, "a neighbour is out of range, or a loop");
            require(e == g.indptr[u] || g.indices[e - 1] < v, "a row is not sorted");
            require(g.weight(e) > 0, "an edge weighs nothing");
            const Node* end = g.indices + g.indptr[v + 1];
            const Node* back = std::lower_bound(g.indices + g.indptr[v], end, u);
            require(back != end && *back == u && g.weight(back - g.indices) == g.weight(e), "rows are not symmetric");
        }
    }
}

inline Weight total_volume(const GraphView& g) {
    Weight sum = 0;
    for (Node u = 0; u < g.num_nodes; ++u) sum += g.degree(u) + g.loop(u);
    return sum;
}

// Leaves first, children before parents, the root last; volumes add up, and every cut is the weight of the edges whose
// lowest common ancestor the node is.
inline void check_merge_tree(const Tree& tree, const GraphView& g) {
    const Node size = tree.size(), n = g.num_nodes;
    require(tree.num_leaves == n && size > n && size <= 2 * n + 1, "the tree has an odd size");
    require(tree.volume.size() == tree.parent.size() && tree.cut.size() == tree.parent.size(), "lengths of the tree differ");
    std::vector<Weight> volume(size, 0), cut(size, 0);
    for (Node u = 0; u < n; ++u) volume[u] = g.degree(u) + g.loop(u);
    for (Node t = 0; t < size; ++t) {
        require(t == size - 1 ? tree.parent[t] == -1 : tree.parent[t] > t && tree.parent[t] >= n && tree.parent[t] < size,
                "a parent is wrong");
        require(volume[t] == tree.volume[t], "volumes do not add up");
        if (t < size - 1) volume[tree.parent[t]] += volume[t];
    }
    for (Node u = 0; u < n; ++u) {
        for (Edge e = g.indptr[u]; e < g.indptr[u + 1]; ++e) {
            if (g.indices[e] < u) continue;
            Node a = u, b = g.indices[e];
            while (a != b) (a < b ? a : b) = tree.parent[a < b ? a : b];
            cut[a] += g.weight(e);
        }
    }
    require(cut == tree.cut, "a cut is not the weight between the children");
}

inline void check_keep(const Tree& tree, const std::vector<char>& keep, int height) {
    require(keep.size() == tree.parent.size() && keep.back() == 1, "the root is not kept");
    std::vector<int> depth(keep.size(), 1);
    for (Node t = tree.size() - 2; t >= 0; --t) {
        require(t >= tree.num_leaves || !keep[t], "a leaf is kept");
        depth[t] = depth[tree.parent[t]] + (keep[t] ? 1 : 0);
        require(depth[t] <= height, "a path is longer than the height");
    }
}

// The part of V * H that stage 2 decides on: twice the sum of cut times log volume of the nearest kept node.
inline double cost(const Tree& tree, const std::vector<char>& keep) {
    std::vector<double> seen(keep.size());
    double sum = 0;
    for (Node t = tree.size() - 1; t >= tree.num_leaves; --t) {
        seen[t] = keep[t] ? log2_or_0(tree.volume[t]) : seen[tree.parent[t]];
        sum += 2 * static_cast<double>(tree.cut[t]) * seen[t];
    }
    return sum;
}

// `out` holds one tree: heights exact, no empty cluster, assignments sorted above level 1, volumes and cuts those of the graph, H that of
// Eq. 3.
inline void check_levels(const Levels& out, const GraphView& g, int height) {
    const Node n = g.num_nodes;
    require(static_cast<int>(out.count.size()) == height + 1 && out.count[0] == n && out.count[height] == 1, "wrong counts");
    std::size_t nodes = 0;
    for (const auto c : out.count) nodes += static_cast<std::size_t>(c);
    require(out.parent.size() == nodes - 1 && out.volume.size() == nodes && out.boundary.size() == nodes, "wrong lengths");
    std::vector<Node> label(n);
    for (Node u = 0; u < n; ++u) label[u] = u;
    const auto total = static_cast<double>(total_volume(g));
    double entropy = 0;
    std::size_t at = 0;
    for (int l = 0; l <= height; ++l) {
        std::vector<Weight> volume(out.count[l], 0), cut(out.count[l], 0);
        for (Node u = 0; u < n; ++u) {
            volume[label[u]] += g.degree(u) + g.loop(u);
            for (Edge e = g.indptr[u]; e < g.indptr[u + 1]; ++e)
                if (label[g.indices[e]] != label[u]) cut[label[u]] += g.weight(e);
        }
        require(std::equal(volume.begin(), volume.end(), out.volume.begin() + at), "volumes of a level are wrong");
        require(std::equal(cut.begin(), cut.end(), out.boundary.begin() + at), "cuts of a level are wrong");
        if (l == height) break;
        const Node* parent = out.parent.data() + at;
        const Weight* above = out.volume.data() + at + out.count[l];
        std::vector<Node> first(out.count[l + 1], -1);
        for (Node i = 0; i < out.count[l]; ++i) {
            require(parent[i] >= 0 && parent[i] < out.count[l + 1], "a parent is out of range");
            require(l == 0 || i == 0 || parent[i - 1] <= parent[i], "an assignment is not sorted");
            if (first[parent[i]] < 0) first[parent[i]] = i;
            if (cut[i] > 0) entropy += static_cast<double>(cut[i]) / total * (log2_or_0(above[parent[i]]) - log2_or_0(volume[i]));
        }
        require(std::find(first.begin(), first.end(), -1) == first.end(), "a cluster is empty");
        for (Node u = 0; u < n; ++u) label[u] = parent[label[u]];
        at += static_cast<std::size_t>(out.count[l]);
    }
    require(out.entropy.size() == 1 && out.entropy[0] >= 0 && near(out.entropy[0], entropy), "the entropy is wrong");
}

// Puts the trees of `from` behind those of `to`.
inline void append(Levels& to, const Levels& from) {
    const auto add = [](auto& a, const auto& b) { a.insert(a.end(), b.begin(), b.end()); };
    add(to.count, from.count), add(to.parent, from.parent), add(to.volume, from.volume), add(to.boundary, from.boundary);
    add(to.entropy, from.entropy);
}

inline bool same(const Levels& a, const Levels& b) {
    return a.count == b.count && a.parent == b.parent && a.volume == b.volume && a.boundary == b.boundary && a.entropy == b.entropy;
}

}  // namespace fuzz
