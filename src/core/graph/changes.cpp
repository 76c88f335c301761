#include "graph/changes.hpp"

#include <cstring>
#include <stdexcept>

#include "graph/mix.hpp"

namespace sepool {
namespace {

std::uint64_t hash_of(Node neighbor, double weight) {
    std::uint64_t bits;
    std::memcpy(&bits, &weight, sizeof bits);
    return mix(mix(static_cast<std::uint64_t>(neighbor) + 1) ^ bits);
}

}  // namespace

std::vector<std::int8_t> compare_rows(const GraphView& before, double unit_before, const GraphView& after, double unit_after,
                                      const Node* number) {
    std::vector<std::int8_t> changed(after.num_nodes, 1);
    for (Node u = 0; u < after.num_nodes; ++u) {
        const Node old = number[u];
        if (old < 0) continue;
        const Edge first = after.indptr[u], last = after.indptr[u + 1], shift = before.indptr[old] - first;
        if (last - first != before.indptr[old + 1] - before.indptr[old]) continue;
        if (unit_before * static_cast<double>(before.loop(old)) != unit_after * static_cast<double>(after.loop(u))) continue;
        const auto number_of = [&](Node v) {
            if (v < 0 || v >= after.num_nodes) throw std::invalid_argument("indices name a node that the graph does not have");
            return number[v];
        };
        const auto same = [&](Edge e) {
            return number_of(after.indices[e]) == before.indices[e + shift] &&
                   unit_after * static_cast<double>(after.weight(e)) == unit_before * static_cast<double>(before.weight(e + shift));
        };
        Edge e = first;
        while (e < last && same(e)) ++e;
        std::uint64_t difference = 0;
        for (; e < last; ++e) {
            difference += hash_of(number_of(after.indices[e]), unit_after * static_cast<double>(after.weight(e)));
            difference -= hash_of(before.indices[e + shift], unit_before * static_cast<double>(before.weight(e + shift)));
        }
        changed[u] = difference != 0;
    }
    return changed;
}

}  // namespace sepool
