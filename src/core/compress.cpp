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
// of pairing heaps, one from either end. One pass over the tree for each j, children before parents, without recursion.

#include "compress.hpp"

#include <limits>

namespace sepool {

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

// One j. below_[t] is the sum of the children's f_{c,j-1}(log v_t) on entry and of their f_{c,j}(log v_t) on exit.
void OptimalCompressor::pass(const Tree& tree, double* threshold, const Control& control) {
    const Node n = tree.num_leaves, size = tree.size();
    std::fill(function_.begin(), function_.end(), Function{0, 0, 0, -1, -1});
    for (Node t = n; t < size; ++t) {
        if ((t & 0xffff) == 0) control.check();
        const Node i = t - n;
        const double x = log_volume_[i];
        double tail = function_[i].tail, slopes = function_[i].slopes, moment = function_[i].moment;
        Node low = function_[i].low, high = function_[i].high;
        const auto drop = [&](Node p) {
            slopes -= point_[p].slope;
            moment -= point_[p].slope * point_[p].x;
            point_[p].dead = true;
        };
        while (low >= 0 && (point_[low].dead || point_[low].x <= x)) {
            if (!point_[low].dead) drop(low);
            low = pop(low, false);
        }
        if (low < 0) high = -1, slopes = moment = 0;  // also forgets rounding
        const double children = tail - moment + slopes * x;  // the sum of f_{c,j} at log v_t
        const double cut = 2 * static_cast<double>(tree.cut[t]);
        const double kept = cut * x + below_[i];
        below_[i] = children;
        double at = std::numeric_limits<double>::infinity();  // from here on t is kept
        if (cut * x + children > kept) {
            at = x;
            tail = kept, slopes = moment = 0, low = high = -1;
        } else {
            double slope = cut;
            while (high >= 0 && (point_[high].dead || tail + slope * point_[high].x >= kept)) {
                if (!point_[high].dead) {
                    drop(high);
                    tail -= point_[high].slope * point_[high].x;
                    slope += point_[high].slope;
                }
                high = pop(high, true);
            }
            if (high < 0) low = -1, slopes = moment = 0;
            if (slope > 0) {
                at = (kept - tail) / slope;
                if (at < x) at = x;  // rounding
                tail = kept;
                slopes += slope;
                moment += slope * at;
                point_[i] = {at, slope, {-1, -1}, {-1, -1}, false};
                low = meld(low, i, false);
                high = meld(high, i, true);
            }
        }
        threshold[i] = at;
        if (tree.parent[t] < 0) break;
        Function& up = function_[tree.parent[t] - n];
        up.tail += tail;
        up.slopes += slopes;
        up.moment += moment;
        up.low = meld(up.low, low, false);
        up.high = meld(up.high, high, true);
    }
}

void OptimalCompressor::run(const Tree& tree, int height, std::vector<char>& keep, const Control& control) {
    const Node n = tree.num_leaves, size = tree.size(), inner = size - n;
    keep.assign(size, 0);
    keep[tree.root()] = 1;
    const int passes = height - 1;
    if (passes == 0) return;
    point_.resize(inner), log_volume_.resize(inner);
    function_.assign(inner, Function{0, 0, 0, -1, -1});
    below_.assign(inner, 0.0);
    threshold_.resize(static_cast<std::size_t>(inner) * passes);
    const Log2 log2;
    // f_{c,0}(log v_t): all edges inside the children, seen from t. The tails serve as I(t).
    for (Node t = n; t < size; ++t) {
        const Node i = t - n;
        log_volume_[i] = log2(tree.volume[t]);
        below_[i] = 2 * function_[i].tail * log_volume_[i];
        function_[i].tail += static_cast<double>(tree.cut[t]);
        if (tree.parent[t] >= 0) function_[tree.parent[t] - n].tail += function_[i].tail;
    }
    for (int j = 0; j < passes; ++j) pass(tree, threshold_.data() + static_cast<std::size_t>(j) * inner, control);

    // From the root down: t is kept when its nearest kept ancestor is large enough for the levels left.
    levels_.resize(inner);
    seen_.resize(inner);  // log volume of the nearest kept node, t itself included
    for (Node i = inner - 1; i >= 0; --i) {
        const Node t = i + n;
        if (tree.parent[t] < 0) {
            levels_[i] = passes, seen_[i] = log_volume_[i];
            continue;
        }
        const Node p = tree.parent[t] - n;
        levels_[i] = levels_[p], seen_[i] = seen_[p];
        if (levels_[i] > 0 && seen_[i] >= threshold_[static_cast<std::size_t>(levels_[i] - 1) * inner + i]) {
            keep[t] = 1;
            --levels_[i];
            seen_[i] = log_volume_[i];
        }
    }
}

}  // namespace sepool
