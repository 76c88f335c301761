// The pairs of a hub, and a search for the best of them at the volume that the hub has by now.
#pragma once

#include <algorithm>
#include <iterator>

#include "stages/merge.hpp"

namespace sepool {

// Points (a, v) with the query: the point with the largest key a * (log V - log2(x + v)) for a given x, the lowest position of
// several. Here x is the volume of the hub, v that of the other side and a its part of the key that x does not enter. Nothing
// stored depends on x, so a hub that grows costs nothing. Points are stored in sorted runs of doubling size (Bentley and Saxe),
// each with trees of largest a and lowest position over v.
class HubStore {
public:
    struct Point {
        double a;  // negative: removed
        Weight v, c;
        Node other;
        Position position;
    };
    static constexpr int kNone = -1, kInRecent = -2;
    struct Place {
        Rank rank;
        int run = kNone;
        std::size_t index = 0;
    };

    std::size_t size() const { return alive_; }

    void insert(const Point& point) {
        ++alive_;
        recent_.push_back(point);
        if (recent_.size() == kRecent) add_run();
    }

    void insert_all(const HubStore& other) {
        for (const Run& run : other.runs_)
            for (const Point& p : run.points)
                if (p.a >= 0) insert(p);
        for (const Point& p : other.recent_) insert(p);
    }

    Place best(Weight x, double log_total) const {
        Place best;
        for (std::size_t i = 0; i < recent_.size(); ++i) {
            const Rank rank{recent_[i].a * (log_total - Log2()(x + recent_[i].v)), recent_[i].position};
            if (rank.before(best.rank)) best = {rank, kInRecent, i};
        }
        for (std::size_t i = 0; i < runs_.size(); ++i) runs_[i].search(x, log_total, static_cast<int>(i), best);
        return best;
    }

    const Point& at(const Place& place) const {
        return place.run == kInRecent ? recent_[place.index] : runs_[place.run].points[place.index];
    }

    void remove(const Place& place) {
        --alive_;
        if (place.run == kInRecent) recent_.erase(recent_.begin() + static_cast<std::ptrdiff_t>(place.index));
        else runs_[place.run].remove(place.index);
    }

private:
    static constexpr std::size_t kRecent = 32;

    // Makes a run of the recent points, and one run of all that are not larger.
    void add_run() {
        const auto by_v = [](const Point& x, const Point& y) { return x.v < y.v; };
        std::vector<Point> fresh, merged;
        fresh.swap(recent_);
        std::stable_sort(fresh.begin(), fresh.end(), by_v);
        while (!runs_.empty() && runs_.back().points.size() <= fresh.size()) {
            const auto& old = runs_.back().points;
            merged.clear();
            std::merge(old.begin(), old.end(), fresh.begin(), fresh.end(), std::back_inserter(merged), by_v);
            merged.erase(std::remove_if(merged.begin(), merged.end(), [](const Point& p) { return p.a < 0; }), merged.end());
            fresh.swap(merged);
            runs_.pop_back();
        }
        if (fresh.empty()) return;
        runs_.push_back({std::move(fresh), {}});
        runs_.back().build();
    }

    struct Run {
        struct Best {  // node i of the tree is over nodes 2i and 2i + 1, the points from `leaves` on
            double largest = -1;
            Position lowest = kLastPosition;
        };
        std::vector<Point> points;  // by v
        std::vector<Best> tree;

        std::size_t leaves() const { return tree.size() / 2; }

        void combine(std::size_t i) {
            const Best &left = tree[2 * i], &right = tree[2 * i + 1];
            tree[i] = {std::max(left.largest, right.largest), std::min(left.lowest, right.lowest)};
        }

        void build() {
            std::size_t n = 1;
            while (n < points.size()) n *= 2;
            tree.assign(2 * n, {});
            for (std::size_t i = 0; i < points.size(); ++i) tree[n + i] = {points[i].a, points[i].position};
            for (std::size_t i = n; i-- > 1;) combine(i);
        }

        void remove(std::size_t index) {
            points[index].a = -1;
            std::size_t i = leaves() + index;
            tree[i] = {};
            for (i /= 2; i >= 1; i /= 2) combine(i);
        }

        // No point below a node comes before its largest a with its smallest v, which stands first, and its lowest position.
        // The bound is the very rank of such a point, so that equal points are not visited one by one.
        void search(Weight x, double log_total, int number, Place& best) const {
            struct Open {
                Rank bound;
                std::size_t node, first, width;
            };
            const auto open = [&](std::size_t node, std::size_t first, std::size_t width) {
                if (tree[node].largest < 0) return Open{{}, node, first, width};  // nothing left below
                const double key = tree[node].largest * (log_total - Log2()(x + points[first].v));
                return Open{{key, tree[node].lowest}, node, first, width};
            };
            Open stack[128];
            int depth = 0;
            stack[depth++] = open(1, 0, leaves());
            while (depth > 0) {
                const Open at = stack[--depth];
                if (!at.bound.before(best.rank)) continue;
                if (at.width == 1) {
                    best = {at.bound, number, at.first};
                    continue;
                }
                const Open left = open(2 * at.node, at.first, at.width / 2);
                const Open right = open(2 * at.node + 1, at.first + at.width / 2, at.width / 2);
                const bool right_first = right.bound.before(left.bound);  // the likelier half first
                const Open& later = right_first ? left : right;
                const Open& sooner = right_first ? right : left;
                if (later.bound.before(best.rank)) stack[depth++] = later;
                if (sooner.bound.before(best.rank)) stack[depth++] = sooner;
            }
        }
    };

    std::vector<Point> recent_;  // few, in no order
    std::vector<Run> runs_;      // larger runs first
    std::size_t alive_ = 0;
};

}  // namespace sepool
