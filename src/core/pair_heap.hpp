// The heap behind merging: pairs of clusters by falling key.
#pragma once

#include "types.hpp"

namespace sepool {

// A heap whose nodes have four children: half as many steps as with two, and the four lie side by side.
class PairHeap {
public:
    struct Entry {
        double key;
        std::uint64_t tie;  // of equal keys the least comes first: number of the cluster or hub, then of the other cluster
        Weight c;           // of a hub's entry: its stamp

        Entry(double k, Weight weight, Node a, Node b)  // b = -1: the hub number a
            : key(k), tie(static_cast<std::uint64_t>(a) << 32 | static_cast<std::uint32_t>(b + 1)), c(weight) {}
        Node a() const { return static_cast<Node>(tie >> 32); }
        Node b() const { return static_cast<Node>(tie & 0xffffffffu) - 1; }
        // Without `&&` and `||`: there is no branch in it that the processor would have to guess.
        bool before(const Entry& o) const { return (key > o.key) | ((key == o.key) & (tie < o.tie)); }
    };

    bool empty() const { return entries_.empty(); }
    const Entry& top() const { return entries_.front(); }
    void reserve(std::size_t size) { entries_.reserve(size); }
    std::size_t size() const { return entries_.size(); }

    // Without a place in the order yet; `order` gives it one.
    void append(const Entry& e) { entries_.push_back(e); }

    void order(const Control& control) {
        for (std::size_t i = entries_.size() < 2 ? 0 : (entries_.size() - 2) / 4 + 1; i > 0; --i) {
            if ((i & 0xffff) == 0) control.check();
            sink(i - 1, entries_[i - 1]);
        }
    }

    void push(const Entry& e) {
        std::size_t at = entries_.size();
        entries_.push_back(e);
        for (; at > 0 && e.before(entries_[(at - 1) / 4]); at = (at - 1) / 4) entries_[at] = entries_[(at - 1) / 4];
        entries_[at] = e;
    }

    Entry pop() {
        const Entry top = entries_.front(), last = entries_.back();
        entries_.pop_back();
        if (!entries_.empty()) sink(0, last);
        return top;
    }

private:
    void sink(std::size_t at, const Entry e) {
        const std::size_t size = entries_.size();
        Entry* const all = entries_.data();
        for (;;) {
            const std::size_t first = 4 * at + 1;
            if (first >= size) break;
            std::size_t best;
            if (first + 4 <= size) {
                const std::size_t left = first + all[first + 1].before(all[first]);
                const std::size_t right = first + 2 + all[first + 3].before(all[first + 2]);
                best = all[right].before(all[left]) ? right : left;
            } else {
                best = first;
                for (std::size_t i = first + 1; i < size; ++i) best = all[i].before(all[best]) ? i : best;
            }
            if (!all[best].before(e)) break;
            all[at] = all[best];
            at = best;
        }
        all[at] = e;
    }

    std::vector<Entry> entries_;
};

}  // namespace sepool
