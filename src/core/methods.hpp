// From a graph to its coding tree: how the stages go together.
#pragma once

#include "boruvka.hpp"
#include "canonical.hpp"
#include "compress.hpp"
#include "fill.hpp"
#include "grow.hpp"
#include "merge.hpp"
#include "modularity.hpp"
#include "refine.hpp"

namespace sepool {

enum class Method { paper, fast, best };

struct Options {
    int height = 2;
    Method method = Method::best;
    std::uint64_t seed = 0;
};

// Builds coding trees, one after the other, in memory that is used again. One for each thread.
class Builder {
public:
    // Appends the tree of `graph` to `out`.
    void build(const GraphView& graph, const Options& options, Levels& out, Control& control);

    // Stage 1 alone, as the method `paper` (gain) and `best` (relative) use it.
    void merge_tree(const GraphView& graph, Linkage linkage, Tree& tree, const Control& control);

private:
    void merge_problem(Linkage linkage, Tree& tree, const Control& control);  // stage 1 of problem_, which is used up
    void refine(const GraphView& graph, const Options& options, Control& control);
    void improve(const GraphView& graph, int height, int levels, Random& random, const Control& control);
    void shake(int times, int height, double entropy, Random& random, const Control& control);
    double compete(const GraphView& graph, int height, const Control& control);
    void load_refiner(const GraphView& graph, int levels, const Control& control);
    void try_quick_starts(const GraphView& graph, int height, int levels, Random& random, const Control& control);
    void load_grown(const GraphView& graph, int levels, const Control& control);
    int levels_to_refine(const GraphView& graph, int height) const;

    Canonical canonical_;
    Graph relabelled_;
    std::vector<Node> position_;
    MergeProblem problem_;
    Merger merger_;
    OptimalCompressor compress_;
    Filler fill_;
    Grower grower_;
    ModularityMover mover_;
    Refiner refiner_;
    Tree tree_, best_tree_;
    std::vector<char> keep_, best_keep_;
    double best_entropy_ = 0;
    Levels levels_;
};

// Many graphs over several threads. node_ptr and the view describe the disjoint union. The results are the trees of
// consecutive graphs, in order, whatever the number of threads.
std::vector<Levels> build_batch(std::int64_t num_graphs, const std::int64_t* node_ptr, const GraphView& graphs, const Options& options,
                                int num_threads, Control& control);

}  // namespace sepool
