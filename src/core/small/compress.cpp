// Optimal compression of small trees. The functions f_{t,j} of stages/compress.cpp are needed only at the log volumes of the
// ancestors of t, so they are tables with one entry for each ancestor. That takes time and memory for the sum of all depths,
// too much for high trees, but it is plain arithmetic along rows.

#include "small/compress.hpp"

#include <algorithm>

#include "log2.hpp"
#include "small/small.hpp"
#include "stages/compress.hpp"

namespace sepool::small {

// The row of a node has an entry for each of its ancestors, from the root down, and one for itself. False if there are too many.
bool Compressor::lay_out(const Tree& tree) {
    const Node n = tree.num_leaves, inner = tree.size() - n;
    if (!takes(inner <= kMostInner)) return false;
    depth_.resize(inner), start_.resize(inner);
    entries_ = 0;
    for (Node i = inner - 1; i >= 0; --i) {
        depth_[i] = i == inner - 1 ? 0 : depth_[tree.parent[i + n] - n] + 1;
        start_[i] = entries_;
        entries_ += depth_[i] + 1;
        if (entries_ > kMostEntries) return false;
    }
    return true;
}

// f_{t,j} at the log volumes of all ancestors of t, for all j but the last.
void Compressor::fill_tables(const Tree& tree, int passes) {
    const Node n = tree.num_leaves, inner = tree.size() - n;
    sum_.resize(entries_), ancestor_.resize(entries_);
    for (Node i = inner - 1; i >= 0; --i) {
        double* const row = ancestor_.data() + start_[i];
        if (i < inner - 1) std::copy_n(ancestor_.data() + start_[tree.parent[i + n] - n], depth_[i], row);
        row[depth_[i]] = log_volume_[i];
    }
    for (int j = 0; j + 1 < passes; ++j) {
        std::fill(sum_.begin(), sum_.end(), 0.0);
        for (Node i = 0; i + 1 < inner; ++i) {
            const Node depth = depth_[i];
            const double* const x = ancestor_.data() + start_[i];
            const double* const children = sum_.data() + start_[i];
            double* const above = sum_.data() + start_[tree.parent[i + n] - n];
            char* const stays = stays_.data() + static_cast<std::size_t>(entries_) * j + start_[i];
            const double cut = 2 * static_cast<double>(tree.cut[i + n]), kept = cut * x[depth] + below_[i];
            const double limit = keep_limit(kept, cut);
            below_[i] = children[depth];
            for (Node d = 0; d < depth; ++d) {
                const double gone = cut * x[d] + children[d];
                stays[d] = gone > limit;
                above[d] += std::min(kept, gone);
            }
        }
    }
}

// The last pass is about nodes with all levels left. No node above them stays but the root, so only the first entry of a row is
// needed.
void Compressor::last_pass(const Tree& tree, int passes) {
    const Node n = tree.num_leaves, inner = tree.size() - n;
    sum_.assign(inner, 0.0);
    const double x = log_volume_[inner - 1];
    char* const last = stays_.data() + static_cast<std::size_t>(entries_) * (passes - 1);
    for (Node i = 0; i + 1 < inner; ++i) {
        const double cut = 2 * static_cast<double>(tree.cut[i + n]);
        const double kept = cut * log_volume_[i] + below_[i], gone = cut * x + sum_[i];
        last[start_[i]] = gone > keep_limit(kept, cut);
        sum_[tree.parent[i + n] - n] += std::min(kept, gone);
    }
}

// From the root down. Where no level is left, any entry is read and then ignored: no branch for the processor to guess.
void Compressor::choose(const Tree& tree, int passes, std::vector<char>& keep) {
    const Node n = tree.num_leaves, inner = tree.size() - n;
    levels_.resize(inner), nearest_.resize(inner);
    levels_[inner - 1] = passes, nearest_[inner - 1] = 0;
    for (Node i = inner - 2; i >= 0; --i) {
        const Node p = tree.parent[i + n] - n, left = levels_[p];
        const char any = left > 0;
        const char stays = stays_[static_cast<std::size_t>(entries_) * (left - any) + start_[i] + nearest_[p]] & any;
        keep[i + n] = stays;
        levels_[i] = left - stays;
        nearest_[i] = nearest_[p] + stays * (depth_[i] - nearest_[p]);
    }
}

bool Compressor::run(const Tree& tree, int passes, std::vector<char>& keep) {
    const Node n = tree.num_leaves, inner = tree.size() - n;
    if (!lay_out(tree)) return false;
    stays_.resize(static_cast<std::size_t>(entries_) * passes), log_volume_.resize(inner), below_.assign(inner, 0.0);
    const Log2 log2;
    // f_{c,0}(log v_t): all edges inside the children, at the volume of t. Until then below_ is I of the children.
    for (Node i = 0; i < inner; ++i) {
        log_volume_[i] = log2(tree.volume[i + n]);
        if (i + 1 < inner) below_[tree.parent[i + n] - n] += below_[i] + static_cast<double>(tree.cut[i + n]);
        below_[i] *= 2 * log_volume_[i];
    }
    if (passes > 1) fill_tables(tree, passes);
    last_pass(tree, passes);
    choose(tree, passes, keep);
    return true;
}

}  // namespace sepool::small
