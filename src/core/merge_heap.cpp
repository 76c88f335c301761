// MERGE on large graphs: a lazy heap of pairs over cluster rows.
//
// A pair's key only falls while its weight c stays, so an outdated heap entry is an upper bound: it is rated again when
// it comes to the top. Only pairs whose c grew, those of common neighbours of a merged pair, need a new entry.
//
// That alone is quadratic on a star: every merge outdates all pairs of the hub. So an outdated pair of a hub leaves the
// heap for the hub's own store, where pairs are grouped by (c, volume of the other side) and ordered by their key at a
// reference volume x0 of the hub. When the hub grows, all its keys shrink by nearly the same factor; with a bound on
// that factor the best pair is found by looking at the first few groups. The heap keeps one entry for the whole hub.

#include <algorithm>
#include <memory>
#include <unordered_map>

#include "merge.hpp"
#include "rows.hpp"

namespace sepool {
namespace {

constexpr Node kHubRow = 32;         // rows this long may become hubs
constexpr Weight kHubRatio = 16;     // and only pairs with a much smaller side are stored there
constexpr double kHubGrowth = 1.125; // a hub is rated anew when its volume has grown so much

struct Entry {
    double key;
    Weight c;  // of a hub's entry: its stamp
    Node a, b; // b = -1: the hub number a
};

struct Lower {
    bool operator()(const Entry& x, const Entry& y) const {
        if (x.key != y.key) return x.key < y.key;
        if (x.a != y.a) return x.a > y.a;
        return x.b > y.b;
    }
};

struct GroupKey {
    Weight c, volume;
    bool operator==(const GroupKey& o) const { return c == o.c && volume == o.volume; }
};

struct GroupHash {
    std::size_t operator()(const GroupKey& k) const {
        return static_cast<std::size_t>((static_cast<std::uint64_t>(k.c) * 0x9e3779b97f4a7c15ULL) ^
                                        (static_cast<std::uint64_t>(k.volume) * 0xc2b2ae3d27d4eb4fULL));
    }
};

struct Group {
    double key;  // at the hub's reference volume
    GroupKey id;
    std::vector<Node> members;
};

struct Hub {
    Node owner;
    Weight reference;              // x0
    Weight smallest, largest;      // volumes among the groups
    Weight stamp = 0;              // of its entry in the heap
    double posted = -1;            // key of that entry; -1: none
    std::vector<Group> groups;
    std::vector<Node> heap;        // groups by key
    std::unordered_map<GroupKey, Node, GroupHash> index;
};

class HeapMerger {
public:
    HeapMerger(MergeProblem& problem, Linkage linkage, std::vector<Pair>& merges, const Control& control)
        : linkage_(linkage), log_total_(Log2()(problem.total)), volume_(problem.volume), merges_(merges), control_(control),
          n_(static_cast<Node>(problem.volume.size())), rows_(n_, problem.pairs), name_(n_), into_(n_), hub_of_(n_, -1) {
        for (Node u = 0; u < n_; ++u) name_[u] = into_[u] = u;
        heap_.reserve(problem.pairs.size());
        for (const Pair& p : problem.pairs) heap_.push_back({rate(p.c, p.a, p.b), p.c, p.a, p.b});
        std::vector<Pair>().swap(problem.pairs);
        std::make_heap(heap_.begin(), heap_.end(), Lower());
    }

    void run() {
        for (std::int64_t step = 0; !heap_.empty(); ++step) {
            if (step % 4096 == 0) control_.check();
            const Entry top = pop();
            if (top.b < 0) serve_hub(top);
            else serve_pair(top);
        }
    }

private:
    double rate(Weight c, Node a, Node b) const { return linkage_key(linkage_, c, volume_[a], volume_[b], log_total_); }

    Node find(Node u) {
        while (into_[u] != u) u = into_[u] = into_[into_[u]];
        return u;
    }

    Entry pop() {
        std::pop_heap(heap_.begin(), heap_.end(), Lower());
        const Entry top = heap_.back();
        heap_.pop_back();
        return top;
    }

    void push(const Entry& e) {
        heap_.push_back(e);
        std::push_heap(heap_.begin(), heap_.end(), Lower());
    }

    bool still_first(double key) const { return heap_.empty() || key >= heap_.front().key; }

    void serve_pair(const Entry& e) {
        Node a = find(e.a), b = find(e.b);
        if (a == b) return;
        const double key = rate(e.c, a, b);
        if (still_first(key)) {
            merge(a, b, e.c);
            return;
        }
        if (volume_[a] < volume_[b]) std::swap(a, b);
        if (rows_.size(a) >= kHubRow && volume_[a] / kHubRatio >= volume_[b]) store(a, b, e.c, key);
        else push({key, e.c, a, b});
    }

    // Puts the pair (owner, other) into the owner's store.
    void store(Node owner, Node other, Weight c, double key) {
        if (hub_of_[owner] < 0) {
            hub_of_[owner] = static_cast<Node>(hubs_.size());
            hubs_.push_back(std::make_unique<Hub>());
            hubs_.back()->owner = owner;
            hubs_.back()->reference = volume_[owner];
            hubs_.back()->smallest = hubs_.back()->largest = volume_[other];
        }
        Hub& hub = *hubs_[hub_of_[owner]];
        const GroupKey id{c, volume_[other]};
        group(hub, id).members.push_back(other);
        if (key > hub.posted) post(hub_of_[owner], key);
    }

    Group& group(Hub& hub, const GroupKey& id) {
        const auto [found, fresh] = hub.index.try_emplace(id, static_cast<Node>(hub.groups.size()));
        if (fresh) {
            hub.smallest = std::min(hub.smallest, id.volume);
            hub.largest = std::max(hub.largest, id.volume);
            hub.groups.push_back({linkage_key(linkage_, id.c, hub.reference, id.volume, log_total_), id, {}});
            hub.heap.push_back(found->second);
            std::push_heap(hub.heap.begin(), hub.heap.end(), by_key(hub));
        }
        return hub.groups[found->second];
    }

    struct ByKey {
        const Hub* hub;
        bool operator()(Node x, Node y) const {
            const Group &gx = hub->groups[x], &gy = hub->groups[y];
            if (gx.key != gy.key) return gx.key < gy.key;
            return x > y;
        }
    };
    static ByKey by_key(const Hub& hub) { return {&hub}; }

    void post(Node number, double key) {
        Hub& hub = *hubs_[number];
        hub.posted = key;
        push({key, ++hub.stamp, number, -1});
    }

    // Drops what no longer holds of a group; pairs whose other side has grown go back to the heap.
    void clean(Hub& hub, Group& g) {
        while (!g.members.empty()) {
            const Node member = g.members.back(), other = find(member);
            if (other == member && volume_[other] == g.id.volume) return;
            g.members.pop_back();
            if (other != hub.owner) push({rate(g.id.c, hub.owner, other), g.id.c, hub.owner, other});
        }
    }

    // Rates all groups at the hub's present volume and drops the empty ones.
    void rebuild(Hub& hub) {
        std::vector<Group> groups;
        groups.swap(hub.groups);
        hub.index.clear();
        hub.heap.clear();
        hub.reference = volume_[hub.owner];
        hub.smallest = hub.largest = 0;
        for (Group& g : groups) {
            clean(hub, g);
            if (g.members.empty()) continue;
            if (hub.groups.empty()) hub.smallest = hub.largest = g.id.volume;
            hub.smallest = std::min(hub.smallest, g.id.volume);
            hub.largest = std::max(hub.largest, g.id.volume);
            g.key = linkage_key(linkage_, g.id.c, hub.reference, g.id.volume, log_total_);
            hub.index.emplace(g.id, static_cast<Node>(hub.groups.size()));
            hub.heap.push_back(static_cast<Node>(hub.groups.size()));
            hub.groups.push_back(std::move(g));
        }
        std::make_heap(hub.heap.begin(), hub.heap.end(), by_key(hub));
    }

    // All keys of the hub have shrunk since the reference at least to this share:
    // (log V - log(x + v)) / (log V - log(x0 + v)) = 1 - log(1 + (x - x0) / (x0 + v)) / (log V - log(x0 + v)).
    double shrink(const Hub& hub) const {
        const double grown = static_cast<double>(volume_[hub.owner] - hub.reference);
        if (grown <= 0) return 1;
        const double fall = std::log2(1 + grown / static_cast<double>(hub.reference + hub.largest));
        const double room = log_total_ - Log2()(hub.reference + hub.smallest);
        return room > 0 ? std::max(0.0, 1 - fall / room) * (1 + 1e-12) : 1;
    }

    void serve_hub(const Entry& e) {
        Hub& hub = *hubs_[e.a];
        if (e.c != hub.stamp) return;
        hub.posted = -1;
        if (static_cast<double>(volume_[hub.owner]) > kHubGrowth * static_cast<double>(hub.reference)) rebuild(hub);
        const double share = shrink(hub);
        looked_.clear();
        double best = -1;
        Node winner = -1;
        while (!hub.heap.empty() && hub.groups[hub.heap.front()].key * share > best) {
            const Node number = hub.heap.front();
            std::pop_heap(hub.heap.begin(), hub.heap.end(), by_key(hub));
            hub.heap.pop_back();
            Group& g = hub.groups[number];
            clean(hub, g);
            if (g.members.empty()) {
                hub.index.erase(g.id);
                continue;
            }
            looked_.push_back(number);
            const double key = rate(g.id.c, hub.owner, g.members.back());
            if (key > best) best = key, winner = number;
        }
        for (const Node number : looked_) {
            hub.heap.push_back(number);
            std::push_heap(hub.heap.begin(), hub.heap.end(), by_key(hub));
        }
        if (winner < 0) return;
        if (!still_first(best)) {
            post(e.a, best);
            return;
        }
        Group& g = hub.groups[winner];
        const Node other = g.members.back();
        g.members.pop_back();
        post(e.a, best);  // no other pair of the hub is better
        merge(hub.owner, other, g.id.c);
    }

    void merge(Node a, Node b, Weight c) {
        if (rows_.size(a) < rows_.size(b)) std::swap(a, b);
        merges_.push_back({name_[a], name_[b], c});
        name_[a] = n_ + static_cast<Node>(merges_.size()) - 1;
        volume_[a] += volume_[b];
        into_[b] = a;
        rows_.join(a, b, [&](Node other, Weight sum) { push({rate(sum, a, other), sum, a, other}); });
        if (hub_of_[b] >= 0) hand_over(a, b);
    }

    // The store of b becomes part of a's.
    void hand_over(Node a, Node b) {
        Node big = hub_of_[a], small = hub_of_[b];
        hub_of_[b] = -1;
        if (big < 0 || hubs_[big]->groups.size() < hubs_[small]->groups.size()) std::swap(big, small);
        hub_of_[a] = big;
        Hub& to = *hubs_[big];
        to.owner = a;
        if (small < 0) return;
        Hub& from = *hubs_[small];
        for (Group& g : from.groups) {
            if (g.members.empty()) continue;
            std::vector<Node>& members = group(to, g.id).members;
            if (members.size() < g.members.size()) members.swap(g.members);
            members.insert(members.end(), g.members.begin(), g.members.end());
        }
        const double posted = std::max(from.posted, to.posted);
        hubs_[small] = std::make_unique<Hub>();  // its entry in the heap finds another stamp
        hubs_[small]->stamp = -1;
        if (posted > to.posted) post(big, posted);
    }

    const Linkage linkage_;
    const double log_total_;
    std::vector<Weight>& volume_;
    std::vector<Pair>& merges_;
    const Control& control_;
    const Node n_;
    Rows rows_;
    std::vector<Node> name_, into_, hub_of_;
    std::vector<Entry> heap_;
    std::vector<std::unique_ptr<Hub>> hubs_;
    std::vector<Node> looked_;
};

}  // namespace

void merge_by_heap(MergeProblem& problem, Linkage linkage, std::vector<Pair>& merges, const Control& control) {
    HeapMerger(problem, linkage, merges, control).run();
}

}  // namespace sepool
