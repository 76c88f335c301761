// Settling: nodes and clusters that may gain by a move or a union are queued, and every move queues the neighbours.

#include "assert.hpp"
#include "search/refine.hpp"

namespace sepool {
namespace {

constexpr std::size_t kMostVisits = 100;  // of each queued node or cluster, on average, until it must settle

}  // namespace

void Refiner::enqueue(int level, Node item) {
    if (level >= height_ || queued_[level][item] || level_[level][item].arcs > (level == 0 ? node_patience_ : patience_)) return;
    queued_[level][item] = 1;
    queue_[level].push_back(item);
}

// After a move: neighbours of the gathered item outside its cluster may gain by a move too, and so may its cluster.
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

// Moves queued items until the queues are empty, lower levels first. Returns the change of the sum of costs.
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
                // Below one parent both directions are equal: the smaller one moves.
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

double Refiner::settle(Random& random, const Control& control) {
    patience_ = 16 * kPatience, node_patience_ = 4 * patience_;
    undoable_ = false;
    for (int level = 0; level < height_; ++level) {
        auto& queue = queue_[level];
        queue.clear();
        for (Node i = 0; i < static_cast<Node>(level_[level].size()); ++i)
            if (level == 0 || level_[level][i].children > 0) queue.push_back(i), queued_[level][i] = 1;
        random.shuffle(queue.begin(), queue.end());
    }
    const double change = drain(control);
    SEPOOL_ASSERT(is_consistent());
    moves_.clear();
    return 2 * inverse_total_ * change;
}

}  // namespace sepool
