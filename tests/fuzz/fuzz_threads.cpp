// Builds trees of random graphs with 1, 2 and 4 threads inside a graph, which must give the same tree. Meant for a build with
// sanitizers, above all that of threads.

#include <memory>

#include "checks.hpp"
#include "driver.hpp"
#include "search/multilevel.hpp"

using namespace sepool;
using namespace fuzz;

namespace {

constexpr int kThreads[] = {1, 2, 4};

// Mostly small graphs, some where chunks of nodes go to several threads, few where colours are hashed in parallel, too.
Input sized_input(Dice& dice) {
    if (!dice.chance(400)) return random_input(dice);
    Input in;
    in.n = dice.chance(10) ? dice.between(20'000, 40'000) : dice.between(5'000, 12'000);
    const std::int64_t edges = in.n * dice.between(1, 6), near = dice.between(2, 300);
    for (std::int64_t e = 0; e < edges; ++e) {
        const std::int64_t u = dice.below(in.n), step = dice.chance(20) ? dice.below(in.n) : dice.below(near);
        in.add(u, (u + step) % in.n);
        if (dice.chance(2) && in.w.size() + 1 == in.u.size()) in.w.push_back(static_cast<double>(dice.between(1, 9)));
    }
    if (in.w.size() != in.u.size()) in.w.clear();
    return in;
}

void check_multilevel(Dice& dice, const GraphView& g) {
    const int height = static_cast<int>(dice.between(2, 5));
    const auto seed = static_cast<std::uint64_t>(dice.bits());
    const auto effort = dice.chance(2) ? Multilevel::Effort::quick : Multilevel::Effort::thorough;
    Tree first;
    for (const int threads : kThreads) {
        Team team(threads);
        Control control;
        Multilevel multilevel;
        Tree tree;
        multilevel.run(g, height, seed, effort, team, tree, control);
        if (threads == 1) first = tree;
        require(tree.parent == first.parent && tree.volume == first.volume && tree.cut == first.cut,
                "the number of threads changed the tree");
    }
}

void check_builders(Dice& dice, std::vector<std::unique_ptr<Builder>>& builders, const GraphView& g) {
    const Options options{static_cast<int>(dice.between(1, 5)), dice.chance(3) ? Method::fast : Method::best, dice.bits()};
    Levels first;
    for (auto& builder : builders) {
        Control control;
        Levels out;
        builder->build(g, options, out, control);
        check_levels(out, g, options.height);
        if (builder == builders.front()) first = out;
        require(same(out, first), "the number of threads changed the tree");
    }
}

}  // namespace

int main(int argc, char** argv) {
    std::vector<std::unique_ptr<Builder>> builders;
    for (const int threads : kThreads) builders.push_back(std::make_unique<Builder>(threads));
    return run_cases("fuzz_threads", argc, argv, [&](Dice dice) {
        Input in = sized_input(dice);
        while (in.broken) in = random_input(dice);
        const std::int64_t node_ptr[] = {0, in.n}, edge_ptr[] = {0, static_cast<std::int64_t>(in.u.size())};
        EdgeLists<std::int64_t> lists;
        lists.num_graphs = 1, lists.node_ptr = node_ptr, lists.edge_ptr = edge_ptr, lists.u = in.u.data(), lists.v = in.v.data();
        lists.w = in.w.empty() ? nullptr : in.w.data();
        lists.both = in.both, lists.self_loops = in.self_loops;
        const Csr csr = build_csr(lists);
        ++current.graphs;
        check_builders(dice, builders, csr.graph.view());
        check_multilevel(dice, csr.graph.view());
    });
}
