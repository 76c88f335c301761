#include "search/region.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

namespace sepool {
namespace {

constexpr double kLeast = 1e-13;                    // a fall of H smaller than this is rounding
constexpr std::size_t kVisits = 100, kFewVisits = 200;  // of each item, on average, until it must settle

constexpr Edge kPatience = 256, kMeans = 16;  // edge ends while shaking: at least so many, and so many times the mean of the items

}  // namespace

void RegionSearch::load(const Items& items, const Node* members, Node count, const Node* region, const Node* place, double reference) {
    size_ = count;
    reference_ = reference;
    least_ = kLeast * static_cast<double>(log_share_.total());
    const Node own = count > 0 ? region[members[0]] : 0;
    indptr_.assign(1, 0), indices_.clear(), weights_.clear();
    item_.resize(count), label_.resize(count), reached_.resize(count + 1);
    weight_to_.assign(count, 0);
    for (Node i = 0; i < count; ++i) {
        const Node u = members[i];
        item_[i] = {items.volume[u], items.inside(u), -1, -1, false};
        for (Edge e = items.graph.indptr[u]; e < items.graph.indptr[u + 1]; ++e) {
            const Node v = items.graph.indices[e];
            if (region[v] != own) continue;
            indices_.push_back(place[v]);
            weights_.push_back(items.graph.weight(e));
        }
        indptr_.push_back(static_cast<Edge>(indices_.size()));
    }
    queue_.clear(), cluster_queue_.clear(), free_.clear(), moves_.clear();
}

void RegionSearch::start_from_singles() {
    std::iota(label_.begin(), label_.end(), 0);
    sum_up();
}

void RegionSearch::start_from(const std::vector<Node>& label) {
    label_ = label;
    sum_up();
}

// Clusters from labels. There are as many as items, so that every item can be alone.
void RegionSearch::sum_up() {
    cluster_.assign(size_, {});
    for (Node u = size_ - 1; u >= 0; --u) {
        Cluster& c = cluster_[label_[u]];
        c.volume += item_[u].volume;
        c.cut += item_[u].inner;
        c.arcs += arcs(u);
        ++c.size;
        link(u, label_[u]);
        for (Edge e = indptr_[u]; e < indptr_[u + 1]; ++e)
            if (indices_[e] > u && label_[indices_[e]] == label_[u]) c.cut += weights_[e];
    }
    free_.clear();
    for (Node c = size_ - 1; c >= 0; --c) {
        if (cluster_[c].size > 0) cluster_[c].log = log_of(cluster_[c].volume);
        else free_.push_back(c);
    }
}

double RegionSearch::cost() const {
    double sum = 0;
    for (const Cluster& c : cluster_)
        if (c.size > 0) sum += term(c);
    return sum;
}

Node RegionSearch::store(std::vector<Node>& label) const {
    std::vector<Node> number(size_, -1);
    Node count = 0;
    label.resize(size_);
    for (Node u = 0; u < size_; ++u) {
        if (number[label_[u]] < 0) number[label_[u]] = count++;
        label[u] = number[label_[u]];
    }
    return count;
}

void RegionSearch::link(Node u, Node cluster) {
    Cluster& c = cluster_[cluster];
    item_[u].next = c.first, item_[u].previous = -1;
    if (c.first >= 0) item_[c.first].previous = u;
    c.first = u;
}

void RegionSearch::unlink(Node u) {
    const Item& item = item_[u];
    if (item.previous >= 0) item_[item.previous].next = item.next;
    else cluster_[label_[u]].first = item.next;
    if (item.next >= 0) item_[item.next].previous = item.previous;
}

// Weights from the item to the clusters around it; returns how many there are.
Node RegionSearch::gather(Node u) {
    Node count = 0;
    for (Edge e = indptr_[u]; e < indptr_[u + 1]; ++e) {
        const Node c = label_[indices_[e]];
        reached_[count] = c;
        count += weight_to_[c] == 0;
        weight_to_[c] += weights_[e];
    }
    return count;
}

double RegionSearch::apply(const Move& m) {
    Cluster &a = cluster_[m.from], &b = cluster_[m.to];
    const Item& item = item_[m.item];
    const double before = term(a) + term(b);
    unlink(m.item);
    a.cut -= m.weight_from + item.inner, a.volume -= item.volume, a.arcs -= arcs(m.item), --a.size;
    if (b.size == 0) b.cut = b.volume = 0, b.arcs = 0;
    b.cut += m.weight_to + item.inner, b.volume += item.volume, b.arcs += arcs(m.item), ++b.size;
    label_[m.item] = m.to;
    link(m.item, m.to);
    a.log = a.size > 0 ? log_of(a.volume) : 0;
    b.log = log_of(b.volume);
    if (a.size == 0) free_.push_back(m.from);
    return term(a) + term(b) - before;
}

// Makes a move, and queues those who may gain by another one: neighbours in other clusters, and both clusters.
void RegionSearch::move(const Move& m) {
    moves_.push_back(m);
    change_ += apply(m);
    for (Edge e = indptr_[m.item]; e < indptr_[m.item + 1]; ++e)
        if (label_[indices_[e]] != m.to) enqueue(indices_[e]);
    if (cluster_[m.from].size > 0) enqueue_cluster(m.from);
    enqueue_cluster(m.to);
}

void RegionSearch::enqueue(Node u) {
    if (item_[u].queued || arcs(u) > patience_) return;
    item_[u].queued = true;
    queue_.push_back(u);
}

void RegionSearch::enqueue_cluster(Node c) {
    if (cluster_[c].queued || cluster_[c].arcs > patience_) return;
    cluster_[c].queued = true;
    cluster_queue_.push_back(c);
}

// An empty cluster, or -1 where every item is alone.
Node RegionSearch::take_free() {
    while (!free_.empty()) {
        const Node c = free_.back();
        free_.pop_back();
        if (cluster_[c].size == 0) return c;  // undone moves may have filled it again
    }
    return -1;
}

void RegionSearch::settle_item(Node u) {
    const Node count = gather(u), own = label_[u];
    const Item& item = item_[u];
    const Cluster& home = cluster_[own];
    const Weight to_own = weight_to_[own];
    double best = term(home) - least_;
    if (home.size > 1) best -= static_cast<double>(home.cut - to_own - item.inner) * log_of(home.volume - item.volume);
    Node target = own;
    Weight weight_to = 0;
    for (Node i = 0; i < count; ++i) {
        const Node at = reached_[i];
        const Weight weight = weight_to_[at];
        weight_to_[at] = 0;
        const Cluster& c = cluster_[at];
        if (at == own || static_cast<double>(weight + item.inner) * c.log > best) continue;  // a bound without a logarithm
        const double change = static_cast<double>(c.cut + weight + item.inner) * log_of(c.volume + item.volume) - term(c);
        if (change < best) best = change, target = at, weight_to = weight;
    }
    if (home.size > 1 && static_cast<double>(item.inner) * log_of(item.volume) < best) {
        const Node empty = take_free();
        if (empty >= 0) target = empty, weight_to = 0;
    }
    if (target != own) move({u, own, target, to_own, weight_to});
}

void RegionSearch::settle_cluster(Node at) {
    const Cluster& own = cluster_[at];
    Node count = 0;
    for (Node u = own.first; u >= 0; u = item_[u].next) {
        for (Edge e = indptr_[u]; e < indptr_[u + 1]; ++e) {
            const Node c = label_[indices_[e]];
            if (c == at) continue;
            reached_[count] = c;
            count += weight_to_[c] == 0;
            weight_to_[c] += weights_[e];
        }
    }
    double best = -least_;
    Node partner = -1;
    for (Node i = 0; i < count; ++i) {
        const Node with = reached_[i];
        const Cluster& c = cluster_[with];
        const double apart = term(own) + term(c), cut = static_cast<double>(own.cut + c.cut + weight_to_[with]);
        weight_to_[with] = 0;
        if (cut * std::max(own.log, c.log) - apart > best) continue;
        const double change = cut * log_of(own.volume + c.volume) - apart;
        if (change < best) best = change, partner = with;
    }
    if (partner < 0) return;
    if (own.size > cluster_[partner].size) unite(partner, at);
    else unite(at, partner);
}

void RegionSearch::unite(Node from, Node to) {
    while (cluster_[from].size > 0) {
        const Node u = cluster_[from].first;
        Weight weight_from = 0, weight_to = 0;
        for (Edge e = indptr_[u]; e < indptr_[u + 1]; ++e) {
            const Node c = label_[indices_[e]];
            if (c == from) weight_from += weights_[e];
            else if (c == to) weight_to += weights_[e];
        }
        move({u, from, to, weight_from, weight_to});
    }
}

// Works the queues off, items first, within a number of visits.
void RegionSearch::drain(std::size_t budget) {
    std::size_t visits = 0;
    while (!queue_.empty() || !cluster_queue_.empty()) {
        for (std::size_t head = 0; head < queue_.size(); ++head) {
            item_[queue_[head]].queued = false;
            if (++visits <= budget) settle_item(queue_[head]);
        }
        queue_.clear();
        for (std::size_t head = 0; head < cluster_queue_.size(); ++head) {
            const Node c = cluster_queue_[head];
            cluster_[c].queued = false;
            if (cluster_[c].size > 0 && ++visits <= budget) settle_cluster(c);
        }
        cluster_queue_.clear();
    }
}

void RegionSearch::settle(Random& random) {
    work_.resize(size_);
    std::iota(work_.begin(), work_.end(), 0);
    random.shuffle(work_.begin(), work_.end());
    patience_ = std::numeric_limits<Edge>::max();
    for (const Node u : work_) enqueue(u);
    drain(kVisits * static_cast<std::size_t>(size_) + kFewVisits);
    moves_.clear();
}

// Takes a cluster apart and lets its surroundings settle. Undoes all if the cost rises by more than `allowance` or if the same
// cluster forms again. Returns true if anything is different then.
bool RegionSearch::attempt(Node cluster, double allowance) {
    moves_.clear();
    change_ = 0;
    members_.clear();
    for (Node u = cluster_[cluster].first; u >= 0; u = item_[u].next) members_.push_back(u);
    const auto size = static_cast<Node>(members_.size());
    for (Node i = 0; i + 1 < size; ++i) {
        const Node u = members_[i], empty = take_free();
        Weight weight = 0;
        for (Edge e = indptr_[u]; e < indptr_[u + 1]; ++e)
            if (label_[indices_[e]] == cluster) weight += weights_[e];
        moves_.push_back({u, cluster, empty, weight, 0});
        change_ += apply(moves_.back());
    }
    for (const Node u : members_) enqueue(u);
    drain(kVisits * members_.size() + kFewVisits);
    const Node home = label_[members_[0]];
    const bool same =
        cluster_[home].size == size && std::all_of(moves_.begin(), moves_.end(), [&](const Move& m) { return label_[m.item] == home; });
    if (!same && change_ < allowance) return true;
    for (std::size_t i = moves_.size(); i-- > 0;) {
        const Move& m = moves_[i];
        apply({m.item, m.to, m.from, m.weight_to, m.weight_from});
    }
    return false;
}

void RegionSearch::shake(double tolerance, Random& random, const Control& control) {
    work_.clear();
    patience_ = kPatience + kMeans * indptr_[size_] / std::max(size_, Node{1});
    for (Node c = 0; c < size_; ++c)
        if (cluster_[c].size > 1) work_.push_back(c), cluster_[c].waiting = true;
    random.shuffle(work_.begin(), work_.end());
    const std::size_t first_pass = work_.size();
    for (std::size_t head = 0; head < work_.size(); ++head) {
        const Node c = work_[head];
        cluster_[c].waiting = false;
        if (cluster_[c].size < 2 || cluster_[c].arcs > kMeans * patience_) continue;
        if (head % 256 == 255) control.check();
        const double allowance = head < first_pass && tolerance > 0 ? tolerance * static_cast<double>(cluster_[c].volume) : -least_;
        if (!attempt(c, allowance)) continue;
        for (const Move& m : moves_) {  // all that took part may improve further
            const Node at = label_[m.item];
            if (cluster_[at].waiting) continue;
            cluster_[at].waiting = true;
            work_.push_back(at);
        }
    }
    moves_.clear();
}

}  // namespace sepool
