// Stage 1: MERGE the pair of root children with the largest key until no two of them share an edge.
//
// Ties: pairs of clusters are ordered by (key, position), and the position of a pair is that of its first edge in
// MergeProblem::pairs, which lists the edges of the canonical order row by row. Of the pairs with the largest key, bit for bit,
// the one of the lowest position is merged. That holds for the heap, for the stores of hubs and for small problems alike.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

#include "log2.hpp"
#include "team.hpp"
#include "types.hpp"

namespace sepool {

struct Pair {
    Node a, b;
    Weight c;  // weight between the two
};

using Position = std::uint32_t;  // of a pair, for ties

constexpr Position kLastPosition = std::numeric_limits<Position>::max();  // shared by all edges beyond the 2^32nd

struct Rank {
    double key = -1;
    Position position = kLastPosition;

    // Without `&&` and `||`: no branch for the processor to guess.
    bool before(const Rank& o) const { return (key > o.key) | ((key == o.key) & (position < o.position)); }
};

// The gain of MERGE(i, j) is 2c/V * log2(V / (v_i + v_j)): the fall of H. `gain` takes it as it is, as the paper does;
// `relative` divides it by the smaller volume, which keeps a large cluster from swallowing its neighbours one by one.
enum class Linkage { gain, relative };

// The part of the key that the larger volume does not enter.
inline double key_factor(Linkage linkage, Weight c, Weight smaller) {
    return linkage == Linkage::gain ? static_cast<double>(c) : static_cast<double>(c) / static_cast<double>(smaller);
}

inline double linkage_key(Linkage linkage, Weight c, Weight vi, Weight vj, double log_total) {
    return key_factor(linkage, c, std::min(vi, vj)) * (log_total - Log2()(vi + vj));
}

// Clusters 0..n-1 with their volumes and the pairs that share edges, each pair once and in the order of positions.
struct MergeProblem {
    std::vector<Weight> volume;
    std::vector<Pair> pairs;
    Weight total = 0;  // volume of the whole graph, which may be more than that of these clusters

    // The problem of a whole graph, whose clusters are its nodes.
    void read(const GraphView& graph);

    // The same with cluster i for the node order[i].
    void read(const GraphView& graph, const std::vector<Node>& order, Graph& scratch, std::vector<Node>& position, Team& team);
};

class Merger {
public:
    // Returns the merges in their order; the k-th makes cluster n + k. `problem` is used up.
    const std::vector<Pair>& run(MergeProblem& problem, Linkage linkage, const Control& control);

private:
    std::vector<Pair> merges_;
};

// Builds the merge tree of a problem that is used up. One root is put over the parts of a disconnected graph.
void merge_tree(MergeProblem& problem, Linkage linkage, Merger& merger, Tree& tree, const Control& control);

// The general code of Merger: an exact lazy heap (merge_heap.cpp).
void merge_by_heap(MergeProblem& problem, Linkage linkage, std::vector<Pair>& merges, const Control& control);

namespace small {

void read_problem(const GraphView& graph, const Node* order, MergeProblem& problem);
void merge(const MergeProblem& problem, Linkage linkage, std::vector<Pair>& merges);
void merge_by_scan(MergeProblem& problem, Linkage linkage, std::vector<Pair>& merges);

}  // namespace small

}  // namespace sepool
