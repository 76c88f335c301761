// Loading a hierarchy into the refiner, and its way back to a tree.

#include <algorithm>
#include <numeric>

#include "assert.hpp"
#include "invariants.hpp"
#include "search/refine.hpp"

namespace sepool {
namespace {

constexpr double kLeast = 1e-13;       // a fall of H smaller than this is rounding
constexpr Weight kSmallVolumes = 1 << 16;  // whose logs are kept: half a megabyte, which is read faster than a log is worked out

}  // namespace

void Refiner::reset(const GraphView& graph, int height) {
    graph_ = graph;
    height_ = height;
    level_.resize(height + 1), free_.resize(height + 1), weight_to_.resize(height + 1), touched_.resize(height + 1);
    queue_.resize(height + 1), queued_.resize(height + 1), waiting_.resize(height + 1), leave_.resize(height + 1);
    for (int l = 0; l <= height; ++l) free_[l].clear(), queue_[l].clear(), level_[l].clear();
    home_.resize(graph.num_nodes);
    moves_.clear();
}

void Refiner::load(const GraphView& graph, const Levels& levels) {
    reset(graph, static_cast<int>(levels.count.size()) - 1);
    for (int l = 0; l <= height_; ++l) level_[l].resize(static_cast<std::size_t>(levels.count[l]));
    std::size_t at = 0;
    for (int l = 0; l <= height_; ++l) {
        for (Node i = 0; i < static_cast<Node>(level_[l].size()); ++i, ++at) {
            level_[l][i].volume = levels.volume[at];
            if (l < height_) attach(l, i, levels.parent[at]);
        }
    }
    sum_up();
}

void Refiner::load_singletons(const GraphView& graph, int height) {
    reset(graph, height);
    for (int l = 0; l < height; ++l) level_[l].resize(graph.num_nodes);
    level_[height].resize(1);
    for (Node u = 0; u < graph.num_nodes; ++u) {
        for (int l = 0; l < height; ++l) {
            level_[l][u].volume = l == 0 ? graph.degree(u) + graph.loop(u) : level_[0][u].volume;
            attach(l, u, l + 1 < height ? u : 0);
        }
        level_[height][0].volume += level_[0][u].volume;
    }
    sum_up();
}

void Refiner::load_clustered(const GraphView& graph, int height, const Clusterer& cluster) {
    reset(graph, height);
    level_[0].resize(graph.num_nodes);
    std::vector<Weight> volume(graph.num_nodes);
    for (Node u = 0; u < graph.num_nodes; ++u) level_[0][u].volume = volume[u] = graph.degree(u) + graph.loop(u);
    std::vector<Node> label;
    Graph coarse, next;
    GraphView items = graph;
    for (int l = 1; l < height; ++l) {
        cluster(items, volume, l, label);
        const Node count = items.num_nodes ? *std::max_element(label.begin(), label.end()) + 1 : 0;
        level_[l].resize(count);
        for (Node i = 0; i < items.num_nodes; ++i) {
            attach(l - 1, i, label[i]);
            level_[l][label[i]].volume += level_[l - 1][i].volume;
        }
        volume.assign(count, 0);
        weight_to_[l].assign(count, 0);
        next.indptr.assign(1, 0), next.indices.clear(), next.weights.clear();
        for (Node c = 0; c < count; ++c) {
            volume[c] = level_[l][c].volume;
            for (Node i = level_[l][c].first; i >= 0; i = level_[l - 1][i].next) {
                for (Edge e = items.indptr[i]; e < items.indptr[i + 1]; ++e) {
                    const Node other = label[items.indices[e]];
                    if (other == c) continue;
                    if (weight_to_[l][other] == 0) touched_[l].push_back({other, 0});
                    weight_to_[l][other] += items.weight(e);
                }
            }
            for (const Touched& t : touched_[l])
                next.indices.push_back(t.cluster), next.weights.push_back(weight_to_[l][t.cluster]), weight_to_[l][t.cluster] = 0;
            touched_[l].clear();
            next.indptr.push_back(static_cast<Edge>(next.indices.size()));
        }
        std::swap(coarse, next);
        items = coarse.view();
    }
    level_[height].resize(1);
    for (Node i = 0; i < items.num_nodes; ++i) attach(height - 1, i, 0), level_[height][0].volume += level_[height - 1][i].volume;
    sum_up();
}

// Weights inside and logs, from parents and volumes.
void Refiner::sum_up() {
    const Weight total = level_[height_][0].volume;
    inverse_total_ = 1 / std::max(1.0, static_cast<double>(total));
    if (total != logs_of_) {  // a graph comes here several times
        logs_of_ = total;
        logs_.clear();
        std::vector<double> logs(std::min(total + 1, kSmallVolumes), 0);
        for (Weight v = 1; v < static_cast<Weight>(logs.size()); ++v) logs[v] = log_share(v);
        logs_.swap(logs);
    }
    for (Node u = 0; u < graph_.num_nodes; ++u) {
        for (Edge e = graph_.indptr[u]; e < graph_.indptr[u + 1]; ++e) {
            if (graph_.indices[e] < u) continue;
            Node a = u, b = graph_.indices[e];
            for (int l = 0; a != b; ++l) {
                a = level_[l][a].parent, b = level_[l][b].parent;
                if (a == b) level_[l + 1][a].inside += graph_.weight(e);
            }
        }
    }
    for (int l = 0; l <= height_; ++l) {
        for (auto& c : level_[l]) {
            c.log_share = log_share(c.volume);
            if (l == 0) c.arcs = graph_.indptr[&c - level_[0].data() + 1] - graph_.indptr[&c - level_[0].data()];
            if (l == height_) break;
            auto& p = level_[l + 1][c.parent];
            p.arcs += c.arcs;
            p.inside += c.inside;
            p.inside_children += c.inside;
        }
        weight_to_[l].assign(level_[l].size(), 0);
        queued_[l].assign(level_[l].size(), 0);
        waiting_[l].assign(level_[l].size(), 0);
    }
    SEPOOL_ASSERT(is_consistent());
    least_ = kLeast * static_cast<double>(total);
    flat_entropy_ = 0;
    for (Node u = 0; u < graph_.num_nodes; ++u)
        flat_entropy_ -= static_cast<double>(graph_.degree(u)) * inverse_total_ * level_[0][u].log_share;
}

// Children are listed below their parents, and volumes, arcs and inner weights add up.
bool Refiner::is_consistent() const {
    for (int l = 1; l <= height_; ++l) {
        for (Node c = 0; c < static_cast<Node>(level_[l].size()); ++c) {
            const Cluster& cluster = level_[l][c];
            if (cluster.children == 0) continue;
            Cluster sum;
            for (Node i = cluster.first; i >= 0; i = level_[l - 1][i].next) {
                const Cluster& child = level_[l - 1][i];
                if (child.parent != c || (l == 1 && home_[i] != c)) return false;
                sum.volume += child.volume, sum.arcs += child.arcs, sum.inside += child.inside, ++sum.children;
            }
            if (sum.volume != cluster.volume || sum.arcs != cluster.arcs || sum.children != cluster.children) return false;
            if (sum.inside != cluster.inside_children || cluster.inside < sum.inside) return false;
        }
    }
    return true;
}

double Refiner::entropy() const {
    double sum = 0;
    for (int l = 1; l < height_; ++l)
        for (const Cluster& c : level_[l])
            if (c.children > 0) sum += cost(c);
    return flat_entropy_ + 2 * inverse_total_ * sum;
}

void Refiner::save() { saved_level_ = level_, saved_free_ = free_, saved_home_ = home_; }

void Refiner::restore() { level_ = saved_level_, free_ = saved_free_, home_ = saved_home_; }

void Refiner::to_tree(Merger& merger, Tree& tree, const Control& control) {
    tree.start(graph_);
    // Tree node and parent cluster of every item and every merge; items of a level are its living clusters.
    std::vector<Node> node(graph_.num_nodes), home, parts, top;
    std::iota(node.begin(), node.end(), 0);
    for (int l = 0; l < height_; ++l) {
        const auto& here = level_[l];
        problem_.total = level_[height_][0].volume;
        problem_.pairs.clear();
        problem_.volume.resize(here.size());
        home.resize(here.size());
        for (Node i = 0; i < static_cast<Node>(here.size()); ++i) {
            if ((i & 0xfff) == 0) control.check();
            problem_.volume[i] = here[i].volume;
            home[i] = here[i].parent;
            if (l == 0) {
                for (Edge e = graph_.indptr[i]; e < graph_.indptr[i + 1]; ++e)
                    if (graph_.indices[e] > i && home_[graph_.indices[e]] == home[i])
                        problem_.pairs.push_back({i, graph_.indices[e], graph_.weight(e)});
            } else if (here[i].children > 0) {
                gather(l, i);
                for (const Touched& t : touched_[l])
                    if (t.cluster > i && here[t.cluster].parent == home[i]) problem_.pairs.push_back({i, t.cluster, t.weight});
                forget(l);
            }
        }
        for (const Pair& p : merger.run(problem_, Linkage::relative, control)) {
            node.push_back(tree.merge(node[p.a], node[p.b], p.c));
            home.push_back(home[p.a]);
        }
        // One tree node for every cluster; a cluster without edges between its parts gets a node over them.
        parts.assign(level_[l + 1].size(), 0);
        top.assign(level_[l + 1].size(), -1);
        for (std::size_t i = 0; i < node.size(); ++i)
            if (node[i] >= 0 && tree.parent[node[i]] < 0) ++parts[home[i]], top[home[i]] = node[i];
        for (std::size_t i = 0; i < node.size(); ++i) {
            if (node[i] < 0 || tree.parent[node[i]] >= 0 || parts[home[i]] == 1) continue;
            const Node c = home[i];
            if (parts[c] > 1) parts[c] = 0, top[c] = tree.add();
            tree.parent[node[i]] = top[c];
            tree.volume[top[c]] += tree.volume[node[i]];
        }
        node.swap(top);
    }
    tree.close();
    SEPOOL_ASSERT(is_sound(tree));
}

}  // namespace sepool
