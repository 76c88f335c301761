#include "paper.hpp"

#include "assert.hpp"
#include "invariants.hpp"

namespace sepool {

void paper(const GraphView& graph, int height, Workspace& work, Levels& out, Control& control) {
    // A forest of all nodes as leaves, the children of a root to come. They stand in canonical order, which breaks all ties.
    control.enter("labelling", 0.0);
    const std::vector<Node>& order = work.canonical.order(graph, work.team, control);
    work.problem.read(graph, order, work.relabelled, work.position, work.team);
    Tree& tree = work.tree;
    tree.start(work.problem.volume);

    // Stage 1: MERGE the two root children that lower the entropy most, until no two of them share an edge. The paper goes on
    // to two root children, but joining parts without an edge between them lowers nothing.
    control.enter("merging", 0.1);
    for (const Pair& p : work.merger.run(work.problem, Linkage::gain, control)) tree.merge(p.a, p.b, p.c);
    tree.close();
    SEPOOL_ASSERT(is_sound(tree));

    // Stage 2: REMOVE the inner node that raises the entropy least, until no path is longer than the height.
    control.enter("compressing", 0.8);
    remove_greedily(tree, height, work.keep, control);
    SEPOOL_ASSERT(respects_height(tree, work.keep, height));

    // Stage 3: FILL the levels that edges of the tree skip, which changes no entropy.
    work.filler.run(tree, work.keep, height, graph, order.data(), out);
}

}  // namespace sepool
