#include "search/mover.hpp"

#include <algorithm>

namespace sepool {
namespace {

constexpr double kLeast = 1e-13;        // a fall of H smaller than this is rounding
constexpr int kMostRounds = 50;         // never reached but for moves that undo each other
constexpr Node kFewMoves = 2000;        // a round that moves less than one item in so many is the last
constexpr Node kBlocks = 64, kMostInABlock = 1024, kMostBlocks = 1024;
constexpr Edge kSharedArcs = 50'000;    // of fewer active items: threads would mostly wait for each other
constexpr Node kChunk = 16;             // items of a block that a thread decides on at a time

template <class T>
T get(const std::atomic<T>& x) {
    return x.load(std::memory_order_relaxed);
}

template <class T>
void put(std::atomic<T>& x, T value) {
    x.store(value, std::memory_order_relaxed);
}

template <bool Shared, class T>
void add(std::atomic<T>& x, T value) {
    if (Shared) x.fetch_add(value, std::memory_order_relaxed);
    else put(x, static_cast<T>(get(x) + value));
}

}  // namespace

std::atomic<Node> Mover::block{0};

void Mover::load(const Items& items, const Parents& label, Node count, const std::vector<Parents>& above, const double* reference,
                 Team& team) {
    items_ = items;
    active_arcs_ = items.graph.num_arcs();
    reference_ = reference;
    levels_ = 1 + static_cast<int>(above.size());
    least_ = kLeast * static_cast<double>(log_share_.total());
    const Node n = items.size();
    label_ = label;
    target_ = label;
    level_.resize(levels_);
    for (int l = 0; l < levels_; ++l) {
        const Node clusters = l == 0 ? count : count_of(above[l - 1]);
        level_[l] = std::vector<Cluster>(clusters);
        if (l > 0)
            for (Node c = 0; c < static_cast<Node>(level_[l - 1].size()); ++c) level_[l - 1][c].parent = above[l - 1][c];
    }
    active_ = std::vector<std::atomic<char>>(n);
    held_.clear();
    scratch_.resize(team.size());
    for (Scratch& s : scratch_) {
        s.weight_to.resize(levels_), s.reached.resize(levels_), s.log_with.resize(levels_), s.entry.resize(levels_);
        s.count.assign(levels_, 0), s.own.assign(levels_, -1), s.weight_to_own.assign(levels_, 0);
        for (int l = 0; l < levels_; ++l) {
            const std::size_t clusters = level_[l].size();
            if (s.weight_to[l].size() < clusters) s.weight_to[l].assign(clusters, 0), s.reached[l].resize(clusters + 1);
            if (l > 0 && s.entry[l].size() < clusters) s.log_with[l].resize(clusters), s.entry[l].resize(clusters);
        }
    }
    std::vector<Parents> ancestor;
    for (int l = 1; l < levels_; ++l) {
        ancestor.push_back(l == 1 ? label_ : ancestor.back());
        compose(ancestor.back(), above[l - 1]);
    }
    const bool shared = team.size() > 1;
    team.share(n, 4096, [&](std::int64_t first, std::int64_t last, int) {
        for (Node u = static_cast<Node>(first); u < last; ++u) {
            put(active_[u], char{1});
            if (shared) add_item<true>(u, ancestor);
            else add_item<false>(u, ancestor);
        }
    });
    for (auto& level : level_)
        for (Cluster& c : level) put(c.cut, get(c.cut) / 2), put(c.log, log_share_(get(c.volume)));
    if (reference_)
        for (Node u = 0; u < n; ++u) put(level_[0][label_[u]].log, log_share_(get(level_[0][label_[u]].volume)) - reference_[u]);
}

void Mover::wake(const std::vector<char>& items) {
    active_arcs_ = 0;
    for (Node u = 0; u < items_.size(); ++u) {
        put(active_[u], items[u]);
        if (items[u]) active_arcs_ += items_.graph.indptr[u + 1] - items_.graph.indptr[u];
    }
}

// Adds an item to its clusters, and every edge at it to the cut of the lowest cluster that holds both ends. All edges come twice, and
// the edges inside are counted level by level: no branch for the processor to guess.
template <bool Shared>
void Mover::add_item(Node u, const std::vector<Parents>& ancestor) {
    const GraphView& graph = items_.graph;
    const Edge first = graph.indptr[u], last = graph.indptr[u + 1];
    add<Shared>(level_[0][label_[u]].size, Node{1});
    Weight below = -2 * items_.inside(u);
    for (int l = 0; l < levels_; ++l) {
        const Node* const label = l == 0 ? label_.data() : ancestor[l - 1].data();
        const Node own = label[u];
        Weight inside = 0;
        if (graph.weights)
            for (Edge e = first; e < last; ++e) inside += label[graph.indices[e]] == own ? graph.weights[e] : 0;
        else
            for (Edge e = first; e < last; ++e) inside += label[graph.indices[e]] == own;
        Cluster& c = level_[l][own];
        add<Shared>(c.volume, items_.volume[u]);
        if (inside != below) add<Shared>(c.cut, static_cast<Weight>(inside - below));
        below = inside;
    }
}

// Adds an edge to the cut of the lowest cluster that holds both ends.
void Mover::add_edge_to_lowest(Node a, Node b, Weight weight, bool shared) {
    for (int l = 0; l < levels_; ++l) {
        if (a == b) {
            if (shared) add<true>(level_[l][a].cut, weight);
            else add<false>(level_[l][a].cut, weight);
            return;
        }
        a = level_[l][a].parent, b = level_[l][b].parent;
    }
}

double Mover::cost() const {
    double sum = 0;
    for (const auto& level : level_)
        for (const Cluster& c : level) sum += term(c);
    return sum;
}

// Items are decided on block by block; the blocks must not depend on the threads.
Node Mover::block_size() const {
    const Node n = items_.size();
    if (const Node fixed = get(block)) return fixed;
    return std::max({Node{1}, std::min(kMostInABlock, n / kBlocks), n / kMostBlocks});
}

// For every cluster above the lowest level that the item has an edge to, and its own: what it adds to the cost there and higher
// up if it comes below that cluster, from where it has been taken away. All weights to its lowest clusters are known.
void Mover::rate_entries(Scratch& s, Node u) const {
    const Weight volume = items_.volume[u];
    for (int l = 1; l < levels_; ++l) {
        std::size_t count = 0;
        for (std::size_t i = 0; i < s.count[l - 1]; ++i) {
            const Node below = s.reached[l - 1][i], c = level_[l - 1][below].parent;
            s.reached[l][count] = c;
            count += s.weight_to[l][c] == 0;
            s.weight_to[l][c] += s.weight_to[l - 1][below];
        }
        s.count[l] = count;
        s.own[l] = level_[l - 1][s.own[l - 1]].parent;
        s.weight_to_own[l] = s.weight_to[l][s.own[l]];
    }
    for (int l = levels_ - 1; l > 0; --l) {
        const auto rate = [&](Node at) {
            const Cluster& c = level_[l][at];
            const Weight weight = s.weight_to[l][at];
            Weight cut = get(c.cut);
            double log = get(c.log), log_with = log;
            if (at == s.own[l]) {  // without the item; with it, it is as it is
                cut -= s.weight_to_own[l] - s.weight_to_own[l - 1];
                log = log_share_(get(c.volume) - volume);
            } else {
                log_with = log_share_(get(c.volume) + volume);
            }
            double entry = static_cast<double>(cut + weight) * log_with - static_cast<double>(cut) * log;
            if (l + 1 < levels_) entry += s.entry[l + 1][c.parent] - static_cast<double>(weight) * s.log_with[l + 1][c.parent];
            s.log_with[l][at] = log_with, s.entry[l][at] = entry;
        };
        for (std::size_t i = 0; i < s.count[l]; ++i) rate(s.reached[l][i]);
        if (s.weight_to_own[l] == 0) rate(s.own[l]);
    }
}

// The cluster below which the item costs least: its own unless another is better.
template <bool Weighted>
Node Mover::best_cluster(Scratch& s, Node u) const {
    const GraphView& graph = items_.graph;
    Weight* const sum = s.weight_to[0].data();
    Node* const reached = s.reached[0].data();
    const Node* const label = label_.data();
    std::size_t count = 0;
    for (Edge e = graph.indptr[u], end = graph.indptr[u + 1]; e < end; ++e) {
        const Node c = label[graph.indices[e]];
        const Weight before = sum[c];
        reached[count] = c;  // counts only if it is the first: no branch for the processor to guess
        count += before == 0;
        sum[c] = before + (Weighted ? graph.weights[e] : 1);
    }
    const Node own = label[u];
    const Weight volume = items_.volume[u], inside = items_.inside(u), to_own = sum[own];
    if (levels_ > 1) {
        s.count[0] = count, s.own[0] = own, s.weight_to_own[0] = to_own;
        rate_entries(s, u);
    }
    const double shift = reference(u);
    const auto above = [&](const Cluster& c, Weight weight) {  // the cost of the levels above
        if (levels_ == 1) return 0.0;
        return s.entry[1][c.parent] - static_cast<double>(weight) * s.log_with[1][c.parent];
    };
    const Cluster& home = level_[0][own];
    const bool alone = get(home.size) == 1;
    double best = static_cast<double>(get(home.cut)) * get(home.log) + above(home, to_own) - least_;
    if (!alone) best -= static_cast<double>(get(home.cut) - to_own - inside) * (log_share_(get(home.volume) - volume) - shift);
    Node target = own;
    for (std::size_t i = 0; i < count; ++i) {
        const Node at = reached[i];
        const Weight weight = sum[at];
        sum[at] = 0;
        if (at == own) continue;
        const Cluster& c = level_[0][at];
        const double log = get(c.log), rest = above(c, weight);
        // The volume only grows: at the present one the change is a lower bound, without a logarithm.
        if (static_cast<double>(weight + inside) * log + rest > best) continue;
        // Of two single items that would join each other, the one of the higher number moves.
        if (alone && at > own && get(c.size) == 1) continue;
        const double change = static_cast<double>(get(c.cut) + weight + inside) * (log_share_(get(c.volume) + volume) - shift) -
                              static_cast<double>(get(c.cut)) * log + rest;
        if (change < best || (change == best && target != own && at < target)) best = change, target = at;
    }
    sum[own] = 0;
    for (int l = 1; l < levels_; ++l)
        for (std::size_t i = 0; i < s.count[l]; ++i) s.weight_to[l][s.reached[l][i]] = 0;
    return target;
}

// Moves an item together with the others of its block, `size` items from `first` on, and wakes its neighbours. Labels change later.
// Of an edge between two items that move, the one of the lower number takes care.
template <bool Weighted, bool Shared>
void Mover::make_move(Node u, Node first, Node size) {
    const GraphView& graph = items_.graph;
    const Node from = label_[u], to = target_[u];
    Weight lost = items_.inside(u), won = lost;
    for (Edge e = graph.indptr[u], end = graph.indptr[u + 1]; e < end; ++e) {
        const Node v = graph.indices[e], before = label_[v];
        const bool in_block = static_cast<std::uint32_t>(v - first) < static_cast<std::uint32_t>(size);
        const Node after = in_block ? target_[v] : before;
        if (after != to) put(active_[v], char{1});
        if (after != before && v < u) continue;
        const Weight weight = Weighted ? graph.weights[e] : 1;
        if (before == from) lost += weight;
        else if (levels_ > 1) add_edge_to_lowest(from, before, -weight, Shared);
        if (after == to) won += weight;
        else if (levels_ > 1) add_edge_to_lowest(to, after, weight, Shared);
    }
    add<Shared>(level_[0][from].cut, static_cast<Weight>(-lost)), add<Shared>(level_[0][to].cut, won);
    add<Shared>(level_[0][from].size, Node{-1}), add<Shared>(level_[0][to].size, Node{1});
    const Weight volume = items_.volume[u];
    Node a = from, b = to;
    for (int l = 0; l < levels_ && a != b; ++l) {
        add<Shared>(level_[l][a].volume, static_cast<Weight>(-volume)), add<Shared>(level_[l][b].volume, volume);
        a = level_[l][a].parent, b = level_[l][b].parent;
    }
}

template <bool Weighted, bool Shared>
void Mover::rounds(std::int64_t few, Team& team, const Control& control) {
    const Node n = items_.size(), block = block_size();
    std::atomic<int> stop{0};
    std::vector<std::atomic<char>> any(2 * static_cast<std::size_t>(team.size()));  // moves in a block, for even and odd blocks
    for (Scratch& s : scratch_) s.moves = 0;
    const int threads = Shared ? team.size() : 1;
    const auto barrier = [&] {
        if (Shared) team.barrier();
    };
    const auto work = [&](int index) {
        Scratch& s = scratch_[index];
        std::size_t parity = 0;
        std::int64_t total = 0;
        for (int round = 0; round < kMostRounds; ++round) {
            for (Node first = 0; first < n; first += block, parity ^= 1) {
                const Node last = std::min<Node>(n, first + block);
                const auto each = [&](auto&& body) {  // of this thread's items
                    for (Node begin = first + index * kChunk; begin < last; begin += threads * kChunk)
                        for (Node u = begin, end = std::min<Node>(last, begin + kChunk); u < end; ++u) body(u);
                };
                bool moves = false;
                each([&](Node u) {
                    if (!get(active_[u])) return;
                    put(active_[u], char{0});
                    if (!held_.empty() && held_[u]) return;
                    target_[u] = best_cluster<Weighted>(s, u);
                    moves = moves || target_[u] != label_[u];
                });
                put(any[2 * index + parity], static_cast<char>(moves));
                if (index == 0 && control.cancel.load(std::memory_order_relaxed)) stop.store(1, std::memory_order_relaxed);
                barrier();
                moves = false;
                for (int t = 0; t < threads; ++t) moves = moves || get(any[2 * t + parity]);
                if (get(stop)) return;
                if (!moves) continue;
                each([&](Node u) {
                    if (target_[u] == label_[u]) return;
                    make_move<Weighted, Shared>(u, first, last - first);
                    ++s.moves;
                });
                barrier();
                each([&](Node u) {
                    Node a = label_[u], b = target_[u];
                    if (a == b) return;
                    label_[u] = b;
                    const double shift = reference(u);
                    put(level_[0][a].log, log_share_(get(level_[0][a].volume)) - shift);
                    put(level_[0][b].log, log_share_(get(level_[0][b].volume)) - shift);
                    for (int l = 1; l < levels_; ++l) {
                        a = level_[l - 1][a].parent, b = level_[l - 1][b].parent;
                        if (a == b) break;
                        put(level_[l][a].log, log_share_(get(level_[l][a].volume)));
                        put(level_[l][b].log, log_share_(get(level_[l][b].volume)));
                    }
                });
                barrier();
            }
            std::int64_t moved = 0;
            for (int t = 0; t < threads; ++t) moved += scratch_[t].moves;
            barrier();
            if (moved - total <= few) return;
            total = moved;
        }
    };
    if (Shared) team.run(work);
    else work(0);
    control.check();
}

void Mover::settle(Until until, Team& team, const Control& control) {
    const bool weighted = items_.graph.weights != nullptr, shared = team.size() > 1 && active_arcs_ >= kSharedArcs;
    const std::int64_t few = until == Until::few_move ? items_.size() / kFewMoves : 0;
    if (weighted && shared) rounds<true, true>(few, team, control);
    else if (weighted) rounds<true, false>(few, team, control);
    else if (shared) rounds<false, true>(few, team, control);
    else rounds<false, false>(few, team, control);
}

Node Mover::store(Parents& label, std::vector<Parents>& above) const {
    std::vector<Node> number(level_[0].size(), -1);
    Node count = 0;
    for (std::size_t c = 0; c < level_[0].size(); ++c)
        if (get(level_[0][c].size) > 0) number[c] = count++;
    const Node lowest = count;
    label.resize(label_.size());
    for (std::size_t u = 0; u < label_.size(); ++u) label[u] = number[label_[u]];
    above.resize(levels_ - 1);
    for (int l = 0; l + 1 < levels_; ++l) {
        std::vector<Node> next(level_[l + 1].size(), -1);
        for (std::size_t c = 0; c < level_[l].size(); ++c)
            if (number[c] >= 0) next[level_[l][c].parent] = 0;
        Node clusters = 0;
        for (Node& c : next)
            if (c == 0) c = clusters++;
        above[l].resize(count);
        for (std::size_t c = 0; c < level_[l].size(); ++c)
            if (number[c] >= 0) above[l][number[c]] = next[level_[l][c].parent];
        number.swap(next);
        count = clusters;
    }
    return lowest;
}

}  // namespace sepool
