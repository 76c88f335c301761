#include "search/search.hpp"

#include <algorithm>
#include <limits>

#include "log2.hpp"
#include "search/fast.hpp"

namespace sepool {
namespace {

constexpr Edge kTinyArcs = 120;             // up to here, or twice that with two levels to arrange, three starts compete
                                            // and pairs of clusters are shaken
constexpr Edge kSmallArcs = 1'000;          // up to a third of it, and with two levels to arrange up to the next, two starts compete
constexpr Edge kMiddleArcs = 20'000;
constexpr double kLeastProgress = 1e-3;     // relative fall of H for which another round is worth its time, on middle-sized graphs
constexpr double kRounding = 1e-9;          // a smaller relative difference between two sums of H is none
constexpr Edge kDense = 12;                 // arcs a node; from here on a single level of clusters is rebuilt in rounds
constexpr int kQuickStarts = 20;            // on tiny graphs; half of it at height 2; a quarter of that on small ones
constexpr int kFewLevels = 4;               // that many levels are refined whatever the starts look like
constexpr int kMostLevels = 12;             // and no more than these: optimal compression gains the rest

bool is_tiny(Edge arcs, int height) { return arcs <= (height > 2 ? 2 : 1) * kTinyArcs; }

}  // namespace

void Search::best(const GraphView& graph, int height, std::uint64_t seed, Levels& out, Control& control) {
    control.enter("labelling", 0.0);
    const std::vector<Node>& order = work_.canonical.order(graph, control);
    relabel(graph, order, work_.relabelled, work_.position);
    control.enter("merging", 0.1);
    merge_quickly(work_.relabelled.view(), work_, control);
    refine(work_.relabelled.view(), height, seed, control);
    work_.filler.run(work_.tree, work_.keep, height, graph, order.data(), out);
}

// Compresses the tree at hand and keeps it if its entropy is the lowest so far. Returns its entropy.
double Search::compete(const GraphView& graph, int height, const Control& control) {
    work_.compressor.run(work_.tree, height, work_.keep, control);
    levels_.clear();
    const double entropy = work_.filler.run(work_.tree, work_.keep, height, graph, nullptr, levels_);
    if (entropy < best_entropy_) {
        best_entropy_ = entropy;
        best_tree_ = work_.tree;
        best_keep_ = work_.keep;
    }
    return entropy;
}

// Loads the tree that has just competed into the refiner, compressed further if it is higher than that takes.
void Search::load_refiner(const GraphView& graph, int levels, const Control& control) {
    if (static_cast<int>(levels_.count.size()) != levels + 1) {
        work_.compressor.run(work_.tree, levels, work_.keep, control);
        levels_.clear();
        work_.filler.run(work_.tree, work_.keep, levels, graph, nullptr, levels_);
    }
    refiner_.load(graph, levels_);
}

// The number of levels to refine: at most those that the tree at hand uses. Others would hold chains, through which every
// move has to climb. Compression still has the whole height.
int Search::levels_to_refine(const GraphView& graph, int height) const {
    const int most = std::max<Node>(graph.num_nodes - 1, 2), used = std::max<int>(work_.filler.rise() + 1, kFewLevels);
    return std::min({height, most, used, kMostLevels});
}

// Several starts for small graphs, one for large ones, each improved; the lowest entropy wins. Enters with the tree of
// `fast`, and tries that of `paper` on small graphs, so the result is not worse than those.
void Search::refine(const GraphView& graph, int height, std::uint64_t seed, Control& control) {
    if (height == 1 || graph.num_arcs() == 0) {
        work_.compressor.run(work_.tree, height, work_.keep, control);
        return;
    }
    Random random(seed);
    best_entropy_ = std::numeric_limits<double>::infinity();
    compete(graph, height, control);
    const int levels = levels_to_refine(graph, height);
    const Edge arcs = graph.num_arcs();
    const auto start_from_linkage = [&](Linkage linkage) {
        work_.problem.read(graph);
        merge_tree(work_.problem, linkage, work_.merger, work_.tree, control);
        compete(graph, height, control);
    };
    if (arcs <= kMiddleArcs) start_from_linkage(Linkage::gain);

    control.enter("refining", 0.2);
    load_grown(graph, levels, control);
    improve(graph, height, levels, random, control);
    if (is_tiny(arcs, height) || (arcs > kSmallArcs && arcs <= kMiddleArcs && height > 2)) {
        control.enter("refining", 0.5);
        refiner_.load_singletons(graph, levels);
        improve(graph, height, levels, random, control);
    }
    if (is_tiny(arcs, height) || (arcs <= kSmallArcs && (arcs <= kSmallArcs / 3 || height > 2))) {
        start_from_linkage(Linkage::relative);
        load_refiner(graph, levels, control);
        improve(graph, height, levels, random, control);
    }
    if (arcs <= kSmallArcs) try_quick_starts(graph, height, levels, random, control);
    work_.tree.swap(best_tree_);
    work_.keep.swap(best_keep_);
}

// Many clusterings by modularity, which differ in the order of moves, only settled. If one of them is the best tree so
// far, it is worth more.
void Search::try_quick_starts(const GraphView& graph, int height, int levels, Random& random, const Control& control) {
    const double before = best_entropy_;
    const auto cluster = [&](const GraphView& items, const std::vector<Weight>& volume, int, std::vector<Node>& label) {
        mover_.run(items, volume, random, label, control);
    };
    const int tries = height > 2 ? kQuickStarts : kQuickStarts / 2;
    for (int i = is_tiny(graph.num_arcs(), height) ? tries : tries / 4; i > 0; --i) {
        // Every other time one level more, from which compression takes its choice: the lowest clusters may be too small.
        refiner_.load_clustered(graph, levels + i % 2, cluster);
        if (i % 2 == 1) {
            refiner_.to_tree(Refiner::Merging::by_pairs, work_.merger, work_.tree, control);
            compete(graph, height, control);
            load_refiner(graph, levels, control);
        }
        refiner_.settle(random, control);
        refiner_.to_tree(Refiner::Merging::by_pairs, work_.merger, work_.tree, control);
        compete(graph, height, control);
    }
    if (best_entropy_ >= before) return;
    work_.tree = best_tree_;
    compete(graph, height, control);
    load_refiner(graph, levels, control);
    improve(graph, height, levels, random, control);
}

// Regions of growing size, level by level.
void Search::load_grown(const GraphView& graph, int levels, const Control& control) {
    Weight total = 0;
    for (Node u = 0; u < graph.num_nodes; ++u) total += graph.degree(u) + graph.loop(u);
    refiner_.load_clustered(graph, levels,
                            [&](const GraphView& items, const std::vector<Weight>& volume, int level, std::vector<Node>& label) {
                                const double share = fixed_power(static_cast<double>(level) / (levels - 1), 0.8);
                                grower_.run(items, volume, Log2()(total) * share, label, control);
                            });
}

// Settles and shakes the hierarchy in the refiner, builds a binary tree around it and compresses that optimally, until H stays.
void Search::improve(const GraphView& graph, int height, int levels, Random& random, const Control& control) {
    const Edge arcs = graph.num_arcs();
    // Where time is short anyway: more shaking, and rounds for smaller gains.
    const bool thorough = arcs <= (height > 2 ? kMiddleArcs : kMiddleArcs / 5);
    const double progress = (thorough ? 0.1 : arcs > kLargeArcs ? 3 : 1) * kLeastProgress;
    const bool dense = height == 2 && arcs >= kDense * graph.num_nodes;
    const auto merging = dense || arcs > kLargeArcs ? Refiner::Merging::in_rounds : Refiner::Merging::by_pairs;
    bool idle = false;  // the last round gained nothing over settling
    for (double last = std::numeric_limits<double>::infinity();;) {
        refiner_.settle(random, control);
        const double settled = refiner_.entropy();
        if (idle && settled > last * (1 - kRounding)) return;
        shake(thorough ? 2 : 1, height, settled, random, control);
        if (is_tiny(arcs, height)) refiner_.shake_pairs(control);
        refiner_.to_tree(merging, work_.merger, work_.tree, control);
        const double entropy = compete(graph, height, control);
        if (entropy > last * (1 - progress)) return;
        last = entropy;
        idle = height == 2 && entropy > settled * (1 - kRounding);
        load_refiner(graph, levels, control);
    }
}

// Shakes the hierarchy in the refiner, whose H is given. Shaking lets H rise on the way; where there is one level of clusters and H
// ends higher than it was in between, it goes back there. With several levels that would gain a hundredth of a percent, for more rounds.
void Search::shake(int rounds, int height, double entropy, Random& random, const Control& control) {
    double least = entropy;
    for (int i = 0; i < rounds; ++i) {
        if (height == 2 && entropy <= least) refiner_.save();
        entropy += refiner_.shake(random, control);
        least = std::min(least, entropy);
    }
    if (height == 2 && entropy > least * (1 + kRounding)) refiner_.restore();
}

}  // namespace sepool
