#include "search/items.hpp"

#include <algorithm>

namespace sepool {
namespace {

constexpr Weight kSmallVolumes = 1 << 16;  // half a megabyte of logarithms, read faster than computed
constexpr std::int64_t kClustersAChunk = 256;

}  // namespace

void LogShares::reset(Weight total) {
    if (total == total_) return;
    total_ = total;
    inverse_total_ = 1 / std::max(1.0, static_cast<double>(total));
    table_.assign(1, 0);
    std::vector<double> table(static_cast<std::size_t>(std::min(total + 1, kSmallVolumes)), 0);
    for (Weight v = 1; v < static_cast<Weight>(table.size()); ++v) table[v] = fixed_log2(static_cast<double>(v) * inverse_total_);
    table_.swap(table);
}

void Contractor::sort_members(const std::vector<Node>& label, Node count, std::vector<Edge>& begin, std::vector<Node>& members) {
    begin.assign(static_cast<std::size_t>(count) + 1, 0);
    members.resize(label.size());
    for (const Node c : label) ++begin[c + 1];
    for (Node c = 0; c < count; ++c) begin[c + 1] += begin[c];
    for (Node u = 0; u < static_cast<Node>(label.size()); ++u) members[begin[label[u]]++] = u;
    for (Node c = count; c > 0; --c) begin[c] = begin[c - 1];
    begin[0] = 0;
}

void Contractor::run(const Items& items, const std::vector<Node>& label, Node count, bool keep_inner, ItemGraph& out, Team& team) {
    sort_members(label, count, begin_, members_);
    const GraphView& graph = items.graph;
    out.volume.assign(count, 0);
    out.inner.assign(keep_inner ? count : 0, 0);
    out.graph.indptr.assign(static_cast<std::size_t>(count) + 1, 0);
    out.graph.loops.clear();
    std::vector<Rows> chunks((count + kClustersAChunk - 1) / kClustersAChunk);
    scratch_.resize(team.size());
    for (Scratch& s : scratch_)
        if (static_cast<Node>(s.weight_to.size()) < count) s.weight_to.assign(count, 0), s.reached.resize(count);
    // The places of a chunk's rows follow from all lengths; until then it keeps them, in no more memory than they need.
    team.share(count, kClustersAChunk, [&](std::int64_t first, std::int64_t last, int thread) {
        Rows& rows = scratch_[thread].rows;
        rows.indices.clear(), rows.weights.clear();
        Weight* const sum = scratch_[thread].weight_to.data();
        Node* const reached = scratch_[thread].reached.data();
        for (Node c = static_cast<Node>(first); c < last; ++c) {
            std::size_t length = 0;
            Weight volume = 0, inside = 0, twice = 0;
            for (Edge i = begin_[c]; i < begin_[c + 1]; ++i) {
                const Node u = members_[i];
                volume += items.volume[u];
                inside += items.inside(u);
                for (Edge e = graph.indptr[u]; e < graph.indptr[u + 1]; ++e) {
                    const Node other = label[graph.indices[e]];
                    if (other == c) {
                        twice += graph.weight(e);
                        continue;
                    }
                    if (sum[other] == 0) reached[length++] = other;
                    sum[other] += graph.weight(e);
                }
            }
            for (std::size_t i = 0; i < length; ++i) {
                rows.indices.push_back(reached[i]);
                rows.weights.push_back(sum[reached[i]]);
                sum[reached[i]] = 0;
            }
            out.volume[c] = volume;
            if (keep_inner) out.inner[c] = inside + twice / 2;
            out.graph.indptr[c + 1] = static_cast<Edge>(length);
        }
        chunks[first / kClustersAChunk] = rows;
    });
    for (Node c = 0; c < count; ++c) out.graph.indptr[c + 1] += out.graph.indptr[c];
    out.graph.indices.resize(out.graph.indptr[count]);
    out.graph.weights.resize(out.graph.indptr[count]);
    team.share(static_cast<std::int64_t>(chunks.size()), 1, [&](std::int64_t chunk, std::int64_t, int) {
        const Edge at = out.graph.indptr[chunk * kClustersAChunk];
        std::copy(chunks[chunk].indices.begin(), chunks[chunk].indices.end(), out.graph.indices.begin() + at);
        std::copy(chunks[chunk].weights.begin(), chunks[chunk].weights.end(), out.graph.weights.begin() + at);
        chunks[chunk] = {};
    });
}

}  // namespace sepool
