// MERGE on any graph: a lazy heap of pairs over cluster rows.
//
// A pair's key only falls while its weight c and its position stay, so an outdated heap entry is an upper bound: it is rated
// again when it comes to the top. Only pairs whose c grew, those of common neighbours of a merged pair, need a new entry; the
// old one, which is lighter, is dropped when it comes up.
//
// That alone is quadratic on a star: every merge outdates all pairs of the hub. So an outdated pair of a hub leaves the
// heap for the hub's own store (hub.hpp), which finds the best of its pairs at any volume of the hub; the heap has one entry
// for the whole hub.

#include <algorithm>
#include <memory>

#include "assert.hpp"
#include "stages/hub.hpp"
#include "stages/merge.hpp"
#include "stages/pair_heap.hpp"
#include "stages/rows.hpp"

namespace sepool {
namespace {

constexpr Node kHubRow = 64;          // shorter rows make no hub
constexpr std::int64_t kHubPatience = 16;  // outdated pairs of a hub for each of its neighbours

struct Hub {
    Node owner;
    Weight stamp = 0;  // of its entry in the heap
    Rank posted;       // of that entry; the last of all ranks without one
    HubStore pairs;
};

class HeapMerger {
public:
    HeapMerger(MergeProblem& problem, Linkage linkage, std::vector<Pair>& merges, const Control& control)
        : linkage_(linkage), log_total_(Log2()(problem.total)), volume_(problem.volume), merges_(merges), control_(control),
          n_(static_cast<Node>(problem.volume.size())), rows_(n_, problem.pairs, control), name_(n_), into_(n_), hub_of_(n_, -1),
          outdated_(n_, 0) {
        for (Node u = 0; u < n_; ++u) name_[u] = into_[u] = u;
        heap_.reserve(problem.pairs.size());
        for (std::size_t i = 0; i < problem.pairs.size(); ++i) {
            if ((i & 0xffff) == 0) control.check();
            const Pair& p = problem.pairs[i];
            heap_.append(entry(p.a, p.b, static_cast<Position>(std::min<std::size_t>(i, kLastPosition)), p.c));
        }
        std::vector<Pair>().swap(problem.pairs);
        heap_.order(control);
    }

    void run() {
        for (std::int64_t step = 0; !heap_.empty(); ++step) {
            if (step % 4096 == 0) control_.check();
            const PairHeap::Entry top = heap_.pop();
            if (top.b == PairHeap::kHub) serve_hub(top);
            else serve_pair(top);
        }
    }

private:
    PairHeap::Entry entry(Node a, Node b, Position position, Weight c) const {
        return {{linkage_key(linkage_, c, volume_[a], volume_[b], log_total_), position}, a, b, c};
    }

    Node find(Node u) {
        while (into_[u] != u) u = into_[u] = into_[into_[u]];
        return u;
    }

    bool still_first(const Rank& rank) const { return heap_.empty() || !heap_.top().rank.before(rank); }

    void serve_pair(const PairHeap::Entry& e) {
        Node a = find(e.a), b = find(e.b);
        if (a == b) return;
        const PairHeap::Entry now = entry(a, b, e.rank.position, e.c);
        if (still_first(now.rank)) {
            merge(a, b);
            return;
        }
        if (e.c != rows_.link(b, a).c) return;  // a heavier entry exists
        if (volume_[a] < volume_[b]) std::swap(a, b);
        if (++outdated_[a] > kHubPatience * static_cast<std::int64_t>(rows_.size(a)) && rows_.size(a) >= kHubRow) store(a, b, now);
        else heap_.push(now);
    }

    // Puts the pair (owner, other) into the owner's store.
    void store(Node owner, Node other, const PairHeap::Entry& pair) {
        if (hub_of_[owner] < 0) {
            hub_of_[owner] = static_cast<Node>(hubs_.size());
            hubs_.push_back(std::make_unique<Hub>());
            hubs_.back()->owner = owner;
        }
        const Weight v = volume_[other];
        hubs_[hub_of_[owner]]->pairs.insert({key_factor(linkage_, pair.c, v), v, pair.c, other, pair.rank.position});
        if (pair.rank.before(hubs_[hub_of_[owner]]->posted)) post(hub_of_[owner], pair.rank);
    }

    void post(Node number, const Rank& rank) {
        Hub& hub = *hubs_[number];
        hub.posted = rank;
        heap_.push({rank, number, PairHeap::kHub, ++hub.stamp});
    }

    void serve_hub(const PairHeap::Entry& e) {
        Hub& hub = *hubs_[e.a];
        if (e.c != hub.stamp) return;
        hub.posted = {};
        for (;;) {
            const HubStore::Place place = hub.pairs.best(volume_[hub.owner], log_total_);
            if (place.run == HubStore::kNone) return;
            const HubStore::Point p = hub.pairs.at(place);
            const Node other = find(p.other);
            if (other != p.other || volume_[other] != p.v) {  // the other side has grown: an ordinary pair again
                hub.pairs.remove(place);
                if (other != hub.owner) heap_.push(entry(hub.owner, other, p.position, p.c));
                continue;
            }
            post(e.a, place.rank);  // no other pair of the hub is better
            if (!still_first(place.rank)) return;
            hub.pairs.remove(place);
            merge(hub.owner, other);
            return;
        }
    }

    void merge(Node a, Node b) {
        if (rows_.size(a) < rows_.size(b)) std::swap(a, b);
        // Not the weight of the entry that led here: an older, lighter one may tie with the pair's own, at key 0.
        merges_.push_back({name_[a], name_[b], rows_.link(b, a).c});
        SEPOOL_ASSERT(rows_.link(b, a).c == rows_.link(a, b).c && rows_.link(b, a).position == rows_.link(a, b).position);
        name_[a] = n_ + static_cast<Node>(merges_.size()) - 1;
        volume_[a] += volume_[b];
        into_[b] = a;
        rows_.join(a, b, [&](const Rows::Link& link) { heap_.push(entry(a, link.key, link.position, link.c)); });
        if (hub_of_[b] >= 0) hand_over(a, b);
    }

    // The store of b becomes part of a's.
    void hand_over(Node a, Node b) {
        Node big = hub_of_[a], small = hub_of_[b];
        hub_of_[b] = -1;
        if (big < 0 || hubs_[big]->pairs.size() < hubs_[small]->pairs.size()) std::swap(big, small);
        hub_of_[a] = big;
        Hub& to = *hubs_[big];
        to.owner = a;
        if (small < 0) return;
        Hub& from = *hubs_[small];
        to.pairs.insert_all(from.pairs);
        const Rank posted = from.posted;
        hubs_[small] = std::make_unique<Hub>();  // its entry in the heap finds another stamp
        hubs_[small]->stamp = -1;
        if (posted.before(to.posted)) post(big, posted);
    }

    const Linkage linkage_;
    const double log_total_;
    std::vector<Weight>& volume_;
    std::vector<Pair>& merges_;
    const Control& control_;
    const Node n_;
    Rows rows_;
    std::vector<Node> name_, into_, hub_of_;
    std::vector<std::int64_t> outdated_;  // pairs of a cluster that came up outdated
    PairHeap heap_;
    std::vector<std::unique_ptr<Hub>> hubs_;
};

}  // namespace

void merge_by_heap(MergeProblem& problem, Linkage linkage, std::vector<Pair>& merges, const Control& control) {
    HeapMerger(problem, linkage, merges, control).run();
}

}  // namespace sepool
