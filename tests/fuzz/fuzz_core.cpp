// Runs the whole core on random and malformed input and checks the results. Meant for a build with sanitizers.

#include "checks.hpp"
#include "driver.hpp"
#include "search/multilevel.hpp"
#include "small/small.hpp"

using namespace sepool;
using namespace fuzz;

namespace {

constexpr Method kMethods[] = {Method::paper, Method::fast, Method::best};

template <class Id>
Csr compress_rows(const Input& in) {
    const std::vector<Id> u(in.u.begin(), in.u.end()), v(in.v.begin(), in.v.end());
    const std::int64_t node_ptr[] = {0, in.n}, edge_ptr[] = {0, static_cast<std::int64_t>(u.size())};
    EdgeLists<Id> lists;
    lists.num_graphs = 1, lists.node_ptr = node_ptr, lists.edge_ptr = edge_ptr, lists.u = u.data(), lists.v = v.data();
    lists.w = in.w.empty() ? nullptr : in.w.data();
    lists.both = in.both, lists.self_loops = in.self_loops;
    return build_csr(lists);
}

// The rows hold the volume that was put in, and ids of 32 bits make no difference.
void check_csr(const Input& in, const Csr& out) {
    const GraphView g = out.graph.view();
    require(g.num_nodes == in.n && out.unit.size() == 1 && out.unit[0] > 0, "the rows have an odd size");
    check_rows(g);
    double expected = 0;
    for (std::size_t i = 0; i < in.u.size(); ++i)
        if (in.u[i] != in.v[i] || in.self_loops) expected += (in.w.empty() ? 1 : in.w[i]) * (in.both ? 1 : 2);
    const double volume = static_cast<double>(total_volume(g)) * out.unit[0];
    require(std::abs(volume - expected) <= 1e-9 * expected, "the volume is not what was put in");
    const Csr narrow = compress_rows<std::int32_t>(in);
    require(narrow.graph.indices == out.graph.indices && narrow.graph.weights == out.graph.weights, "32-bit ids make a difference");
}

void check_canonical(Canonical& canonical, const GraphView& g) {
    Team team(1);
    const std::vector<Node>& order = canonical.order(g, team, Control());
    std::vector<char> seen(g.num_nodes, 0);
    require(static_cast<Node>(order.size()) == g.num_nodes, "the canonical order has the wrong length");
    for (const Node u : order) require(u >= 0 && u < g.num_nodes && !seen[u]++, "the canonical order is no permutation");
    Graph out;
    std::vector<Node> position;
    relabel(g, order, out, position, team);
    check_rows(out.view());
    require(out.view().num_arcs() == g.num_arcs(), "relabelling lost an edge");
    for (Node u = 0; u < g.num_nodes; ++u)
        require(out.view().degree(position[u]) == g.degree(u) && out.view().loop(position[u]) == g.loop(u), "relabelling changed a node");
}

void check_stages(OptimalCompressor& compressor, const Tree& tree, const GraphView* graph, int height) {
    std::vector<char> best, greedy;
    compressor.run(tree, height, best, Control());
    remove_greedily(tree, height, greedy, Control());
    check_keep(tree, best, height);
    check_keep(tree, greedy, height);
    const double low = cost(tree, best), high = cost(tree, greedy);
    require(low <= high + 1e-9 * std::abs(high), "optimal compression lost to the greedy one");
    if (!graph) return;
    Filler filler;
    for (const auto* keep : {&best, &greedy}) {
        Levels levels;
        filler.run(tree, *keep, height, *graph, nullptr, levels);
        check_levels(levels, *graph, height);
    }
}

// The refiner tracks H while nodes move, its trees lose nothing, and it returns to a saved state.
void check_refiner(Dice& dice, OptimalCompressor& compressor, const GraphView& g, const Levels& levels) {
    const int height = static_cast<int>(levels.count.size()) - 1;
    Random random(dice.bits());
    Refiner refiner;
    refiner.load(g, levels);
    const double loaded = refiner.entropy(), slack = 1e-9 * (1 + loaded);
    require(std::abs(loaded - levels.entropy[0]) <= slack, "the refiner differs in entropy from the tree that it loaded");
    const double fall = refiner.settle(random, Control()), settled = refiner.entropy();
    require(std::abs(settled - loaded - fall) <= slack && fall <= slack, "settling changed the entropy by another amount than it returned");
    refiner.save();
    const auto shake_and_check = [&] {
        double expected = refiner.entropy();
        for (int i = 0; i < 2; ++i) expected += refiner.shake(random, Control());
        if (g.num_nodes < 30) expected += refiner.shake_pairs(Control());
        require(std::abs(refiner.entropy() - expected) <= slack, "shaking changed the entropy by another amount than it returned");
        Merger merger;
        Tree tree;
        Levels out;
        std::vector<char> keep;
        refiner.to_tree(merger, tree, Control());
        compressor.run(tree, height, keep, Control());
        Filler().run(tree, keep, height, g, nullptr, out);
        check_levels(out, g, height);
        require(out.entropy[0] <= refiner.entropy() + slack, "the refiner's tree has a higher entropy than the refiner");
    };
    shake_and_check();
    refiner.restore();
    require(refiner.entropy() == settled, "the refiner did not return to the saved state");
    shake_and_check();
}

// The search on large graphs gives a sound tree of the height, the same one with any number of threads.
void check_multilevel(Dice& dice, const GraphView& g) {
    const int height = static_cast<int>(dice.between(2, 6));
    const auto seed = static_cast<std::uint64_t>(dice.bits());
    const auto effort = dice.chance(2) ? Multilevel::Effort::quick : Multilevel::Effort::thorough;
    Tree first;
    for (int threads = 1; threads <= 3; ++threads) {
        Team team(threads);
        Control control;
        Multilevel multilevel;
        Tree tree;
        Levels out;
        multilevel.run(g, height, seed, effort, team, tree, control);
        std::vector<char> keep(tree.size(), 1);
        std::fill_n(keep.begin(), tree.num_leaves, 0);
        Filler().run(tree, keep, height, g, nullptr, out);
        check_levels(out, g, height);
        if (threads == 1) first = tree;
        require(tree.parent == first.parent && tree.cut == first.cut, "the number of threads changed the tree");
    }
}

// The code for small graphs gives the same tree as the general code.
void check_general_code(Builder& builder, const GraphView& g, const Options& options, const Levels& expected) {
    Control control;
    Levels out;
    small::enabled = false;
    builder.build(g, options, out, control);
    small::enabled = true;
    require(same(out, expected), "the general code gives another tree");
}

// Trees of graphs with colours are sound, the same by the general code, and depend on the order of the colours alone.
void check_colours(Dice& dice, Builder& builder, Canonical& canonical, const GraphView& plain, const Options& options) {
    Colours colours = random_colours(dice, plain);
    const GraphView g = colours.add_to(plain);
    check_canonical(canonical, g);
    Control control;
    Levels out, again;
    builder.build(g, options, out, control);
    check_levels(out, g, options.height);
    check_general_code(builder, g, options, out);
    for (auto* of : {&colours.nodes, &colours.arcs})
        for (Weight& colour : *of) colour = 3 * colour - 7;
    builder.build(g, options, again, control);
    require(same(out, again), "the numbers of the colours make a difference");
}

int random_height(Dice& dice) { return static_cast<int>(dice.chance(50) ? 64 : dice.between(1, 6)); }

void check_graph(Dice& dice, Builder& builder, OptimalCompressor& compressor, Canonical& canonical, const GraphView& g) {
    check_canonical(canonical, g);
    Tree tree;
    const int height = random_height(dice);
    for (const Linkage linkage : {Linkage::gain, Linkage::relative}) {
        MergeProblem problem;
        Merger merger;
        problem.read(g);
        merge_tree(problem, linkage, merger, tree, Control());
        check_merge_tree(tree, g);
        check_stages(compressor, tree, &g, height);
    }
    if (dice.chance(20)) check_multilevel(dice, g);

    double entropy[3];
    for (int i = 0; i < 3; ++i) {
        Control control;
        Levels out;
        const Options options{height, kMethods[i], dice.bits()};
        builder.build(g, options, out, control);
        check_general_code(builder, g, options, out);
        check_colours(dice, builder, canonical, g, options);
        check_levels(out, g, height);
        entropy[i] = out.entropy[0];
        if (height > 1 && height < 8 && g.num_arcs() > 0) check_refiner(dice, compressor, g, out);
    }
    require(entropy[2] <= entropy[1] + 1e-9, "best lost to fast");
    require(g.num_nodes > 300 || entropy[2] <= entropy[0] + 1e-9, "best lost to paper");

    Control cancelled;
    Levels out;
    cancelled.cancel = true;
    try {
        builder.build(g, {height, kMethods[dice.below(3)], 0}, out, cancelled);
    } catch (const Cancelled&) {  // small graphs may be done before the first check
    }
}

// The trees of a batch over threads are those of its graphs alone.
void check_batch(Dice& dice, Builder& builder) {
    std::vector<std::int64_t> node_ptr{0}, edge_ptr{0}, u, v;
    std::vector<double> w;
    for (auto left = dice.below(6); left > 0; --left) {
        Input in = random_input(dice);
        if (in.broken || in.both) continue;
        u.insert(u.end(), in.u.begin(), in.u.end()), v.insert(v.end(), in.v.begin(), in.v.end());
        in.w.resize(in.u.size(), 1.0);
        w.insert(w.end(), in.w.begin(), in.w.end());
        node_ptr.push_back(node_ptr.back() + in.n), edge_ptr.push_back(static_cast<std::int64_t>(u.size()));
    }
    EdgeLists<std::int64_t> lists;
    lists.num_graphs = static_cast<std::int64_t>(node_ptr.size()) - 1;
    lists.node_ptr = node_ptr.data(), lists.edge_ptr = edge_ptr.data(), lists.u = u.data(), lists.v = v.data(), lists.w = w.data();
    const Csr csr = build_csr(lists);
    const Options options{random_height(dice), kMethods[dice.below(3)], dice.bits()};
    Control control;
    Levels together, one_by_one;
    for (const Levels& run : build_batch(lists.num_graphs, node_ptr.data(), csr.graph.view(), options, 3, control)) append(together, run);
    require(control.done == lists.num_graphs, "not all graphs are done");
    current.graphs += lists.num_graphs;
    for (std::int64_t b = 0; b < lists.num_graphs; ++b) {
        GraphView g = csr.graph.view();
        g.num_nodes = static_cast<Node>(node_ptr[b + 1] - node_ptr[b]);
        g.indptr += node_ptr[b];
        check_rows(g);
        Levels alone;
        builder.build(g, options, alone, control);
        check_levels(alone, g, options.height);
        append(one_by_one, alone);
    }
    require(same(together, one_by_one), "a graph gives another tree in a batch");
}

void run_case(Dice dice, Builder& builder, OptimalCompressor& compressor, Canonical& canonical) {
    const Tree tree = random_tree(dice);
    check_stages(compressor, tree, nullptr, random_height(dice));
    if (dice.chance(20)) check_batch(dice, builder);
    const Input in = random_input(dice);
    Csr csr;
    try {
        csr = compress_rows<std::int64_t>(in);
    } catch (const std::invalid_argument& error) {
        require(in.broken, error.what());
        return;
    }
    require(!in.broken, "malformed input was accepted");
    check_csr(in, csr);
    ++current.graphs;
    check_graph(dice, builder, compressor, canonical, csr.graph.view());
}

}  // namespace

int main(int argc, char** argv) {
    Builder builder(1);  // used again and again, as in a batch
    OptimalCompressor compressor;
    Canonical canonical;
    return run_cases("fuzz_core", argc, argv, [&](const Dice& dice) { run_case(dice, builder, compressor, canonical); });
}
