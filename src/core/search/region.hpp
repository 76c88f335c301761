// Thorough search for the clusters of one small region, by one thread.
#pragma once

#include <vector>

#include "search/items.hpp"
#include "search/random.hpp"

namespace sepool {

// Items of one region, usually a cluster of the level above, as a graph of its own that fits into the cache. Items move between
// clusters and clusters unite where the cost falls most; then clusters are taken apart one at a time, and what forms anew stays if
// it is better.
class RegionSearch {
public:
    explicit RegionSearch(const LogShares& log_share) : log_share_(log_share) {}

    // Loads the members of a region, items with region[u] == region[members[0]]; place[u] is the index of u among them.
    // Their cost is relative to the log share `reference`: that of the region, or 0 for the whole.
    void load(const Items& items, const Node* members, Node count, const Node* region, const Node* place, double reference);

    // Starts from single items, or from these clusters, by any number from 0 on.
    void start_from_singles();
    void start_from(const std::vector<Node>& label);

    // Moves and unions until none helps.
    void settle(Random& random);

    // Takes clusters apart, in random order. `tolerance` is the rise that is accepted for each unit of volume, the first time that a
    // cluster is tried.
    void shake(double tolerance, Random& random, const Control& control);

    double cost() const;

    // The clusters of the items, numbered from 0 on; returns how many there are.
    Node store(std::vector<Node>& label) const;

private:
    struct Cluster {
        Weight volume = 0, cut = 0;
        double log = 0;
        Edge arcs = 0;  // edge ends of the members: the cost of a visit to all neighbours
        Node size = 0, first = -1;       // members are a linked list
        bool queued = false, waiting = false;
    };
    struct Item {
        Weight volume, inner;
        Node next, previous;
        bool queued;
    };
    struct Move {
        Node item, from, to;
        Weight weight_from, weight_to;
    };

    Edge arcs(Node u) const { return indptr_[u + 1] - indptr_[u]; }
    double log_of(Weight volume) const { return log_share_(volume) - reference_; }
    static double term(const Cluster& c) { return static_cast<double>(c.cut) * c.log; }
    Node gather(Node u);
    void link(Node u, Node cluster);
    void unlink(Node u);
    void sum_up();
    double apply(const Move& move);
    void move(const Move& move);
    void enqueue(Node u);
    void enqueue_cluster(Node c);
    Node take_free();
    void settle_item(Node u);
    void settle_cluster(Node c);
    void unite(Node from, Node to);
    void drain(std::size_t budget);
    bool attempt(Node cluster, double allowance);

    const LogShares& log_share_;
    double reference_ = 0, least_ = 0;
    Node size_ = 0;
    std::vector<Edge> indptr_;
    std::vector<Node> indices_;
    std::vector<Weight> weights_;
    std::vector<Item> item_;
    std::vector<Cluster> cluster_;
    std::vector<Node> label_, reached_, queue_, cluster_queue_, free_, members_, work_;
    std::vector<Weight> weight_to_;
    std::vector<Move> moves_;  // of the attempt at hand
    double change_ = 0;        // of the cost, by it
    Edge patience_ = 0;        // items and clusters with more edge ends are not queued
};

}  // namespace sepool
