#include "refine.hpp"

#include <algorithm>
#include <numeric>

namespace sepool {
namespace {

constexpr double kLeast = 1e-13;      // a fall of H smaller than this is rounding
constexpr std::size_t kMostVisits = 100;  // of each queued node or cluster, on average, until it must settle
constexpr Edge kPatience = 64;        // while shaking, nodes and clusters with more edge ends stay where they are
constexpr double kTolerance = 0.02;   // rise that the first pass of shaking accepts, for each unit of volume taken apart

}  // namespace

void Refiner::reset(const GraphView& graph, int height) {
    graph_ = graph;
    height_ = height;
    level_.resize(height + 1), free_.resize(height + 1), weight_to_.resize(height + 1), touched_.resize(height + 1);
    queue_.resize(height + 1), queued_.resize(height + 1), waiting_.resize(height + 1), leave_.resize(height + 1);
    for (int l = 0; l <= height; ++l) free_[l].clear(), queue_[l].clear(), level_[l].clear();
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

void Refiner::load_grown(const GraphView& graph, int height, Grower& grower, const Control& control) {
    reset(graph, height);
    level_[0].resize(graph.num_nodes);
    std::vector<Weight> volume(graph.num_nodes);
    Weight total = 0;
    for (Node u = 0; u < graph.num_nodes; ++u) level_[0][u].volume = volume[u] = graph.degree(u) + graph.loop(u), total += volume[u];
    std::vector<Node> label;
    Graph coarse, next;
    GraphView items = graph;
    const double log_total = Log2()(total);
    for (int l = 1; l < height; ++l) {
        const double share = std::pow(static_cast<double>(l) / (height - 1), 0.8);
        grower.run(items, volume, log_total * share, label, control);
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
            for (const Touched& t : touched_[l]) next.indices.push_back(t.cluster), next.weights.push_back(weight_to_[l][t.cluster]), weight_to_[l][t.cluster] = 0;
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
    inverse_total_ = 1 / std::max(1.0, static_cast<double>(level_[height_][0].volume));
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
    least_ = kLeast * static_cast<double>(level_[height_][0].volume);
}

void Refiner::attach(int level, Node item, Node parent) {
    Cluster& self = level_[level][item];
    Cluster& p = level_[level + 1][parent];
    self.parent = parent;
    self.previous = -1;
    self.next = p.first;
    if (p.first >= 0) level_[level][p.first].previous = item;
    p.first = item;
    ++p.children;
}

void Refiner::detach(int level, Node item) {
    const Cluster& self = level_[level][item];
    Cluster& p = level_[level + 1][self.parent];
    if (self.previous >= 0) level_[level][self.previous].next = self.next;
    else p.first = self.next;
    if (self.next >= 0) level_[level][self.next].previous = self.previous;
    --p.children;
}

template <class Use>
void Refiner::each_leaf(int level, Node item, Use&& use) const {
    if (level == 0) {
        use(item);
        return;
    }
    for (Node c = level_[level][item].first; c >= 0; c = level_[level - 1][c].next) each_leaf(level - 1, c, use);
}

// Weight from the item to the clusters around it, on its own level (for clusters) and on all above.
void Refiner::gather(int level, Node item) {
    const int lowest = std::max(level, 1);
    auto& weight = weight_to_[lowest];
    auto& touched = touched_[lowest];
    std::size_t count = 0;
    each_leaf(level, item, [&](Node u) {
        touched.resize(count + static_cast<std::size_t>(graph_.indptr[u + 1] - graph_.indptr[u]));
        for (Edge e = graph_.indptr[u]; e < graph_.indptr[u + 1]; ++e) {
            Node other = level_[0][graph_.indices[e]].parent;
            for (int l = 1; l < lowest; ++l) other = level_[l][other].parent;
            if (level > 0 && other == item) continue;
            touched[count].cluster = other;  // counts only if it is the first: no branch that cannot be foreseen
            count += weight[other] == 0;
            weight[other] += graph_.weight(e);
        }
    });
    touched.resize(count);
    for (int l = lowest; l <= height_; ++l) {
        for (auto& t : touched_[l]) {
            t.weight = weight_to_[l][t.cluster];
            if (l == height_) continue;
            const Node up = level_[l][t.cluster].parent;
            if (weight_to_[l + 1][up] == 0) touched_[l + 1].push_back({up, 0});
            weight_to_[l + 1][up] += t.weight;
        }
    }
}

void Refiner::forget(int level) {
    for (int l = std::max(level, 1); l <= height_; ++l) {
        for (const Touched& t : touched_[l]) weight_to_[l][t.cluster] = 0;
        touched_[l].clear();
    }
}

// The change of the sum of costs if the item, whose surroundings are gathered and leave_ is filled, goes below `target`;
// new clusters fill the levels between, whose cut is 0 and which cost nothing.
double Refiner::change_to(int level, Node item, int target_level, Node target) const {
    const Cluster& self = level_[level][item];
    double change = 0;
    Node a = self.parent, b = target, a_child = -1;
    for (int l = level + 1; l < target_level; ++l) a_child = a, a = level_[l][a].parent;
    Weight b_below = 0;
    int l = target_level;
    for (; a != b; ++l) {  // up to where the two paths meet
        const Cluster& c = level_[l][b];
        const Weight w = weight_to_[l][b];
        change += cost_with(c, self.volume, self.inside + w, self.inside + b_below) - cost(c);
        b_below = w;
        b = c.parent;
        a_child = a;
        a = level_[l][a].parent;
    }
    // There, only the weight inside its children changes.
    return change + leave_[l - 1] + static_cast<double>(weight_to_[l - 1][a_child] - b_below) * level_[l][a].log_share;
}

// Of all clusters of all levels above that the item has an edge to, and the root, the one that lowers H most.
Refiner::Target Refiner::best_target(int level, Node item) {
    const Cluster& self = level_[level][item];
    // leave_[l]: change of the cost of the own clusters up to level l when the item leaves them.
    double left = 0;
    Weight below = 0;
    Node own = self.parent;
    for (int l = level + 1; l < height_; ++l) {
        const Cluster& c = level_[l][own];
        const Weight w = weight_to_[l][own];
        left += cost_with(c, -self.volume, -self.inside - w, -self.inside - below) - cost(c);
        leave_[l] = left;
        below = w;
        own = c.parent;
    }
    Target best{-least_, -1, -1};
    for (int l = level + 1; l <= height_; ++l) {
        for (const Touched& t : touched_[l]) {
            if (l == level + 1 && t.cluster == self.parent) continue;
            const double change = change_to(level, item, l, t.cluster);
            if (change < best.change) best = {change, l, t.cluster};
        }
    }
    return best;
}

Node Refiner::new_cluster(int level, Node parent) {
    Node id;
    if (!free_[level].empty()) {
        id = free_[level].back();
        free_[level].pop_back();
        level_[level][id] = Cluster{};
    } else {
        id = static_cast<Node>(level_[level].size());
        level_[level].push_back(Cluster{});
        weight_to_[level].push_back(0);
        queued_[level].push_back(0);
        waiting_[level].push_back(0);
    }
    attach(level, id, parent);
    return id;
}

void Refiner::apply(int level, Node item, int target_level, Node target) {
    const Cluster self = level_[level][item];
    const auto shift = [&](Node at, int from, int sign) {
        Weight below = 0;
        for (int l = from; l <= height_; ++l) {
            Cluster& c = level_[l][at];
            const Weight w = weight_to_[l][at];
            c.volume += sign * self.volume;
            c.arcs += sign * self.arcs;
            c.inside += sign * (self.inside + w);
            c.inside_children += sign * (self.inside + below);
            c.log_share = log_share(c.volume);
            below = w;
            at = c.parent;
        }
    };
    shift(self.parent, level + 1, -1);
    shift(target, target_level, +1);
    Node home = target;
    for (int l = target_level - 1; l > level; --l) {
        home = new_cluster(l, home);
        Cluster& c = level_[l][home];
        c.volume = self.volume, c.log_share = self.log_share, c.arcs = self.arcs;
        c.inside = c.inside_children = self.inside;
    }
    Node old = self.parent;
    detach(level, item);
    attach(level, item, home);
    for (int l = level + 1; l < height_ && level_[l][old].children == 0; ++l) {
        const Node up = level_[l][old].parent;
        detach(l, old);
        free_[l].push_back(old);
        old = up;
    }
}

// Makes a move of the gathered item and notes how to undo it.
void Refiner::move(int level, Node item, const Target& target) {
    Move back{level, level + 1, item, level_[level][item].parent};
    while (back.target_level < height_ && level_[back.target_level][back.target].children == 1)
        back.target = level_[back.target_level][back.target].parent, ++back.target_level;
    moves_.push_back(back);
    apply(level, item, target.level, target.cluster);
}

void Refiner::undo(std::size_t mark) {
    while (moves_.size() > mark) {
        const Move m = moves_.back();
        moves_.pop_back();
        gather(m.level, m.item);
        apply(m.level, m.item, m.target_level, m.target);
        forget(m.level);
    }
}

void Refiner::enqueue(int level, Node item) {
    if (level >= height_ || queued_[level][item] || level_[level][item].arcs > (level == 0 ? 4 : 1) * patience_) return;
    queued_[level][item] = 1;
    queue_[level].push_back(item);
}

// After a move: whoever is next to the gathered item and not with it now may want to move too, and so may its cluster.
void Refiner::enqueue_around(int level, Node item) {
    const Node home = level_[level][item].parent;
    if (level == 0) {
        for (Edge e = graph_.indptr[item]; e < graph_.indptr[item + 1]; ++e)
            if (level_[0][graph_.indices[e]].parent != home) enqueue(0, graph_.indices[e]);
    } else {
        for (const Touched& t : touched_[level])
            if (level_[level][t.cluster].children > 0 && level_[level][t.cluster].parent != home) enqueue(level, t.cluster);
    }
    enqueue(level + 1, home);
}

// The best cluster of the same level for the gathered cluster to become one with: it moves below the other's parent, then
// two terms become one and the parent's children hold the weight between them.
Refiner::Target Refiner::best_union(int level, Node cluster) const {
    const Cluster& self = level_[level][cluster];
    Target best{-least_, -1, -1};
    for (const Touched& t : touched_[level]) {
        const Cluster& other = level_[level][t.cluster];
        const Cluster& parent = level_[level + 1][other.parent];
        double change = cost_with(other, self.volume, self.inside + t.weight, self.inside_children) - cost(other) - cost(self);
        if (other.parent == self.parent) change -= static_cast<double>(t.weight) * parent.log_share;
        else change += change_to(level, cluster, level + 1, other.parent) - static_cast<double>(t.weight) * log_share(parent.volume + self.volume);
        if (change < best.change) best = {change, level, t.cluster};
    }
    return best;
}

// Moves all children of one cluster into another.
void Refiner::unite(int level, Node cluster, Node with) {
    for (Node left = level_[level][cluster].children; left > 0; --left) {
        const Node item = level_[level][cluster].first;
        gather(level - 1, item);
        move(level - 1, item, {0, level, with});
        forget(level - 1);
    }
}

// Moves what is queued until nothing is, lower levels first. Returns the change of the sum of costs.
double Refiner::drain(const Control& control) {
    double total = 0;
    for (int level = 0; level < height_;) {
        auto& queue = queue_[level];
        const std::size_t enough = kMostVisits * (queue.size() + 64);  // never reached but for rounding that goes in circles
        for (std::size_t head = 0; head < queue.size(); ++head) {
            if (head % 256 == 255) control.check();
            const Node item = queue[head];
            queued_[level][item] = 0;
            if (head > enough || (level > 0 && level_[level][item].children == 0)) continue;
            gather(level, item);
            const Target target = best_target(level, item);
            const Target partner = level > 0 ? best_union(level, item) : Target{0, -1, -1};
            const Node old = level_[level][item].parent;
            if (partner.cluster >= 0 && partner.change < target.change) {
                total += partner.change;
                for (const Touched& t : touched_[level]) enqueue(level, t.cluster);
                forget(level);
                // Below one parent it does not matter who joins whom: the smaller one moves.
                const Cluster& other = level_[level][partner.cluster];
                if (other.parent == old && other.children < level_[level][item].children) unite(level, partner.cluster, item);
                else unite(level, item, partner.cluster);
            } else {
                if (target.cluster >= 0) {
                    move(level, item, target);
                    total += target.change;
                    enqueue_around(level, item);
                }
                forget(level);
            }
            if (level + 1 < height_ && level_[level + 1][old].children > 0) enqueue(level + 1, old);
        }
        queue.clear();
        while (level < height_ && queue_[level].empty()) ++level;
    }
    return total;
}

void Refiner::settle(Random& random, const Control& control) {
    patience_ = 16 * kPatience;
    for (int level = 0; level < height_; ++level) {
        auto& queue = queue_[level];
        queue.clear();
        for (Node i = 0; i < static_cast<Node>(level_[level].size()); ++i)
            if (level == 0 || level_[level][i].children > 0) queue.push_back(i), queued_[level][i] = 1;
        for (auto i = static_cast<Node>(queue.size()); i > 1; --i) std::swap(queue[i - 1], queue[random.below(i)]);
    }
    drain(control);
    moves_.clear();
}

// Makes every child of the cluster a cluster of its own, below the same parent, and queues it.
double Refiner::dissolve(int level, Node cluster) {
    double change = 0;
    const Node parent = level_[level][cluster].parent;
    while (level_[level][cluster].children > 1) {
        const Node item = level_[level][cluster].first;
        gather(level - 1, item);
        best_target(level - 1, item);  // fills leave_
        change += change_to(level - 1, item, level + 1, parent);
        move(level - 1, item, {0, level + 1, parent});
        forget(level - 1);
        enqueue(level - 1, item);
    }
    enqueue(level - 1, level_[level][cluster].first);
    return change;
}

// Takes a cluster apart down to single nodes.
double Refiner::dissolve_deeply(int level, Node cluster) {
    double change = 0;
    if (level > 1) {
        std::vector<Node> parts;
        for (Node c = level_[level][cluster].first; c >= 0; c = level_[level - 1][c].next) parts.push_back(c);
        for (const Node c : parts) change += dissolve_deeply(level - 1, c);
    }
    return change + dissolve(level, cluster);
}

// Takes one cluster apart, or two at once, and lets everything around settle. Undoes it all if the cost rises by more
// than `allowance`.
bool Refiner::attempt(int level, Node cluster, Node partner, bool deeply, double allowance, const Control& control) {
    control.check();
    moves_.clear();
    double change = 0;
    for (const Node c : {cluster, partner})
        if (c >= 0) change += deeply ? dissolve_deeply(level, c) : dissolve(level, c);
    change += drain(control);
    if (change <= allowance) return true;
    undo(0);
    return false;
}

void Refiner::shake(Random& random, const Control& control) {
    std::vector<std::pair<int, Node>> work;
    patience_ = kPatience;
    for (int level = 1; level < height_; ++level) {
        const std::size_t begin = work.size();
        for (Node c = 0; c < static_cast<Node>(level_[level].size()); ++c)
            if (level_[level][c].children > 1) work.push_back({level, c}), waiting_[level][c] = 1;
        for (auto i = static_cast<Node>(work.size() - begin); i > 1; --i) std::swap(work[begin + i - 1], work[begin + random.below(i)]);
    }
    const std::size_t first_pass = work.size();
    for (std::size_t head = 0; head < work.size(); ++head) {
        const auto [level, c] = work[head];
        waiting_[level][c] = 0;
        if (level_[level][c].children < 2 || level_[level][c].arcs > 8 * kPatience) continue;
        const double allowance = head < first_pass ? kTolerance * static_cast<double>(level_[level][c].volume) : -least_;
        if (!attempt(level, c, -1, false, allowance, control)) continue;
        for (const Move& m : moves_) {  // whatever took part may have room for more
            Node at = m.item;
            for (int l = m.level + 1; l <= level; ++l) {
                at = level_[l - 1][at].parent;
                if (waiting_[l][at]) continue;
                waiting_[l][at] = 1;
                work.push_back({l, at});
            }
        }
    }
    moves_.clear();
}

// The same for every pair of neighbouring clusters, as long as it helps: for small graphs.
void Refiner::shake_pairs(const Control& control) {
    patience_ = 16 * kPatience;
    std::vector<Node> partners;
    for (bool helped = true; helped;) {
        helped = false;
        for (int level = 1; level < height_; ++level) {
            for (Node c = 0; c < static_cast<Node>(level_[level].size()); ++c) {
                if (level_[level][c].children == 0) continue;
                gather(level, c);
                partners.clear();
                for (const Touched& t : touched_[level])
                    if (t.cluster > c) partners.push_back(t.cluster);
                forget(level);
                for (const Node partner : partners) {
                    for (const bool deeply : {false, true}) {
                        if (level_[level][c].children == 0 || level_[level][partner].children == 0) break;
                        if (!deeply || level > 1) helped = attempt(level, c, partner, deeply, -least_, control) || helped;
                    }
                }
            }
        }
    }
    moves_.clear();
}

void Refiner::to_tree(Linkage linkage, Merger& merger, Tree& tree, const Control& control) {
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
            problem_.volume[i] = here[i].volume;
            home[i] = here[i].parent;
            if (l > 0 && here[i].children == 0) continue;
            gather(l, i);
            if (l == 0) {
                for (Edge e = graph_.indptr[i]; e < graph_.indptr[i + 1]; ++e)
                    if (graph_.indices[e] > i && here[graph_.indices[e]].parent == home[i])
                        problem_.pairs.push_back({i, graph_.indices[e], graph_.weight(e)});
            } else {
                for (const Touched& t : touched_[l])
                    if (t.cluster > i && here[t.cluster].parent == home[i]) problem_.pairs.push_back({i, t.cluster, t.weight});
            }
            forget(l);
        }
        for (const Pair& p : merger.run(problem_, linkage, control)) {
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
}

}  // namespace sepool
