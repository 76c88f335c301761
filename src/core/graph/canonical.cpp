#include "graph/canonical.hpp"

#include <algorithm>

#include "assert.hpp"
#include "invariants.hpp"
#include "small/small.hpp"

namespace sepool {
namespace {

// Weights are hashed to separate two edges of weight 1 from one edge of weight 2. Odd, so never 0.
std::uint64_t weight_colour(Weight w) {
    auto x = static_cast<std::uint64_t>(w) * 0x9e3779b97f4a7c15ULL;
    x = (x ^ (x >> 32)) * 0xd6e8feb86659fd93ULL;
    return (x ^ (x >> 32)) | 1;
}

constexpr Edge kLargeArcs = 200'000;   // from here on colours are hashed before cells are split
constexpr int kRounds = 2, kMostRounds = 8;  // of hashing, between two counts of the colours and in all
constexpr std::int64_t kNodesAChunk = 4096;
constexpr int kBucketBits = 10;

std::uint64_t mix(std::uint64_t x) {
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
    return x ^ (x >> 31);
}

struct Coloured {
    std::uint64_t colour;
    Node node;
    bool operator<(const Coloured& o) const { return colour != o.colour ? colour < o.colour : node < o.node; }
};

// Sorts by colour: colours are hashes, so their first bits share the nodes out evenly.
void sort_by_colour(std::vector<Coloured>& nodes, std::vector<Coloured>& scratch, Team& team) {
    constexpr int kBuckets = 1 << kBucketBits;
    const auto bucket = [](const Coloured& c) { return c.colour >> (64 - kBucketBits); };
    std::vector<std::size_t> begin(kBuckets + 1, 0);
    for (const Coloured& c : nodes) ++begin[bucket(c) + 1];
    for (int b = 0; b < kBuckets; ++b) begin[b + 1] += begin[b];
    std::vector<std::size_t> next(begin.begin(), begin.end() - 1);
    scratch.resize(nodes.size());
    for (const Coloured& c : nodes) scratch[next[bucket(c)]++] = c;
    nodes.swap(scratch);
    team.share(kBuckets, 8, [&](std::int64_t first, std::int64_t last, int) {
        for (std::int64_t b = first; b < last; ++b)
            std::sort(nodes.begin() + static_cast<std::ptrdiff_t>(begin[b]), nodes.begin() + static_cast<std::ptrdiff_t>(begin[b + 1]));
    });
}

}  // namespace

void Canonical::enqueue(Node begin) {
    queued_[begin] = 1;
    queue_.push_back(begin);
}

void Canonical::reset(const GraphView& graph) {
    const Node n = graph.num_nodes;
    order_.resize(n), position_.resize(n), cell_.resize(n);
    splitter_.resize(n), touched_.resize(n), touched_cells_.resize(n);
    length_.assign(n, 0), touched_length_.assign(n, 0), queued_.assign(n, 0), links_.assign(n, 0);
    queue_.clear(), component_size_.clear();
    queue_head_ = 0, candidates_begin_ = -1;
    cells_ = 0;
}

// Cells of equal colours, where a colour is a hash of a node's own and those around it, again and again: a few passes over the
// edges tell nearly all nodes of a large graph apart. Where no more colours appear the partition is equitable, and no cell is
// queued; where they still do after several rounds all are.
void Canonical::split_by_colours(const GraphView& graph, Team& team, const Control& control) {
    const Node n = graph.num_nodes;
    std::vector<std::uint64_t> colour(n), next(n);
    team.share(n, kNodesAChunk, [&](std::int64_t first, std::int64_t last, int) {
        for (Node u = static_cast<Node>(first); u < last; ++u)
            colour[u] = mix(static_cast<std::uint64_t>(graph.loop(u)) * 0x2545f4914f6cdd1dULL + 1);
    });
    std::vector<Coloured> nodes(n), scratch;
    Node colours = 0;
    bool stable = false;
    for (int round = 1; round <= kMostRounds && !stable && colours < n; ++round) {
        control.check();
        team.share(n, kNodesAChunk, [&](std::int64_t first, std::int64_t last, int) {
            for (Node u = static_cast<Node>(first); u < last; ++u) {
                std::uint64_t sum = 0;
                if (graph.weights) {
                    for (Edge e = graph.indptr[u]; e < graph.indptr[u + 1]; ++e)
                        sum += mix(colour[graph.indices[e]] + weight_colour(graph.weights[e]));
                } else {
                    for (Edge e = graph.indptr[u]; e < graph.indptr[u + 1]; ++e) sum += colour[graph.indices[e]];
                }
                next[u] = mix(colour[u] * 0x9e3779b97f4a7c15ULL + mix(sum));
            }
        });
        colour.swap(next);
        if (round % kRounds != 0) continue;
        for (Node u = 0; u < n; ++u) nodes[u] = {colour[u], u};
        sort_by_colour(nodes, scratch, team);
        Node distinct = n > 0;
        for (Node i = 1; i < n; ++i) distinct += nodes[i].colour != nodes[i - 1].colour;
        stable = distinct == colours;
        colours = distinct;
    }
    Node begin = 0;
    for (Node i = 0; i < n; ++i) {
        if (i && nodes[i].colour != nodes[i - 1].colour) begin = i;
        const Node u = nodes[i].node;
        order_[i] = u, position_[u] = i, cell_[u] = begin;
        ++length_[begin];
    }
    for (Node i = 0; i < n; i += length_[i]) {
        if (!stable) enqueue(i);
        ++cells_;
    }
}

void Canonical::split_initially(const GraphView& graph) {
    const Node n = graph.num_nodes;
    for (Node u = 0; u < n; ++u) {
        order_[u] = u;
        if (graph.loops) links_[u] = static_cast<std::uint64_t>(graph.loops[u]);
    }
    // Counts of neighbours, weights and loops: the first step of refinement from the trivial partition.
    for (Node u = 0; u < n; ++u) {
        if (!graph.weights) {
            links_[u] = (links_[u] << 32) + static_cast<std::uint64_t>(graph.degree(u));
        } else {
            links_[u] *= 0x2545f4914f6cdd1dULL;
            for (Edge e = graph.indptr[u]; e < graph.indptr[u + 1]; ++e) links_[u] += weight_colour(graph.weights[e]);
        }
    }
    std::sort(order_.begin(), order_.end(), [&](Node a, Node b) { return links_[a] < links_[b]; });
    Node begin = 0;
    for (Node i = 0; i < n; ++i) {
        if (i && links_[order_[i]] != links_[order_[i - 1]]) begin = i;
        position_[order_[i]] = i;
        cell_[order_[i]] = begin;
        ++length_[begin];
    }
    std::fill(links_.begin(), links_.end(), 0);
    for (Node i = 0; i < n; i += length_[i]) enqueue(i), ++cells_;
}

// Splits the cell at `begin`, whose touched nodes stand at its end, by their links to the splitter.
void Canonical::split_cell(Node begin) {
    const Node length = length_[begin], touched = touched_length_[begin];
    touched_length_[begin] = 0;
    Node* const first = order_.data() + begin + length - touched;
    Node* const last = order_.data() + begin + length;
    const std::uint64_t* const links = links_.data();
    const auto by_links = [links](Node a, Node b) { return links[a] < links[b]; };
    bool equal = true;
    for (Node* u = first + 1; u < last; ++u) equal = equal && links[*u] == links[*first];
    if (equal && touched == length) return;
    if (!equal) std::sort(first, last, by_links);

    const bool was_queued = queued_[begin];
    Node largest = begin, part = begin;
    length_[begin] = length - touched;
    for (Node* u = first; u < last; ++u) {
        const Node at = static_cast<Node>(u - order_.data());
        if (u == first ? touched < length : links[*u] != links[u[-1]]) {
            part = at;
            length_[part] = 0;
            ++cells_;
        }
        ++length_[part];
        position_[*u] = at;
        cell_[*u] = part;
    }
    for (Node at = begin; at < begin + length; at += length_[at])
        if (length_[at] > length_[largest]) largest = at;
    for (Node at = begin; at < begin + length; at += length_[at])
        if (was_queued ? at != begin : at != largest) enqueue(at);
}

// Moves u to the end of its cell, the place of the nodes that the splitter touches.
void Canonical::touch(Node u, Node cell) {
    if (touched_length_[cell] == 0) touched_cells_[touched_cell_count_++] = cell;
    const Node at = position_[u], to = cell + length_[cell] - ++touched_length_[cell];
    const Node other = order_[to];
    order_[at] = other, position_[other] = at;
    order_[to] = u, position_[u] = to;
}

// Cuts the touched nodes off the end of their cell.
void Canonical::split_in_two(Node begin) {
    const Node length = length_[begin], touched = touched_length_[begin];
    touched_length_[begin] = 0;
    if (touched == length) return;
    const Node part = begin + length - touched;
    length_[begin] = length - touched;
    length_[part] = touched;
    ++cells_;
    for (Node i = part; i < begin + length; ++i) cell_[order_[i]] = part;
    enqueue(queued_[begin] || touched <= length - touched ? part : begin);
}

void Canonical::refine(const GraphView& graph, const Control& control) {
    while (queue_head_ < queue_.size() && cells_ < graph.num_nodes) {
        const Node begin = queue_[queue_head_++];
        queued_[begin] = 0;
        if (queue_head_ == queue_.size()) queue_.clear(), queue_head_ = 0;
        control.check();
        touched_cell_count_ = 0;
        if (length_[begin] == 1 && !graph.weights) refine_by_node(graph, order_[begin]);
        else refine_by_cell(graph, begin);
    }
}

// A single node and edges of weight 1: every node is a neighbour or none.
void Canonical::refine_by_node(const GraphView& graph, Node v) {
    for (Edge e = graph.indptr[v]; e < graph.indptr[v + 1]; ++e) {
        const Node u = graph.indices[e], cell = cell_[u];
        if (length_[cell] > 1) touch(u, cell);
    }
    if (touched_cell_count_ > 1) std::sort(touched_cells_.begin(), touched_cells_.begin() + touched_cell_count_);
    for (Node i = 0; i < touched_cell_count_; ++i) split_in_two(touched_cells_[i]);
}

void Canonical::refine_by_cell(const GraphView& graph, Node begin) {
    const Node size = length_[begin];
    std::copy_n(order_.begin() + begin, size, splitter_.begin());
    Node touched = 0;
    for (Node i = 0; i < size; ++i) {
        const Node v = splitter_[i];
        for (Edge e = graph.indptr[v]; e < graph.indptr[v + 1]; ++e) {
            const Node u = graph.indices[e], cell = cell_[u];
            if (length_[cell] == 1) continue;
            if (links_[u] == 0) touched_[touched++] = u, touch(u, cell);
            links_[u] += graph.weights ? weight_colour(graph.weights[e]) : 1;
        }
    }
    if (touched_cell_count_ > 1) std::sort(touched_cells_.begin(), touched_cells_.begin() + touched_cell_count_);
    for (Node i = 0; i < touched_cell_count_; ++i) split_cell(touched_cells_[i]);
    for (Node i = 0; i < touched; ++i) links_[touched_[i]] = 0;
}

// Connected components in the order of their first nodes.
void Canonical::measure_components(const GraphView& graph) {
    component_.assign(graph.num_nodes, -1), component_size_.clear();
    std::vector<Node>& queue = touched_;  // free between two refinements
    for (Node u = 0; u < graph.num_nodes; ++u) {
        if (component_[u] >= 0) continue;
        const auto number = static_cast<Node>(component_size_.size());
        Node size = 0;
        queue[size++] = u, component_[u] = number;
        for (Node head = 0; head < size; ++head) {
            const Node v = queue[head];
            for (Edge e = graph.indptr[v]; e < graph.indptr[v + 1]; ++e) {
                const Node w = graph.indices[e];
                if (component_[w] < 0) component_[w] = number, queue[size++] = w;
            }
        }
        component_size_.push_back(size);
    }
}

// Nodes of large components first, then by colours, or else by number.
bool Canonical::is_preferred(Node a, Node b) const {
    const Node size_a = component_size_[component_[a]], size_b = component_size_[component_[b]];
    if (size_a != size_b) return size_a > size_b;
    return rank_.empty() ? a < b : rank_[a] < rank_[b];
}

// Makes the preferred node of a cell a cell of its own behind the others. The sorted nodes of the cell stay at hand: refinement
// leaves nodes that no splitter touches in their cell, and touched nodes have cost an edge each.
void Canonical::individualise(const GraphView& graph, Node begin) {
    if (component_size_.empty()) measure_components(graph);
    const Node last = begin + length_[begin] - 1;
    if (candidates_begin_ != begin) {
        candidates_begin_ = begin;
        candidates_.assign(order_.begin() + begin, order_.begin() + last + 1);
        std::sort(candidates_.begin(), candidates_.end(), [&](Node a, Node b) { return is_preferred(b, a); });
    }
    while (cell_[candidates_.back()] != begin) candidates_.pop_back();
    const Node u = candidates_.back(), at = position_[u];
    candidates_.pop_back();
    std::swap(order_[at], order_[last]);
    position_[order_[at]] = at, position_[u] = last;
    --length_[begin];
    length_[last] = 1;
    cell_[u] = last;
    ++cells_;
    enqueue(last);
}

const std::vector<Node>& Canonical::order(const GraphView& graph, Team& team, const Control& control) {
    if (small::has_order(graph)) {
        order_.resize(graph.num_nodes);
        if (!small::order(graph, nullptr, order_.data())) {
            rank_by_colours(graph, team, control);
            small::order(graph, rank_.data(), order_.data());
        }
        SEPOOL_ASSERT(is_permutation(order_, graph.num_nodes));
        return order_;
    }
    reset(graph);
    rank_.clear();
    if (graph.num_arcs() >= kLargeArcs) split_by_colours(graph, team, control);
    else split_initially(graph);
    refine(graph, control);
    for (Node begin = 0; cells_ < graph.num_nodes;) {
        const Node length = length_[begin];
        if (length == 1) {
            ++begin;
            continue;
        }
        if (graph.is_coloured() && rank_.empty()) rank_by_colours(graph, team, control);  // most graphs need none
        individualise(graph, begin);
        refine(graph, control);
    }
    SEPOOL_ASSERT(is_permutation(order_, graph.num_nodes));
    return order_;
}

void relabel(const GraphView& graph, const std::vector<Node>& order, Graph& out, std::vector<Node>& position, Team& team) {
    const Node n = graph.num_nodes;
    position.resize(n);
    for (Node i = 0; i < n; ++i) position[order[i]] = i;
    out.indptr.resize(n + 1);
    out.indptr[0] = 0;
    for (Node i = 0; i < n; ++i) out.indptr[i + 1] = out.indptr[i] + graph.indptr[order[i] + 1] - graph.indptr[order[i]];
    out.indices.resize(graph.num_arcs());
    out.weights.resize(graph.weights ? graph.num_arcs() : 0);
    out.loops.resize(graph.loops ? n : 0);
    if (graph.loops)
        for (Node i = 0; i < n; ++i) out.loops[i] = graph.loops[order[i]];
    if (graph.num_arcs() >= kLargeArcs) {  // row by row, each sorted by itself
        team.share(n, kNodesAChunk, [&](std::int64_t first, std::int64_t last, int) {
            std::vector<std::pair<Node, Weight>> row;
            for (Node i = static_cast<Node>(first); i < last; ++i) {
                const Node u = order[i];
                Node* const to = out.indices.data() + out.indptr[i];
                const Edge begin = graph.indptr[u], length = graph.indptr[u + 1] - begin;
                if (!graph.weights) {
                    for (Edge e = 0; e < length; ++e) to[e] = position[graph.indices[begin + e]];
                    std::sort(to, to + length);
                    continue;
                }
                row.resize(length);
                for (Edge e = 0; e < length; ++e) row[e] = {position[graph.indices[begin + e]], graph.weights[begin + e]};
                std::sort(row.begin(), row.end());
                for (Edge e = 0; e < length; ++e) to[e] = row[e].first, out.weights[out.indptr[i] + e] = row[e].second;
            }
        });
        return;
    }
    // Visiting the new nodes in order and writing to their neighbours' rows leaves every row sorted.
    std::vector<Edge>& next = out.indptr;  // shifted by one row while rows fill, then shifted back
    for (Node i = 0; i < n; ++i) {
        const Node u = order[i];
        for (Edge e = graph.indptr[u]; e < graph.indptr[u + 1]; ++e) {
            const Edge to = next[position[graph.indices[e]]]++;
            out.indices[to] = i;
            if (graph.weights) out.weights[to] = graph.weights[e];
        }
    }
    for (Node i = n; i > 0; --i) out.indptr[i] = out.indptr[i - 1];
    out.indptr[0] = 0;
}

}  // namespace sepool
