#include "methods.hpp"

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
constexpr Edge kSmallArcs = 1'000;          // up to here, and with two levels to arrange up to the next, two starts compete
constexpr Edge kMiddleArcs = 20'000;
constexpr double kLeastProgress = 1e-3;     // relative fall of H for which another round is worth its time

// A graph without loops, or with all weights 1, is treated alike whatever company it comes in.
void forget_trivial(GraphView& g) {
    if (g.weights && std::all_of(g.weights + g.indptr[0], g.weights + g.indptr[g.num_nodes], [](Weight w) { return w == 1; }))
        g.weights = nullptr;
    if (g.loops && std::all_of(g.loops, g.loops + g.num_nodes, [](Weight w) { return w == 0; })) g.loops = nullptr;
}

bool is_tiny(Edge arcs, int height) { return arcs <= (height > 2 ? 2 : 1) * kTinyArcs; }

}  // namespace

void Builder::merge_tree(const GraphView& graph, Linkage linkage, Tree& tree, const Control& control) {
    tree.start(graph);
    fill_problem(graph, problem_);
    for (const Pair& p : merger_.run(problem_, linkage, control)) tree.merge(p.a, p.b, p.c);
    tree.close();
}

void Builder::build(const GraphView& graph, const Options& options, Levels& out, Control& control) {
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
    relabel(graph, order, relabelled_, position_);
    const GraphView view = relabelled_.view();
    control.enter("merging", 0.1);
    if (options.method == Method::paper) {
        merge_tree(view, Linkage::gain, tree_, control);
        control.enter("compressing", 0.8);
        remove_greedily(tree_, options.height, keep_, control);
    } else {
        if (is_small_problem(view.num_nodes, view.num_arcs() / 2)) merge_tree(view, Linkage::relative, tree_, control);
        else merge_by_rounds(view, tree_, control);
        compress_.run(tree_, options.height, keep_, control);
        if (options.method == Method::best) refine(view, options, control);
    }
    fill_.run(tree_, keep_, options.height, view, order.data(), out);
}

// Keeps the tree at hand if its entropy is the lowest so far. Returns its entropy.
double Builder::compete(const GraphView& graph, int height) {
    levels_.clear();
    const double entropy = fill_.run(tree_, keep_, height, graph, nullptr, levels_);
    if (entropy < best_entropy_) {
        best_entropy_ = entropy;
        best_tree_ = tree_;
        best_keep_ = keep_;
    }
    return entropy;
}

// Several starts for small graphs, one for large ones, each improved; the lowest entropy wins. Enters with the tree of
// `fast`, and tries that of `paper` on small graphs, so the result is not worse than those.
void Builder::refine(const GraphView& graph, const Options& options, Control& control) {
    const int height = options.height;
    if (height == 1 || graph.num_arcs() == 0) return;
    Random random(options.seed);
    best_entropy_ = std::numeric_limits<double>::infinity();
    compete(graph, height);
    const Edge arcs = graph.num_arcs();
    if (arcs <= kMiddleArcs) start_from_linkage(graph, Linkage::gain, height, control);

    control.enter("refining", 0.2);
    refiner_.load_grown(graph, height, grower_, control);
    improve(graph, height, random, control);
    if (is_tiny(arcs, height) || (arcs > kSmallArcs && arcs <= kMiddleArcs && height > 2)) {
        control.enter("refining", 0.5);
        refiner_.load_singletons(graph, height);
        improve(graph, height, random, control);
    }
    if (is_tiny(arcs, height) || (arcs <= kSmallArcs && (arcs <= kSmallArcs / 3 || height > 2))) {
        start_from_linkage(graph, Linkage::relative, height, control);
        improve(graph, height, random, control);
    }
    tree_.swap(best_tree_);
    keep_.swap(best_keep_);
}

void Builder::start_from_linkage(const GraphView& graph, Linkage linkage, int height, const Control& control) {
    merge_tree(graph, linkage, tree_, control);
    compress_.run(tree_, height, keep_, control);
    compete(graph, height);
    refiner_.load(graph, levels_);
}

// Settles and shakes the hierarchy in the refiner, builds a binary tree around it and compresses that optimally, until H stays.
void Builder::improve(const GraphView& graph, int height, Random& random, const Control& control) {
    // Where time is short anyway: more shaking, and rounds for smaller gains.
    const bool thorough = graph.num_arcs() <= (height > 2 ? kMiddleArcs : kMiddleArcs / 5);
    for (double last = std::numeric_limits<double>::infinity();;) {
        refiner_.settle(random, control);
        for (int i = 0; i < (thorough ? 2 : 1); ++i) refiner_.shake(random, control);
        if (is_tiny(graph.num_arcs(), height)) refiner_.shake_pairs(control);
        refiner_.to_tree(Linkage::relative, merger_, tree_, control);
        compress_.run(tree_, height, keep_, control);
        const double entropy = compete(graph, height);
        if (entropy > last * (1 - (thorough ? 0.1 : 1) * kLeastProgress)) return;
        last = entropy;
        refiner_.load(graph, levels_);
    }
}

std::vector<Levels> build_batch(std::int64_t num_graphs, const std::int64_t* node_ptr, const GraphView& graphs, const Options& options,
                                int num_threads, Control& control) {
    // Graphs are handed out in runs, one result a run: few allocations for many small graphs, an even load for large ones.
    const std::int64_t run = std::max<std::int64_t>(1, std::min<std::int64_t>(256, num_graphs / (8 * num_threads)));
    std::vector<Levels> out((num_graphs + run - 1) / run);
    std::atomic<std::size_t> next{0};
    std::exception_ptr failure;
    std::mutex guard;
    const auto work = [&] {
        try {
            Builder builder;
            for (std::size_t r; (r = next.fetch_add(1, std::memory_order_relaxed)) < out.size();) {
                const std::int64_t first = static_cast<std::int64_t>(r) * run, last = std::min(num_graphs, first + run);
                for (std::int64_t b = first; b < last; ++b) {
                    GraphView g = graphs;
                    g.num_nodes = static_cast<Node>(node_ptr[b + 1] - node_ptr[b]);
                    g.indptr += node_ptr[b];
                    if (g.loops) g.loops += node_ptr[b];
                    forget_trivial(g);
                    builder.build(g, options, out[r], control);
                    control.check();
                }
                control.done.fetch_add(last - first, std::memory_order_relaxed);
            }
        } catch (...) {
            const std::lock_guard<std::mutex> lock(guard);
            if (!failure) failure = std::current_exception();
            control.cancel = true;
        }
    };
    std::vector<std::thread> threads;
    for (int i = 1; i < num_threads && static_cast<std::size_t>(i) < out.size(); ++i) threads.emplace_back(work);
    work();
    for (auto& t : threads) t.join();
    if (failure) std::rethrow_exception(failure);
    return out;
}

}  // namespace sepool
