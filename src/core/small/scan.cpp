// MERGE of problems too large for words of bits and too small for a heap: the keys of all pairs stand in one array, and every
// merge scans it for the largest.

#include <algorithm>

#include "small/small.hpp"
#include "stages/merge.hpp"

namespace sepool::small {
namespace {

class ScanMerge {
public:
    // Pair i stands in the lists of its clusters with its two ends, entries 2i and 2i + 1.
    ScanMerge(MergeProblem& problem, Linkage linkage)
        : linkage_(linkage), log_total_(Log2()(problem.total)), volume_(problem.volume), key_(problem.pairs.size()),
          weight_(problem.pairs.size()), name_(volume_.size()), head_(volume_.size(), -1), pair_to_(volume_.size(), -1),
          end_(2 * problem.pairs.size()), next_(2 * problem.pairs.size()) {
        for (std::size_t u = 0; u < name_.size(); ++u) name_[u] = static_cast<Node>(u);
        for (std::size_t i = 0; i < problem.pairs.size(); ++i) {
            const Pair& p = problem.pairs[i];
            const auto entry = static_cast<Node>(2 * i);
            weight_[i] = p.c;
            enlist(p.a, entry), enlist(p.b, entry + 1);
            key_[i] = linkage_key(linkage_, p.c, volume_[p.a], volume_[p.b], log_total_);
        }
    }

    void run(std::vector<Pair>& merges) {
        for (auto made = static_cast<Node>(name_.size());; ++made) {
            const Node best = first_of_largest();
            if (best < 0) return;
            const Node a = end_[2 * best], b = end_[2 * best + 1];
            merges.push_back({name_[a], name_[b], weight_[best]});
            name_[a] = made;
            volume_[a] += volume_[b];
            key_[best] = kGone;
            join_lists(a, b);
        }
    }

private:
    static constexpr double kGone = -1;

    void enlist(Node cluster, Node entry) {
        end_[entry] = cluster;
        next_[entry] = head_[cluster];
        head_[cluster] = entry;
    }

    // The lists of both become one. Pairs with a common neighbour become the first of the two, as their position demands.
    void join_lists(Node a, Node b) {
        for (const Node cluster : {a, b}) {
            for (Node e = head_[cluster]; e >= 0; e = next_[e]) {
                const Node i = e >> 1, other = end_[e ^ 1];
                if (key_[i] < 0) continue;
                const Node known = pair_to_[other], first = known < 0 ? i : std::min(i, known);
                pair_to_[other] = first;
                if (known < 0) continue;
                weight_[first] = weight_[i] + weight_[known];
                key_[i + known - first] = kGone;
            }
        }
        Node entries[2] = {head_[a], head_[b]};
        head_[a] = -1;
        for (Node e : entries) {
            for (Node after; e >= 0; e = after) {
                after = next_[e];
                const Node i = e >> 1, other = end_[e ^ 1];
                if (key_[i] < 0) continue;
                enlist(a, e);
                pair_to_[other] = -1;
                key_[i] = linkage_key(linkage_, weight_[i], volume_[a], volume_[other], log_total_);
            }
        }
    }

    // Four maxima at a time: they do not wait for each other.
    Node first_of_largest() const {
        const auto m = key_.size();
        double top[4] = {kGone, kGone, kGone, kGone};
        std::size_t i = 0;
        for (; i + 4 <= m; i += 4)
            for (int j = 0; j < 4; ++j) top[j] = std::max(top[j], key_[i + j]);
        for (; i < m; ++i) top[0] = std::max(top[0], key_[i]);
        const double best = std::max(std::max(top[0], top[1]), std::max(top[2], top[3]));
        if (best < 0) return -1;
        return static_cast<Node>(std::find(key_.begin(), key_.end(), best) - key_.begin());
    }

    const Linkage linkage_;
    const double log_total_;
    std::vector<Weight>& volume_;
    std::vector<double> key_;                  // of a pair, at its position; kGone for pairs that are gone
    std::vector<Weight> weight_;               // of a pair
    std::vector<Node> name_, head_, pair_to_;  // of a cluster
    std::vector<Node> end_, next_;             // of an entry: its cluster, and the next entry in the list of that cluster
};

}  // namespace

void merge_by_scan(MergeProblem& problem, Linkage linkage, std::vector<Pair>& merges) { ScanMerge(problem, linkage).run(merges); }

}  // namespace sepool::small
