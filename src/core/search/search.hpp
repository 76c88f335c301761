// The search behind `best` and `fast`. Large graphs are clustered from level to level; on small ones several starts are refined,
// compressed and compared.
#pragma once

#include "search/grow.hpp"
#include "search/modularity.hpp"
#include "search/multilevel.hpp"
#include "search/refine.hpp"
#include "workspace.hpp"

namespace sepool {

// Levels to begin a search with.
struct Start {
    std::vector<std::vector<Node>> parents;  // of the nodes, then of the clusters of every level but the last below the root
    bool unions = true;                      // clusters may unite
    std::vector<char> active, held;          // nodes that may move at first (empty: all), and that must not move
};

class Search {
public:
    explicit Search(Workspace& work) : work_(work) {}

    // Append the tree of `graph` to `out`. The seed orders the moves.
    void fast(const GraphView& graph, int height, std::uint64_t seed, Levels& out, Control& control);
    void best(const GraphView& graph, int height, std::uint64_t seed, Levels& out, Control& control);

    // From given levels: labels of the nodes, then of the clusters of every level below the root.
    void improve(const GraphView& graph, const Start& start, std::uint64_t seed, Levels& out, Control& control);

    // One level of clusters of a contracted graph. `inner` is the weight inside each node, which counts as edges of its cluster.
    std::vector<Node> contracted(const GraphView& graph, const Weight* inner, std::uint64_t seed, Control& control);

private:
    GraphView relabelled(const GraphView& graph, int height, std::uint64_t seed, Control& control);
    void start(const GraphView& graph, int height, std::uint64_t seed, Control& control);
    void refine(const GraphView& graph, int height, std::uint64_t seed, Control& control);
    void improve(const GraphView& graph, int height, int levels, Random& random, const Control& control);
    void shake(int rounds, int height, double entropy, Random& random, const Control& control);
    double compete(const GraphView& graph, int height, const Control& control);
    void load_refiner(const GraphView& graph, int levels, const Control& control);
    void try_quick_starts(const GraphView& graph, int height, int levels, Random& random, const Control& control);
    void load_grown(const GraphView& graph, int levels, const Control& control);
    int levels_to_refine(const GraphView& graph, int height) const;

    Workspace& work_;
    Grower grower_;
    ModularityMover mover_;
    Refiner refiner_;
    Multilevel multilevel_;
    std::vector<Node> order_;
    Tree best_tree_;
    std::vector<char> best_keep_;
    double best_entropy_ = 0;
    Levels levels_;
};

}  // namespace sepool
