#include "graph/rewire.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "graph/mix.hpp"
#include "prefetch.hpp"

namespace sepool {
namespace {

// A set of edges: open addressing with linear probing.
class EdgeSet {
public:
    explicit EdgeSet(std::size_t edges) {
        std::size_t size = 4;
        while (size < 2 * edges) size *= 2;
        slots_.assign(size, kEmpty);
        mask_ = size - 1;
    }

    static std::uint64_t key(Node a, Node b) {
        const auto [low, high] = std::minmax(a, b);
        return static_cast<std::uint64_t>(low) << 32 | static_cast<std::uint32_t>(high);
    }

    void fetch(std::uint64_t key) const { prefetch(&slots_[home(key)]); }
    bool holds(std::uint64_t key) const { return slots_[place(key)] == key; }
    void insert(std::uint64_t key) { slots_[place(key)] = key; }

    void erase(std::uint64_t key) {
        std::size_t gap = place(key);
        // Entries that the gap would hide from their home move into it.
        for (std::size_t i = (gap + 1) & mask_; slots_[i] != kEmpty; i = (i + 1) & mask_) {
            if (((i - home(slots_[i])) & mask_) < ((i - gap) & mask_)) continue;
            slots_[gap] = slots_[i];
            gap = i;
        }
        slots_[gap] = kEmpty;
    }

private:
    static constexpr std::uint64_t kEmpty = ~std::uint64_t{0};

    std::size_t home(std::uint64_t key) const { return static_cast<std::size_t>(mix(key + 0x9E3779B97F4A7C15ull)) & mask_; }
    std::size_t place(std::uint64_t key) const {
        std::size_t i = home(key);
        while (slots_[i] != kEmpty && slots_[i] != key) i = (i + 1) & mask_;
        return i;
    }

    std::vector<std::uint64_t> slots_;
    std::size_t mask_ = 0;
};

struct Attempt {
    Edge first = 0, second = 0;
    bool turn_first = false, turn_second = false;  // which ends change places
};

class Attempts {
public:
    Attempts(const std::vector<Edge>& group_ptr, std::uint64_t seed) : group_ptr_(group_ptr), state_(mix(seed)) {
        if (group_ptr.size() <= 2) return;
        group_.resize(static_cast<std::size_t>(group_ptr.back()));
        for (std::size_t g = 0; g + 1 < group_ptr.size(); ++g)
            std::fill(group_.begin() + group_ptr[g], group_.begin() + group_ptr[g + 1], static_cast<Node>(g));
    }

    Attempt next() {
        Attempt a;
        const std::uint64_t coins = draw();
        a.first = below(group_ptr_.back());
        const std::size_t g = group_.empty() ? 0 : static_cast<std::size_t>(group_[a.first]);
        a.second = group_ptr_[g] + below(group_ptr_[g + 1] - group_ptr_[g]);
        a.turn_first = coins & 1, a.turn_second = coins & 2;
        return a;
    }

private:
    std::uint64_t draw() { return mix(state_ += 0x9E3779B97F4A7C15ull); }
    Edge below(Edge n) { return static_cast<Edge>(draw() % static_cast<std::uint64_t>(n)); }

    const std::vector<Edge>& group_ptr_;
    std::vector<Node> group_;  // of the edges; empty: one
    std::uint64_t state_;
};

}  // namespace

void rewire(std::vector<EdgePair>& edges, const std::vector<Edge>& group_ptr, const std::int64_t* between, double attempts,
            std::uint64_t seed) {
    if (edges.size() < 2) return;
    EdgeSet present(edges.size());
    for (const auto [u, v] : edges) present.insert(EdgeSet::key(u, v));

    const auto ends = [&](const Attempt& a) {  // a-b and c-d, of which b and d change places
        EdgePair one = edges[a.first], two = edges[a.second];
        if (a.turn_first) std::swap(one.u, one.v);
        if (a.turn_second) std::swap(two.u, two.v);
        return std::pair(one, two);
    };
    const auto apart = [&](Node a, Node b) { return a != b && (!between || between[a] != between[b]); };
    // Attempts are drawn ahead, so that memory can be fetched: first the edges, then their places in the set.
    constexpr std::int64_t kAhead = 32, kEdgesAhead = 16;
    std::array<Attempt, kAhead> ring;
    Attempts draws(group_ptr, seed);
    const auto count = static_cast<std::int64_t>(attempts * static_cast<double>(edges.size()));
    for (std::int64_t t = -kAhead; t < count; ++t) {
        Attempt& slot = ring[(t + kAhead) % kAhead];
        if (t >= 0) {
            const Attempt a = slot;
            const auto [one, two] = ends(a);
            const std::uint64_t left = EdgeSet::key(one.u, two.v), right = EdgeSet::key(two.u, one.v);
            if (a.first != a.second && apart(one.u, two.v) && apart(two.u, one.v) && left != right && !present.holds(left) &&
                !present.holds(right)) {
                present.erase(EdgeSet::key(one.u, one.v)), present.erase(EdgeSet::key(two.u, two.v));
                present.insert(left), present.insert(right);
                edges[a.first] = {one.u, two.v}, edges[a.second] = {two.u, one.v};
            }
        }
        slot = draws.next();
        prefetch(&edges[slot.first]), prefetch(&edges[slot.second]);
        if (t < -kEdgesAhead) continue;
        const auto [one, two] = ends(ring[(t + kAhead - kEdgesAhead) % kAhead]);
        present.fetch(EdgeSet::key(one.u, two.v)), present.fetch(EdgeSet::key(two.u, one.v));
        present.fetch(EdgeSet::key(one.u, one.v)), present.fetch(EdgeSet::key(two.u, two.v));
    }
}

}  // namespace sepool
