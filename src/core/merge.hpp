// Stage 1: MERGE the pair of largest gain, again and again, until no two clusters share an edge.
#pragma once

#include "log2.hpp"
#include "types.hpp"

namespace sepool {

struct Pair {
    Node a, b;
    Weight c;  // weight between the two
};

// The gain of MERGE(i, j) is 2c/V * log2(V / (v_i + v_j)): what H falls by. `gain` takes it as it is, as the paper does;
// `relative` divides it by the smaller volume, which keeps a large cluster from swallowing its neighbours one by one.
enum class Linkage { gain, relative };

inline double linkage_key(Linkage linkage, Weight c, Weight vi, Weight vj, double log_total) {
    const double gain = static_cast<double>(c) * (log_total - Log2()(vi + vj));
    return linkage == Linkage::gain ? gain : gain / static_cast<double>(vi < vj ? vi : vj);
}

// Clusters 0..n-1 with their volumes and the pairs that share edges, each pair once.
struct MergeProblem {
    std::vector<Weight> volume;
    std::vector<Pair> pairs;
    Weight total = 0;  // volume of the whole graph, which may be more than that of these clusters
};

class Merger {
public:
    // Returns the merges in their order; the k-th makes cluster n + k. Ties are broken by position, so the result is a
    // function of the problem. `problem` is used up.
    const std::vector<Pair>& run(MergeProblem& problem, Linkage linkage, const Control& control);

private:
    void run_small(MergeProblem& problem, Linkage linkage);
    Node largest_key() const;

    std::vector<Pair> merges_;
    std::vector<double> key_;
    std::vector<Weight> weight_;
    std::vector<Node> name_, head_, slot_, end_, next_;
};

// Small enough to look at every pair for every merge.
bool is_small_problem(std::int64_t clusters, std::int64_t pairs);

// What is behind Merger for problems of at most 64 clusters (merge_small.cpp).
bool fits_masks(Node clusters);
void merge_by_masks(const MergeProblem& problem, Linkage linkage, std::vector<Pair>& merges);

// The exact lazy heap behind Merger for graphs too large to scan (merge_heap.cpp).
void merge_by_heap(MergeProblem& problem, Linkage linkage, std::vector<Pair>& merges, const Control& control);

// The problem of a whole graph.
void fill_problem(const GraphView& graph, MergeProblem& problem);

// The same for a graph that fits masks, whose nodes are renumbered on the way: cluster i is the node order[i].
void fill_problem(const GraphView& graph, const Node* order, MergeProblem& problem);

}  // namespace sepool
