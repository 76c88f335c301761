// Local moving: items change clusters wherever that lowers H, with the same result on any number of threads.
#pragma once

#include <algorithm>
#include <atomic>
#include <numeric>
#include <vector>

#include "search/items.hpp"

namespace sepool {

// Clusters of a level: parent[c] is the cluster of the next level above.
using Parents = std::vector<Node>;

inline Parents iota(Node n) {
    Parents values(n);
    std::iota(values.begin(), values.end(), 0);
    return values;
}

// Labels of the clusters above those of `label`.
inline void compose(Parents& label, const Parents& above) {
    for (Node& c : label) c = above[c];
}

inline Node count_of(const Parents& label) { return label.empty() ? 0 : *std::max_element(label.begin(), label.end()) + 1; }

// Items below one or more levels of clusters. Blocks of items decide on their moves while nothing changes, then the moves are made
// together: cuts and volumes are sums of integers, exact in any order, and ties go by number. So neither the number of threads nor
// their timing makes a difference.
class Mover {
public:
    explicit Mover(const LogShares& log_share) : log_share_(log_share) {}

    // Items decided on together; 0: by the number of items. Moves one after the other are blocks of 1. For measurements.
    static std::atomic<Node> block;

    // Puts the items below clusters 0 .. count - 1 and these below the levels of `above`. With a `reference` the items of a region
    // move for themselves: reference[u] is the log share of u's region, and no edge leads from one region to another.
    void load(const Items& items, const Parents& label, Node count, const std::vector<Parents>& above, const double* reference, Team& team);

    // Lets only these items move, and neighbours of those that have moved.
    void wake(const std::vector<char>& items);

    // Keeps these items in their clusters.
    void hold(const std::vector<char>& items) { held_ = items; }

    // Moves items until few move in a round, or none.
    enum class Until { few_move, none_moves };
    void settle(Until until, Team& team, const Control& control);

    // Sum over the clusters of all levels of cut times log share: H but for a constant and the factor 2 / V.
    double cost() const;
    double cost_of(Node cluster) const { return term(level_[0][cluster]); }  // on the lowest level

    Node clusters(int level) const { return static_cast<Node>(level_[level].size()); }
    Weight cut(int level, Node cluster) const { return level_[level][cluster].cut.load(std::memory_order_relaxed); }

    // Writes the clusters of the items, numbered without gaps, and their parents. Returns the number of clusters.
    Node store(Parents& label, std::vector<Parents>& above) const;

private:
    struct Cluster {
        std::atomic<Weight> volume{0}, cut{0};
        std::atomic<double> log{0};  // of the share of the volume, less the reference on the lowest level
        Node parent = -1;
        std::atomic<Node> size{0};
    };
    struct Scratch {  // of one thread, a vector a level
        std::vector<std::vector<Weight>> weight_to;
        std::vector<std::vector<Node>> reached;
        std::vector<std::vector<double>> log_with, entry;  // of the clusters above, with the item at hand among them
        std::vector<std::size_t> count;
        std::vector<Node> own;
        std::vector<Weight> weight_to_own;
        std::int64_t moves = 0;
    };

    static double term(const Cluster& c) {
        return static_cast<double>(c.cut.load(std::memory_order_relaxed)) * c.log.load(std::memory_order_relaxed);
    }
    double reference(Node u) const { return reference_ ? reference_[u] : 0; }
    Node block_size() const;
    void rate_entries(Scratch& s, Node u) const;
    template <bool Weighted>
    Node best_cluster(Scratch& s, Node u) const;
    template <bool Weighted, bool Shared>
    void make_move(Node u, Node first, Node size);
    template <bool Shared>
    void add_item(Node u, const std::vector<Parents>& ancestor);
    void add_edge_to_lowest(Node a, Node b, Weight weight, bool shared);
    template <bool Weighted, bool Shared>
    void rounds(std::int64_t few, Team& team, const Control& control);

    const LogShares& log_share_;
    Items items_;
    const double* reference_ = nullptr;
    int levels_ = 1;
    double least_ = 0;                         // smaller changes are rounding
    std::vector<std::vector<Cluster>> level_;  // level_[0]: the clusters of the items
    Parents label_, target_;
    std::vector<std::atomic<char>> active_;    // items that may gain by a move
    Edge active_arcs_ = 0;                     // of those that are active at first
    std::vector<char> held_;                   // items that must not move; empty: none
    std::vector<Scratch> scratch_;
};

}  // namespace sepool
