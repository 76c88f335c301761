// In a round every cluster points to the neighbour with which its key is largest. Ties are broken by a hash of the pair, so
// edges are totally ordered and the pointers of a component lead, along ever larger keys, to one pair that point at each
// other. Taken by falling key, each cluster of the component therefore joins when the cluster it points to is already
// in: the merges of a component form a chain, and the weight with which a cluster joins is that of its edges to those
// before it in the chain. No sorting of edges, no lowest common ancestors.

#include "search/boruvka.hpp"

#include <algorithm>
#include <limits>
#include <memory>
#include <numeric>
#include <type_traits>

#include "assert.hpp"
#include "invariants.hpp"
#include "log2.hpp"
#include "prefetch.hpp"

namespace sepool {
namespace {

std::uint32_t pair_hash(std::uint32_t a, std::uint32_t b) {
    std::uint64_t x = a < b ? (std::uint64_t{a} << 32 | b) : (std::uint64_t{b} << 32 | a);
    x = (x ^ (x >> 31)) * 0x9e3779b97f4a7c15ULL;
    x = (x ^ (x >> 29)) * 0xbf58476d1ce4e5b9ULL;
    return static_cast<std::uint32_t>(x >> 32);
}

constexpr Edge kAhead = 32;      // arcs from one that is asked for to the one at hand
constexpr Node kAheadRows = 6;   // the same in rows of arcs
constexpr Node kNear = 1 << 17;  // up to here the data of all clusters stay in the caches

// The cluster graph of a round. Arrays are not initialised: pages that are never written never count.
template <class W>
struct Round {
    Node n = 0;
    std::unique_ptr<Edge[]> indptr;
    std::unique_ptr<Node[]> indices;
    std::unique_ptr<W[]> weights;
};

template <class W>
class Rounds {
    struct One {
        W operator()(Edge) const { return 1; }
    };

public:
    Rounds(const GraphView& graph, std::vector<Node> names, Weight total, Tree& tree, const Control& control)
        : tree_(tree), control_(control), log_total_(static_cast<float>(Log2()(total))), name_(std::move(names)) {
        const Node n = graph.num_nodes;
        volume_.resize(n);
        for (Node u = 0; u < n; ++u) volume_[u] = static_cast<float>(tree.volume[name_[u]]);
        if (graph.weights) advance(n, graph.indptr, graph.indices, [&](Edge e) { return static_cast<W>(graph.weights[e]); });
        else advance(n, graph.indptr, graph.indices, One());
        while (next_.n > 0) {
            Round<W> now = std::move(next_);
            const W* weights = now.weights.get();
            advance(now.n, now.indptr.get(), now.indices.get(), [weights](Edge e) { return weights[e]; });
        }
    }

private:
    // One round on the given cluster graph; leaves the next in next_.
    template <class WeightOf>
    void advance(Node n, const Edge* indptr, const Node* indices, WeightOf weight_of) {
        control_.check();
        choose(n, indptr, indices, weight_of);
        find_components(n);
        sort_components(n);
        contract(n, indptr, indices, weight_of);
    }

    template <class WeightOf>
    void choose(Node n, const Edge* indptr, const Node* indices, WeightOf weight_of) {
        best_.assign(n, -1);
        key_.resize(n);
        const Edge last = indptr[n] - 1;
        for (Node u = 0; u < n; ++u) {
            if ((u & 0xffff) == 0) control_.check();
            const float vu = volume_[u];
            float best = -std::numeric_limits<float>::infinity();
            std::uint32_t best_hash = 0;
            Node choice = -1;
            for (Edge e = indptr[u]; e < indptr[u + 1]; ++e) {
                prefetch(&volume_[indices[std::min(e + kAhead, last)]]);
                const Node x = indices[e];
                const float vx = volume_[x];
                const float key = static_cast<float>(weight_of(e)) * (log_total_ - rough_log2(vu + vx)) / std::min(vu, vx);
                if (key < best) continue;
                const std::uint32_t hash = pair_hash(static_cast<std::uint32_t>(u), static_cast<std::uint32_t>(x));
                if (key > best || hash > best_hash || (hash == best_hash && std::max(u, x) > std::max(u, choice)))
                    best = key, best_hash = hash, choice = x;
            }
            best_[u] = choice;
            key_[u] = best;
        }
    }

    // component_[u]: the smaller one of the pair at the end of u's pointers, then the component's number.
    void find_components(Node n) {
        component_.assign(n, -1);
        for (Node u = 0; u < n; ++u) {
            if (component_[u] >= 0) continue;
            Node v = u;
            while (component_[v] < 0 && best_[v] >= 0 && best_[best_[v]] != v) v = best_[v];
            const Node root = component_[v] >= 0 ? component_[v] : best_[v] < 0 ? v : std::min(v, best_[v]);
            for (v = u; component_[v] < 0; v = best_[v]) {
                component_[v] = root;
                if (best_[v] < 0) break;
            }
        }
    }

    // Members of each component, by falling key, one component after the other.
    void sort_components(Node n) {
        std::vector<Node>& start = start_;
        std::vector<Node>& number = place_;
        number.assign(n, -1);
        count_ = 0;
        for (Node u = 0; u < n; ++u)
            if (component_[u] == u) number[u] = count_++;
        start.assign(count_ + 1, 0);
        for (Node u = 0; u < n; ++u) {
            component_[u] = number[component_[u]];
            ++start[component_[u] + 1];
        }
        for (Node c = 0; c < count_; ++c) start[c + 1] += start[c];
        members_.resize(n);
        for (Node u = 0; u < n; ++u) members_[start[component_[u]]++] = u;
        for (Node c = count_; c > 0; --c) start[c] = start[c - 1];
        start[0] = 0;
        const auto before = [&](Node a, Node b) {
            if (key_[a] != key_[b]) return key_[a] > key_[b];
            const auto hash = [&](Node u) { return pair_hash(static_cast<std::uint32_t>(u), static_cast<std::uint32_t>(best_[u])); };
            const std::uint32_t ha = hash(a), hb = hash(b);
            return ha != hb ? ha > hb : a < b;
        };
        for (Node c = 0; c < count_; ++c) {
            for (Edge i = start[c]; i < start[c + 1]; ++i) prefetch(&key_[members_[std::min<Edge>(i + kAhead, n - 1)]]);
            if (start[c + 1] - start[c] > 1) std::sort(members_.begin() + start[c], members_.begin() + start[c + 1], before);
        }
        for (Node i = 0; i < n; ++i) place_[members_[i]] = i;
    }

    // The arcs of a round in the order in which their clusters join, with components for ends; next_ holds them until they are
    // read, then the arcs between components take their place. Reading the rows one after the other lets all their targets be
    // fetched ahead; in the order of joining, the rows themselves lie anywhere.
    template <class WeightOf>
    void sort_arcs(Node n, const Edge* indptr, const Node* indices, WeightOf weight_of) {
        row_.resize(static_cast<std::size_t>(n) + 1);
        cut_.resize(n);
        row_[0] = 0;
        for (Node i = 0; i < n; ++i) {
            const Node u = members_[i];
            prefetch(&indptr[members_[std::min(i + kAhead, static_cast<Edge>(n - 1))]]);
            row_[i + 1] = row_[i] + indptr[u + 1] - indptr[u];
        }
        const Edge last = indptr[n] - 1;
        for (Node u = 0; u < n; ++u) {
            if ((u & 0xffff) == 0) control_.check();
            prefetch(&row_[place_[std::min<Edge>(u + kAhead, n - 1)]]);
            const Node i = place_[u], c = component_[u];
            Edge to = row_[i];
            W cut = 0;
            for (Edge e = indptr[u]; e < indptr[u + 1]; ++e) {
                prefetch(&component_[indices[std::min(e + kAhead, last)]]);
                const Node x = indices[e], other = component_[x];
                const W w = weight_of(e);
                if (other == c && place_[x] < i) cut += w;
                if (!std::is_same<WeightOf, One>::value) next_.weights[to] = w;
                next_.indices[to++] = other;
            }
            cut_[i] = cut;
        }
    }

    template <class WeightOf>
    void contract(Node n, const Edge* indptr, const Node* indices, WeightOf weight_of) {
        const Edge arcs = indptr[n] - indptr[0];
        next_.n = 0;
        next_.indptr.reset(new Edge[static_cast<std::size_t>(count_) + 1]);
        next_.indices.reset(new Node[static_cast<std::size_t>(arcs)]);
        next_.weights.reset(new W[static_cast<std::size_t>(arcs)]);
        if (n <= kNear) {
            join(n, [&](Node i, Node c, auto&& add) {
                const Node u = members_[i];
                W cut = 0;
                for (Edge e = indptr[u]; e < indptr[u + 1]; ++e) {
                    const Node x = indices[e], other = component_[x];
                    if (other != c) add(other, weight_of(e));
                    else if (place_[x] < i) cut += weight_of(e);
                }
                return cut;
            });
            return;
        }
        sort_arcs(n, indptr, indices, weight_of);
        join(n, [&](Node i, Node c, auto&& add) {
            for (Edge e = row_[i]; e < row_[i + 1]; ++e) {
                prefetch(&weight_[next_.indices[std::min(e + kAhead, arcs - 1)]]);
                const Node other = next_.indices[e];
                if (other != c) add(other, std::is_same<WeightOf, One>::value ? W{1} : next_.weights[e]);
            }
            return cut_[i];
        });
    }

    // Joins the clusters of every component, and the arcs between two components to one. visit(i, c, add) calls add(component,
    // weight) for the arcs that leave component c from the i-th cluster, and returns the weight with which that cluster joins.
    template <class Visit>
    void join(Node n, Visit visit) {
        Round<W>& next = next_;
        weight_.assign(count_, 0);
        std::vector<Node> renamed(count_, -1), name;
        std::vector<float> volume;
        Edge end = 0;
        const auto add = [&](Node other, W w) {
            next.indices[end] = other;  // counts only if it is the first: no branch for the processor to guess
            end += weight_[other] == 0;
            weight_[other] += w;
        };
        next.indptr[0] = 0;
        for (Node c = 0; c < count_; ++c) {
            if ((c & 0xffff) == 0) control_.check();
            const Edge begin = end;
            Node top = -1;
            for (Node i = start_[c]; i < start_[c + 1]; ++i) {
                prefetch_names(i, n);
                const auto cut = static_cast<Weight>(visit(i, c, add));
                const Node t = name_[members_[i]];
                top = top < 0 ? t : tree_.merge(top, t, cut);
            }
            for (Edge e = begin; e < end; ++e) {
                next.weights[e] = weight_[next.indices[e]];
                weight_[next.indices[e]] = 0;
            }
            if (end == begin) continue;  // a whole component of the graph: done
            renamed[c] = next.n++;
            next.indptr[next.n] = end;
            name.push_back(top);
            volume.push_back(static_cast<float>(tree_.volume[top]));
        }
        if (next.n < count_)
            for (Edge e = 0; e < end; ++e) next.indices[e] = renamed[next.indices[e]];
        name_.swap(name);
        volume_.swap(volume);
    }

    // Fetches the data that MERGE will need of the clusters that join soon after the i-th.
    void prefetch_names(Node i, Node n) {
        if (i + 2 * kAheadRows < n) prefetch(&name_[members_[i + 2 * kAheadRows]]);
        if (i + kAheadRows >= n) return;
        const Node t = name_[members_[i + kAheadRows]];
        prefetch(&tree_.parent[t]);
        prefetch(&tree_.volume[t]);
    }

    Tree& tree_;
    const Control& control_;
    float log_total_;
    Round<W> next_;
    Node count_ = 0;
    std::vector<Node> name_, best_, component_, start_, members_, place_;
    std::vector<float> volume_, key_;
    std::vector<Edge> row_;  // by place, as cut_
    std::vector<W> cut_, weight_;
};

}  // namespace

void merge_by_rounds(const GraphView& items, std::vector<Node> names, Weight total, Tree& tree, const Control& control) {
    const std::size_t size = tree.parent.size() + names.size() + 1;
    tree.parent.reserve(size), tree.volume.reserve(size), tree.cut.reserve(size);
    if (total <= std::numeric_limits<std::uint32_t>::max()) Rounds<std::uint32_t>(items, std::move(names), total, tree, control);
    else Rounds<Weight>(items, std::move(names), total, tree, control);
}

void merge_by_rounds(const GraphView& graph, Tree& tree, const Control& control) {
    tree.start(graph);
    std::vector<Node> names(graph.num_nodes);
    std::iota(names.begin(), names.end(), 0);
    Weight total = 0;
    for (const Weight v : tree.volume) total += v;
    merge_by_rounds(graph, std::move(names), total, tree, control);
    tree.close();
    SEPOOL_ASSERT(is_sound(tree));
}

}  // namespace sepool
