#include "build.hpp"

#include <algorithm>
#include <atomic>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>

#include "paper.hpp"

namespace sepool {
namespace {

constexpr Edge kSharedArcs = 50'000;  // a smaller graph is processed by one thread

bool all_equal(const Weight* first, const Weight* last) { return std::adjacent_find(first, last, std::not_equal_to<>()) == last; }

// A graph whose loops are all 0, whose weights are all 1 or whose colours are all the same is treated alike in any batch.
GraphView forget_trivial(GraphView g) {
    if (g.colours && all_equal(g.colours, g.colours + g.num_nodes)) g.colours = nullptr;
    if (g.arc_colours && all_equal(g.arc_colours + g.indptr[0], g.arc_colours + g.indptr[g.num_nodes])) g.arc_colours = nullptr;
    if (g.weights && std::all_of(g.weights + g.indptr[0], g.weights + g.indptr[g.num_nodes], [](Weight w) { return w == 1; }))
        g.weights = nullptr;
    if (g.loops && std::all_of(g.loops, g.loops + g.num_nodes, [](Weight w) { return w == 0; })) g.loops = nullptr;
    return g;
}

int threads_for(const GraphView& graph, int num_threads) { return graph.num_arcs() < kSharedArcs ? 1 : num_threads; }

}  // namespace

void Builder::build(const GraphView& input, const Options& options, Levels& out, Control& control) {
    const GraphView graph = forget_trivial(input);
    switch (options.method) {
        case Method::paper:
            return paper(graph, options.height, work_, out, control);
        case Method::fast:
            return search_.fast(graph, options.height, options.seed, out, control);
        case Method::best:
            return search_.best(graph, options.height, options.seed, out, control);
    }
}

void Builder::improve(const GraphView& graph, const Start& start, std::uint64_t seed, Levels& out, Control& control) {
    search_.improve(forget_trivial(graph), start, seed, out, control);
}

std::vector<Node> Builder::cluster(const GraphView& graph, const Weight* inner, std::uint64_t seed, Control& control) {
    return search_.contracted(forget_trivial(graph), inner, seed, control);
}

std::vector<Node> cluster_contracted(const GraphView& graph, const Weight* inner, std::uint64_t seed, int num_threads, Control& control) {
    std::vector<Node> label = Builder(threads_for(graph, num_threads)).cluster(graph, inner, seed, control);
    control.done.fetch_add(1, std::memory_order_relaxed);
    return label;
}

Levels build_from(const GraphView& graph, const Start& start, std::uint64_t seed, int num_threads, Control& control) {
    Levels out;
    Builder(threads_for(graph, num_threads)).improve(graph, start, seed, out, control);
    control.done.fetch_add(1, std::memory_order_relaxed);
    return out;
}

std::vector<Levels> build_batch(std::int64_t num_graphs, const std::int64_t* node_ptr, const GraphView& graphs, const Options& options,
                                int num_threads, Control& control) {
    if (num_graphs == 1) {
        std::vector<Levels> out(1);
        const GraphView graph = graphs.part(node_ptr[0], node_ptr[1]);
        Builder(threads_for(graph, num_threads)).build(graph, options, out[0], control);
        control.done.fetch_add(1, std::memory_order_relaxed);
        return out;
    }
    // Threads take graphs in runs: an even load. Each run has a result of its own; a single thread writes all runs into one.
    const std::int64_t run = std::max<std::int64_t>(1, std::min<std::int64_t>(256, num_graphs / (8 * num_threads)));
    const std::int64_t runs = (num_graphs + run - 1) / run;
    std::vector<Levels> out(num_threads == 1 ? std::min<std::int64_t>(runs, 1) : runs);
    std::atomic<std::int64_t> next{0};
    std::exception_ptr failure;
    std::mutex guard;
    const auto work = [&] {
        try {
            Builder builder(1);
            for (std::int64_t r; (r = next.fetch_add(1, std::memory_order_relaxed)) < runs;) {
                Levels& levels = out[num_threads == 1 ? 0 : r];
                const std::int64_t first = r * run, last = std::min(num_graphs, first + run);
                for (std::int64_t b = first; b < last; ++b) {
                    builder.build(graphs.part(node_ptr[b], node_ptr[b + 1]), options, levels, control);
                    control.check();
                }
                control.done.fetch_add(last - first, std::memory_order_relaxed);
                // The first runs predict the size of all.
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
        // The system gives no more threads, or no memory for one: the present ones do the work.
    }
    work();
    for (auto& t : threads) t.join();
    if (failure) std::rethrow_exception(failure);
    return out;
}

}  // namespace sepool
