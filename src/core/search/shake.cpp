// Shaking: a cluster is taken apart, its surroundings settle, and all is undone unless that lowered H.

#include <algorithm>

#include "assert.hpp"
#include "search/refine.hpp"

namespace sepool {
namespace {

constexpr double kTolerance = 0.02;  // rise that the first pass of shaking accepts, for each unit of volume taken apart

}  // namespace

// Makes every child of the cluster a cluster of its own, below the same parent, and queues it. The weight between
// them is now inside the parent alone, and clusters of one child cost nothing: no edge is visited.
double Refiner::dissolve(int level, Node cluster) {
    const Node parent = level_[level][cluster].parent;
    const Weight between = level_[level][cluster].inside - level_[level][cluster].inside_children;
    const double change = static_cast<double>(between) * (level_[level + 1][parent].log_share - level_[level][cluster].log_share);
    level_[level + 1][parent].inside_children -= between;
    for (bool first = true; level_[level][cluster].children > 1; first = false) {
        const Node item = level_[level][cluster].first;
        *note({level - 1, level, item, cluster, true}) = first ? between : -1;
        const Node alone = new_cluster(level, parent);
        detach(level - 1, item);
        attach(level - 1, item, alone);
        hold_one(level_[level][alone], level_[level - 1][item]);
        enqueue(level - 1, item);
    }
    const Node last = level_[level][cluster].first;
    hold_one(level_[level][cluster], level_[level - 1][last]);
    enqueue(level - 1, last);
    return change;
}

// Undoes one step of `dissolve`; the first step, which is undone last, stores the weight between the children.
void Refiner::rejoin(const Move& m, Weight between) {
    const int level = m.target_level;
    const Cluster& item = level_[m.level][m.item];
    const Node alone = item.parent, parent = level_[level][alone].parent;
    detach(m.level, m.item);
    detach(level, alone);
    free_[level].push_back(alone);
    attach(m.level, m.item, m.target);
    Cluster& cluster = level_[level][m.target];
    cluster.volume += item.volume, cluster.arcs += item.arcs, cluster.inside_children += item.inside;
    if (between < 0) return;
    cluster.inside = cluster.inside_children + between;
    cluster.log_share = log_share(cluster.volume);
    level_[level + 1][parent].inside_children += between;
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

// Deals out the children of a cluster to the clusters of its level around it, wherever that costs least.
double Refiner::scatter(int level, Node cluster) {
    double change = 0;
    for (Node left = level_[level][cluster].children, idle = 0; left > idle;) {
        Node item = level_[level][cluster].first;
        for (Node i = 0; i < idle; ++i) item = level_[level - 1][item].next;  // these have no edge that leads out, so far
        gather(level - 1, item);
        rate_leaving(level - 1, item);
        Target best{0, -1, -1};
        for (const Touched& t : touched_[level]) {
            if (t.cluster == cluster) continue;
            const double to = change_to(level - 1, item, level, t.cluster);
            if (best.cluster < 0 || to < best.change) best = {to, level, t.cluster};
        }
        if (best.cluster < 0) {
            ++idle;
        } else {
            change += best.change;
            move(level - 1, item, best);
            enqueue(level - 1, item);
            --left, idle = 0;
        }
        forget(level - 1);
    }
    return change;
}

// Takes one cluster apart, or two at once, and lets their surroundings settle. Undoes all if the cost rises by more than
// `allowance`. Returns true if the hierarchy differs then.
bool Refiner::attempt(int level, Node cluster, Node partner, Breakup breakup, double allowance, const Control& control) {
    control.check();
    moves_.clear();
    undoable_ = true;
    const Node size = level_[level][cluster].children;
    double change = 0;
    for (const Node c : {cluster, partner})
        if (c >= 0)
            change += breakup == Breakup::flat   ? dissolve(level, c)
                      : breakup == Breakup::deep ? dissolve_deeply(level, c)
                                                 : scatter(level, c);
    const Node left = level_[level][cluster].first;
    change += drain(control);
    if (height_ == 2 && partner < 0 && breakup == Breakup::flat && is_together(left, size)) return false;
    if (change > allowance) {
        undo();
        return false;
    }
    changed_ += change;
    return true;
}

// True if all nodes that moved are in one cluster with this one, which has that many in all: a cluster that was taken apart
// is then the same again, and no other node has moved.
bool Refiner::is_together(Node left, Node size) const {
    const Node home = home_[left];
    return level_[1][home].children == size &&
           std::all_of(moves_.begin(), moves_.end(), [&](const Move& m) { return home_[m.item] == home; });
}

double Refiner::shake(Random& random, const Control& control) {
    changed_ = 0;
    std::vector<std::pair<int, Node>> work;
    patience_ = kPatience, node_patience_ = 4 * kPatience;
    for (int level = 1; level < height_; ++level) {
        const std::size_t begin = work.size();
        for (Node c = 0; c < static_cast<Node>(level_[level].size()); ++c)
            if (level_[level][c].children > 1) work.push_back({level, c}), waiting_[level][c] = 1;
        random.shuffle(work.begin() + static_cast<std::ptrdiff_t>(begin), work.end());
    }
    const std::size_t first_pass = work.size();
    for (std::size_t head = 0; head < work.size(); ++head) {
        const auto [level, c] = work[head];
        waiting_[level][c] = 0;
        if (level_[level][c].children < 2 || level_[level][c].arcs > 8 * kPatience) continue;
        const double allowance = head < first_pass ? kTolerance * static_cast<double>(level_[level][c].volume) : -least_;
        if (!attempt(level, c, -1, Breakup::flat, allowance, control)) continue;
        for (const Move& m : moves_) {  // all that took part may improve further
            Node at = m.item;
            for (int l = m.level + 1; l <= level; ++l) {
                at = level_[l - 1][at].parent;
                if (waiting_[l][at]) continue;
                waiting_[l][at] = 1;
                work.push_back({l, at});
            }
        }
    }
    SEPOOL_ASSERT(is_consistent());
    for (const auto& [level, c] : work) waiting_[level][c] = 0;
    moves_.clear();
    return 2 * inverse_total_ * changed_;
}

// The same for every pair of neighbouring clusters, as long as it helps: for small graphs.
double Refiner::shake_pairs(const Control& control) {
    patience_ = 16 * kPatience, node_patience_ = 4 * patience_;
    changed_ = 0;
    std::vector<Node> partners;
    for (bool helped = true; helped;) {
        helped = false;
        for (int level = 1; level < height_; ++level) {
            for (Node c = 0; c < static_cast<Node>(level_[level].size()); ++c) {
                if (level_[level][c].children == 0) continue;
                helped = attempt(level, c, -1, Breakup::scatter, -least_, control) || helped;
                if (level_[level][c].children == 0) continue;
                gather(level, c);
                partners.clear();
                for (const Touched& t : touched_[level])
                    if (t.cluster > c) partners.push_back(t.cluster);
                forget(level);
                for (const Node partner : partners) {
                    for (const Breakup breakup : {Breakup::flat, Breakup::deep}) {
                        if (level_[level][c].children == 0 || level_[level][partner].children == 0) break;
                        if (breakup == Breakup::flat || level > 1) helped = attempt(level, c, partner, breakup, -least_, control) || helped;
                    }
                }
            }
        }
    }
    moves_.clear();
    return 2 * inverse_total_ * changed_;
}

}  // namespace sepool
