// Optimal compression. Let x be the log volume of the nearest kept ancestor of t, and j the number of kept nodes that a
// path through t's subtree may still have. The least cost of the subtree, in the sum 2 * cut * log volume, is
//
//     f_{t,j}(x) = min( K_{t,j},  2 cut(t) x + sum over children c of f_{c,j}(x) )
//     K_{t,j}    = 2 cut(t) log v_t + sum over children c of f_{c,j-1}(log v_t)      (t is kept)
//     f_{t,0}(x) = 2 I(t) x,  I(t) the weight of all edges inside t                  (nothing below is kept)
//
// Every f is concave, piecewise linear and non-decreasing, and constant from some point on:
//
//     f(x) = tail - sum over breakpoints b of slope_b * max(0, b - x)
//
// so a function is its tail and a set of breakpoints. Sums unite the sets. The minimum with K cuts off the largest
// breakpoints and adds one. Only x >= log v_t matters above t, so breakpoints below that are dropped. The sets are pairs
// of pairing heaps, one from either end. One pass over the tree for each j, subtree by subtree and the largest child first,
// so that no more than log2 n functions are open at a time; no recursion.

#include "stages/compress.hpp"

#include <algorithm>
#include <limits>

#include "assert.hpp"
#include "invariants.hpp"
#include "log2.hpp"
#include "prefetch.hpp"

namespace sepool {
namespace {

constexpr Node kAhead = 24;       // nodes from one that is asked for to the one at hand
constexpr Node kLarge = 1 << 20;  // from this size on memory is freed after its last use

template <class T>
void release(std::vector<T>& values) {
    std::vector<T>().swap(values);
}

}  // namespace

Node OptimalCompressor::meld(Node a, Node b, bool max) {
    if (a < 0) return b;
    if (b < 0) return a;
    if (max ? point_[b].x > point_[a].x : point_[b].x < point_[a].x) std::swap(a, b);
    point_[b].sibling[max] = point_[a].child[max];
    point_[a].child[max] = b;
    return a;
}

// Takes the root off a pairing heap: its children are melded in pairs, then the pairs into one.
Node OptimalCompressor::pop(Node root, bool max) {
    pairs_.clear();
    for (Node a = point_[root].child[max]; a >= 0;) {
        const Node b = point_[a].sibling[max];
        const Node next = b >= 0 ? point_[b].sibling[max] : -1;
        point_[a].sibling[max] = -1;
        if (b >= 0) point_[b].sibling[max] = -1;
        pairs_.push_back(meld(a, b, max));
        a = next;
    }
    Node rest = -1;
    for (std::size_t i = pairs_.size(); i-- > 0;) rest = meld(rest, pairs_[i], max);
    return rest;
}

// Inner nodes subtree by subtree, children before parents, the child with the most inner nodes first. From here on nodes go
// by their places in this order, where all that a pass needs lies close together; up_ has the places of parents.
void OptimalCompressor::sort_by_subtree(const Tree& tree) {
    const Node n = tree.num_leaves, inner = tree.size() - n;
    size_.assign(inner, 1), heavy_.assign(inner, -1), start_.resize(inner), cursor_.resize(inner), order_.resize(inner), up_.resize(inner);
    for (Node i = 0; i + 1 < inner; ++i) {
        const Node p = tree.parent[i + n] - n;
        size_[p] += size_[i];
        if (heavy_[p] < 0 || size_[i] > size_[heavy_[p]]) heavy_[p] = i;
    }
    for (Node i = inner - 1; i >= 0; --i) {
        if (i == inner - 1) {
            start_[i] = 0;
            up_[inner - 1] = -1;
        } else {
            const Node p = tree.parent[i + n] - n;
            start_[i] = heavy_[p] == i ? start_[p] : cursor_[p] -= size_[i];
            up_[start_[i] + size_[i] - 1] = start_[p] + size_[p] - 1;
        }
        cursor_[i] = start_[i] + size_[i] - 1;
        order_[cursor_[i]] = i;
    }
}

// Follows g(x) = cut x + f(x), f the sum of the children's functions, from large x down to where it falls below `level`, and
// returns that x. Breakpoints on the way move from the heap to passed_; `tail` and `slope` are those of g there.
double OptimalCompressor::descend(Function& f, double& tail, double& slope, double level) {
    passed_.clear();
    while (f.high >= 0 && (point_[f.high].dead() || tail + slope * point_[f.high].x >= level)) {
        if (!point_[f.high].dead()) {
            slope += point_[f.high].slope;
            tail -= point_[f.high].slope * point_[f.high].x;
            passed_.push_back(f.high);
        }
        f.high = pop(f.high, true);
    }
    return (level - tail) / slope;
}

void OptimalCompressor::drop(Function& f, Node p) {
    f.slopes -= point_[p].slope;
    f.moment -= point_[p].slope * point_[p].x;
    point_[p].slope = -1;
}

// Turns the sum of the children's functions into the node's own, and returns the x from which on the node is kept.
// below_[node] is the sum of the children's f_{c,j-1}(log v) on entry and of their f_{c,j}(log v) on exit.
double OptimalCompressor::finish(Node node, double cut, Function& f) {
    const double x = log_volume_[node];
    while (f.low >= 0 && (point_[f.low].dead() || point_[f.low].x <= x)) {
        if (!point_[f.low].dead()) drop(f, f.low);
        f.low = pop(f.low, false);
    }
    if (f.low < 0) f.high = -1, f.slopes = f.moment = 0;  // also forgets rounding
    const double children = f.tail - f.moment + f.slopes * x;  // the sum of f_{c,j} at log v
    const double kept = cut * x + below_[node], limit = keep_limit(kept, cut);
    below_[node] = children;
    double tail = f.tail, slope = cut, threshold = x;
    if (cut == 0) {  // the limit lies above the cost
        if (tail <= limit) return std::numeric_limits<double>::infinity();  // no x makes the node worth a level
        threshold = std::max(x, descend(f, tail, slope, limit));
        for (const Node p : passed_) drop(f, p);
    }
    if (cut * x + children > kept) {  // by rounding: one level less below costs nothing at x
        f = {kept, 0, 0, -1, -1};
        return threshold;
    }
    const double at = std::max(x, descend(f, tail, slope, kept));  // not below x but for rounding
    for (const Node p : passed_) drop(f, p);
    if (f.high < 0) f.low = -1, f.slopes = f.moment = 0;
    const double slope_at = slope;
    if (cut > 0) {  // the limit lies below the cost: breakpoints between the two stay
        threshold = descend(f, tail, slope, limit);
        for (const Node p : passed_) {
            point_[p].child[1] = point_[p].sibling[1] = -1;
            f.high = meld(f.high, p, true);
        }
    }
    f.tail = kept;
    f.slopes += slope_at;
    f.moment += slope_at * at;
    point_[node] = {at, slope_at, {-1, -1}, {-1, -1}};
    f.low = meld(f.low, node, false);
    f.high = meld(f.high, node, true);
    return threshold;
}

void OptimalCompressor::pass(const Tree& tree, double* threshold, const Control& control) {
    const Node n = tree.num_leaves, inner = tree.size() - n;
    open_.clear();
    for (Node q = 0; q < inner; ++q) {
        if ((q & 0xffff) == 0) control.check();
        prefetch(&tree.cut[order_[std::min(q + kAhead, inner - 1)] + n]);
        const Node p = up_[q];
        if (open_.empty() || open_.back().node != q) open_.push_back({q, {0, 0, 0, -1, -1}});
        Function& f = open_.back().sum;
        threshold[q] = finish(q, 2 * static_cast<double>(tree.cut[order_[q] + n]), f);
        if (open_.size() < 2 || open_[open_.size() - 2].node != p) {
            open_.back().node = p;  // the first of its children: the sum so far
            continue;
        }
        Function& sum = open_[open_.size() - 2].sum;
        sum.tail += f.tail;
        sum.slopes += f.slopes;
        sum.moment += f.moment;
        sum.low = meld(sum.low, f.low, false);
        sum.high = meld(sum.high, f.high, true);
        open_.pop_back();
    }
}

void OptimalCompressor::run(const Tree& tree, int height, std::vector<char>& keep, const Control& control) {
    const Node n = tree.num_leaves, size = tree.size(), inner = size - n;
    keep.assign(size, 0);
    keep[tree.root()] = 1;
    const int passes = height - 1;
    if (passes == 0) return;
    if (small_.run(tree, passes, keep)) {
        SEPOOL_ASSERT(respects_height(tree, keep, height));
        return;
    }
    sort_by_subtree(tree);
    if (inner > kLarge) release(size_), release(heavy_), release(start_), release(cursor_);
    log_volume_.resize(inner), below_.assign(inner, 0.0), point_.resize(inner);
    threshold_.resize(static_cast<std::size_t>(inner) * passes);
    const Log2 log2;
    // f_{c,0}(log v_t): all edges inside the children, at the volume of t. Until then below_ is I of the children.
    for (Node q = 0; q < inner; ++q) {
        const Node ahead = order_[std::min(q + kAhead, inner - 1)] + n, t = order_[q] + n;
        prefetch(&tree.volume[ahead]), prefetch(&tree.cut[ahead]);
        log_volume_[q] = log2(tree.volume[t]);
        if (q + 1 < inner) below_[up_[q]] += below_[q] + static_cast<double>(tree.cut[t]);
    }
    for (Node q = 0; q < inner; ++q) below_[q] *= 2 * log_volume_[q];
    for (int j = 0; j < passes; ++j) pass(tree, threshold_.data() + static_cast<std::size_t>(j) * inner, control);
    if (inner > kLarge) release(point_), release(below_);

    // From the root down: a node is kept when its nearest kept ancestor is large enough for the levels left.
    levels_.resize(inner);
    nearest_.resize(inner);  // log volume of the nearest kept node, the node itself included
    levels_[inner - 1] = passes, nearest_[inner - 1] = log_volume_[inner - 1];
    for (Node q = inner - 2; q >= 0; --q) {
        const Node p = up_[q];
        levels_[q] = levels_[p], nearest_[q] = nearest_[p];
        if (levels_[q] > 0 && nearest_[q] >= threshold_[static_cast<std::size_t>(levels_[q] - 1) * inner + q]) {
            keep[order_[q] + n] = 1;
            --levels_[q];
            nearest_[q] = log_volume_[q];
        }
    }
    SEPOOL_ASSERT(respects_height(tree, keep, height));
    if (inner > kLarge) release(order_), release(up_);
    if (inner > kLarge) release(levels_), release(nearest_), release(threshold_), release(log_volume_);
}

}  // namespace sepool
