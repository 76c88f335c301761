// Shaking: clusters are taken apart, what is around settles, and unless that was good it is all undone.

#include <algorithm>

#include "refine.hpp"

namespace sepool {
namespace {

constexpr double kTolerance = 0.02;  // rise that the first pass of shaking accepts, for each unit of volume taken apart

}  // namespace

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

// Deals out the children of a cluster to the clusters of its level around it, wherever that costs least.
double Refiner::scatter(int level, Node cluster) {
    double change = 0;
    for (Node left = level_[level][cluster].children, idle = 0; left > idle;) {
        Node item = level_[level][cluster].first;
        for (Node i = 0; i < idle; ++i) item = level_[level - 1][item].next;  // these have no edge that leads out, so far
        gather(level - 1, item);
        best_target(level - 1, item);  // fills leave_
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

// Takes one cluster apart, or two at once, and lets everything around settle. Undoes it all if the cost rises by more
// than `allowance`.
bool Refiner::attempt(int level, Node cluster, Node partner, How how, double allowance, const Control& control) {
    control.check();
    moves_.clear();
    double change = 0;
    for (const Node c : {cluster, partner})
        if (c >= 0) change += how == How::flat ? dissolve(level, c) : how == How::deep ? dissolve_deeply(level, c) : scatter(level, c);
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
        random.shuffle(work.begin() + static_cast<std::ptrdiff_t>(begin), work.end());
    }
    const std::size_t first_pass = work.size();
    for (std::size_t head = 0; head < work.size(); ++head) {
        const auto [level, c] = work[head];
        waiting_[level][c] = 0;
        if (level_[level][c].children < 2 || level_[level][c].arcs > 8 * kPatience) continue;
        const double allowance = head < first_pass ? kTolerance * static_cast<double>(level_[level][c].volume) : -least_;
        if (!attempt(level, c, -1, How::flat, allowance, control)) continue;
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
                helped = attempt(level, c, -1, How::scatter, -least_, control) || helped;
                if (level_[level][c].children == 0) continue;
                gather(level, c);
                partners.clear();
                for (const Touched& t : touched_[level])
                    if (t.cluster > c) partners.push_back(t.cluster);
                forget(level);
                for (const Node partner : partners) {
                    for (const How how : {How::flat, How::deep}) {
                        if (level_[level][c].children == 0 || level_[level][partner].children == 0) break;
                        if (how == How::flat || level > 1) helped = attempt(level, c, partner, how, -least_, control) || helped;
                    }
                }
            }
        }
    }
    moves_.clear();
}

}  // namespace sepool
