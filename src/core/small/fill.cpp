// FILL of small trees. Every level is a row of bytes with the cluster of each leaf; the clusters of a level are numbered along
// its row. The same result as in stages/fill.cpp, but without a decision for any leaf.

#include <algorithm>
#include <cstring>

#include "log2.hpp"
#include "small/small.hpp"
#include "stages/fill.hpp"

namespace sepool::small {
namespace {

constexpr int kMost = kMostNodes;  // leaves, and as many inner nodes

class SmallFill {
public:
    // Nodes that stay are numbered from the root down, behind the leaves. `leaving` has first what does not leave: inner edges
    // twice, and loops.
    SmallFill(const Tree& tree, const std::vector<char>& keep, const GraphView& graph, const Node* name) : n_(tree.num_leaves) {
        Byte near[kMost];  // the lowest node that stays at or above an inner node
        for (Node t = tree.root(); t >= n_; --t) {
            const Byte up = t == tree.root() ? kRoot : near[tree.parent[t] - n_];
            // Written for every node, but counts only if the node stays: no branch for the processor to guess.
            volume_[end_] = tree.volume[t], leaving_[end_] = 0, above_[end_] = up, rise_[end_] = 1;
            near[t - n_] = keep[t] ? static_cast<Byte>(end_) : up;
            end_ += keep[t];
            leaving_[near[t - n_]] += 2 * tree.cut[t];
        }
        for (Node u = 0; u < n_; ++u) {
            const Node v = name ? name[u] : u;
            const Weight loop = graph.loop(v);
            stand_[0][v] = static_cast<Byte>(u);
            above_[u] = near[tree.parent[u] - n_];
            volume_[u] = tree.volume[u], leaving_[u] = tree.volume[u] - loop;
            leaving_[above_[u]] += loop;
        }
        for (int k = end_ - 1; k > kRoot; --k) {
            rise_[above_[k]] = std::max<Byte>(rise_[above_[k]], rise_[k] + 1);
            leaving_[above_[k]] += leaving_[k];
            leaving_[k] = volume_[k] - leaving_[k];
        }
        leaving_[kRoot] = volume_[kRoot] - leaving_[kRoot];
    }

    Node rise() const { return rise_[kRoot]; }

    void run(int height, Levels& out) {
        rise_[kRoot] = static_cast<Byte>(height);
        number_[height % 2][kRoot] = 0;
        count_[0] = n_, count_[height] = 1;
        node_[height][0] = kRoot;
        for (int l = 1; l <= height; ++l) climb(l);
        for (int l = height - 1; l > 0; --l) number(l);
        write(height, out);
    }

    double entropy() const {
        const Log2 log2;
        double sum = 0;
        const auto add = [&](int t) {
            if (leaving_[t] > 0) sum += static_cast<double>(leaving_[t]) * (log2(volume_[above_[t]]) - log2(volume_[t]));
        };
        for (Node u = 0; u < n_; ++u) add(u);
        for (int k = kRoot + 1; k < end_; ++k) add(k);
        return volume_[kRoot] > 0 ? sum / static_cast<double>(volume_[kRoot]) : 0;
    }

private:
    using Byte = std::uint8_t;  // a leaf, or a node that stays: kRoot and so on
    static constexpr Byte kRoot = kMost, kUnmet = 255;

    // Where the leaves stand on level l: where they stood below it, unless the next node begins here.
    void climb(int l) {
        for (Node v = 0; v < n_; ++v) {
            const Byte at = stand_[l - 1][v], up = above_[at];
            stand_[l][v] = rise_[up] == l ? up : at;
        }
    }

    // The nodes of level l as the leaves meet them, then sorted by the parent's number, stably.
    void number(int l) {
        const Byte* const above = number_[(l + 1) % 2];
        Byte* const here = number_[l % 2];
        Byte order[kMost + 1], parent[kMost + 1], begin[kMost + 1] = {};
        int count = 0;
        std::memset(here, kUnmet, sizeof number_[0]);
        for (Node v = 0; v < n_; ++v) {
            const Byte at = stand_[l][v];
            order[count] = at, parent[count] = above[stand_[l + 1][v]];
            count += here[at] == kUnmet;
            here[at] = 0;
        }
        for (int i = 0; i < count; ++i) ++begin[parent[i] + 1];
        for (int i = 1; i < count_[l + 1]; ++i) begin[i] += begin[i - 1];
        for (int i = 0; i < count; ++i) {
            const Byte to = begin[parent[i]]++;
            here[order[i]] = to;
            node_[l][to] = order[i], parent_[l][to] = parent[i];
        }
        count_[l] = count;
    }

    void write(int height, Levels& out) {
        std::size_t total = 0;
        for (int l = 0; l <= height; ++l) total += count_[l];
        const std::size_t parent_base = out.parent.size(), base = out.volume.size();
        out.parent.resize(parent_base + total - 1), out.volume.resize(base + total), out.boundary.resize(base + total);
        out.count.insert(out.count.end(), count_, count_ + height + 1);
        Node* parent = out.parent.data() + parent_base;
        Weight* volume = out.volume.data() + base;
        Weight* boundary = out.boundary.data() + base;
        for (Node v = 0; v < n_; ++v) *parent++ = number_[1][stand_[1][v]];
        for (int l = 1; l < height; ++l) parent = std::copy_n(parent_[l], count_[l], parent);
        for (int l = 0; l <= height; ++l) {
            const Byte* const nodes = l == 0 ? stand_[0] : node_[l];
            for (int i = 0; i < count_[l]; ++i) *volume++ = volume_[nodes[i]], *boundary++ = leaving_[nodes[i]];
        }
    }

    Node n_;
    int end_ = kRoot;                                        // behind the last node that stays
    Weight volume_[2 * kMost], leaving_[2 * kMost];
    Byte above_[2 * kMost], rise_[2 * kMost];                // rise_: the level of a node that stays
    Byte stand_[kMaxHeight + 1][kMost];                     // of leaves by the caller's numbers
    Byte number_[2][2 * kMost];                              // on the level at hand and on that above it
    Byte node_[kMaxHeight + 1][kMost], parent_[kMaxHeight + 1][kMost];  // the levels as they are written
    int count_[kMaxHeight + 1];
};

}  // namespace

Node fill(const Tree& tree, const std::vector<char>& keep, int height, const GraphView& graph, const Node* name, Levels& out) {
    SmallFill fill(tree, keep, graph, name);
    const Node rise = fill.rise();
    check_rise(rise, height);
    fill.run(height, out);
    out.entropy.push_back(fill.entropy());
    return rise;
}

}  // namespace sepool::small
