#include "methods.hpp"
#include "log2.hpp"

#include <algorithm>
#include <exception>
#include <limits>
#include <mutex>
#include <thread>

namespace sepool {
namespace {

constexpr Edge kCanonicalArcs = 1 << 17;    // `fast` takes larger graphs as they are numbered
constexpr Edge kTinyArcs = 120;             // up to here, or twice that with two levels to arrange, three starts compete
                                            // and pairs of clusters are shaken
constexpr Edge kSmallArcs = 1'000;          // up to a third of it, and with two levels to arrange up to the next, two starts compete
constexpr Edge kMiddleArcs = 20'000;
constexpr double kLeastProgress = 1e-3;     // relative fall of H for which another round is worth its time, on middle-sized graphs
constexpr double kRounding = 1e-9;          // a smaller relative difference between two sums of H is none
constexpr Edge kDense = 12;                 // arcs a node; from here on a single level of clusters is rebuilt in rounds
constexpr int kQuickStarts = 20;            // on tiny graphs; half of it at height 2; a quarter of that on small ones
constexpr int kFewLevels = 4;               // that many levels are refined whatever the starts look like
constexpr int kMostLevels = 12;             // and no more than these: what is left to gain beyond, optimal compression gains

// A graph without loops, or with all weights 1, is treated alike whatever company it comes in.
GraphView forget_trivial(GraphView g) {
    if (g.weights && std::all_of(g.weights + g.indptr[0], g.weights + g.indptr[g.num_nodes], [](Weight w) { return w == 1; }))
        g.weights = nullptr;
    if (g.loops && std::all_of(g.loops, g.loops + g.num_nodes, [](Weight w) { return w == 0; })) g.loops = nullptr;
    return g;
}

bool is_tiny(Edge arcs, int height) { return arcs <= (height > 2 ? 2 : 1) * kTinyArcs; }

}  // namespace

void Builder::merge_tree(const GraphView& graph, Linkage linkage, Tree& tree, const Control& control) {
    fill_problem(graph, problem_);
    merge_problem(linkage, tree, control);
}

void Builder::merge_problem(Linkage linkage, Tree& tree, const Control& control) {
    const auto n = static_cast<Node>(problem_.volume.size());
    tree.num_leaves = n;
    tree.volume.assign(problem_.volume.begin(), problem_.volume.end());
    const std::vector<Pair>& merges = merger_.run(problem_, linkage, control);
    const std::size_t size = n + merges.size();
    tree.parent.assign(size, -1), tree.volume.resize(size), tree.cut.assign(size, 0);
    Node t = n;
    for (const Pair& p : merges) {
        tree.parent[p.a] = tree.parent[p.b] = t;
        tree.volume[t] = tree.volume[p.a] + tree.volume[p.b];
        tree.cut[t++] = p.c;
    }
    tree.close();
}

void Builder::build(const GraphView& given, const Options& options, Levels& out, Control& control) {
    const GraphView graph = forget_trivial(given);
    if (options.method == Method::fast && graph.num_arcs() > kCanonicalArcs) {
        control.enter("merging", 0.05);
        merge_by_rounds(graph, tree_, control);
        control.enter("compressing", 0.7);
        compress_.run(tree_, options.height, keep_, control);
        fill_.run(tree_, keep_, options.height, graph, nullptr, out);
        return;
    }
    control.enter("labelling", 0.0);
    const std::vector<Node>& order = canonical_.order(graph, control);
    const bool small = is_small_problem(graph.num_nodes, graph.num_arcs() / 2);
    const Linkage linkage = options.method == Method::paper ? Linkage::gain : Linkage::relative;
    GraphView view;
    if (small && fits_masks(graph.num_nodes) && options.method != Method::best) {  // not worth a relabelled copy
        fill_problem(graph, order.data(), problem_);
        merge_problem(linkage, tree_, control);
    } else {
        relabel(graph, order, relabelled_, position_);
        view = relabelled_.view();
        control.enter("merging", 0.1);
        if (small || options.method == Method::paper) merge_tree(view, linkage, tree_, control);
        else merge_by_rounds(view, tree_, control);
    }
    if (options.method != Method::best) control.enter("compressing", 0.8);
    if (options.method == Method::paper) remove_greedily(tree_, options.height, keep_, control);
    else if (options.method == Method::fast) compress_.run(tree_, options.height, keep_, control);
    else refine(view, options, control);
    fill_.run(tree_, keep_, options.height, graph, order.data(), out);
}

// Compresses the tree at hand and keeps it if its entropy is the lowest so far. Returns its entropy.
double Builder::compete(const GraphView& graph, int height, const Control& control) {
    compress_.run(tree_, height, keep_, control);
    levels_.clear();
    const double entropy = fill_.run(tree_, keep_, height, graph, nullptr, levels_);
    if (entropy < best_entropy_) {
        best_entropy_ = entropy;
        best_tree_ = tree_;
        best_keep_ = keep_;
    }
    return entropy;
}

// Hands the tree that has just competed to the refiner, compressed further if it is higher than what is refined.
void Builder::load_refiner(const GraphView& graph, int levels, const Control& control) {
    if (static_cast<int>(levels_.count.size()) != levels + 1) {
        compress_.run(tree_, levels, keep_, control);
        levels_.clear();
        fill_.run(tree_, keep_, levels, graph, nullptr, levels_);
    }
    refiner_.load(graph, levels_);
}

// How many levels moves shall arrange: those that are asked for and that the tree at hand has use for. Others would hold
// chains, through which every move has to climb. Compression still has the whole height.
int Builder::levels_to_refine(const GraphView& graph, int height) const {
    const int most = std::max<Node>(graph.num_nodes - 1, 2), used = std::max<int>(fill_.rise() + 1, kFewLevels);
    return std::min({height, most, used, kMostLevels});
}

// Several starts for small graphs, one for large ones, each improved; the lowest entropy wins. Enters with the tree of
// `fast`, and tries that of `paper` on small graphs, so the result is not worse than those.
void Builder::refine(const GraphView& graph, const Options& options, Control& control) {
    const int height = options.height;
    if (height == 1 || graph.num_arcs() == 0) {
        compress_.run(tree_, height, keep_, control);
        return;
    }
    Random random(options.seed);
    best_entropy_ = std::numeric_limits<double>::infinity();
    compete(graph, height, control);
    const int levels = levels_to_refine(graph, height);
    const Edge arcs = graph.num_arcs();
    const auto start_from_linkage = [&](Linkage linkage) {
        merge_tree(graph, linkage, tree_, control);
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
    tree_.swap(best_tree_);
    keep_.swap(best_keep_);
}

// Many clusterings by modularity, which differ in the order of moves, only settled. If one of them is the best tree so
// far, it is worth more.
void Builder::try_quick_starts(const GraphView& graph, int height, int levels, Random& random, const Control& control) {
    const double before = best_entropy_;
    const auto cluster = [&](const GraphView& items, const std::vector<Weight>& volume, int, std::vector<Node>& label) {
        mover_.run(items, volume, random, label, control);
    };
    const int tries = height > 2 ? kQuickStarts : kQuickStarts / 2;
    for (int i = is_tiny(graph.num_arcs(), height) ? tries : tries / 4; i > 0; --i) {
        // Every other time one level more, from which compression takes its choice: the lowest clusters may be too small.
        refiner_.load_clustered(graph, levels + i % 2, cluster);
        if (i % 2 == 1) {
            refiner_.to_tree(Refiner::Merging::by_pairs, merger_, tree_, control);
            compete(graph, height, control);
            load_refiner(graph, levels, control);
        }
        refiner_.settle(random, control);
        refiner_.to_tree(Refiner::Merging::by_pairs, merger_, tree_, control);
        compete(graph, height, control);
    }
    if (best_entropy_ >= before) return;
    tree_ = best_tree_;
    compete(graph, height, control);
    load_refiner(graph, levels, control);
    improve(graph, height, levels, random, control);
}

// Regions of growing size, level by level.
void Builder::load_grown(const GraphView& graph, int levels, const Control& control) {
    Weight total = 0;
    for (Node u = 0; u < graph.num_nodes; ++u) total += graph.degree(u) + graph.loop(u);
    refiner_.load_clustered(graph, levels,
                            [&](const GraphView& items, const std::vector<Weight>& volume, int level, std::vector<Node>& label) {
                                const double share = fixed_power(static_cast<double>(level) / (levels - 1), 0.8);
                                grower_.run(items, volume, Log2()(total) * share, label, control);
                            });
}

// Settles and shakes the hierarchy in the refiner, builds a binary tree around it and compresses that optimally, until H stays.
void Builder::improve(const GraphView& graph, int height, int levels, Random& random, const Control& control) {
    const Edge arcs = graph.num_arcs();
    // Where time is short anyway: more shaking, and rounds for smaller gains.
    const bool thorough = arcs <= (height > 2 ? kMiddleArcs : kMiddleArcs / 5);
    const double progress = (thorough ? 0.1 : arcs > kLargeArcs ? 3 : 1) * kLeastProgress;
    const bool dense = height == 2 && arcs >= kDense * graph.num_nodes;
    const auto merging = dense || arcs > kLargeArcs ? Refiner::Merging::in_rounds : Refiner::Merging::by_pairs;
    bool idle = false;  // the last round found no more than settling had
    for (double last = std::numeric_limits<double>::infinity();;) {
        refiner_.settle(random, control);
        const double settled = refiner_.entropy();
        if (idle && settled > last * (1 - kRounding)) return;
        shake(thorough ? 2 : 1, height, settled, random, control);
        if (is_tiny(arcs, height)) refiner_.shake_pairs(control);
        refiner_.to_tree(merging, merger_, tree_, control);
        const double entropy = compete(graph, height, control);
        if (entropy > last * (1 - progress)) return;
        last = entropy;
        idle = height == 2 && entropy > settled * (1 - kRounding);
        load_refiner(graph, levels, control);
    }
}

// Shakes the hierarchy in the refiner, whose H is given. Shaking lets H rise on the way; where there is one level of clusters and H
// ends higher than it was in between, it goes back there. With several levels that would gain a hundredth of a percent, for more rounds.
void Builder::shake(int times, int height, double entropy, Random& random, const Control& control) {
    double least = entropy;
    for (int i = 0; i < times; ++i) {
        if (height == 2 && entropy <= least) refiner_.save();
        entropy += refiner_.shake(random, control);
        least = std::min(least, entropy);
    }
    if (height == 2 && entropy > least * (1 + kRounding)) refiner_.restore();
}

std::vector<Levels> build_batch(std::int64_t num_graphs, const std::int64_t* node_ptr, const GraphView& graphs, const Options& options,
                                int num_threads, Control& control) {
    // Graphs are handed out in runs: an even load. Each run has a result of its own, but all have one where there is one thread.
    const std::int64_t run = std::max<std::int64_t>(1, std::min<std::int64_t>(256, num_graphs / (8 * num_threads)));
    const std::int64_t runs = (num_graphs + run - 1) / run;
    std::vector<Levels> out(num_threads == 1 ? std::min<std::int64_t>(runs, 1) : runs);
    std::atomic<std::int64_t> next{0};
    std::exception_ptr failure;
    std::mutex guard;
    const auto work = [&] {
        try {
            Builder builder;
            for (std::int64_t r; (r = next.fetch_add(1, std::memory_order_relaxed)) < runs;) {
                Levels& levels = out[num_threads == 1 ? 0 : r];
                const std::int64_t first = r * run, last = std::min(num_graphs, first + run);
                for (std::int64_t b = first; b < last; ++b) {
                    builder.build(graphs.part(node_ptr[b], node_ptr[b + 1]), options, levels, control);
                    control.check();
                }
                control.done.fetch_add(last - first, std::memory_order_relaxed);
                // What the first runs took tells what all will take.
                if (num_threads == 1 && r == 3)
                    levels.reserve(1.05 * static_cast<double>(node_ptr[num_graphs]) / static_cast<double>(node_ptr[last]));
            }
        } catch (...) {
            const std::lock_guard<std::mutex> lock(guard);
            if (!failure) failure = std::current_exception();
            control.cancel = true;
        }
    };
    std::vector<std::thread> threads;
    threads.reserve(num_threads);
    try {
        for (int i = 1; i < num_threads && i < runs; ++i) threads.emplace_back(work);
    } catch (const std::exception&) {
        // The system gives no more threads, or no memory for one: those that are there do the work.
    }
    work();
    for (auto& t : threads) t.join();
    if (failure) std::rethrow_exception(failure);
    return out;
}

}  // namespace sepool
