// Prints a hash of the trees of random graphs, one line a graph: builds for different processors must agree.
//
//     tree_hashes [GRAPHS]

#include <cstdio>
#include <cstdlib>

#include "build.hpp"
#include "shapes.hpp"

using namespace sepool;
using namespace fuzz;

namespace {

class Hash {
public:
    template <class T>
    void add(const std::vector<T>& values) {
        const auto* bytes = reinterpret_cast<const unsigned char*>(values.data());
        for (std::size_t i = 0; i < values.size() * sizeof(T); ++i) value_ = (value_ ^ bytes[i]) * 0x100000001b3ULL;
    }
    unsigned long long value() const { return value_; }

private:
    std::uint64_t value_ = 0xcbf29ce484222325ULL;
};

Csr rows_of(const Input& in) {
    const std::int64_t node_ptr[] = {0, in.n}, edge_ptr[] = {0, static_cast<std::int64_t>(in.u.size())};
    EdgeLists<std::int64_t> lists;
    lists.num_graphs = 1, lists.node_ptr = node_ptr, lists.edge_ptr = edge_ptr, lists.u = in.u.data(), lists.v = in.v.data();
    lists.w = in.w.empty() ? nullptr : in.w.data();
    lists.both = in.both, lists.self_loops = in.self_loops;
    return build_csr(lists);
}

}  // namespace

int main(int argc, char** argv) {
    const std::int64_t graphs = argc > 1 ? std::atoll(argv[1]) : 2000;
    Builder builder(1);
    Multilevel multilevel;
    Team team(1);
    for (std::int64_t i = 0, made = 0; made < graphs; ++i) {
        Dice dice(static_cast<std::uint64_t>(i) * 0x2545f4914f6cdd1dULL + 1);
        const Input in = random_input(dice);
        if (in.broken) continue;
        const Csr csr = rows_of(in);
        Hash hash;
        for (const Method method : {Method::paper, Method::fast, Method::best}) {
            for (const int height : {2, 3}) {
                Control control;
                Levels out;
                builder.build(csr.graph.view(), {height, method, 0}, out, control);
                hash.add(out.count), hash.add(out.parent), hash.add(out.entropy);
            }
        }
        for (const int height : {2, 3, 4}) {
            Control control;
            Tree tree;
            multilevel.run(csr.graph.view(), height, 0, Multilevel::Effort::thorough, team, tree, control);
            hash.add(tree.parent), hash.add(tree.volume), hash.add(tree.cut);
        }
        std::printf("%lld %016llx\n", static_cast<long long>(i), hash.value());
        ++made;
    }
    return 0;
}
