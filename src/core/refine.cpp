// Moves and unions with the exact change of entropy, and how they settle.

#include "refine.hpp"

#include <algorithm>

namespace sepool {
namespace {

constexpr std::size_t kMostVisits = 100;  // of each queued node or cluster, on average, until it must settle

}  // namespace

void Refiner::attach(int level, Node item, Node parent) {
    Cluster& self = level_[level][item];
    Cluster& p = level_[level + 1][parent];
    self.parent = parent;
    if (level == 0) home_[item] = parent;
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
    if (seen_.size() <= level_[lowest].size()) seen_.resize(2 * level_[lowest].size() + 1);
    std::size_t count = 0;
    each_leaf(level, item, [&](Node u) {
        for (Edge e = graph_.indptr[u]; e < graph_.indptr[u + 1]; ++e) {
            Node other = home_[graph_.indices[e]];
            for (int l = 1; l < lowest; ++l) other = level_[l][other].parent;
            if (level > 0 && other == item) continue;
            seen_[count] = other;  // counts only if it is the first: no branch that cannot be foreseen
            count += weight[other] == 0;
            weight[other] += graph_.weight(e);
        }
    });
    auto& touched = touched_[lowest];
    for (std::size_t i = 0; i < count; ++i) touched.push_back({seen_[i], 0});
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
            if (home_[graph_.indices[e]] != home) enqueue(0, graph_.indices[e]);
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
        else
            change +=
                change_to(level, cluster, level + 1, other.parent) - static_cast<double>(t.weight) * log_share(parent.volume + self.volume);
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
        random.shuffle(queue.begin(), queue.end());
    }
    drain(control);
    moves_.clear();
}

}  // namespace sepool
