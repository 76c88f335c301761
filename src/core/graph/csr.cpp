#include "graph/csr.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <numeric>
#include <stdexcept>

namespace sepool {
namespace {

constexpr int kVolumeBits = 61;           // of the total volume in units; leaves a bit for sums of two
constexpr double kSnap = 0x1p-40;         // weights this close to multiples of a common part count as such
constexpr double kMaxParts = 1000;        // and the smallest weight may be this many of them
constexpr double kExact = 0x1p-50;        // or this close, and
constexpr double kMostParts = 1e6;        // this many
constexpr double kAsymmetry = 4e-7;       // relative difference of A[u,v] and A[v,u] that counts as rounding, of floats at worst
constexpr double kMaxInteger = 0x1p53;    // up to here every integer is a double

std::string number(double x) {
    char text[32];
    std::snprintf(text, sizeof text, "%.12g", x);
    return text;
}

std::string where(std::int64_t graph, std::int64_t num_graphs) { return num_graphs > 1 ? " in graph " + std::to_string(graph) : ""; }

[[noreturn]] void fail(const std::string& text) { throw std::invalid_argument(text); }

std::uint64_t mix(std::uint64_t x) {
    x = (x ^ (x >> 31)) * 0x9e3779b97f4a7c15ULL;
    x = (x ^ (x >> 29)) * 0xbf58476d1ce4e5b9ULL;
    return x ^ (x >> 32);
}

// Turns one graph's weights into integers and returns the weight of one unit. Integers stay as they are; weights with
// a common part, such as 0.2, 0.3 and 0.5, become integers; all others are rounded to multiples of a power of two, at most 2^-58 of the
// total volume, and to no less than one of them.
class Quantiser {
public:
    // `counts(i)` is true for the weights in use; the others only have to be valid.
    template <class Counts>
    double operator()(const double* w, std::int64_t m, Counts counts, const std::string& place) {
        units.resize(m);
        double smallest = std::numeric_limits<double>::infinity(), sum = 0;
        bool integers = true;
        for (std::int64_t i = 0; i < m; ++i) {
            if (!(w[i] >= 0) || std::isinf(w[i]))
                fail("edge " + std::to_string(i) + place + " has weight " + number(w[i]) + "; weights must be finite and not negative");
            if (!counts(i)) continue;
            sum += w[i];
            if (w[i] > 0) smallest = std::min(smallest, w[i]);
            integers = integers && w[i] == std::floor(w[i]);
        }
        if (std::isinf(sum * 4)) fail("the weights" + place + " add up to more than a quarter of the largest double");
        if (sum == 0) {
            std::fill(units.begin(), units.end(), 0);
            return 1;
        }
        if (integers && sum * 4 <= kMaxInteger) return round_to(w, m, counts, 1);
        double parts = 1;  // the smallest weight is this many units
        for (std::int64_t i = 0; parts > 0 && i < m; ++i)
            if (counts(i)) parts = common_parts(w[i] / smallest, parts);
        if (parts == 0) parts = many_parts(w, m, counts, smallest);
        if (parts > 0 && sum / smallest * parts * 4 <= kMaxInteger) return round_to(w, m, counts, smallest / parts);
        int exponent = 0;
        std::frexp(sum, &exponent);
        // A power of two: no rounding but the last. Not less than the least double, of which all others are multiples.
        const double unit = std::max(std::ldexp(1.0, exponent + 2 - kVolumeBits), std::numeric_limits<double>::denorm_min());
        for (std::int64_t i = 0; i < m; ++i) units[i] = counts(i) && w[i] > 0 ? std::max<Weight>(1, std::llround(w[i] / unit)) : 0;
        return unit;
    }

    std::vector<Weight> units;

private:
    static bool whole(double x, double snap) { return std::abs(x - std::round(x)) <= std::max(x, 1.0) * snap; }

    // The least multiple of `parts` by which the ratio becomes an integer, but for rounding; 0 if there is none up to kMaxParts.
    static double common_parts(double ratio, double parts) {
        for (double factor = 1; parts * factor <= kMaxParts; ++factor)
            if (whole(ratio * parts * factor, kSnap)) return parts * factor;
        return 0;
    }

    // The same for many parts and exact weights, such as prices in cents. In the order of the weights, for with large ratios
    // that order may decide; but most weights without a common part show it at the heaviest.
    template <class Counts>
    static double many_parts(const double* w, std::int64_t m, Counts counts, double smallest) {
        std::vector<double> sorted;
        for (std::int64_t i = 0; i < m; ++i)
            if (counts(i) && w[i] > 0) sorted.push_back(w[i]);
        if (next_parts(*std::max_element(sorted.begin(), sorted.end()) / smallest, 1) == 0) return 0;
        std::sort(sorted.begin(), sorted.end());
        double parts = 1;
        for (const double weight : sorted)
            if ((parts = next_parts(weight / smallest, parts)) == 0) return 0;
        return parts;
    }

    // Denominators are those of the continued fraction, if the ratio is one of whole numbers at all.
    static double next_parts(double ratio, double parts) {
        const double x = ratio * parts;
        double rest = x - std::floor(x), before = 0, factor = 1;
        while (parts * factor <= kMostParts) {
            if (whole(x * factor, kExact)) return parts * factor;
            const double inverse = 1 / rest, next = std::floor(inverse) * factor + before;
            rest = inverse - std::floor(inverse);
            before = factor;
            factor = next;  // infinite, or no number, where the rest was 0: both end the search
        }
        return 0;
    }

    template <class Counts>
    double round_to(const double* w, std::int64_t m, Counts counts, double unit) {
        for (std::int64_t i = 0; i < m; ++i) units[i] = counts(i) ? std::llround(w[i] / unit) : 0;
        return unit;
    }
};

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
Csr build_csr(const EdgeLists<Id>& lists) {
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
    g.indptr.assign(total_nodes + 1, 0);

    // Count arcs a row, check ids, and suspect lists of asymmetry by a random linear form of A - A^T.
    std::vector<char> suspect(lists.num_graphs, 0);
    bool any_loop = false;
    for (std::int64_t b = 0; b < lists.num_graphs; ++b) {
        const std::int64_t base = lists.node_ptr[b], n = lists.node_ptr[b + 1] - base;
        std::uint64_t form = 0;
        for (std::int64_t i = lists.edge_ptr[b]; i < lists.edge_ptr[b + 1]; ++i) {
            const std::int64_t u = lists.first(i), v = lists.second(i);
            if (u < 0 || v < 0 || u >= n || v >= n)
                fail("edge " + std::to_string(i - lists.edge_ptr[b]) + where(b, lists.num_graphs) + " names node " +
                     std::to_string(u < 0 || u >= n ? u : v) + ", but the graph has " + std::to_string(n) + " nodes (ids 0 to " +
                     std::to_string(n - 1) + ")");
            if (u == v) {
                any_loop = true;
                continue;
            }
            ++g.indptr[base + u + 1];
            if (lists.both) form += mix(u * 0x100000001b3ULL + v) - mix(v * 0x100000001b3ULL + u);
            else ++g.indptr[base + v + 1];
        }
        suspect[b] = lists.both && (form != 0 || lists.w);
    }
    for (std::int64_t u = 0; u < total_nodes; ++u) g.indptr[u + 1] += g.indptr[u];
    const Edge arcs = g.indptr[total_nodes];
    g.indices.resize(arcs);
    bool weighted = lists.w != nullptr;
    const bool loops = lists.self_loops && any_loop;

    // Place the arcs. A second time with weights if repeats turn up in lists without any.
    std::vector<std::pair<Node, Weight>> scratch;
    Quantiser quantise;
    for (;;) {
        if (weighted) g.weights.assign(arcs, 0);
        if (loops) g.loops.assign(total_nodes, 0);
        std::vector<Edge> next(g.indptr.begin(), g.indptr.end() - 1);
        for (std::int64_t b = 0; b < lists.num_graphs; ++b) {
            const std::int64_t first = lists.edge_ptr[b], m = lists.edge_ptr[b + 1] - first;
            const auto counts = [&](std::int64_t i) { return lists.self_loops || lists.first(first + i) != lists.second(first + i); };
            if (lists.w) out.unit[b] = quantise(lists.w + first, m, counts, where(b, lists.num_graphs));
            Edge* at = next.data() + lists.node_ptr[b];
            for (std::int64_t i = 0; i < m; ++i) {
                const Node u = static_cast<Node>(lists.first(first + i)), v = static_cast<Node>(lists.second(first + i));
                const Weight w = lists.w ? quantise.units[i] : 1;
                if (u == v) {
                    if (loops) g.loops[lists.node_ptr[b] + u] += lists.both ? w : 2 * w;
                    continue;
                }
                if (weighted) g.weights[at[u]] = w;
                g.indices[at[u]++] = v;
                if (lists.both) continue;
                if (weighted) g.weights[at[v]] = w;
                g.indices[at[v]++] = u;
            }
        }
        bool repeats = false;
        std::vector<Edge> length(weighted ? total_nodes : 0);
        for (std::int64_t u = 0; u < total_nodes; ++u) {
            Node* nodes = g.indices.data() + g.indptr[u];
            const Edge size = g.indptr[u + 1] - g.indptr[u];
            const Edge kept = tidy_row(nodes, weighted ? g.weights.data() + g.indptr[u] : nullptr, size, scratch);
            if (weighted) length[u] = kept;
            else repeats = repeats || std::adjacent_find(nodes, nodes + size) != nodes + size;
        }
        if (!weighted && repeats) {
            weighted = true;
            continue;
        }
        if (weighted) {  // close the gaps of repeats and zero weights
            Edge kept = 0, begin = 0;
            for (std::int64_t u = 0; u < total_nodes; ++u) {
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

template Csr build_csr(const EdgeLists<std::int32_t>&);
template Csr build_csr(const EdgeLists<std::int64_t>&);

}  // namespace sepool
