// CSR of many small graphs. The rows of at most 64 nodes are words of bits, sorted as they stand: one pass over the edges, one
// over the nodes, and nothing to count before.

#include <algorithm>

#include "graph/csr.hpp"
#include "pages.hpp"
#include "small/masks.hpp"
#include "small/small.hpp"

namespace sepool::small {
namespace {

// Sets the bits of every edge. False for lists with a loop, a repeat, a wrong id or, with `both`, an arc without its return: the
// general code handles these.
template <class Id>
bool fill_rows(const EdgeLists<Id>& lists, std::int64_t first, std::int64_t last, std::uint64_t n, Mask* near) {
    Mask back[kMaskBits];
    std::fill_n(near, n, 0), std::fill_n(back, n, 0);
    bool odd = false;
    for (std::int64_t i = first; i < last; ++i) {
        const auto u = static_cast<std::uint64_t>(lists.first(i)), v = static_cast<std::uint64_t>(lists.second(i));
        if (u >= n || v >= n) return false;
        odd |= u == v || near[u] & bit(static_cast<int>(v));
        near[u] |= bit(static_cast<int>(v));
        (lists.both ? back : near)[v] |= bit(static_cast<int>(u));
    }
    return !odd && (!lists.both || std::equal(near, near + n, back));
}

}  // namespace

template <class Id>
bool build_csr(const EdgeLists<Id>& lists, Csr& out) {
    if (lists.w) return false;
    for (std::int64_t b = 0; b < lists.num_graphs; ++b)
        if (!fits(lists.node_ptr[b + 1] - lists.node_ptr[b])) return false;
    const std::int64_t total_nodes = lists.node_ptr[lists.num_graphs], total_edges = lists.edge_ptr[lists.num_graphs];
    Graph& g = out.graph;
    reserve_on_large_pages(g.indptr, total_nodes + 1), g.indptr.resize(total_nodes + 1);
    reserve_on_large_pages(g.indices, (lists.both ? 1 : 2) * total_edges), g.indices.resize((lists.both ? 1 : 2) * total_edges);
    Edge* end = g.indptr.data();
    Node* const begin = g.indices.data();
    Node* to = begin;
    *end = 0;
    for (std::int64_t b = 0; b < lists.num_graphs; ++b) {
        const std::int64_t n = lists.node_ptr[b + 1] - lists.node_ptr[b];
        Mask near[kMaskBits];
        if (!fill_rows(lists, lists.edge_ptr[b], lists.edge_ptr[b + 1], static_cast<std::uint64_t>(n), near)) return false;
        for (std::int64_t u = 0; u < n; ++u) {
            for (Mask left = near[u]; left; left = without_least(left)) *to++ = least(left);
            *++end = to - begin;
        }
    }
    out.unit.assign(lists.num_graphs, 1.0);
    return true;
}

template bool build_csr(const EdgeLists<std::int32_t>&, Csr&);
template bool build_csr(const EdgeLists<std::int64_t>&, Csr&);

}  // namespace sepool::small
