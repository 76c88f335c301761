#include "search/grow.hpp"
#include "log2.hpp"

#include <algorithm>
#include <queue>

namespace sepool {
namespace {

constexpr std::size_t kPatience = 2;  // a cluster may grow to this multiple of its best size in search of a better one
constexpr std::size_t kWidest = 64;   // neighbours compared in each step
constexpr Edge kHub = 256;            // nodes with more edges join no cluster but their own: trying them out costs too much

}  // namespace

void Grower::run(const GraphView& graph, const std::vector<Weight>& volume, double log_reference, std::vector<Node>& label,
                 const Control& control) {
    const Node n = graph.num_nodes;
    const Log2 log2;
    label.assign(n, -1);
    to_taken_.assign(n, 0);
    to_cluster_.assign(n, 0);
    key_.resize(n);
    // Next seed: the free node with the largest share of its edges to nodes already taken; the last to be reached, if several.
    struct Seed {
        double share;
        Node order, node;
        bool operator<(const Seed& o) const { return share != o.share ? share < o.share : order < o.order; }
    };
    std::priority_queue<Seed> seeds;
    Node arrivals = 0, count = 0, fresh = 0;
    const auto share = [&](Node u) { return static_cast<double>(to_taken_[u]) / static_cast<double>(std::max<Weight>(1, volume[u])); };
    // Makes the first members a cluster. A neighbour of several members is reached by the last one: once, not once an edge.
    const auto take = [&](std::size_t size, Node c) {
        members_.resize(size);
        for (const Node u : members_) {
            label[u] = c;
            for (Edge e = graph.indptr[u]; e < graph.indptr[u + 1]; ++e) to_taken_[graph.indices[e]] += graph.weight(e);
        }
        frontier_.clear();
        for (auto u = members_.rbegin(); u != members_.rend(); ++u) {
            for (Edge e = graph.indptr[*u + 1]; e-- > graph.indptr[*u];) {
                const Node v = graph.indices[e];
                if (label[v] >= 0 || to_cluster_[v] != 0) continue;
                to_cluster_[v] = 1;
                frontier_.push_back(v);
            }
        }
        for (auto v = frontier_.rbegin(); v != frontier_.rend(); ++v) to_cluster_[*v] = 0, seeds.push({share(*v), arrivals++, *v});
    };
    for (Node taken = 0; taken < n;) {  // seeds that are left over are never sorted out
        Node seed = -1;
        while (!seeds.empty() && seed < 0) {
            const Seed s = seeds.top();
            seeds.pop();
            if (label[s.node] < 0 && s.share == share(s.node)) seed = s.node;
        }
        while (seed < 0 && fresh < n) {
            if (label[fresh] < 0) seed = fresh;
            ++fresh;
        }
        control.check();
        members_.assign(1, seed);
        frontier_.clear();
        Weight inside = 0, size = volume[seed];
        double best_ratio = 0;
        std::size_t best_size = 1, head = 0;
        const auto visit = [&](Node u) {
            for (Edge e = graph.indptr[u]; e < graph.indptr[u + 1]; ++e) {
                const Node v = graph.indices[e];
                if (label[v] >= 0 || graph.indptr[v + 1] - graph.indptr[v] > kHub) continue;
                if (to_cluster_[v] == 0) frontier_.push_back(v);
                to_cluster_[v] += graph.weight(e);
                key_[v] = static_cast<double>(to_cluster_[v]) / static_cast<double>(volume[v]);
            }
        };
        label[seed] = n;  // for now
        visit(seed);
        while (members_.size() < kPatience * best_size + 2) {
            double best_key = -1;
            std::size_t choice = 0;
            const std::size_t end = std::min(frontier_.size(), head + kWidest);
            for (std::size_t i = head; i < end; ++i) {
                const Node u = frontier_[i];
                if (key_[u] > best_key) best_key = key_[u], choice = i;
            }
            if (best_key < 0) break;
            const Node u = frontier_[choice];
            for (; choice > head; --choice) frontier_[choice] = frontier_[choice - 1];  // keep the order of arrival
            frontier_[head++] = u;
            inside += to_cluster_[u];
            size += volume[u];
            label[u] = n;
            members_.push_back(u);
            visit(u);
            const double ratio = static_cast<double>(inside) * (log_reference - log2(size)) / static_cast<double>(size);
            if (ratio > best_ratio) best_ratio = ratio, best_size = members_.size();
        }
        for (const Node u : frontier_) to_cluster_[u] = 0;
        for (const Node u : members_) to_cluster_[u] = 0, label[u] = -1;
        take(best_size, count++);
        taken += static_cast<Node>(best_size);
    }
}

}  // namespace sepool
