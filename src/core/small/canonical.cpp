// The canonical order of at most 64 nodes without weights. The same steps as in graph/canonical.cpp, but cells are
// words of bits: a splitter acts on all nodes at once, and nothing is sorted.

#include <algorithm>

#include "graph/canonical.hpp"
#include "small/masks.hpp"
#include "small/small.hpp"

namespace sepool::small {
namespace {

class SmallCanonical {
public:
    SmallCanonical(const GraphView& graph, const Node* rank) : n_(graph.num_nodes), rank_(rank) {
        fill_masks(graph, near_, [](Node u) { return u; });
        if (graph.loops) split_by_loops(graph);
        else split_by_degree(graph);
    }

    // False if nodes are interchangeable by the structure, and colours would order them.
    bool refine_structure(bool is_coloured) {
        refine();
        return !open_ || !is_coloured || rank_;
    }

    void run(Node* order) {
        while (open_) {  // individualise one node of the first open cell
            const int begin = least(open_);
            const Mask one = bit(preferred(cell_[begin]));
            const int last = begin + size_of(cell_[begin]) - 1;
            place(begin, cell_[begin] ^ one);
            place(last, one);
            enqueue(last);
            refine();
        }
        for (Node i = 0; i < n_; ++i) order[i] = least(cell_[i]);
    }

private:
    void split_by_degree(const GraphView& graph) {
        Mask by_degree[kMaskBits], degrees = 0;
        std::fill_n(by_degree, n_, 0);
        for (Node u = 0; u < n_; ++u) {
            const auto degree = static_cast<int>(graph.indptr[u + 1] - graph.indptr[u]);
            by_degree[degree] |= bit(u);
            degrees |= bit(degree);
        }
        int begin = 0;
        for (; degrees; degrees = without_least(degrees)) {
            enqueue(begin);
            const Mask nodes = by_degree[least(degrees)];
            place(begin, nodes);
            begin += size_of(nodes);
        }
    }

    // Loops and degrees as one number, as in the general code.
    void split_by_loops(const GraphView& graph) {
        std::uint64_t key[kMaskBits];
        Node sorted[kMaskBits];
        for (Node u = 0; u < n_; ++u) {
            sorted[u] = u;
            key[u] = (static_cast<std::uint64_t>(graph.loops[u]) << 32) + static_cast<std::uint64_t>(graph.degree(u));
        }
        std::sort(sorted, sorted + n_, [&](Node a, Node b) { return key[a] < key[b]; });
        for (Node begin = 0, end; begin < n_; begin = end) {
            Mask nodes = 0;
            for (end = begin; end < n_ && key[sorted[end]] == key[sorted[begin]]; ++end) nodes |= bit(sorted[end]);
            enqueue(begin);
            place(begin, nodes);
        }
    }

    // The node of a cell, in the largest components, that is lowest by colours, or else by number.
    int preferred(Mask cell) {
        Mask candidates = cell;
        int most = 0;
        for (Mask left = connected_ ? 0 : cell, part; left; left &= ~part) {
            part = component(least(left));
            const int size = size_of(part);
            if (size > most) most = size, candidates = 0;
            if (size == most) candidates |= part & cell;
            connected_ = size == n_;
        }
        int chosen = least(candidates);
        if (rank_)
            for (Mask left = candidates; left; left = without_least(left))
                if (rank_[least(left)] < rank_[chosen]) chosen = least(left);
        return chosen;
    }

    Mask component(int u) const {
        Mask nodes = bit(u);
        for (Mask last = nodes; last;) {  // ring by ring around u
            Mask next = 0;
            for (; last; last = without_least(last)) next |= near_[least(last)];
            last = next & ~nodes;
            nodes |= next;
        }
        return nodes;
    }

    void enqueue(int begin) {
        queued_ |= bit(begin);
        queue_[tail_++ % kMaskBits] = static_cast<std::uint8_t>(begin);
    }

    // Makes `nodes` the cell at `begin`.
    void place(int begin, Mask nodes) {
        cell_[begin] = nodes;
        const Mask several = without_least(nodes) ? ~Mask{0} : 0;
        open_ = (open_ & ~bit(begin)) | (several & bit(begin));
        open_nodes_ = (open_nodes_ & ~nodes) | (several & nodes);
    }

    void refine() {
        while (open_ && head_ != tail_) {
            const int begin = queue_[head_++ % kMaskBits];
            queued_ &= ~bit(begin);
            const Mask splitter = cell_[begin];
            if (without_least(splitter)) refine_by_cell(splitter);
            else refine_by_node(near_[least(splitter)] & open_nodes_);
        }
    }

    // Splits the cells of which some nodes, but not all, are touched. There are few open cells: trying each is quicker than a
    // list of touched ones.
    void refine_by_node(Mask touched) {
        if (!touched) return;
        for (Mask cells = open_; cells; cells = without_least(cells)) {
            const int begin = least(cells);
            split_in_two(begin, cell_[begin] & touched);
        }
    }

    // Cuts the last nodes off a cell, unless they are all of it or none. A queued cell stays queued and its other part joins it; else
    // the smaller part is enough.
    void split_in_two(int begin, Mask last) {
        const Mask first = cell_[begin] ^ last;
        if (!first || !last) return;
        const int size = size_of(first), part = begin + size;
        place(begin, first);
        place(part, last);
        enqueue(queued_ & bit(begin) || size_of(last) <= size ? part : begin);
    }

    void refine_by_cell(Mask splitter) {
        // Neighbours of every node in the splitter, as binary numbers: count[i] has the i-th digits of all of them.
        Mask count[8] = {}, touched = 0;
        for (; splitter; splitter = without_least(splitter)) {
            Mask carry = near_[least(splitter)] & open_nodes_;
            touched |= carry;
            for (int i = 0; i < 3; ++i) {  // most often the last digits
                const Mask sum = count[i] ^ carry;
                carry &= count[i];
                count[i] = sum;
            }
            for (int i = 3; carry; ++i) {
                const Mask sum = count[i] ^ carry;
                carry &= count[i];
                count[i] = sum;
            }
        }
        int digits = 1;
        while (digits < 8 && count[digits]) ++digits;
        if (digits == 1) return refine_by_node(touched);
        for (Mask cells = open_; cells; cells = without_least(cells))
            if (cell_[least(cells)] & touched) split(least(cells), count, digits);
    }

    // Splits a cell by the counts of its nodes, the smallest first. As above, the largest part can be left out of the queue.
    void split(int begin, const Mask* count, int digits) {
        Mask parts[2][kMaskBits + 1];
        Mask* now = parts[0];
        Mask* next = parts[1];
        int size = 1;
        now[0] = cell_[begin];
        for (int i = digits - 1; i >= 0; --i) {
            int k = 0;
            for (int j = 0; j < size; ++j) {
                next[k] = now[j] & ~count[i], k += next[k] != 0;
                next[k] = now[j] & count[i], k += next[k] != 0;
            }
            size = k;
            std::swap(now, next);
        }
        if (size == 1) return;
        int at[kMaskBits + 1], left_out = 0;
        at[0] = begin;
        for (int j = 0; j < size; ++j) {
            place(at[j], now[j]);
            at[j + 1] = at[j] + size_of(now[j]);
        }
        if (!(queued_ & bit(begin)))
            for (int j = 1; j < size; ++j)
                if (at[j + 1] - at[j] > at[left_out + 1] - at[left_out]) left_out = j;
        for (int j = 0; j < size; ++j)
            if (j != left_out) enqueue(at[j]);
    }

    Node n_;
    const Node* rank_;                        // of the nodes by colours, or null
    Mask near_[kMaskBits], cell_[kMaskBits];  // the neighbours of a node; the cell that begins at a place
    Mask open_ = 0, open_nodes_ = 0;          // where cells of several nodes begin, and the nodes in them
    Mask queued_ = 0;
    std::uint8_t queue_[kMaskBits];
    unsigned head_ = 0, tail_ = 0;
    bool connected_ = false;  // false until one component has all nodes
};

}  // namespace

bool has_order(const GraphView& graph) { return fits(graph.num_nodes) && !graph.weights; }

bool order(const GraphView& graph, const Node* rank, Node* order) {
    SmallCanonical canonical(graph, rank);
    if (!canonical.refine_structure(graph.is_coloured())) return false;
    canonical.run(order);
    return true;
}

}  // namespace sepool::small
