// Refinement of given levels: moves of items between them, unions and shaking.

#include <utility>

#include "search/multilevel.hpp"

namespace sepool {
namespace {

constexpr double kProgress = 1e-3;  // relative fall of H for which another round is worth its time
constexpr int kMostPolishes = 2;

// The clusters with a marked item; no marks stay none.
void mark_clusters(std::vector<char>& marks, const Parents& label, Node count) {
    if (marks.empty()) return;
    std::vector<char> up(count, 0);
    for (std::size_t u = 0; u < marks.size(); ++u)
        if (marks[u]) up[label[u]] = 1;
    marks.swap(up);
}

}  // namespace

// Lets items of every level move anywhere in the tree, from the lowest level up; with `unions` clusters of the level above unite,
// too. Clusters of active and of held items are active and held. Returns the change of the cost.
double Multilevel::sweep(const Items& items, Chain& chain, bool unions, Roles roles) {
    ItemGraph coarse, next;
    Items at = items;
    double change = 0;
    for (std::size_t l = 0; l < chain.size(); ++l) {
        Chain above(chain.begin() + static_cast<std::ptrdiff_t>(l) + 1, chain.end());
        Node count = count_of(chain[l]);
        mover_.load(at, chain[l], count, above, nullptr, *team_);
        if (!roles.active.empty()) mover_.wake(roles.active);
        mover_.hold(roles.held);
        change -= mover_.cost();
        count = unions ? cluster_loaded(at, chain[l], above, nullptr) : settle_loaded(Mover::Until::none_moves, chain[l], above);
        change += mover_.cost();
        std::move(above.begin(), above.end(), chain.begin() + static_cast<std::ptrdiff_t>(l) + 1);
        if (l + 1 == chain.size()) break;
        mark_clusters(roles.active, chain[l], count);
        mark_clusters(roles.held, chain[l], count);
        contractor_.run(at, chain[l], count, false, next, *team_);
        std::swap(coarse, next);
        at = coarse.view();
    }
    return change;
}

// Shakes the clusters of every level inside those of the next one; those of the last level inside regions that stand for one.
void Multilevel::polish(const Items& items, Chain& chain) {
    ItemGraph coarse, next;
    Items at = items;
    for (std::size_t l = 0; l < chain.size(); ++l) {
        Node count = count_of(chain[l]);
        const bool last = l + 1 == chain.size();
        contractor_.run(at, chain[l], count, false, next, *team_);
        Parents up, label;
        if (last) cluster_from_singles(next.view(), up, 0);
        else up = chain[l + 1];
        Parents region(chain[l]);
        compose(region, up);
        const Node regions = count_of(up);
        count = cluster_regions(at, region, last ? std::vector<double>(regions, 0) : log_shares(at, region, regions, 1), Effort::thorough,
                                &chain[l], label);
        if (!last) {
            chain[l + 1].resize(count);
            for (Node u = 0; u < at.size(); ++u) chain[l + 1][label[u]] = region[u];
        }
        chain[l] = std::move(label);
        if (last) break;
        contractor_.run(at, chain[l], count, false, next, *team_);
        std::swap(coarse, next);
        at = coarse.view();
    }
}

// Shakes and moves clusters of all levels while that pays. `last` is H times V / 2.
void Multilevel::refine_levels(const Items& items, double last, Chain& chain) {
    for (int i = 0; i < kMostPolishes; ++i) {
        Chain before(chain);
        polish(items, chain);
        sweep(items, chain, true);
        const double now = constant_ + cost(items, chain);
        if (now >= last) chain.swap(before);
        if (now >= last * (1 - kProgress)) return;
        last = now;
    }
}

void Multilevel::improve(const GraphView& graph, Chain chain, bool unions, Roles roles, std::uint64_t seed, Team& team, Tree& tree,
                         Control& control) {
    const Items items = prepare(graph, seed, team, control);
    control.enter("refining", 0.2);
    if (!unions) {
        sweep(items, chain, false, std::move(roles));
    } else {
        const double last = constant_ + cost(items, chain);
        refine_levels(items, last + sweep(items, chain, true), chain);
    }
    to_tree(items, chain, tree);
}

}  // namespace sepool
