#include "search/multilevel.hpp"

#include <algorithm>
#include <cstdlib>
#include <numeric>

namespace sepool {
namespace {

constexpr double kProgress = 1e-3;          // relative fall of H for which another round is worth its time
constexpr double kKept = 0.02;              // change of the number of flat clusters where these are a level of the tree
constexpr double kSettled = 1.2e-3;         // relative fall of H by moves across levels that leaves these as they are
constexpr double kShareInside = 0.25;       // the same inside clusters
constexpr double kShare = 0.8;              // the volumes of level l of k are bounded by V^((l / k)^kShare)

// The clusters of the last level, by node.
Parents to_nodes(const std::vector<Parents>& chain) {
    Parents label = chain[0];
    for (std::size_t l = 1; l < chain.size(); ++l) compose(label, chain[l]);
    return label;
}

// True if both labellings have the same clusters; writes the labels `to` of the clusters of `from`.
bool renames(const Parents& from, const Parents& to, Parents& label) {
    label.assign(count_of(from), -1);
    for (std::size_t u = 0; u < from.size(); ++u) {
        Node& c = label[from[u]];
        if (c >= 0 && c != to[u]) return false;
        c = to[u];
    }
    return count_of(to) == count_of(from);
}

}  // namespace

// Moves the loaded items and writes their clusters. Returns how many there are.
Node Multilevel::settle_loaded(Mover::Until until, Parents& label, Chain& above) {
    mover_.settle(until, *team_, *control_);
    return mover_.store(label, above);
}

// Moves items between the given clusters, then clusters of items, and so on; and on the way back items once more. Returns the
// number of clusters; the mover holds the result.
Node Multilevel::cluster(const Items& items, Parents& label, Node count, Chain& above, const std::vector<double>* reference) {
    mover_.load(items, label, count, above, reference ? reference->data() : nullptr, *team_);
    return cluster_loaded(items, label, above, reference);
}

Node Multilevel::cluster_loaded(const Items& items, Parents& label, Chain& above, const std::vector<double>* reference) {
    const Node count = settle_loaded(Mover::Until::few_move, label, above);
    if (count == items.size() || count < 2) return count;
    ItemGraph coarse;
    contractor_.run(items, label, count, true, coarse, *team_);
    std::vector<double> coarse_reference;
    if (reference) {
        coarse_reference.resize(count);
        for (Node u = 0; u < items.size(); ++u) coarse_reference[label[u]] = (*reference)[u];
    }
    Parents up = iota(count);
    const Node fewer = cluster(coarse.view(), up, count, above, reference ? &coarse_reference : nullptr);
    coarse = ItemGraph();
    if (fewer == count) return count;
    compose(label, up);
    mover_.load(items, label, fewer, above, reference ? reference->data() : nullptr, *team_);
    return settle_loaded(Mover::Until::none_moves, label, above);
}

Node Multilevel::cluster_from_singles(const Items& items, Parents& label, double reference) {
    label = iota(items.size());
    Chain none;
    if (reference == 0) return cluster(items, label, items.size(), none, nullptr);
    const std::vector<double> references(items.size(), reference);
    return cluster(items, label, items.size(), none, &references);
}

// Small clusters form inside the given ones; those of them that fit better elsewhere move, as do clusters that are better split.
Node Multilevel::cycle(const Items& items, Parents& label, Node count) {
    Parents inside;
    const Node parts = cluster_regions(items, label, log_shares(items, label, count, 1), Effort::quick, nullptr, inside);
    ItemGraph coarse;
    contractor_.run(items, inside, parts, true, coarse, *team_);
    Parents up(parts);
    for (Node u = 0; u < items.size(); ++u) up[inside[u]] = label[u];
    const Parents before(up);
    const Node clusters = count;
    split_regions(coarse.view(), up, count);
    Chain none;
    count = cluster(coarse.view(), up, count, none, nullptr);
    if (count == clusters && up == before) return count;
    for (Node u = 0; u < items.size(); ++u) label[u] = up[inside[u]];
    coarse = ItemGraph();
    mover_.load(items, label, count, none, nullptr, *team_);
    return settle_loaded(Mover::Until::none_moves, label, none);
}

// Levels inside the given clusters, from the lowest up: the last one of the chain is that of the clusters.
void Multilevel::build_below(const Items& items, int levels, const Parents& clusters, Effort effort, Chain& chain) {
    const Node count = count_of(clusters);
    ItemGraph coarse, next;
    Items at = items;
    Parents region(clusters);
    chain.clear();
    for (int l = 1; l <= levels; ++l) {
        Parents label;
        const std::vector<double> reference = log_shares(at, region, count, fixed_power(static_cast<double>(l) / levels, kShareInside));
        const Node parts = cluster_regions(at, region, reference, effort, nullptr, label);
        Parents up(parts);
        for (Node u = 0; u < at.size(); ++u) up[label[u]] = region[u];
        region.swap(up);
        contractor_.run(at, label, parts, false, next, *team_);
        std::swap(coarse, next);
        at = coarse.view();
        chain.push_back(std::move(label));
    }
    chain.push_back(std::move(region));
}

// Levels over the clusters that end the chain, and where there is room for several also levels between them.
void Multilevel::build_above(const Items& items, int levels, Effort effort, Chain& chain) {
    ItemGraph coarse, next;
    contractor_.run(items, to_nodes(chain), count_of(chain.back()), false, coarse, *team_);
    for (int l = 1; l <= levels; ++l) {
        Parents label, inside;
        const Node count = coarse.view().size(), fewer = cluster_whole(coarse.view(), effort, label);
        if (fewer == count || fewer < 2) break;
        if (levels > 1) {
            const Items at = coarse.view();
            const Node parts = cluster_regions(at, label, log_shares(at, label, fewer, 1), effort, nullptr, inside);
            if (parts > fewer && parts < count) {
                Parents up(parts);
                for (Node u = 0; u < count; ++u) up[inside[u]] = label[u];
                chain.push_back(inside);
                contractor_.run(at, inside, parts, false, next, *team_);
                std::swap(coarse, next);
                label.swap(up);
            }
        }
        contractor_.run(coarse.view(), label, fewer, false, next, *team_);
        std::swap(coarse, next);
        chain.push_back(std::move(label));
    }
}

// Levels above and below the flat clusters, from more of which compression takes its choice.
void Multilevel::build_chain(const Items& items, int height, const Parents& flat, Effort effort, Chain& chain) {
    build_below(items, height - 2, flat, effort, chain);
    build_above(items, height - 2, effort, chain);
    compress(items, height, chain);
    // Fewer levels inside the flat clusters than there was room for are better chosen as so many.
    Parents label = chain[0];
    for (int below = 1; below < height - 2; ++below) {
        compose(label, chain[below]);
        Parents above;  // numbers of the flat clusters in the chain
        if (!renames(flat, label, above)) continue;
        Chain fitting;
        build_below(items, below, flat, effort, fitting);
        compose(fitting.back(), above);
        std::move(fitting.begin(), fitting.end(), chain.begin());
        return;
    }
}

// From the lowest level up, with a bound on the volumes of every level but the last.
void Multilevel::build_by_resolution(const Items& items, int height, Chain& chain) {
    chain.clear();
    ItemGraph coarse, next;
    Items at = items;
    const double whole = fixed_log2(std::max(1.0, static_cast<double>(log_share_.total())));
    for (int l = 1; l < height; ++l) {
        const double share = fixed_power(static_cast<double>(l) / (height - 1), kShare);
        Parents label;
        const Node count = cluster_from_singles(at, label, l + 1 < height ? (share - 1) * whole : 0);
        contractor_.run(at, label, count, false, next, *team_);
        std::swap(coarse, next);
        at = coarse.view();
        chain.push_back(std::move(label));
    }
}

// Levels around the flat clusters, and where these do not stay as they are another start; refined while that pays.
void Multilevel::build_levels(const Items& items, int height, const Parents& flat, Node count, Chain& chain) {
    build_chain(items, height, flat, Effort::thorough, chain);
    double last = constant_ + cost(items, chain);
    const double gain = sweep(items, chain, false);
    last += gain;
    const bool communities = std::any_of(chain.begin() + 1, chain.end(), [&](const Parents& label) {  // with clusters inside
        return std::abs(count_of(label) - count) <= kKept * count;
    });
    if (communities && -gain <= kSettled * last) return;
    last += sweep(items, chain, true);
    if (!communities) {
        Chain other;
        build_by_resolution(items, height, other);
        sweep(items, other, true);
        const double now = constant_ + cost(items, other);
        if (now < last) last = now, chain.swap(other);
    }
    refine_levels(items, last, chain);
}

Items Multilevel::prepare(const GraphView& graph, std::uint64_t seed, Team& team, Control& control) {
    seed_ = seed, team_ = &team, control_ = &control;
    volume_.resize(graph.num_nodes);
    Weight total = 0;
    for (Node u = 0; u < graph.num_nodes; ++u) total += volume_[u] = graph.degree(u) + graph.loop(u);
    log_share_.reset(total);
    constant_ = 0;
    for (Node u = 0; u < graph.num_nodes; ++u) constant_ -= static_cast<double>(volume_[u] - graph.loop(u)) * log_share_(volume_[u]) / 2;
    return {graph, volume_.data(), nullptr};
}

// Flat clusters from single items; thorough work repeats the cycle while that pays. Returns their number.
Node Multilevel::cluster_in_cycles(const Items& items, Parents& label, Effort effort, Control& control) {
    control.enter("clustering", 0.2);
    Node count = cluster_from_singles(items, label, 0);
    for (double last = constant_ + mover_.cost(); effort == Effort::thorough && count > 1;) {
        control.enter("refining", 0.4);
        Parents before(label);
        count = cycle(items, label, count);
        const double now = constant_ + mover_.cost();
        if (now >= last) label.swap(before);
        if (now >= last * (1 - kProgress / 2)) break;
        last = now;
    }
    return count;
}

void Multilevel::run(const GraphView& graph, int height, std::uint64_t seed, Effort effort, Team& team, Tree& tree, Control& control) {
    const Items items = prepare(graph, seed, team, control);
    Chain chain(1);
    cluster_in_cycles(items, chain[0], effort, control);
    if (height > 2) {
        control.enter("building levels", 0.6);
        const Parents flat(chain[0]);
        if (effort == Effort::thorough) {
            build_levels(items, height, flat, count_of(flat), chain);
        } else {
            build_chain(items, height, flat, effort, chain);
        }
    }
    to_tree(items, chain, tree);
}

void Multilevel::run_contracted(const GraphView& graph, const std::vector<Weight>& inner, std::uint64_t seed, Team& team, Parents& label,
                                Control& control) {
    Items items = prepare(graph, seed, team, control);
    items.inner = inner.data();
    constant_ = 0;
    for (Node u = 0; u < graph.num_nodes; ++u) constant_ -= static_cast<double>(volume_[u]) * log_share_(volume_[u]) / 2;
    cluster_in_cycles(items, label, Effort::thorough, control);
}

}  // namespace sepool
