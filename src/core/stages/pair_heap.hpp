// The heap behind merging: pairs of clusters by rank.
#pragma once

#include "stages/merge.hpp"

namespace sepool {

// A heap whose nodes have four children: half as many steps as with two, and the four lie side by side.
class PairHeap {
public:
    struct Entry {
        Rank rank;
        Node a, b;  // b = kHub: the hub number a
        Weight c;   // of a hub's entry: its stamp

        bool before(const Entry& o) const { return rank.before(o.rank); }
    };
    static constexpr Node kHub = -1;

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
