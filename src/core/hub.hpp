// The pairs of a hub: which one is best now that the hub has grown?
#pragma once

#include <algorithm>
#include <iterator>

#include "log2.hpp"
#include "types.hpp"

namespace sepool {

// Points (a, v) under the question: for a given x, which maximises a * (log V - log2(x + v))? Here x is the volume of the hub,
// v that of the other side and a its part of the key that x does not enter. Nothing stored depends on x, so a hub that grows
// costs nothing. Points are kept in sorted runs of doubling size (Bentley and Saxe), each a tree of largest a over v.
class HubStore {
public:
    struct Point {
        double a;  // negative: removed
        Weight v, c;
        Node other;
    };
    static constexpr int kNone = -1, kInRecent = -2;
    struct Place {
        double key = -1;
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
        Place found;
        for (std::size_t i = 0; i < recent_.size(); ++i) {
            const double key = recent_[i].a * (log_total - Log2()(x + recent_[i].v));
            if (key > found.key) found = {key, kInRecent, i};
        }
        for (std::size_t i = 0; i < runs_.size(); ++i) runs_[i].search(x, log_total, static_cast<int>(i), found);
        return found;
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
        std::vector<Point> points;    // by v
        std::vector<double> largest;  // of a: node i over nodes 2i and 2i + 1, the points from `leaves` on

        std::size_t leaves() const { return largest.size() / 2; }

        void build() {
            std::size_t n = 1;
            while (n < points.size()) n *= 2;
            largest.assign(2 * n, -1.0);
            for (std::size_t i = 0; i < points.size(); ++i) largest[n + i] = points[i].a;
            for (std::size_t i = n; i-- > 1;) largest[i] = std::max(largest[2 * i], largest[2 * i + 1]);
        }

        void remove(std::size_t index) {
            points[index].a = -1;
            std::size_t i = leaves() + index;
            largest[i] = -1;
            for (i /= 2; i >= 1; i /= 2) largest[i] = std::max(largest[2 * i], largest[2 * i + 1]);
        }

        // No point below a node does better than its largest a with its smallest v, which stands first. The bound is the very
        // key of such a point, so that equal points are not looked at one by one.
        void search(Weight x, double log_total, int number, Place& found) const {
            struct Open {
                double bound;
                std::size_t node, first, width;
            };
            const auto open = [&](std::size_t node, std::size_t first, std::size_t width) {
                if (largest[node] < 0) return Open{-1, node, first, width};  // nothing left below
                return Open{largest[node] * (log_total - Log2()(x + points[first].v)), node, first, width};
            };
            Open stack[128];
            int depth = 0;
            stack[depth++] = open(1, 0, leaves());
            while (depth > 0) {
                const Open at = stack[--depth];
                if (at.bound <= found.key) continue;
                if (at.width == 1) {
                    found = {at.bound, number, at.first};
                    continue;
                }
                const Open left = open(2 * at.node, at.first, at.width / 2);
                const Open right = open(2 * at.node + 1, at.first + at.width / 2, at.width / 2);
                const bool right_first = right.bound > left.bound;  // the likelier half is looked at first
                const Open& later = right_first ? left : right;
                const Open& sooner = right_first ? right : left;
                if (later.bound > found.key) stack[depth++] = later;
                if (sooner.bound > found.key) stack[depth++] = sooner;
            }
        }
    };

    std::vector<Point> recent_;  // few, in no order
    std::vector<Run> runs_;      // larger runs first
    std::size_t alive_ = 0;
};

}  // namespace sepool
