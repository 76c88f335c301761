#include "search/modularity.hpp"

#include <algorithm>
#include <numeric>

namespace sepool {
namespace {

constexpr int kMostSweeps = 50;  // never reached but for rounding that goes in circles

}  // namespace

void ModularityMover::run(const GraphView& graph, const std::vector<Weight>& volume, Random& random, std::vector<Node>& label,
                          const Control& control) {
    const Node n = graph.num_nodes;
    label.resize(n), order_.resize(n), to_cluster_.assign(n, 0);
    std::iota(label.begin(), label.end(), 0);
    std::iota(order_.begin(), order_.end(), 0);
    random.shuffle(order_.begin(), order_.end());
    cluster_volume_.assign(volume.begin(), volume.end());
    const double total = std::accumulate(cluster_volume_.begin(), cluster_volume_.end(), 0.0);
    bool moved = true;
    for (int sweep = 0; moved && sweep < kMostSweeps; ++sweep) {
        moved = false;
        control.check();
        for (const Node u : order_) {
            touched_.assign(1, label[u]);
            for (Edge e = graph.indptr[u]; e < graph.indptr[u + 1]; ++e) {
                const Node c = label[graph.indices[e]];
                if (to_cluster_[c] == 0 && c != label[u]) touched_.push_back(c);
                to_cluster_[c] += graph.weight(e);
            }
            const auto v = static_cast<double>(volume[u]);
            cluster_volume_[label[u]] -= v;
            double best = 0;
            Node home = label[u];
            for (const Node c : touched_) {
                const double gain = static_cast<double>(to_cluster_[c]) - v * cluster_volume_[c] / total;
                if (c == label[u] || gain > best + 1e-12 * v) best = gain, home = c;
                to_cluster_[c] = 0;
            }
            moved = moved || home != label[u];
            cluster_volume_[home] += v;
            label[u] = home;
        }
    }
    // Clusters by their first node.
    std::vector<Node>& number = order_;
    std::fill(number.begin(), number.end(), -1);
    Node count = 0;
    for (Node& c : label) {
        if (number[c] < 0) number[c] = count++;
        c = number[c];
    }
}

}  // namespace sepool
