// The rows of the cluster graph during merging: the neighbours of every cluster, with weights and positions.
#pragma once

#include <algorithm>

#include "stages/merge.hpp"

namespace sepool {

// Short rows are scanned, long rows are open-addressing tables; all live in one arena with free lists by size.
// A merged cluster's id stays behind in the long rows of its neighbours and is dropped when such a row is rebuilt.
class Rows {
public:
    struct Link {
        Node key;  // the neighbour
        Position position;
        Weight c;
    };

    Rows(Node n, const std::vector<Pair>& pairs, const Control& control) : row_(n) {
        std::vector<Node> degree(n, 0);
        for (const Pair& p : pairs) ++degree[p.a], ++degree[p.b];
        std::size_t slots = 0;
        for (Node u = 0; u < n; ++u) slots += capacity(class_for(degree[u]));
        arena_.reserve(slots + slots / 4);
        for (Node u = 0; u < n; ++u) {
            if ((u & 0xffff) == 0) control.check();
            row_[u] = {take(class_for(degree[u])), 0, 0, class_for(degree[u]), true};
        }
        for (std::size_t i = 0; i < pairs.size(); ++i) {
            if ((i & 0xffff) == 0) control.check();
            const Pair& p = pairs[i];
            const auto position = static_cast<Position>(std::min<std::size_t>(i, kLastPosition));
            add(p.a, {p.b, position, p.c}), add(p.b, {p.a, position, p.c});
        }
    }

    Node size(Node u) const { return row_[u].live; }

    const Link& link(Node u, Node key) const {
        const Row& row = row_[u];
        const std::size_t mask = capacity(row.size_class) - 1;
        for (std::size_t i = is_short(row) ? 0 : start(key, mask);; i = (i + 1) & mask)
            if (arena_[row.begin + i].key == key) return arena_[row.begin + i];
    }

    // b becomes part of a. Calls grown(link) for the link from a to every common neighbour.
    template <class Grown>
    void join(Node a, Node b, Grown&& grown) {
        row_[b].alive = false;
        --row_[a].live;
        drop_if_short(a, b);
        const Row from = row_[b];
        for (std::size_t i = from.begin, end = from.begin + extent(from); i < end; ++i) {
            const Link s = arena_[i];
            if (s.key < 0 || s.key == a || !row_[s.key].alive) continue;
            drop_if_short(s.key, b);
            --row_[s.key].live;
            add(s.key, {a, s.position, s.c});
            const Link sum = add(a, s);
            if (sum.c != s.c) grown(sum);
        }
        give(row_[b]);
    }

private:
    static constexpr int kShort = 3;  // rows of up to 2^3 slots are scanned

    struct Row {
        std::size_t begin;
        Node used, live;   // slots in use, and those of them whose cluster still exists
        std::int8_t size_class;
        bool alive;
    };

    static std::size_t capacity(int size_class) { return std::size_t{1} << size_class; }
    static std::int8_t class_for(std::int64_t entries) {
        int c = 1;
        if (entries > 8) entries += entries / 2;  // tables stay at most two thirds full
        while ((std::int64_t{1} << c) < entries) ++c;
        return static_cast<std::int8_t>(c);
    }
    static bool is_short(const Row& row) { return row.size_class <= kShort; }
    static std::size_t extent(const Row& row) { return is_short(row) ? row.used : capacity(row.size_class); }
    static std::size_t start(Node key, std::size_t mask) { return (static_cast<std::uint64_t>(key) * 0x9e3779b97f4a7c15ULL >> 32) & mask; }

    std::size_t take(int size_class) {
        auto& list = free_[size_class];
        std::size_t begin;
        if (!list.empty()) {
            begin = list.back();
            list.pop_back();
        } else {
            begin = arena_.size();
            arena_.resize(begin + capacity(size_class));
        }
        if (size_class > kShort) std::fill_n(arena_.begin() + begin, capacity(size_class), Link{-1, 0, 0});
        return begin;
    }

    void give(Row& row) {
        free_[row.size_class].push_back(row.begin);
        row.used = row.live = 0;
    }

    // Removes b from a short row; in a long row it stays behind, dead.
    void drop_if_short(Node u, Node b) {
        Row& row = row_[u];
        if (!is_short(row)) return;
        for (Node i = 0; i < row.used; ++i) {
            if (arena_[row.begin + i].key != b) continue;
            for (--row.used; i < row.used; ++i) arena_[row.begin + i] = arena_[row.begin + i + 1];
            return;
        }
    }

    static Link join_links(Link& old, const Link& more) {
        old.c += more.c;
        old.position = std::min(old.position, more.position);
        return old;
    }

    // Joins `more` with the link to the same neighbour in u's row, if there is one, and returns the result.
    Link add(Node u, const Link& more) {
        Row& row = row_[u];
        if (is_short(row)) {
            for (Node i = 0; i < row.used; ++i)
                if (arena_[row.begin + i].key == more.key) return join_links(arena_[row.begin + i], more);
            if (static_cast<std::size_t>(row.used) < capacity(row.size_class)) {
                arena_[row.begin + row.used++] = more;
                ++row.live;
                return more;
            }
            grow(u);
            return add(u, more);
        }
        const std::size_t mask = capacity(row.size_class) - 1;
        for (std::size_t i = start(more.key, mask);; i = (i + 1) & mask) {
            Link& s = arena_[row.begin + i];
            if (s.key == more.key) return join_links(s, more);
            if (s.key >= 0) continue;
            if (static_cast<std::size_t>(row.used) * 4 >= (mask + 1) * 3) {
                grow(u);
                return add(u, more);
            }
            s = more;
            ++row.used;
            ++row.live;
            return more;
        }
    }

    void grow(Node u) {
        const Row old = row_[u];
        Row& row = row_[u];
        row.size_class = std::max<std::int8_t>(class_for(old.live + 1 + old.live / 2), kShort);
        row.begin = take(row.size_class);
        row.used = row.live = 0;
        const std::size_t mask = capacity(row.size_class) - 1;
        for (std::size_t i = old.begin, end = old.begin + extent(old); i < end; ++i) {
            const Link s = arena_[i];
            if (s.key < 0 || !row_[s.key].alive) continue;
            std::size_t at = static_cast<std::size_t>(row.used);
            if (!is_short(row))
                for (at = start(s.key, mask); arena_[row.begin + at].key >= 0;) at = (at + 1) & mask;
            arena_[row.begin + at] = s;
            ++row.used;
            ++row.live;
        }
        free_[old.size_class].push_back(old.begin);
    }

    std::vector<Row> row_;
    std::vector<Link> arena_;
    std::vector<std::size_t> free_[40];
};

}  // namespace sepool
