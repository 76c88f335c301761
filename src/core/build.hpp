// From graphs to their coding trees: one graph with one method, or many graphs over threads.
#pragma once

#include "search/search.hpp"
#include "workspace.hpp"

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
    explicit Builder(int threads) : work_(threads) {}

    // Appends the tree of `graph` to `out`.
    void build(const GraphView& graph, const Options& options, Levels& out, Control& control);

    // Appends the tree of `graph` that is reached from given levels.
    void improve(const GraphView& graph, const Start& start, std::uint64_t seed, Levels& out, Control& control);

    // The flat clusters of a contracted graph with the weights inside its nodes.
    std::vector<Node> cluster(const GraphView& graph, const Weight* inner, std::uint64_t seed, Control& control);

private:
    Workspace work_;
    Search search_{work_};
};

// Many graphs over several threads, or all threads on one graph. node_ptr and the view describe the disjoint union. The results are the
// trees of consecutive graphs, in order, whatever the number of threads.
std::vector<Levels> build_batch(std::int64_t num_graphs, const std::int64_t* node_ptr, const GraphView& graphs, const Options& options,
                                int num_threads, Control& control);

// The tree of one graph, from given levels, by all threads.
Levels build_from(const GraphView& graph, const Start& start, std::uint64_t seed, int num_threads, Control& control);

// The flat clusters of a contracted graph with the weights inside its nodes, by all threads.
std::vector<Node> cluster_contracted(const GraphView& graph, const Weight* inner, std::uint64_t seed, int num_threads, Control& control);

}  // namespace sepool
