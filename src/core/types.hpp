// Nodes, weights, graphs and merge trees as flat arrays.
#pragma once

#include <atomic>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

namespace sepool {

using Node = std::int32_t;    // a node of a graph or of a tree
using Edge = std::int64_t;    // a position in an adjacency array
using Weight = std::int64_t;  // weights, volumes and cuts are integers: no drift, no summation order

constexpr std::int64_t kMaxNodes = std::numeric_limits<Node>::max() / 2;  // of a graph: a binary tree has twice as many
constexpr int kMaxHeight = 64;  // of a coding tree

// An undirected graph in compressed rows. Both directions are stored, rows are sorted and hold neither loops nor repeats.
// `indptr` holds absolute positions in `indices`, so a view can look into one graph of a large batch.
struct GraphView {
    Node num_nodes = 0;
    const Edge* indptr = nullptr;
    const Node* indices = nullptr;
    const Weight* weights = nullptr;  // null: every edge weighs 1
    const Weight* loops = nullptr;    // null: no loops; what loops add to each node's volume
    // Null: none. Colours of nodes and arcs order the nodes that the structure leaves interchangeable, and act on nothing else.
    const Weight* colours = nullptr;
    const Weight* arc_colours = nullptr;

    Edge num_arcs() const { return indptr[num_nodes] - indptr[0]; }
    GraphView part(Edge first, Edge last) const {  // one graph of a batch, by its nodes
        GraphView g = *this;
        g.num_nodes = static_cast<Node>(last - first);
        g.indptr += first;
        if (g.loops) g.loops += first;
        if (g.colours) g.colours += first;
        return g;
    }
    bool is_coloured() const { return colours || arc_colours; }
    Weight weight(Edge e) const { return weights ? weights[e] : 1; }
    Weight loop(Node u) const { return loops ? loops[u] : 0; }
    Weight degree(Node u) const {  // weight of the edges at u, loops left out
        if (!weights) return indptr[u + 1] - indptr[u];
        Weight sum = 0;
        for (Edge e = indptr[u]; e < indptr[u + 1]; ++e) sum += weights[e];
        return sum;
    }
};

// A graph that owns its arrays.
struct Graph {
    std::vector<Edge> indptr;
    std::vector<Node> indices;
    std::vector<Weight> weights;  // empty: every edge weighs 1
    std::vector<Weight> loops;    // empty: no loops

    GraphView view() const {
        return {static_cast<Node>(indptr.size()) - 1, indptr.data(), indices.data(), weights.empty() ? nullptr : weights.data(),
                loops.empty() ? nullptr : loops.data()};
    }
};

// A rooted tree over the nodes of a graph: the leaves come first, children precede their parents, the root is last.
struct Tree {
    Node num_leaves = 0;
    std::vector<Node> parent;    // the root's is -1
    std::vector<Weight> volume;  // sum of the degrees below
    std::vector<Weight> cut;     // weight of the edges whose lowest common ancestor is this node; 0 for leaves

    Node size() const { return static_cast<Node>(parent.size()); }
    Node root() const { return size() - 1; }

    void swap(Tree& other) {
        std::swap(num_leaves, other.num_leaves);
        parent.swap(other.parent), volume.swap(other.volume), cut.swap(other.cut);
    }

    // A forest of leaves with these volumes.
    void start(const std::vector<Weight>& volumes) {
        num_leaves = static_cast<Node>(volumes.size());
        reserve(2 * volumes.size());
        parent.assign(num_leaves, -1);
        cut.assign(num_leaves, 0);
        volume.assign(volumes.begin(), volumes.end());
    }

    void start(const GraphView& graph) {
        num_leaves = graph.num_nodes;
        parent.assign(num_leaves, -1);
        cut.assign(num_leaves, 0);
        volume.resize(num_leaves);
        for (Node u = 0; u < num_leaves; ++u) volume[u] = graph.degree(u) + graph.loop(u);
    }

    void reserve(std::size_t nodes) { parent.reserve(nodes), volume.reserve(nodes), cut.reserve(nodes); }

    // A node without children yet.
    Node add() {
        parent.push_back(-1);
        volume.push_back(0);
        cut.push_back(0);
        return root();
    }

    // MERGE of the paper: a new node over `a` and `b`, which share edges of total weight `c`.
    Node merge(Node a, Node b, Weight c) {
        const Node t = add();
        parent[a] = parent[b] = t;
        volume[t] = volume[a] + volume[b];
        cut[t] = c;
        return t;
    }

    // Puts one root over whatever has no parent yet: the parts of a disconnected graph, or the only node of a graph.
    void close() {
        Node orphans = 0;
        Weight total = 0;
        for (Node t = 0; t < size(); ++t)
            if (parent[t] < 0) ++orphans, total += volume[t];
        if (orphans == 1 && size() > num_leaves) return;
        const Node root = add();
        for (Node t = 0; t < root; ++t)
            if (parent[t] < 0) parent[t] = root;
        volume[root] = total;
    }
};

struct Cancelled {};

// Cancellation and progress of running work.
struct Control {
    std::atomic<bool> cancel{false};
    std::atomic<std::int64_t> done{0};            // graphs finished
    std::atomic<double> fraction{0};              // of the graph at hand: where its present stage begins
    std::atomic<const char*> stage{"starting"};

    void check() const {
        if (cancel.load(std::memory_order_relaxed)) throw Cancelled{};
    }
    void enter(const char* name, double at) {
        stage.store(name, std::memory_order_relaxed);
        fraction.store(at, std::memory_order_relaxed);
    }
};

}  // namespace sepool
