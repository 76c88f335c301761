#include "graph/check.hpp"

#include <stdexcept>
#include <string>

namespace sepool {
namespace {

[[noreturn]] void fail(const std::string& text) { throw std::invalid_argument(text); }

// Two random words for every node. They make a random bilinear form of A - A^T, which is 0 for symmetric rows and, but for an
// accident of one in 2^64, for no others.
struct Words {
    std::uint64_t left = 0, right = 0;

    Words() = default;
    explicit Words(std::int64_t u) {
        std::uint64_t x = (static_cast<std::uint64_t>(u) + 1) * 0x9e3779b97f4a7c15ULL;
        x = (x ^ (x >> 29)) * 0xbf58476d1ce4e5b9ULL;
        left = x ^ (x >> 32);
        right = (left ^ (left >> 30)) * 0x94d049bb133111ebULL;
    }
    void add(const Words& other, std::uint64_t weight) { left += weight * other.left, right += weight * other.right; }
};

class SymmetryCheck {
public:
    SymmetryCheck() {
        for (int u = 0; u < kFew; ++u) words_[u] = Words(u);
    }

    void run(const GraphView& g) {
        const bool small = g.num_nodes <= kFew && g.num_arcs() <= kFewArcs;
        if ((small ? form_of_small(g) : form(g)) != 0) fail("the rows are not symmetric");
    }

private:
    static constexpr Node kFew = 64;
    static constexpr Edge kFewArcs = kFew * kFew;

    static void check_node(Node v, Node n) {
        if (v < 0 || v >= n) fail("indices name node " + std::to_string(v) + " of " + std::to_string(n));
    }

    static std::uint64_t form(const GraphView& g) {
        std::uint64_t form = 0;
        for (Node u = 0; u < g.num_nodes; ++u) {
            const Words here(u);
            Words row;
            Node last = -1;
            for (Edge e = g.indptr[u]; e < g.indptr[u + 1]; ++e) {
                const Node v = g.indices[e];
                check_node(v, g.num_nodes);
                if (v == u) fail("row " + std::to_string(u) + " names itself; self-loops are in loops");
                if (v <= last) fail("row " + std::to_string(u) + " is not sorted, or names node " + std::to_string(v) + " twice");
                last = v;
                row.add(Words(v), static_cast<std::uint64_t>(g.weight(e)));
            }
            form += here.left * row.right - here.right * row.left;
        }
        return form;
    }

    // One straight loop over all arcs, and differences of its running sums for the rows: loops over single rows would end where it
    // the processor cannot predict.
    std::uint64_t form_of_small(const GraphView& g) {
        const Edge begin = g.indptr[0], arcs = g.num_arcs();
        for (Node u = 0; u < g.num_nodes; ++u) ++begun_[g.indptr[u] - begin];
        Words sum;
        Node u = -1, last = -1;
        bool wrong = false;
        for (Edge e = 0; e < arcs; ++e) {
            const Node v = g.indices[begin + e];
            check_node(v, g.num_nodes);
            u += begun_[e];
            wrong |= v == u || (v <= last && begun_[e] == 0);
            last = v, begun_[e] = 0;
            sum.add(words_[v], static_cast<std::uint64_t>(g.weight(begin + e)));
            sums_[e + 1] = sum;
        }
        begun_[arcs] = 0;
        if (wrong) form(g);  // throws with the reason
        std::uint64_t difference = 0;
        for (u = 0; u < g.num_nodes; ++u) {
            const Words &from = sums_[g.indptr[u] - begin], &to = sums_[g.indptr[u + 1] - begin];
            difference += words_[u].left * (to.right - from.right) - words_[u].right * (to.left - from.left);
        }
        return difference;
    }

    Words words_[kFew];
    Words sums_[kFewArcs + 1];       // over the first arcs
    Node begun_[kFewArcs + 1] = {};  // number of rows that begin at an arc, with the empty ones before it
};

void check_values(std::int64_t b, const GraphView& g) {
    double volume = 0;
    for (Edge e = g.indptr[0]; g.weights && e < g.indptr[g.num_nodes]; ++e) {
        if (g.weights[e] <= 0) fail("weights must be positive, not " + std::to_string(g.weights[e]));
        volume += static_cast<double>(g.weights[e]);
    }
    for (Node u = 0; g.loops && u < g.num_nodes; ++u) {
        if (g.loops[u] < 0) fail("loops must not be negative, not " + std::to_string(g.loops[u]));
        volume += static_cast<double>(g.loops[u]);
    }
    if (volume > 0x1p62) fail("the weights of graph " + std::to_string(b) + " add up to more than 2^62");
}

}  // namespace

void check_graphs(std::int64_t num_graphs, const std::int64_t* node_ptr, const GraphView& graphs) {
    SymmetryCheck symmetry;
    for (std::int64_t b = 0; b < num_graphs; ++b) {
        const GraphView g = graphs.part(node_ptr[b], node_ptr[b + 1]);
        symmetry.run(g);
        check_values(b, g);
    }
}

}  // namespace sepool
