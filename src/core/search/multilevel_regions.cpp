// Clusters inside regions, each searched for itself.

#include <algorithm>

#include "search/multilevel.hpp"

namespace sepool {
namespace {

constexpr double kLeast = 1e-13;        // a fall of H smaller than this is rounding
constexpr Edge kLargeRegion = 1 << 18;  // arcs and nodes from which on all threads work on a region together
constexpr double kTolerance = 0.02;     // rise accepted in shaking, for each unit of volume

// The weights between members of one region alone; members are numbered anew.
void extract(const Items& items, const Node* members, Node count, const Parents& region, const std::vector<Node>& place, ItemGraph& out) {
    const Node own = region[members[0]];
    out.volume.resize(count), out.inner.assign(items.inner ? count : 0, 0);
    out.graph.indptr.assign(1, 0), out.graph.indices.clear(), out.graph.weights.clear();
    for (Node i = 0; i < count; ++i) {
        const Node u = members[i];
        out.volume[i] = items.volume[u];
        if (items.inner) out.inner[i] = items.inner[u];
        for (Edge e = items.graph.indptr[u]; e < items.graph.indptr[u + 1]; ++e) {
            const Node v = items.graph.indices[e];
            if (region[v] != own) continue;
            out.graph.indices.push_back(place[v]);
            if (items.graph.weights) out.graph.weights.push_back(items.graph.weights[e]);
        }
        out.graph.indptr.push_back(static_cast<Edge>(out.graph.indices.size()));
    }
}

}  // namespace

// Clusters every region for itself, from single items or the clusters `start`, and calls use(region, members, labels, clusters,
// cost). Costs are relative to the log shares `reference`. Single threads take small regions; all threads share a large one.
template <class Use>
void Multilevel::search_regions(const Items& items, const Parents& region, const std::vector<double>& reference, Effort effort,
                                const Parents* start, Use&& use) {
    const auto count = static_cast<Node>(reference.size());
    std::vector<Edge> begin;
    std::vector<Node> members;
    Contractor::sort_members(region, count, begin, members);
    std::vector<Node> place(items.size());
    std::vector<Edge> arcs(count, 0);
    for (Node r = 0; r < count; ++r) {
        for (Edge i = begin[r]; i < begin[r + 1]; ++i) {
            const Node u = members[i];
            place[u] = static_cast<Node>(i - begin[r]);
            arcs[r] += 1 + items.graph.indptr[u + 1] - items.graph.indptr[u];
        }
    }
    while (static_cast<int>(region_search_.size()) < team_->size()) region_search_.emplace_back(log_share_);
    std::vector<Parents> labels(team_->size()), starts(team_->size());
    Parents first_member(start ? count_of(*start) : 0, -1);  // of the clusters to start from, which lie in one region each
    team_->share(count, 16, [&](std::int64_t first, std::int64_t last, int thread) {
        RegionSearch& search = region_search_[thread];
        for (Node r = static_cast<Node>(first); r < last; ++r) {
            const Node size = static_cast<Node>(begin[r + 1] - begin[r]);
            if (arcs[r] > kLargeRegion || size == 0) continue;
            control_->check();
            Random random(seed_ + static_cast<std::uint64_t>(r));
            search.load(items, &members[begin[r]], size, region.data(), place.data(), reference[r]);
            if (start) {
                starts[thread].resize(size);
                for (Node i = 0; i < size; ++i) {
                    Node& first_of = first_member[(*start)[members[begin[r] + i]]];
                    if (first_of < 0) first_of = i;
                    starts[thread][i] = first_of;
                }
                search.start_from(starts[thread]);
            } else {
                search.start_from_singles();
            }
            search.settle(random);
            if (effort == Effort::thorough) search.shake(kTolerance, random, *control_);
            const Node clusters = search.store(labels[thread]);
            use(r, &members[begin[r]], labels[thread], clusters, search.cost());
        }
    });
    for (Node r = 0; r < count; ++r) {
        if (arcs[r] <= kLargeRegion) continue;
        const auto size = static_cast<Node>(begin[r + 1] - begin[r]);
        ItemGraph inside;
        extract(items, &members[begin[r]], size, region, place, inside);
        const std::vector<double> references(size, reference[r]);
        Parents label(size);
        Chain none;
        Node clusters = size;
        if (start) {
            clusters = 0;
            for (Node i = 0; i < size; ++i) {
                Node& number = first_member[(*start)[members[begin[r] + i]]];
                if (number < 0) number = clusters++;
                label[i] = number;
            }
        } else {
            label = iota(size);
        }
        clusters = cluster(inside.view(), label, clusters, none, &references);
        mover_.load(inside.view(), label, clusters, {}, references.data(), *team_);
        use(r, &members[begin[r]], label, clusters, mover_.cost());
    }
}

// Log shares of regions, or of volumes that are this power of theirs.
std::vector<double> Multilevel::log_shares(const Items& items, const Parents& region, Node count, double power) const {
    std::vector<Weight> volume(count, 0);
    for (Node u = 0; u < items.size(); ++u) volume[region[u]] += items.volume[u];
    std::vector<double> logs(count);
    for (Node r = 0; r < count; ++r) {
        logs[r] = log_share_(volume[r]);
        if (power < 1 && volume[r] > 0) logs[r] += (power - 1) * fixed_log2(static_cast<double>(volume[r]));
    }
    return logs;
}

// Clusters inside regions, numbered by region.
Node Multilevel::cluster_regions(const Items& items, const Parents& region, const std::vector<double>& reference, Effort effort,
                                 const Parents* start, Parents& label) {
    const auto count = static_cast<Node>(reference.size());
    label.resize(items.size());
    std::vector<Node> first(static_cast<std::size_t>(count) + 1, 0);
    search_regions(items, region, reference, effort, start, [&](Node r, const Node* members, const Parents& inside, Node clusters, double) {
        first[r + 1] = clusters;
        for (std::size_t i = 0; i < inside.size(); ++i) label[members[i]] = inside[i];
    });
    for (Node r = 0; r < count; ++r) first[r + 1] += first[r];
    for (Node u = 0; u < items.size(); ++u) label[u] += first[region[u]];
    return first[count];
}

// Splits those clusters that cost less as the several clusters that form inside them.
void Multilevel::split_regions(const Items& items, Parents& region, Node& count) {
    Chain none;
    mover_.load(items, region, count, none, nullptr, *team_);
    std::vector<double> whole(count);  // costs; the search of a large region takes the mover
    for (Node r = 0; r < count; ++r) whole[r] = mover_.cost_of(r);
    Parents label(items.size(), 0);
    std::vector<Node> parts(count, 1);
    search_regions(items, region, std::vector<double>(count, 0), Effort::quick, nullptr,
                   [&](Node r, const Node* members, const Parents& inside, Node clusters, double cost) {
                       if (cost > whole[r] - kLeast * static_cast<double>(log_share_.total())) return;
                       parts[r] = clusters;
                       for (std::size_t i = 0; i < inside.size(); ++i) label[members[i]] = inside[i];
                   });
    std::vector<Node> first(static_cast<std::size_t>(count) + 1, 0);
    for (Node r = 0; r < count; ++r) first[r + 1] = first[r] + parts[r];
    for (Node u = 0; u < items.size(); ++u) region[u] = first[region[u]] + label[u];
    count = first[count];
}

// The clusters of a whole graph, found twice if it is small enough for a thorough search: the better ones.
Node Multilevel::cluster_whole(const Items& items, Effort effort, Parents& label) {
    Node count = cluster_from_singles(items, label, 0);
    if (effort == Effort::quick || items.size() + items.graph.num_arcs() > kLargeRegion) return count;
    const double before = mover_.cost();
    search_regions(items, Parents(items.size(), 0), {0.0}, effort, nullptr,
                   [&](Node, const Node*, const Parents& other, Node clusters, double cost) {
                       if (cost < before) label = other, count = clusters;
                   });
    return count;
}

}  // namespace sepool
