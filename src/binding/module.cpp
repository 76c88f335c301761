// The Python module sepool._core: arrays in, arrays out, the GIL released while trees are built and edges sorted.

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>
#include <system_error>
#include <thread>

#include "arrays.hpp"
#include "build.hpp"
#include "graph/csr.hpp"
#include "small/small.hpp"

using namespace sepool;

namespace {

int threads_of(int asked) {
    const int cores = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
    return asked <= 0 ? cores : std::min(asked, cores);  // more would only wait
}

template <class Id>
nb::tuple csr(In<std::int64_t> node_ptr, In<std::int64_t> edge_ptr, Column<Id> u, Column<Id> v, std::optional<In<double>> w, bool both,
              bool self_loops, int num_threads) {
    EdgeLists<Id> lists;
    lists.num_graphs = static_cast<std::int64_t>(node_ptr.shape(0)) - 1;
    if (lists.num_graphs < 0 || node_ptr.shape(0) != edge_ptr.shape(0))
        fail("node_ptr and edge_ptr must have the same length, one or more");
    lists.node_ptr = node_ptr.data(), lists.edge_ptr = edge_ptr.data(), lists.u = u.data(), lists.v = v.data();
    lists.step_u = u.stride(0), lists.step_v = v.stride(0);
    for (std::int64_t b = 0; b <= lists.num_graphs; ++b) {
        const bool ok = b == 0 ? lists.node_ptr[0] == 0 && lists.edge_ptr[0] == 0
                               : lists.node_ptr[b] >= lists.node_ptr[b - 1] && lists.edge_ptr[b] >= lists.edge_ptr[b - 1];
        if (!ok) fail("node_ptr and edge_ptr must start at 0 and never fall");
    }
    const auto m = static_cast<std::size_t>(lists.edge_ptr[lists.num_graphs]);
    if (u.shape(0) != m || v.shape(0) != m || (w && w->shape(0) != m)) fail("u, v and w must have edge_ptr[-1] entries");
    if (w) lists.w = w->data();
    lists.both = both;
    lists.self_loops = self_loops;
    Csr out;
    {
        nb::gil_scoped_release release;
        out = build_csr(lists, threads_of(num_threads));
    }
    return nb::make_tuple(give(std::move(out.graph.indptr)), give(std::move(out.graph.indices)), give_or_none(std::move(out.graph.weights)),
                          give_or_none(std::move(out.graph.loops)), give(std::move(out.unit)));
}

Method method_of(const std::string& name) {
    if (name == "paper") return Method::paper;
    if (name == "fast") return Method::fast;
    if (name == "best") return Method::best;
    fail("method must be paper, fast or best, got '" + name + "'");
}

struct OutOfMemory : std::runtime_error {
    using std::runtime_error::runtime_error;
};

// Shorter work, in arcs that `fast` and `paper` read, cannot be interrupted; `best` reads every arc some hundred times for each
// level.
constexpr Edge kShortWork = 200'000;
constexpr Edge kBestReads = 100;
constexpr Edge kBytesAnArc = 24;  // of a search at its peak

// Runs `work` while the calling thread, at intervals, lets Python handle signals and reports progress.
template <class Work>
void run_watched(Control& control, std::int64_t total, nb::object progress, Work&& work) {
    std::mutex guard;
    std::condition_variable wake;
    bool finished = false;
    std::exception_ptr failure;
    std::thread worker;
    try {
        worker = std::thread([&] {
            try {
                work();
            } catch (...) {
                failure = std::current_exception();
            }
            const std::lock_guard<std::mutex> lock(guard);
            finished = true;
            wake.notify_one();
        });
    } catch (const std::system_error&) {  // the system gives no thread: no signals, no progress
        nb::gil_scoped_release release;
        return work();
    }
    bool raised = false;
    for (;;) {
        {
            nb::gil_scoped_release release;
            std::unique_lock<std::mutex> lock(guard);
            if (wake.wait_for(lock, std::chrono::milliseconds(50), [&] { return finished; })) break;
        }
        if (raised) continue;
        raised = PyErr_CheckSignals() != 0;
        if (!raised && !progress.is_none()) {
            const double part = total == 1 ? control.fraction.load() : 0;
            const double done = (static_cast<double>(control.done.load()) + part) / static_cast<double>(total);
            PyObject* result = PyObject_CallFunction(progress.ptr(), "ds", std::min(done, 1.0), control.stage.load());
            raised = result == nullptr;
            Py_XDECREF(result);
        }
        if (raised) control.cancel = true;
    }
    {
        nb::gil_scoped_release release;
        worker.join();
    }
    if (raised) throw nb::python_error();
    if (failure) std::rethrow_exception(failure);
}

// Runs a search; where memory runs out, the error has the amount.
template <class Work>
void run_search(Control& control, Edge arcs, bool is_long, std::int64_t num_graphs, nb::object progress, Work&& search) {
    const auto work = [&] {
        try {
            search();
        } catch (const std::bad_alloc&) {
            throw OutOfMemory("not enough memory for the search: a graph of " + std::to_string(arcs / 2) + " edges takes about " +
                              std::to_string((arcs * kBytesAnArc >> 20) + 1) + " MiB besides its own arrays");
        }
    };
    if (is_long) {
        run_watched(control, num_graphs, progress, work);
    } else {
        nb::gil_scoped_release release;
        work();
    }
}

nb::tuple give_levels(Levels&& levels, std::int64_t num_graphs, int height) {
    auto* owner = new std::vector<std::int64_t>(std::move(levels.count));
    nb::capsule capsule(owner, [](void* p) noexcept { delete static_cast<std::vector<std::int64_t>*>(p); });
    Out<std::int64_t> table(owner->data(), {static_cast<std::size_t>(num_graphs), static_cast<std::size_t>(height) + 1}, capsule);
    return nb::make_tuple(table, give(std::move(levels.parent)), give(std::move(levels.volume)), give(std::move(levels.boundary)),
                          give(std::move(levels.entropy)));
}

nb::tuple trees(In<std::int64_t> node_ptr, In<std::int64_t> indptr, In<Node> indices, std::optional<In<Weight>> weights,
                std::optional<In<Weight>> loops, int height, const std::string& method, std::uint64_t seed, int num_threads,
                nb::object progress, std::optional<In<Weight>> colours, std::optional<In<Weight>> arc_colours) {
    GraphView view = union_view(node_ptr, indptr, indices, weights, loops);
    add_colours(view, indptr.shape(0) - 1, indices.shape(0), colours, arc_colours);
    const auto num_graphs = static_cast<std::int64_t>(node_ptr.shape(0)) - 1;
    check_height(height);
    Options options;
    options.height = height, options.method = method_of(method), options.seed = seed;
    num_threads = threads_of(num_threads);

    Levels levels;
    Control control;
    const auto build = [&] {
        std::vector<Levels> parts = build_batch(num_graphs, node_ptr.data(), view, options, num_threads, control);
        if (parts.size() == 1) {
            levels = std::move(parts[0]);
            return;
        }
        std::size_t nodes = 0;
        for (const Levels& l : parts) nodes += l.volume.size();
        levels.parent.reserve(nodes), levels.volume.reserve(nodes), levels.boundary.reserve(nodes);
        const auto append = [](auto& to, auto& from) {
            to.insert(to.end(), from.begin(), from.end());
            from = {};
        };
        for (Levels& l : parts) {
            append(levels.count, l.count);
            append(levels.parent, l.parent);
            append(levels.volume, l.volume);
            append(levels.boundary, l.boundary);
            append(levels.entropy, l.entropy);
        }
    };
    const Edge arcs = indptr.data()[indptr.shape(0) - 1];
    const bool is_long = arcs * (options.method == Method::best ? kBestReads * height : 1) >= kShortWork;
    run_search(control, arcs, is_long, num_graphs, progress, build);
    return give_levels(std::move(levels), num_graphs, height);
}

// `counts` and `parent` are those of a tree: the nodes of every level, and their parents, level after level, without the root.
nb::tuple refine(In<std::int64_t> indptr, In<Node> indices, std::optional<In<Weight>> weights, std::optional<In<Weight>> loops,
                 In<std::int64_t> counts, In<Node> parent, std::optional<In<std::int8_t>> active, std::optional<In<std::int8_t>> held,
                 bool unions, std::uint64_t seed, int num_threads, nb::object progress) {
    const GraphView view = single_view(indptr, indices, weights, loops);
    const auto height = static_cast<int>(std::min<std::size_t>(counts.shape(0), kMaxHeight + 2)) - 1;
    check_height(height);
    if (height < 2 || counts.data()[0] != view.num_nodes || counts.data()[height] != 1) fail("counts must lead from the nodes to one root");
    Start start;
    start.unions = unions;
    for (const auto& [source, target] : {std::pair{&active, &start.active}, std::pair{&held, &start.held}}) {
        if (!*source) continue;
        if ((*source)->shape(0) != static_cast<std::size_t>(view.num_nodes)) fail("active and held must have an entry for every node");
        target->assign((*source)->data(), (*source)->data() + view.num_nodes);
    }
    std::size_t at = 0;
    for (int l = 0; l + 1 < height; ++l) {
        const std::int64_t count = counts.data()[l], above = counts.data()[l + 1];
        if (above < 1 || above > count || at + static_cast<std::size_t>(count) > parent.shape(0))
            fail("counts must not rise, and parent must have an entry for every node");
        std::vector<Node> up(parent.data() + at, parent.data() + at + count);
        std::vector<char> has_child(above, 0);
        for (const Node p : up) {
            if (p < 0 || p >= above) fail("parent " + std::to_string(p) + " is not on the next level");
            has_child[p] = 1;
        }
        if (std::find(has_child.begin(), has_child.end(), 0) != has_child.end()) fail("every cluster must have a child");
        start.parents.push_back(std::move(up));
        at += count;
    }
    Levels levels;
    Control control;
    const Edge arcs = view.num_arcs();
    run_search(control, arcs, arcs * height >= kShortWork, 1, progress,
               [&] { levels = build_from(view, start, seed, threads_of(num_threads), control); });
    return give_levels(std::move(levels), 1, height);
}

// `loops` is the part of the volumes that edges do not account for, `inner` the weight inside the nodes.
Out<Node> contracted(In<std::int64_t> indptr, In<Node> indices, std::optional<In<Weight>> weights, std::optional<In<Weight>> loops,
                     In<Weight> inner, std::uint64_t seed, int num_threads, nb::object progress) {
    const GraphView view = single_view(indptr, indices, weights, loops);
    if (inner.shape(0) != static_cast<std::size_t>(view.num_nodes)) fail("inner must have an entry for every node");
    for (Node u = 0; u < view.num_nodes; ++u)
        if (inner.data()[u] < 0 || 2 * inner.data()[u] > view.loop(u)) fail("inner must be from 0 to half of loops");
    std::vector<Node> label;
    Control control;
    const Edge arcs = view.num_arcs();
    run_search(control, arcs, arcs * kBestReads >= kShortWork, 1, progress,
               [&] { label = cluster_contracted(view, inner.data(), seed, threads_of(num_threads), control); });
    return give(std::move(label));
}

}  // namespace

NB_MODULE(_core, m) {
    nb::register_exception_translator([](const std::exception_ptr& p, void*) {
        try {
            std::rethrow_exception(p);
        } catch (const Cancelled&) {
            PyErr_SetString(PyExc_RuntimeError, "the work was cancelled");
        } catch (const OutOfMemory& error) {
            PyErr_SetString(PyExc_MemoryError, error.what());
        }
    });
#if defined(__clang__)
    m.attr("build") = "clang " __clang_version__;
#elif defined(__GNUC__)
    m.attr("build") = "gcc " __VERSION__;
#elif defined(_MSC_VER)
    m.attr("build") = "msvc " + std::to_string(_MSC_VER);
#endif
    m.def(
        "enable_small", [](bool enabled) { small::enabled = enabled; }, nb::arg("enabled"),
        "Switch the code for small graphs on or off, for all threads; the trees are the same.");
    m.def(
        "set_block", [](Node items) { Mover::block = std::max(items, Node{0}); }, nb::arg("items"),
        "Decide on the moves of so many items at a time, 0 for the default; for measurements.");
    m.attr("MAX_HEIGHT") = kMaxHeight;
    const auto define_csr = [&](auto function) {
        m.def("csr", function, nb::arg("node_ptr"), nb::arg("edge_ptr"), nb::arg("u"), nb::arg("v"), nb::arg("w").none(), nb::kw_only(),
              nb::arg("both"), nb::arg("self_loops"), nb::arg("num_threads") = 1,
              "Compressed rows with integer weights from the edge lists of one or more graphs.");
    };
    define_csr(&csr<std::int64_t>);
    define_csr(&csr<std::int32_t>);
    m.def("trees", &trees, nb::arg("node_ptr"), nb::arg("indptr"), nb::arg("indices"), nb::arg("weights").none(), nb::arg("loops").none(),
          nb::kw_only(), nb::arg("height"), nb::arg("method"), nb::arg("seed"), nb::arg("num_threads"), nb::arg("progress").none(),
          nb::arg("colours") = nb::none(), nb::arg("arc_colours") = nb::none(), "Coding trees of one or more graphs.");
    m.def("refine", &refine, nb::arg("indptr"), nb::arg("indices"), nb::arg("weights").none(), nb::arg("loops").none(), nb::arg("counts"),
          nb::arg("parent"), nb::kw_only(), nb::arg("active").none(), nb::arg("held").none(), nb::arg("unions"), nb::arg("seed"),
          nb::arg("num_threads"), nb::arg("progress").none(), "The coding tree of one graph, from given levels.");
    m.def("cluster_contracted", &contracted, nb::arg("indptr"), nb::arg("indices"), nb::arg("weights").none(), nb::arg("loops").none(),
          nb::arg("inner"), nb::kw_only(), nb::arg("seed"), nb::arg("num_threads"), nb::arg("progress").none(),
          "Flat clusters of a contracted graph.");
    define_stages(m);
}
