#include "stages/fill.hpp"

#include <algorithm>
#include <stdexcept>

#include "log2.hpp"
#include "prefetch.hpp"
#include "small/small.hpp"

namespace sepool {
namespace {

constexpr Node kAhead = 32;  // nodes from one that is asked for to the one at hand

}  // namespace

void check_rise(Node rise, int height) {
    if (rise > height) throw std::logic_error("a compressed tree is higher than asked for");
}

double Filler::run(const Tree& tree, const std::vector<char>& keep, int height, const GraphView& graph, const Node* name, Levels& out) {
    if (small::fits(tree)) {
        rise_ = small::fill(tree, keep, height, graph, name, out);
        return out.entropy.back();
    }
    const Node n = tree.num_leaves, size = tree.size(), root = tree.root();
    const auto name_of = [name](Node u) { return name ? name[u] : u; };
    // Number the kept nodes from the root down; near_[t - n] is the lowest kept node at or above the inner node t.
    near_.resize(size - n);
    Node count = 0;
    for (Node t = root; t >= n; --t) {
        if (static_cast<std::size_t>(count) == kept_.size()) kept_.resize(kept_.size() * 3 / 2 + 16);
        if (t - kAhead >= n) prefetch(&near_[tree.parent[t - kAhead] - n]);
        const Node above = t == root ? -1 : near_[tree.parent[t] - n];
        Kept& k = kept_[count];  // written for every node, but counts only if the node is kept: no branch for the processor to guess
        k.above = above, k.first = n, k.rise = k.number = 0;
        k.volume = tree.volume[t], k.inside = k.loops = 0;
        near_[t - n] = keep[t] ? count : above;
        count += keep[t];
        kept_[near_[t - n]].inside += tree.cut[t];
    }
    // Leaves pass their first node, their loops and the height 1 up to their parents, and these further.
    leaf_of_.resize(n), above_.resize(n);
    for (Node u = 0; u < n; ++u) {
        if (u + kAhead < n) prefetch(&near_[tree.parent[u + kAhead] - n]);
        above_[u] = near_[tree.parent[u] - n];
    }
    for (Node u = 0; u < n; ++u) {
        if (u + kAhead < n) prefetch(&kept_[above_[u + kAhead]]);
        Kept& k = kept_[above_[u]];
        const Node first = name_of(u);
        leaf_of_[first] = u;
        k.first = std::min(k.first, first);
        k.loops += graph.loop(first);
        k.rise = std::max(k.rise, Node{1});
    }
    for (Node i = count - 1; i > 0; --i) {
        const Kept& k = kept_[i];
        Kept& up = kept_[k.above];
        up.first = std::min(up.first, k.first);
        up.rise = std::max(up.rise, k.rise + 1);
        up.inside += k.inside;
        up.loops += k.loops;
    }
    rise_ = kept_[0].rise;
    check_rise(rise_, height);
    kept_[0].rise = height;

    // The kept nodes of every level by first leaf: each is on the levels from its own up to its parent's. Leaves that
    // stand above level 0 are entered as -1 - leaf.
    level_.resize(height + 1);
    for (auto& l : level_) l.clear();
    for (Node v = 0; v < n; ++v) {
        if (v + kAhead < n) prefetch(&kept_[above_[leaf_of_[v + kAhead]]]);
        const Node u = leaf_of_[v];
        Node above = above_[u];
        for (Node l = 1; l < kept_[above].rise; ++l) level_[l].push_back(-1 - u);
        for (Node k = above; k > 0 && kept_[k].first == v; k = above) {
            above = kept_[k].above;
            for (Node l = kept_[k].rise; l < kept_[above].rise; ++l) level_[l].push_back(k);
        }
    }
    level_[height].push_back(0);

    std::size_t total = static_cast<std::size_t>(n);
    for (int l = 0; l <= height; ++l) {
        if (l > 0) total += level_[l].size();
        out.count.push_back(l == 0 ? n : static_cast<std::int64_t>(level_[l].size()));
    }
    const std::size_t parent_base = out.parent.size(), base = out.volume.size();
    out.parent.resize(parent_base + total - 1), out.volume.resize(base + total), out.boundary.resize(base + total);

    // From the root down: sort each level by the parent's number, stably. number_[u] is where leaf u stands on the level just
    // done, for leaves that stand above level 0.
    number_.resize(n);
    const auto above_of = [&](Node node) { return node < 0 ? above_[-1 - node] : kept_[node].above; };
    const auto number_of = [&](Node node) -> Node& { return node < 0 ? number_[-1 - node] : kept_[node].number; };
    const auto parent_of = [&](Node node, int l) {  // the node's parent on level l + 1, where it may stand itself
        const Node above = above_of(node);
        return kept_[above].rise == l + 1 ? above : node;
    };
    const auto write = [&](std::size_t at, Node node) {
        if (node < 0) {
            out.volume[base + at] = tree.volume[-1 - node];
            out.boundary[base + at] = tree.volume[-1 - node] - graph.loop(name_of(-1 - node));
        } else {
            out.volume[base + at] = kept_[node].volume;
            out.boundary[base + at] = kept_[node].volume - kept_[node].loops - 2 * kept_[node].inside;
        }
    };
    std::size_t at = total - 1;
    kept_[0].number = 0;
    write(at, 0);
    for (int l = height - 1; l > 0; --l) {
        std::vector<Node>& nodes = level_[l];
        at -= nodes.size();
        begin_.assign(level_[l + 1].size() + 1, 0);
        for (const Node node : nodes) ++begin_[number_of(parent_of(node, l)) + 1];
        for (std::size_t i = 1; i < begin_.size(); ++i) begin_[i] += begin_[i - 1];
        for (Node& node : nodes) {
            // The number on the level above is read before the one on this level is written: a node may stand on both.
            const Node up = number_of(parent_of(node, l)), i = begin_[up]++;
            out.parent[parent_base + at + i] = up;
            write(at + i, node);
            number_of(node) = i;
        }
    }
    for (Node v = 0; v < n; ++v) {
        if (v + kAhead < n) prefetch(&kept_[above_[leaf_of_[v + kAhead]]]);
        const Node leaf = -1 - leaf_of_[v];
        out.parent[parent_base + v] = number_of(parent_of(leaf, 0));
        write(v, leaf);
    }

    // H = sum over all nodes but the root of g_t / V * log2(v_parent / v_t): no term is negative.
    const Log2 log2;
    double sum = 0;
    for (Node u = 0; u < n; ++u) {
        if (u + kAhead < n) prefetch(&kept_[above_[u + kAhead]]);
        const Weight leaving = tree.volume[u] - graph.loop(name_of(u));
        if (leaving > 0) sum += static_cast<double>(leaving) * (log2(kept_[above_of(-1 - u)].volume) - log2(tree.volume[u]));
    }
    for (Node i = 1; i < count; ++i) {
        const Kept& k = kept_[i];
        const Weight leaving = k.volume - k.loops - 2 * k.inside;
        if (leaving > 0) sum += static_cast<double>(leaving) * (log2(kept_[k.above].volume) - log2(k.volume));
    }
    const double entropy = tree.volume[root] > 0 ? sum / static_cast<double>(tree.volume[root]) : 0;
    out.entropy.push_back(entropy);
    return entropy;
}

}  // namespace sepool
