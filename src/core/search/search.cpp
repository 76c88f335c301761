#include "search/search.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

#include "log2.hpp"

namespace sepool {
namespace {

constexpr Edge kTinyArcs = 120;             // up to here, or twice that with two levels to arrange, three starts compete
                                            // and pairs of clusters are shaken
constexpr Edge kSmallArcs = 1'000;          // up to a third of it, and with two levels to arrange up to the next, two starts compete
constexpr Edge kMiddleArcs = 20'000;
constexpr double kLeastProgress = 1e-3;     // relative fall of H for which another round is worth its time, on middle-sized graphs
constexpr double kRounding = 1e-9;          // a smaller relative difference between two sums of H is none
constexpr std::int64_t kPairSteps = 60'000;  // nodes times edges, up to which `fast` merges a graph pair by pair
constexpr int kQuickStarts = 20;            // on tiny graphs; half of it at height 2; a quarter of that on small ones
constexpr int kFewLevels = 4;               // that many levels are refined whatever the starts look like
constexpr int kMostLevels = 12;             // and no more than these: optimal compression gains the rest

bool is_tiny(Edge arcs, int height) { return arcs <= (height > 2 ? 2 : 1) * kTinyArcs; }

// True for graphs that `fast`, and the first start of `best`, merge pair by pair.
bool merges_pairs(const GraphView& graph, int height) { return height == 1 || graph.num_nodes * (graph.num_arcs() / 2) <= kPairSteps; }

// A permutation of 0 .. n - 1 whose neighbours are far apart: steps of about the golden ratio, another one for every seed.
std::vector<Node> scatter(const std::vector<Node>& order, std::uint64_t seed) {
    const auto n = static_cast<std::int64_t>(order.size());
    Random random(seed);
    std::int64_t step = 1, at = 0;
    if (n > 2) {
        at = random.below(static_cast<Node>(n));
        step = static_cast<std::int64_t>(0.6180339887498949 * static_cast<double>(n)) + random.below(static_cast<Node>(n / 8 + 1));
        while (std::gcd(step, n) != 1) ++step;
    }
    std::vector<Node> out(order.size());
    for (Node& u : out) u = order[at], at = (at + step) % n;
    return out;
}

}  // namespace

// The graph in canonical order; where moves are decided on in blocks, in an order that scatters it.
GraphView Search::relabelled(const GraphView& graph, int height, std::uint64_t seed, Control& control) {
    control.enter("labelling", 0.0);
    order_ = work_.canonical.order(graph, work_.team, control);
    if (!merges_pairs(graph, height)) order_ = scatter(order_, seed);
    relabel(graph, order_, work_.relabelled, work_.position, work_.team);
    control.enter("merging", 0.1);
    return work_.relabelled.view();
}

// Merges of pairs where the graph is small, else moves from level to level; without refinement.
void Search::start(const GraphView& graph, int height, std::uint64_t seed, Control& control) {
    if (height == 1) {
        Tree& tree = work_.tree;
        tree.start(graph);
        tree.close();
        tree.cut[tree.root()] = tree.volume[tree.root()];
        for (Node u = 0; u < graph.num_nodes; ++u) tree.cut[tree.root()] -= graph.loop(u);
        tree.cut[tree.root()] /= 2;
    } else if (merges_pairs(graph, height)) {
        work_.problem.read(graph);
        merge_tree(work_.problem, Linkage::relative, work_.merger, work_.tree, control);
    } else {
        multilevel_.run(graph, height, seed, Multilevel::Effort::quick, work_.team, work_.tree, control);
    }
}

void Search::fast(const GraphView& input, int height, std::uint64_t seed, Levels& out, Control& control) {
    const GraphView graph = relabelled(input, height, seed, control);
    start(graph, height, seed, control);
    work_.compressor.run(work_.tree, height, work_.keep, control);
    work_.filler.run(work_.tree, work_.keep, height, input, order_.data(), out);
}

void Search::best(const GraphView& input, int height, std::uint64_t seed, Levels& out, Control& control) {
    const GraphView graph = relabelled(input, height, seed, control);
    if (graph.num_arcs() > kMiddleArcs && height > 1) {
        multilevel_.run(graph, height, seed, Multilevel::Effort::thorough, work_.team, work_.tree, control);
        work_.keep.assign(work_.tree.size(), 1);
        std::fill_n(work_.keep.begin(), work_.tree.num_leaves, 0);
    } else {
        start(graph, height, seed, control);
        refine(graph, height, seed, control);
    }
    work_.filler.run(work_.tree, work_.keep, height, input, order_.data(), out);
}

void Search::improve(const GraphView& input, const Start& start, std::uint64_t seed, Levels& out, Control& control) {
    const int height = static_cast<int>(start.parents.size()) + 1;
    const bool local = !start.active.empty();  // a new numbering would take longer than the few moves
    const GraphView graph = local ? input : relabelled(input, height, seed, control);
    std::vector<Parents> chain(start.parents);
    Multilevel::Roles roles = {start.active, start.held};
    if (!local) {
        const auto reorder = [&](auto& of_nodes) {
            const auto before = of_nodes;
            for (std::size_t i = 0; i < before.size(); ++i) of_nodes[i] = before[order_[i]];
        };
        reorder(chain[0]), reorder(roles.held);
    }
    multilevel_.improve(graph, std::move(chain), start.unions, std::move(roles), seed, work_.team, work_.tree, control);
    work_.keep.assign(work_.tree.size(), 1);
    std::fill_n(work_.keep.begin(), work_.tree.num_leaves, 0);
    work_.filler.run(work_.tree, work_.keep, height, input, local ? nullptr : order_.data(), out);
}

std::vector<Node> Search::contracted(const GraphView& input, const Weight* inner, std::uint64_t seed, Control& control) {
    const GraphView graph = relabelled(input, 2, seed, control);
    std::vector<Weight> reordered(order_.size());
    for (std::size_t i = 0; i < order_.size(); ++i) reordered[i] = inner[order_[i]];
    Parents label;
    multilevel_.run_contracted(graph, reordered, seed, work_.team, label, control);
    std::vector<Node> out(label.size());
    for (std::size_t i = 0; i < label.size(); ++i) out[order_[i]] = label[i];
    return out;
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
    start_from_linkage(Linkage::gain);

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
            refiner_.to_tree(work_.merger, work_.tree, control);
            compete(graph, height, control);
            load_refiner(graph, levels, control);
        }
        refiner_.settle(random, control);
        refiner_.to_tree(work_.merger, work_.tree, control);
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
    const double progress = (thorough ? 0.1 : 1) * kLeastProgress;
    bool idle = false;  // the last round gained nothing over settling
    for (double last = std::numeric_limits<double>::infinity();;) {
        refiner_.settle(random, control);
        const double settled = refiner_.entropy();
        if (idle && settled > last * (1 - kRounding)) return;
        shake(thorough ? 2 : 1, height, settled, random, control);
        if (is_tiny(arcs, height)) refiner_.shake_pairs(control);
        refiner_.to_tree(work_.merger, work_.tree, control);
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
