// Moves with the exact change of entropy, and their undoing.

#include "search/refine.hpp"

#include <algorithm>

namespace sepool {

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
    if (reached_.size() <= level_[lowest].size()) reached_.resize(2 * level_[lowest].size() + 1);
    std::size_t count = 0;
    const auto visit_edges = [&](auto weight_of) {
        // Variables of its own: the compiler cannot know that nothing which is written here changes them.
        Weight* const sum = weight_to_[lowest].data();
        Node* const reached = reached_.data();
        const Node *const home = home_.data(), *const indices = graph_.indices;
        each_leaf(level, item, [&](Node u) {
            for (Edge e = graph_.indptr[u], end = graph_.indptr[u + 1]; e < end; ++e) {
                Node other = home[indices[e]];
                for (int l = 1; l < lowest; ++l) other = level_[l][other].parent;
                if (level > 0 && other == item) continue;
                const Weight before = sum[other];
                reached[count] = other;  // counts only if it is the first: no branch for the processor to guess
                count += before == 0;
                sum[other] = before + weight_of(e);
            }
        });
    };
    if (graph_.weights) visit_edges([weights = graph_.weights](Edge e) { return weights[e]; });
    else visit_edges([](Edge) { return Weight{1}; });
    auto& touched = touched_[lowest];
    for (std::size_t i = 0; i < count; ++i) touched.push_back({reached_[i], 0});
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

// leave_[l]: change of the cost of the own clusters up to level l when the gathered item leaves them.
void Refiner::rate_leaving(int level, Node item) {
    const Cluster& self = level_[level][item];
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
}

// Of all clusters of all levels above that the gathered item has an edge to, and the root, the one that lowers H most.
Refiner::Target Refiner::best_target(int level, Node item) {
    const Cluster& self = level_[level][item];
    rate_leaving(level, item);
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

// Puts an item below `target`. `out` and `in` hold, by level, its weight to the clusters that it leaves and that it joins.
void Refiner::apply(int level, Node item, int target_level, Node target, const Weight* out, const Weight* in) {
    const Cluster self = level_[level][item];
    const auto shift = [&](Node at, int from, int sign, const Weight* weight) {
        Weight below = 0;
        for (int l = from; l <= height_; ++l) {
            Cluster& c = level_[l][at];
            const Weight w = weight[l];
            c.volume += sign * self.volume;
            c.arcs += sign * self.arcs;
            c.inside += sign * (self.inside + w);
            c.inside_children += sign * (self.inside + below);
            c.log_share = log_share(c.volume);
            below = w;
            at = c.parent;
        }
    };
    shift(self.parent, level + 1, -1, out);
    shift(target, target_level, +1, in);
    Node home = target;
    for (int l = target_level - 1; l > level; --l) {
        home = new_cluster(l, home);
        hold_one(level_[l][home], self);
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

// Notes a move and returns the place of its weights: those of `out`, then those of `in`.
Weight* Refiner::note(const Move& move) {
    if (!undoable_) moves_.clear();
    moves_.push_back(move);
    weights_.resize(moves_.size() * 2 * (height_ + 1));
    return &weights_[weights_.size() - 2 * (height_ + 1)];
}

// Makes a move of the gathered item and notes its reverse.
void Refiner::move(int level, Node item, const Target& target) {
    Node from = level_[level][item].parent, to = target.cluster;
    Move back{level, level + 1, item, from};
    while (back.target_level < height_ && level_[back.target_level][back.target].children == 1)
        back.target = level_[back.target_level][back.target].parent, ++back.target_level;
    Weight* const out = note(back);
    Weight* const in = out + height_ + 1;
    for (int l = level + 1; l <= height_; ++l) out[l] = weight_to_[l][from], in[l] = 0, from = level_[l][from].parent;
    for (int l = target.level; l <= height_; ++l) in[l] = weight_to_[l][to], to = level_[l][to].parent;
    apply(level, item, target.level, target.cluster, out, in);
}

void Refiner::undo() {
    while (!moves_.empty()) {
        const Move m = moves_.back();
        const Weight* const out = &weights_[(moves_.size() - 1) * 2 * (height_ + 1)];
        moves_.pop_back();
        if (m.dissolved) rejoin(m, *out);
        else apply(m.level, m.item, m.target_level, m.target, out + height_ + 1, out);  // what it joined it leaves
    }
}

}  // namespace sepool
