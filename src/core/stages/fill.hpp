// Stage 3: FILL, which gives every leaf the same depth, and the tree as level-by-level arrays.
#pragma once

#include "pages.hpp"
#include "types.hpp"

namespace sepool {

// Trees level by level, one after the other. Level 0 are the graph's nodes, level `height` is the root alone. Clusters of a
// level are numbered so that siblings are neighbours and go by their first node.
struct Levels {
    std::vector<std::int64_t> count;  // nodes on each level, height + 1 of them a tree
    std::vector<Node> parent;         // levels 0 .. height - 1: index of the parent on the next level
    std::vector<Weight> volume;       // levels 0 .. height
    std::vector<Weight> boundary;     // levels 0 .. height: weight of the edges that leave
    std::vector<double> entropy;

    // Reserves `factor` times the present sizes.
    void reserve(double factor) {
        const auto more = [factor](auto& values) {
            reserve_on_large_pages(values, static_cast<std::size_t>(factor * static_cast<double>(values.size())));
        };
        more(count), more(parent), more(volume), more(boundary), more(entropy);
    }

    void clear() { count.clear(), parent.clear(), volume.clear(), boundary.clear(), entropy.clear(); }
};

class Filler {
public:
    // Appends the tree made of the kept nodes of `tree`. `name[u]` is the number of leaf u in `graph` and for the caller (null: u
    // itself). The chains that FILL adds change no entropy (Proposition 1). Returns the entropy.
    double run(const Tree& tree, const std::vector<char>& keep, int height, const GraphView& graph, const Node* name, Levels& out);

    // The height of the last tree before chains were added.
    Node rise() const { return rise_; }

private:
    struct Kept {  // a node that stays, by falling position in the tree: the root is the first
        Node above, first, rise, number;
        Weight volume, inside, loops;
    };
    Node rise_ = 0;
    std::vector<Kept> kept_;
    std::vector<Node> near_, above_, leaf_of_, number_, begin_;  // above_: the lowest kept node over a leaf
    std::vector<std::vector<Node>> level_;
};

// Throws std::logic_error if a compressed tree is higher than asked for.
void check_rise(Node rise, int height);

namespace small {

// Appends the tree for Filler::run and returns its height before chains were added.
Node fill(const Tree& tree, const std::vector<char>& keep, int height, const GraphView& graph, const Node* name, Levels& out);

}  // namespace small

}  // namespace sepool
