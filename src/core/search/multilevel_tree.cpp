// A chain of levels as a tree, and the best choice of its levels.

#include <algorithm>

#include "assert.hpp"
#include "invariants.hpp"
#include "search/multilevel.hpp"

namespace sepool {

double Multilevel::cost(const Items& items, const Chain& chain) {
    mover_.load(items, chain[0], count_of(chain[0]), Chain(chain.begin() + 1, chain.end()), nullptr, *team_);
    return mover_.cost();
}

// The chain as a tree, without clusters of a single child.
void Multilevel::to_tree(const Items& items, const Chain& chain, Tree& tree) {
    mover_.load(items, chain[0], count_of(chain[0]), Chain(chain.begin() + 1, chain.end()), nullptr, *team_);
    Weight at_root = log_share_.total();  // twice the weight of the edges that have no other lowest common ancestor
    for (Node u = 0; u < items.size(); ++u) at_root -= items.graph.loop(u);
    tree.start({items.volume, items.volume + items.size()});
    std::vector<Node> node = iota(items.size()), next, children;
    for (std::size_t l = 0; l < chain.size(); ++l) {
        const Node clusters = mover_.clusters(static_cast<int>(l));
        children.assign(clusters, 0), next.assign(clusters, -1);
        for (std::size_t i = 0; i < chain[l].size(); ++i) ++children[chain[l][i]];
        for (std::size_t i = 0; i < chain[l].size(); ++i) {
            const Node c = chain[l][i];
            SEPOOL_ASSERT(node[i] >= 0);  // no cluster is empty
            if (children[c] == 1) {
                next[c] = node[i];
                continue;
            }
            if (next[c] < 0) {
                next[c] = tree.add();
                tree.cut[next[c]] = mover_.cut(static_cast<int>(l), c);
                at_root -= 2 * tree.cut[next[c]];
            }
            tree.parent[node[i]] = next[c];
            tree.volume[next[c]] += tree.volume[node[i]];
        }
        node.swap(next);
    }
    tree.close();
    if (tree.root() >= items.size()) tree.cut[tree.root()] += at_root / 2;
    SEPOOL_ASSERT(is_sound(tree));
}

// The best choice of levels from a chain.
void Multilevel::compress(const Items& items, int height, Chain& chain) {
    Tree tree;
    std::vector<char> keep;
    to_tree(items, chain, tree);
    compressor_.run(tree, height, keep, *control_);
    // Clusters of a level: the kept nodes whose subtrees have that height, and chains of them below taller parents.
    const Node n = tree.num_leaves, size = tree.size();
    std::vector<Node> near(size), rise(size, 0);
    for (Node t = size - 1; t >= 0; --t) near[t] = t == tree.root() ? -1 : keep[tree.parent[t]] ? tree.parent[t] : near[tree.parent[t]];
    for (Node t = 0; t < size; ++t)
        if ((t < n || keep[t]) && near[t] >= 0) rise[near[t]] = std::max(rise[near[t]], rise[t] + 1);
    rise[tree.root()] = height;
    std::vector<Node> here = iota(n), number(size);
    chain.assign(height - 1, {});
    for (int l = 1; l < height; ++l) {
        std::fill(number.begin(), number.end(), -1);
        std::vector<Node> up;
        chain[l - 1].resize(here.size());
        for (std::size_t i = 0; i < here.size(); ++i) {
            const Node t = here[i], to = rise[near[t]] == l ? near[t] : t;
            if (number[to] < 0) number[to] = static_cast<Node>(up.size()), up.push_back(to);
            chain[l - 1][i] = number[to];
        }
        here.swap(up);
    }
}

}  // namespace sepool
