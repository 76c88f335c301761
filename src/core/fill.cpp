#include "fill.hpp"

#include <algorithm>
#include <stdexcept>

namespace sepool {

void fill(const Tree& tree, const std::vector<char>& keep, int height, const GraphView& graph, const Node* name, Levels& out) {
    const Node n = tree.num_leaves, size = tree.size(), root = tree.root();
    // Nearest kept ancestor; weight leaving a node; first leaf below, in the caller's numbers; height above the leaves.
    std::vector<Node> above(size, -1), first(size), node_of(n), rise(size, 0);
    std::vector<Weight> leaving(size, 0);
    for (Node t = root - 1; t >= 0; --t) above[t] = keep[tree.parent[t]] ? tree.parent[t] : above[tree.parent[t]];
    for (Node t = 0; t < size; ++t) {
        if (t < n) {
            first[t] = name ? name[t] : t;
            node_of[first[t]] = t;
            leaving[t] = tree.volume[t] - graph.loop(t);
        } else {
            leaving[t] -= 2 * tree.cut[t];
        }
        if (t == root) break;
        leaving[tree.parent[t]] += leaving[t];
    }
    std::fill(first.begin() + n, first.end(), n);
    for (Node t = 0; t < root; ++t) first[tree.parent[t]] = std::min(first[tree.parent[t]], first[t]);
    for (Node t = 0; t < root; ++t)
        if (t < n || keep[t]) rise[above[t]] = std::max(rise[above[t]], rise[t] + 1);
    if (rise[root] > height) throw std::logic_error("a compressed tree is higher than asked for");
    rise[root] = height;

    // The nodes of every level by first leaf: each kept node stands on the levels from its own up to its parent's.
    std::vector<std::vector<Node>> level(height + 1);
    for (Node u = 0; u < n; ++u) {
        for (Node t = node_of[u]; t != root && first[t] == u; t = above[t])
            for (Node l = rise[t]; l < rise[above[t]]; ++l) level[l].push_back(t);
    }
    level[height].push_back(root);

    out.count.resize(height + 1);
    std::size_t total = 0;
    for (int l = 0; l <= height; ++l) total += out.count[l] = static_cast<Node>(level[l].size());
    out.parent.resize(total - 1), out.volume.resize(total), out.cut.resize(total);

    // From the root down: sort each level by the parent's number, stably.
    std::vector<Node> number(size), sorted, begin;  // number: of a tree node on the level just done
    std::size_t at = total - 1;
    number[root] = 0;
    out.volume[at] = tree.volume[root], out.cut[at] = leaving[root];
    for (int l = height - 1; l >= 0; --l) {
        const auto parent_of = [&](Node t) { return rise[above[t]] == l + 1 ? above[t] : t; };
        const Node count = out.count[l];
        at -= static_cast<std::size_t>(count);
        std::vector<Node>& nodes = level[l];
        if (l > 0) {
            begin.assign(out.count[l + 1] + 1, 0);
            for (const Node t : nodes) ++begin[number[parent_of(t)] + 1];
            for (Node i = 0; i < out.count[l + 1]; ++i) begin[i + 1] += begin[i];
            sorted.resize(count);
            for (const Node t : nodes) sorted[begin[number[parent_of(t)]]++] = t;
            nodes.swap(sorted);
        }
        // A node that also stands on the level above has its number there: read it before the new one is written.
        for (Node i = 0; i < count; ++i) out.parent[at + i] = number[parent_of(nodes[i])];
        for (Node i = 0; i < count; ++i) {
            number[nodes[i]] = i;
            out.volume[at + i] = tree.volume[nodes[i]];
            out.cut[at + i] = leaving[nodes[i]];
        }
    }

    // H = sum over all nodes but the root of g_t / V * log2(v_parent / v_t): no term is negative.
    const Log2 log2;
    double sum = 0;
    for (Node t = 0; t < root; ++t)
        if ((t < n || keep[t]) && leaving[t] > 0)
            sum += static_cast<double>(leaving[t]) * (log2(tree.volume[above[t]]) - log2(tree.volume[t]));
    out.entropy = tree.volume[root] > 0 ? sum / static_cast<double>(tree.volume[root]) : 0;
}

}  // namespace sepool
