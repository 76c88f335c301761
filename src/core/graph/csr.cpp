#include "graph/csr.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdio>
#include <limits>
#include <numeric>
#include <stdexcept>

#include "graph/quantise.hpp"
#include "team.hpp"

namespace sepool {
namespace {

constexpr double kAsymmetry = 4e-7;       // relative difference of A[u,v] and A[v,u] that counts as rounding, of floats at worst
constexpr std::int64_t kSharedEdges = 200'000;  // of a graph that several threads sort into rows
constexpr std::int64_t kChunk = 1 << 14;        // rows that a thread sorts at a time

std::string where(std::int64_t graph, std::int64_t num_graphs) { return num_graphs > 1 ? " in graph " + std::to_string(graph) : ""; }

// The rows of one of several threads.
std::pair<std::int64_t, std::int64_t> own_rows(std::int64_t n, int index, int threads) {
    return {n * index / threads, n * (index + 1) / threads};
}

std::uint64_t mix(std::uint64_t x) {
    x = (x ^ (x >> 31)) * 0x9e3779b97f4a7c15ULL;
    x = (x ^ (x >> 29)) * 0xbf58476d1ce4e5b9ULL;
    return x ^ (x >> 32);
}

// Sorts a row by neighbour and adds up repeats; returns its new length.
Edge tidy_row(Node* nodes, Weight* weights, Edge length, std::vector<std::pair<Node, Weight>>& scratch) {
    bool tidy = true;
    for (Edge i = 1; tidy && i < length; ++i) tidy = nodes[i - 1] < nodes[i];
    if (tidy) return length;
    if (!weights) {
        std::sort(nodes, nodes + length);
        return length;  // repeats are counted by the caller, which then asks for weights
    }
    scratch.resize(length);
    for (Edge i = 0; i < length; ++i) scratch[i] = {nodes[i], weights[i]};
    std::sort(scratch.begin(), scratch.end());
    Edge kept = 0;
    for (Edge i = 0; i < length; ++i) {
        if (kept && nodes[kept - 1] == scratch[i].first) {
            weights[kept - 1] += scratch[i].second;
        } else {
            nodes[kept] = scratch[i].first;
            weights[kept++] = scratch[i].second;
        }
    }
    return kept;
}

// Closes the gaps that repeats and zero weights leave behind rows of these lengths.
void close_gaps(Graph& g, const std::vector<Edge>& length) {
    Edge kept = 0, begin = 0;
    for (std::size_t u = 0; u < length.size(); ++u) {
        const Edge end = begin + length[u];
        for (Edge e = begin; e < end; ++e) {
            if (g.weights[e] == 0) continue;
            g.indices[kept] = g.indices[e];
            g.weights[kept++] = g.weights[e];
        }
        begin = g.indptr[u + 1];
        g.indptr[u + 1] = kept;
    }
    g.indices.resize(kept);
    g.weights.resize(kept);
}

// Makes A[u,v] and A[v,u] equal where they differ by rounding, and fails where they differ by more.
void check_symmetry(Graph& g, Edge first_row, Node n, double unit, const std::string& place) {
    const auto row = [&](Node u) -> const Node* { return g.indices.data() + g.indptr[first_row + u]; };
    for (Node u = 0; u < n; ++u) {
        for (Edge e = g.indptr[first_row + u]; e < g.indptr[first_row + u + 1]; ++e) {
            const Node v = g.indices[e];
            const Node* end = g.indices.data() + g.indptr[first_row + v + 1];
            const Node* reverse = std::lower_bound(row(v), end, u);
            const double forth = g.weights.empty() ? 1 : static_cast<double>(g.weights[e]);
            const Edge back = reverse - g.indices.data();
            const bool listed = reverse != end && *reverse == u;
            const double back_weight = !listed ? 0 : g.weights.empty() ? 1 : static_cast<double>(g.weights[back]);
            if (std::abs(forth - back_weight) > kAsymmetry * std::max(forth, back_weight))
                fail("the graph" + place + " is directed: from node " + std::to_string(u) + " to " + std::to_string(v) + " weighs " +
                     number(forth * unit) + ", back weighs " + number(back_weight * unit) + "; make it undirected or pass symmetrise=True");
            if (!g.weights.empty()) g.weights[e] = g.weights[back] = std::max(g.weights[e], g.weights[back]);
        }
    }
}

// Divides one graph's weights by what they have in common, so that a scaled graph is the same graph.
double take_out_divisor(Graph& g, std::int64_t first_row, std::int64_t last_row) {
    const bool plain = g.weights.empty();  // all weights are 1, if there are any
    Weight divisor = plain && g.indptr[first_row] < g.indptr[last_row] ? 1 : 0;
    for (Edge e = g.indptr[first_row]; e < g.indptr[last_row] && divisor != 1; ++e) divisor = std::gcd(divisor, g.weights[e]);
    if (!g.loops.empty())
        for (std::int64_t u = first_row; u < last_row && divisor != 1; ++u) divisor = std::gcd(divisor, g.loops[u]);
    if (divisor < 2) return 1;
    for (Edge e = g.indptr[first_row]; e < g.indptr[last_row]; ++e) g.weights[e] /= divisor;
    if (!g.loops.empty())
        for (std::int64_t u = first_row; u < last_row; ++u) g.loops[u] /= divisor;
    return static_cast<double>(divisor);
}

}  // namespace

template <class Id>
Csr build_csr(const EdgeLists<Id>& lists, int num_threads) {
    Csr out;
    if (small::build_csr(lists, out)) return out;
    out = {};
    Graph& g = out.graph;
    const std::int64_t total_nodes = lists.node_ptr[lists.num_graphs];
    for (std::int64_t b = 0; b < lists.num_graphs; ++b) {
        const std::int64_t n = lists.node_ptr[b + 1] - lists.node_ptr[b];
        if (n > kMaxNodes) fail("a graph may have at most " + std::to_string(kMaxNodes) + " nodes, not " + std::to_string(n));
    }
    out.unit.assign(lists.num_graphs, 1.0);
    Team team(lists.num_graphs == 1 && lists.edge_ptr[1] >= kSharedEdges ? num_threads : 1);
    std::vector<Edge> next(total_nodes);  // the number of arcs of a row, then the place of the next one

    // Count arcs a row, check ids, and suspect lists of asymmetry by a random linear form of A - A^T. A thread reads all edges and counts
    // for its own rows: that needs no atomic counters, and the arcs of a row keep the order of the list.
    std::vector<char> suspect(lists.num_graphs, 0);
    std::atomic<bool> any_loop{false};
    for (std::int64_t b = 0; b < lists.num_graphs; ++b) {
        const std::int64_t base = lists.node_ptr[b], n = lists.node_ptr[b + 1] - base, first = lists.edge_ptr[b];
        const std::int64_t m = lists.edge_ptr[b + 1] - first;
        std::atomic<std::uint64_t> form{0};
        std::atomic<std::int64_t> wrong{m};  // the first edge with an impossible id
        team.run([&](int index) {
            const auto [low, high] = own_rows(n, index, team.size());
            std::uint64_t part = 0;
            bool loop = false;
            for (std::int64_t i = 0; i < m; ++i) {
                const std::int64_t u = lists.first(first + i), v = lists.second(first + i);
                if (u < 0 || v < 0 || u >= n || v >= n) {
                    wrong = i;  // of all threads, which read in the same order
                    return;
                }
                if (u == v) {
                    loop = true;
                    continue;
                }
                if (low <= u && u < high) {
                    ++next[base + u];
                    if (lists.both) part += mix(u * 0x100000001b3ULL + v) - mix(v * 0x100000001b3ULL + u);
                }
                if (!lists.both && low <= v && v < high) ++next[base + v];
            }
            form.fetch_add(part, std::memory_order_relaxed);
            if (loop) any_loop = true;
        });
        if (wrong < m) {
            const std::int64_t u = lists.first(first + wrong), v = lists.second(first + wrong);
            fail("edge " + std::to_string(wrong) + where(b, lists.num_graphs) + " names node " + std::to_string(u < 0 || u >= n ? u : v) +
                 ", but the graph has " + std::to_string(n) + " nodes (ids 0 to " + std::to_string(n - 1) + ")");
        }
        suspect[b] = lists.both && (form != 0 || lists.w);
    }
    g.indptr.resize(total_nodes + 1);
    for (std::int64_t u = 0; u < total_nodes; ++u) g.indptr[u + 1] = g.indptr[u] + next[u];
    const Edge arcs = g.indptr[total_nodes];
    g.indices.resize(arcs);
    bool weighted = lists.w != nullptr;
    const bool loops = lists.self_loops && any_loop;

    // Place the arcs. A second time with weights if repeats turn up in lists without any.
    std::vector<std::vector<std::pair<Node, Weight>>> scratch(team.size());
    Quantiser quantise;
    for (;;) {
        if (weighted) g.weights.assign(arcs, 0);
        if (loops) g.loops.assign(total_nodes, 0);
        std::copy(g.indptr.begin(), g.indptr.end() - 1, next.begin());
        for (std::int64_t b = 0; b < lists.num_graphs; ++b) {
            const std::int64_t base = lists.node_ptr[b], first = lists.edge_ptr[b], m = lists.edge_ptr[b + 1] - first;
            const auto counts = [&](std::int64_t i) { return lists.self_loops || lists.first(first + i) != lists.second(first + i); };
            if (lists.w) out.unit[b] = quantise(lists.w + first, m, counts, where(b, lists.num_graphs));
            const auto place = [&](std::int64_t u, std::int64_t v, Weight w) {
                const Edge at = next[base + u]++;
                g.indices[at] = static_cast<Node>(v);
                if (weighted) g.weights[at] = w;
            };
            team.run([&](int index) {
                const auto [low, high] = own_rows(lists.node_ptr[b + 1] - base, index, team.size());
                for (std::int64_t i = 0; i < m; ++i) {
                    const std::int64_t u = lists.first(first + i), v = lists.second(first + i);
                    if (u == v) continue;
                    const Weight w = lists.w ? quantise.units[i] : 1;
                    if (low <= u && u < high) place(u, v, w);
                    if (!lists.both && low <= v && v < high) place(v, u, w);
                }
            });
            for (std::int64_t i = 0; loops && i < m; ++i) {
                const std::int64_t u = lists.first(first + i);
                const Weight w = lists.w ? quantise.units[i] : 1;
                if (u == lists.second(first + i)) g.loops[base + u] += lists.both ? w : 2 * w;
            }
        }
        std::atomic<bool> repeats{false}, gaps{false};  // a row has a neighbour twice; a row has become shorter
        std::vector<Edge> length(weighted ? total_nodes : 0);
        team.share(total_nodes, kChunk, [&](std::int64_t begin, std::int64_t end, int index) {
            for (std::int64_t u = begin; u < end; ++u) {
                Node* nodes = g.indices.data() + g.indptr[u];
                Weight* weights = weighted ? g.weights.data() + g.indptr[u] : nullptr;
                const Edge size = g.indptr[u + 1] - g.indptr[u], kept = tidy_row(nodes, weights, size, scratch[index]);
                if (!weighted) {
                    if (std::adjacent_find(nodes, nodes + size) != nodes + size) repeats.store(true, std::memory_order_relaxed);
                    continue;
                }
                length[u] = kept;
                if (kept < size || std::find(weights, weights + kept, 0) != weights + kept) gaps.store(true, std::memory_order_relaxed);
            }
        });
        if (!weighted && repeats) {
            weighted = true;
            continue;
        }
        if (gaps) close_gaps(g, length);
        break;
    }
    for (std::int64_t b = 0; b < lists.num_graphs; ++b) {
        const std::int64_t first = lists.node_ptr[b], last = lists.node_ptr[b + 1];
        if (suspect[b]) check_symmetry(g, first, static_cast<Node>(last - first), out.unit[b], where(b, lists.num_graphs));
        if (weighted || loops) out.unit[b] *= take_out_divisor(g, first, last);
    }
    if (weighted && std::all_of(g.weights.begin(), g.weights.end(), [](Weight w) { return w == 1; })) {
        g.weights.clear();
        g.weights.shrink_to_fit();
    }
    return out;
}

template Csr build_csr(const EdgeLists<std::int32_t>&, int);
template Csr build_csr(const EdgeLists<std::int64_t>&, int);

}  // namespace sepool
