// Greedy compression, the paper's second stage to the letter.
//
// REMOVE of t under its parent p raises H by 2 cut(t) log2(v_p / v_t) / V. Removing other nodes only makes that dearer: p
// may go and leave a larger parent, and children that go add their cut to t's. So outdated entries of a heap are lower
// bounds and are rated again when they come up. The order of removals does not depend on the height, which only ends them: so
// the whole order comes first, then the number of removals that are needed.

#include <algorithm>
#include <queue>

#include "log2.hpp"
#include "stages/compress.hpp"

namespace sepool {

void remove_greedily(const Tree& tree, int height, std::vector<char>& keep, const Control& control) {
    const Node n = tree.num_leaves, size = tree.size(), root = tree.root();
    std::vector<Node> up(tree.parent);  // shortcuts to the nearest node that stays so far
    std::vector<Weight> cut(tree.cut);
    std::vector<Node> rank(size, size);  // when a node goes
    const Log2 log2;
    const auto gone = [&](Node t) { return rank[t] < size; };
    const auto rise = [&](Node t, Node p) { return static_cast<double>(cut[t]) * (log2(tree.volume[p]) - log2(tree.volume[t])); };

    using Entry = std::pair<double, Node>;
    std::vector<Entry> entries;
    for (Node t = n; t < root; ++t) entries.push_back({rise(t, tree.parent[t]), t});
    std::priority_queue<Entry, std::vector<Entry>, std::greater<Entry>> heap(std::greater<Entry>(), std::move(entries));
    Node removed = 0;
    for (std::int64_t step = 0; !heap.empty(); ++step) {
        if (step % 4096 == 0) control.check();
        const Node t = heap.top().second;
        heap.pop();
        Node p = up[t];
        while (gone(p)) {
            if (gone(up[p])) up[p] = up[up[p]];
            p = up[p];
        }
        up[t] = p;
        const Entry now{rise(t, p), t};
        if (!heap.empty() && now > heap.top()) {
            heap.push(now);
            continue;
        }
        rank[t] = removed++;
        cut[p] += cut[t];
    }

    // The fewest removals after which no path from the root to a leaf has more than `height` edges.
    std::vector<Node> depth(size);
    const auto low_enough = [&](Node removals) {
        depth[root] = 1;  // nodes that stay, the root included
        for (Node t = root - 1; t >= 0; --t) {
            depth[t] = depth[tree.parent[t]];
            if (t >= n && rank[t] >= removals && ++depth[t] > height) return false;
        }
        return true;
    };
    Node few = 0, many = removed;
    while (few < many) {
        const Node middle = few + (many - few) / 2;
        if (low_enough(middle)) many = middle;
        else few = middle + 1;
    }
    keep.assign(size, 0);
    keep[root] = 1;
    for (Node t = n; t < root; ++t) keep[t] = rank[t] >= few;
}

}  // namespace sepool
