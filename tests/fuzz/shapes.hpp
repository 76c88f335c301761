// Random input for the fuzz driver: graphs of all shapes, sound and malformed, and random merge trees.
#pragma once

#include <cmath>
#include <limits>
#include <numeric>

#include "graph/csr.hpp"

namespace fuzz {

using sepool::Node;
using sepool::Weight;

class Dice {
public:
    explicit Dice(std::uint64_t seed) : state_(seed) {}
    std::uint64_t bits() {  // splitmix64
        std::uint64_t x = state_ += 0x9e3779b97f4a7c15ULL;
        x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
        x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
        return x ^ (x >> 31);
    }
    std::int64_t below(std::int64_t n) { return static_cast<std::int64_t>(bits() % static_cast<std::uint64_t>(n)); }
    std::int64_t between(std::int64_t low, std::int64_t high) { return low + below(high - low + 1); }
    bool chance(int in) { return below(in) == 0; }
    double uniform() { return static_cast<double>(bits() >> 11) * 0x1p-53; }

private:
    std::uint64_t state_;
};

// The edges of one graph as a caller would list them.
struct Input {
    std::int64_t n = 0;
    std::vector<std::int64_t> u, v;
    std::vector<double> w;  // empty: no weights
    bool both = false, self_loops = false;
    bool broken = false;  // the core must reject it

    void add(std::int64_t a, std::int64_t b) { u.push_back(a), v.push_back(b); }
};

inline void add_shape(Dice& dice, Input& in, std::int64_t first, std::int64_t n) {
    const auto node = [&] { return first + dice.below(n); };
    const auto add_random = [&] {  // in this order, whatever the compiler's for arguments
        const std::int64_t u = node(), v = node();
        in.add(u, v);
    };
    const int shape = static_cast<int>(dice.below(11));
    for (std::int64_t i = 1; i < n; ++i) {
        if (shape == 0) in.add(first + i - 1, first + i);                                     // path
        if (shape == 1 || shape == 2) in.add(first, first + i);                               // star, wheel
        if (shape == 2 && i > 1) in.add(first + i - 1, first + i);
        if (shape == 3) in.add(first + dice.below(i), first + i);                             // tree
        if (shape == 4) in.add(first + i - 1 - (i > 1 && i % 2 == 0), first + i);             // caterpillar
        if (shape == 5 && n <= 60)                                                            // complete
            for (std::int64_t j = 0; j < i; ++j) in.add(first + j, first + i);
        if (shape == 6 && n <= 100 && i >= 3)                                                 // complete bipartite
            for (std::int64_t j = 0; j < 3; ++j) in.add(first + j, first + i);
        if (shape == 7 && i % 8) in.add(first + i - 1, first + i);                            // grid of width 8
        if (shape == 7 && i >= 8) in.add(first + i - 8, first + i);
        if (shape == 8) in.add(first + dice.below(std::min<std::int64_t>(i, 3)), first + i);  // few hubs, and more
        if (shape == 8 && dice.chance(2)) add_random();
    }
    if (shape == 0 && dice.chance(2)) in.add(first, first + n - 1);  // ring
    if (shape == 9)                                                  // random, with loops and repeats
        for (std::int64_t e = dice.below(3 * n + 1); e > 0; --e) add_random();
}  // shape 10: no edges

inline void add_weights(Dice& dice, Input& in) {
    const int law = static_cast<int>(dice.below(9));
    if (law < 3) return;
    const auto power = [&](double least, int low, int high) {
        const double factor = least + dice.uniform();
        return std::ldexp(factor, static_cast<int>(dice.between(low, high)));
    };
    const double scale = dice.chance(3) ? power(0.1, -1060, 900) : 1;
    for (std::size_t i = 0; i < in.u.size(); ++i) {
        double x = 1;
        if (law == 3) x = static_cast<double>(dice.between(1, 3));
        if (law == 4) x = static_cast<double>(dice.between(0, 1000));
        if (law == 5) x = dice.uniform();
        if (law == 6) x = power(1, -30, 29);                      // wide
        if (law == 7) x = 1 + 1e-6 * dice.uniform();            // nearly equal
        if (law == 8) x = dice.chance(3) ? 0 : 1e15 * dice.uniform();
        in.w.push_back(x * scale);
    }
}

inline void list_both_ways(Input& in) {
    in.both = true;
    for (std::size_t i = 0, m = in.u.size(); i < m; ++i) {
        if (in.u[i] == in.v[i]) continue;
        in.add(in.v[i], in.u[i]);
        if (!in.w.empty()) in.w.push_back(in.w[i]);
    }
}

inline void spoil(Dice& dice, Input& in) {
    in.broken = true;
    if (in.u.empty()) in.add(0, 0), in.w.resize(in.w.empty() ? 0 : 1, 1.0);
    const auto i = static_cast<std::size_t>(dice.below(static_cast<std::int64_t>(in.u.size())));
    const std::int64_t ids[] = {in.n,
                                -1,
                                in.n + dice.below(1000),
                                std::numeric_limits<std::int64_t>::max(),
                                std::numeric_limits<std::int64_t>::min(),
                                std::int64_t{1} << 32};
    const double weights[] = {-1, -1e-300, std::nan(""), HUGE_VAL, -HUGE_VAL};
    if (dice.chance(2)) {
        (dice.chance(2) ? in.u : in.v)[i] = ids[dice.below(6)];
    } else if (dice.chance(3) && in.n > 1) {  // one way only
        in.both = true;
        in.add(0, in.n - 1);
        if (!in.w.empty()) in.w.push_back(1 + 2 * std::accumulate(in.w.begin(), in.w.end(), 0.0));
    } else {
        in.w.resize(in.u.size(), 1.0);
        in.w[i] = weights[dice.below(5)];
        if (dice.chance(4)) {  // adds up to more than a double
            in.w[i] = 1.7e308, in.self_loops = true;
            in.add(0, 0), in.w.push_back(1.7e308);
        }
    }
}

inline Input random_input(Dice& dice) {
    Input in;
    const int size = static_cast<int>(dice.below(40));
    in.n = size < 30 ? dice.between(1, 12) : size < 38 ? dice.between(1, 90) : dice.between(90, 700);
    for (std::int64_t first = 0; first < in.n;) {  // mostly one part, sometimes several
        const std::int64_t n = dice.chance(3) ? dice.between(1, in.n - first) : in.n - first;
        add_shape(dice, in, first, n);
        first += n;
    }
    if (dice.chance(4)) {
        const std::int64_t u = dice.below(in.n), v = dice.below(in.n);
        in.add(u, v);
    }
    add_weights(dice, in);
    in.self_loops = dice.chance(2);
    if (dice.chance(2)) list_both_ways(in);
    if (dice.chance(8)) spoil(dice, in);
    return in;
}

// Colours of nodes and arcs, those of the two arcs of an edge by themselves; or none.
struct Colours {
    std::vector<Weight> nodes, arcs;

    sepool::GraphView add_to(sepool::GraphView g) const {
        if (!nodes.empty()) g.colours = nodes.data();
        if (!arcs.empty()) g.arc_colours = arcs.data();
        return g;
    }
};

inline Colours random_colours(Dice& dice, const sepool::GraphView& g) {
    Colours out;
    const std::int64_t few = dice.between(1, 4), scale = dice.chance(2) ? 1 : std::int64_t{1} << 40;
    if (!dice.chance(4))
        for (Node u = 0; u < g.num_nodes; ++u) out.nodes.push_back(scale * dice.below(few));
    if (dice.chance(4))
        for (std::int64_t e = g.num_arcs(); e > 0; --e) out.arcs.push_back(scale * dice.below(few));
    return out;
}

// A tree with any number of children a node, and cuts that no graph need have.
inline sepool::Tree random_tree(Dice& dice) {
    sepool::Tree tree;
    tree.num_leaves = static_cast<Node>(dice.chance(10) ? dice.between(50, 400) : dice.between(1, 12));
    tree.parent.assign(tree.num_leaves, -1), tree.cut.assign(tree.num_leaves, 0);
    const Weight largest = dice.chance(4) ? Weight{1} << 42 : 9;
    for (Node u = 0; u < tree.num_leaves; ++u) tree.volume.push_back(dice.between(0, largest));
    const bool chain = dice.chance(3), zeros = dice.chance(3);
    std::vector<Node> open(tree.num_leaves);
    std::iota(open.begin(), open.end(), 0);
    while (open.size() > 1 || tree.size() == tree.num_leaves) {
        const Node t = tree.add();
        const auto children = dice.chance(20) ? std::int64_t{1} : dice.chance(4) ? dice.between(1, 5) : std::int64_t{2};
        for (std::int64_t i = 0; i < children && !open.empty(); ++i) {
            const std::size_t at = chain ? open.size() - 1 : static_cast<std::size_t>(dice.below(static_cast<std::int64_t>(open.size())));
            tree.parent[open[at]] = t;
            tree.volume[t] += tree.volume[open[at]];
            open.erase(open.begin() + static_cast<std::ptrdiff_t>(at));
        }
        if (tree.volume[t] > 0 && !(zeros && dice.chance(2))) tree.cut[t] = dice.between(0, tree.volume[t]);
        open.push_back(t);
    }
    return tree;
}

}  // namespace fuzz
