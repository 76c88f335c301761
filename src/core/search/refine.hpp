// Refinement: local moves on every level of a hierarchy, with the exact change of entropy.
#pragma once

#include <functional>

#include "log2.hpp"
#include "search/random.hpp"
#include "stages/fill.hpp"
#include "stages/merge.hpp"

namespace sepool {

// A hierarchy whose nodes can move. H = const + (2/V) * sum over inner nodes t of (I_t - S_t) log2(v_t / V), where I_t is the
// weight inside t and S_t the weight inside its children (their difference is the paper's cut), so a move changes only
// the terms of the nodes on the two paths to the lowest common ancestor.
class Refiner {
public:
    // Takes over the tree `levels` of `graph`, which must outlive the work.
    void load(const GraphView& graph, const Levels& levels);

    // Takes over the tree in which every node of the graph is alone below the root.
    void load_singletons(const GraphView& graph, int height);

    // Clusters, clusters of clusters and so on: `cluster(items, volume, level, label)` gives the items of each level their labels.
    using Clusterer = std::function<void(const GraphView&, const std::vector<Weight>&, int, std::vector<Node>&)>;
    void load_clustered(const GraphView& graph, int height, const Clusterer& cluster);

    // Moves nodes, then clusters, level by level, to where H falls most, until no single move helps. Returns the change of H.
    double settle(Random& random, const Control& control);

    // Takes clusters apart one at a time and settles what is around; keeps the result where H falls, and at first also
    // where it rises a little. Returns the change of H.
    double shake(Random& random, const Control& control);
    double shake_pairs(const Control& control);

    // H of the hierarchy at hand.
    double entropy() const;

    // Keeps the hierarchy at hand, and goes back to it.
    void save();
    void restore();

    // A binary tree that holds every present cluster as a node: the children of each cluster are merged by the linkage
    // `relative`.
    void to_tree(Merger& merger, Tree& tree, const Control& control);

private:
    static constexpr Edge kPatience = 64;  // while shaking, nodes and clusters with more edge ends stay where they are

    struct Cluster {
        Weight volume = 0, inside = 0, inside_children = 0;
        Edge arcs = 0;  // edge ends below: the cost of a visit to all neighbours
        double log_share = 0;
        Node parent = -1, first = -1, next = -1, previous = -1;  // children are a linked list
        Node children = 0;
    };
    struct Touched {
        Node cluster;
        Weight weight;
    };
    struct Move {  // the reverse of a move: put `item` back below `target`
        int level, target_level;
        Node item, target;
        bool dissolved = false;  // it left when its cluster was taken apart
    };
    struct Target {
        double change;  // of the sum of costs
        int level;
        Node cluster;
    };

    static double cost(const Cluster& c) { return static_cast<double>(c.inside - c.inside_children) * c.log_share; }
    static void hold_one(Cluster& c, const Cluster& child) {  // makes it a cluster of that child alone
        c.volume = child.volume, c.log_share = child.log_share, c.arcs = child.arcs;
        c.inside = c.inside_children = child.inside;
    }
    double cost_with(const Cluster& c, Weight volume, Weight inside, Weight inside_children) const {
        return static_cast<double>(c.inside + inside - c.inside_children - inside_children) * log_share(c.volume + volume);
    }
    // log2 of a volume's share of the whole. Shares instead of volumes shift the sum of costs by a constant and keep its
    // terms small, so that rounding stays far below the least change that counts.
    double log_share(Weight volume) const {
        if (volume < static_cast<Weight>(logs_.size())) return logs_[volume];
        return volume > 0 ? fixed_log2(static_cast<double>(volume) * inverse_total_) : 0;
    }

    void reset(const GraphView& graph, int height);
    void sum_up();
    bool is_consistent() const;
    void attach(int level, Node item, Node parent);
    void detach(int level, Node item);
    template <class Use>
    void each_leaf(int level, Node item, Use&& use) const;

    void gather(int level, Node item);
    void forget(int level);
    void rate_leaving(int level, Node item);
    Target best_target(int level, Node item);
    double change_to(int level, Node item, int target_level, Node target) const;
    void apply(int level, Node item, int target_level, Node target, const Weight* out, const Weight* in);
    Weight* note(const Move& move);
    void move(int level, Node item, const Target& target);
    Node new_cluster(int level, Node parent);

    Target best_union(int level, Node cluster) const;
    void unite(int level, Node cluster, Node with);
    void enqueue(int level, Node item);
    void enqueue_around(int level, Node item);
    double drain(const Control& control);
    double dissolve(int level, Node cluster);
    void rejoin(const Move& m, Weight between);
    double dissolve_deeply(int level, Node cluster);
    double scatter(int level, Node cluster);
    enum class Breakup { flat, deep, scatter };  // ways to take a cluster apart
    bool attempt(int level, Node cluster, Node partner, Breakup breakup, double allowance, const Control& control);
    bool is_together(Node left, Node size) const;
    void undo();

    GraphView graph_;
    int height_ = 0;
    double inverse_total_ = 0;
    double flat_entropy_ = 0;                         // of the graph without any cluster
    Weight logs_of_ = -1;                             // the whole volume that logs_ belongs to
    std::vector<double> logs_;                        // of the shares of small volumes
    double least_ = 0;                                // smaller changes are rounding
    std::vector<std::vector<Cluster>> level_;         // level_[0] are the graph's nodes, level_[height] the root
    std::vector<std::vector<Node>> free_;             // emptied clusters, last out first in: undo relies on it
    std::vector<std::vector<Weight>> weight_to_;      // from the item at hand to a cluster of each level
    std::vector<std::vector<Touched>> touched_;
    std::vector<Node> home_;                          // parents of the graph's nodes once more, close together: they are read most
    std::vector<std::vector<Cluster>> saved_level_;   // what `restore` goes back to
    std::vector<std::vector<Node>> saved_free_;
    std::vector<Node> saved_home_;
    std::vector<Node> reached_;                        // while gathering
    std::vector<double> leave_;
    std::vector<std::vector<Node>> queue_;
    std::vector<std::vector<char>> queued_, waiting_;
    Edge patience_ = 0, node_patience_ = 0;           // clusters and nodes with more edge ends are not queued
    double changed_ = 0;                              // sum of costs, by all attempts so far
    bool undoable_ = false;                           // all moves are noted, or the last one alone
    std::vector<Move> moves_;
    std::vector<Weight> weights_;                     // for every move, by level: to the clusters it left, and to those it joined
    MergeProblem problem_;
};

}  // namespace sepool
