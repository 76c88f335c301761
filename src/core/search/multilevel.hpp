// Search on large graphs: moves of nodes, of clusters of nodes, and so on, from level to level and back.
#pragma once

#include <vector>

#include "search/mover.hpp"
#include "search/region.hpp"
#include "stages/compress.hpp"

namespace sepool {

class Multilevel {
public:
    enum class Effort { quick, thorough };

    // Writes a tree of low entropy whose height is at most `height`, 2 or more. The nodes of the graph must be in an order that
    // says nothing about their neighbours: moves are decided on in blocks of consecutive nodes. Quick work is not refined.
    void run(const GraphView& graph, int height, std::uint64_t seed, Effort effort, Team& team, Tree& tree, Control& control);

    using Chain = std::vector<Parents>;  // clusters of the nodes, clusters of these, and so on

    // The same from given levels. Items of all levels move; with `unions` clusters unite, too, else their number only falls where one
    // loses all items. `active` are the nodes that may move at first (empty: all); `held` ones, without unions, never do, nor do clusters
    // that hold one.
    struct Roles {
        std::vector<char> active, held;
    };
    void improve(const GraphView& graph, Chain chain, bool unions, Roles roles, std::uint64_t seed, Team& team, Tree& tree,
                 Control& control);

    // One level of clusters of a contracted graph. `inner` is the weight inside each node, which counts as edges of its cluster.
    void run_contracted(const GraphView& graph, const std::vector<Weight>& inner, std::uint64_t seed, Team& team, Parents& label,
                        Control& control);

private:
    Node settle_loaded(Mover::Until until, Parents& label, Chain& above);
    Node cluster_loaded(const Items& items, Parents& label, Chain& above, const std::vector<double>* reference);
    Node cluster(const Items& items, Parents& label, Node count, Chain& above, const std::vector<double>* reference);
    Node cluster_from_singles(const Items& items, Parents& label, double reference);
    Node cluster_whole(const Items& items, Effort effort, Parents& label);
    std::vector<double> log_shares(const Items& items, const Parents& region, Node count, double power) const;
    Node cluster_regions(const Items& items, const Parents& region, const std::vector<double>& reference, Effort effort,
                         const Parents* start, Parents& label);
    void split_regions(const Items& items, Parents& region, Node& count);
    template <class Use>
    void search_regions(const Items& items, const Parents& region, const std::vector<double>& reference, Effort effort,
                        const Parents* start, Use&& use);
    Node cycle(const Items& items, Parents& label, Node count);
    Node cluster_in_cycles(const Items& items, Parents& label, Effort effort, Control& control);
    void build_below(const Items& items, int levels, const Parents& clusters, Effort effort, Chain& chain);
    void build_above(const Items& items, int levels, Effort effort, Chain& chain);
    void build_chain(const Items& items, int height, const Parents& flat, Effort effort, Chain& chain);
    void build_by_resolution(const Items& items, int height, Chain& chain);
    void build_levels(const Items& items, int height, const Parents& flat, Node count, Chain& chain);
    void refine_levels(const Items& items, double last, Chain& chain);
    double sweep(const Items& items, Chain& chain, bool unions, Roles roles = {});
    Items prepare(const GraphView& graph, std::uint64_t seed, Team& team, Control& control);
    void polish(const Items& items, Chain& chain);
    double cost(const Items& items, const Chain& chain);
    void to_tree(const Items& items, const Chain& chain, Tree& tree);
    void compress(const Items& items, int height, Chain& chain);

    LogShares log_share_;
    Mover mover_{log_share_};
    Contractor contractor_;
    OptimalCompressor compressor_;
    std::vector<RegionSearch> region_search_;
    std::vector<Weight> volume_;  // of the nodes
    double constant_ = 0;  // half of the sum of all nodes' terms: with the cost, H times V / 2
    std::uint64_t seed_ = 0;
    Team* team_ = nullptr;
    const Control* control_ = nullptr;
};

}  // namespace sepool
