// Stage 2: REMOVE inner nodes of the tree of stage 1 until no path is longer than the height.
#pragma once

#include "small/compress.hpp"
#include "types.hpp"

namespace sepool {

// A node is kept if the cost without it exceeds this limit. Costs this close are ties but for rounding: a node that holds edges
// between its children (cut > 0) wins them, a node that holds none is not worth a level.
inline double keep_limit(double kept, double cut) {
    constexpr double kTie = 0x1p-42;
    return cut > 0 ? kept - kTie * kept : kept + kTie * kept;
}

// Keeps the set of inner nodes that gives the least entropy of all sets that respect the height (see compress.cpp).
class OptimalCompressor {
public:
    // keep[t] = 1 for the root and the inner nodes that stay. `height` counts edges from root to leaf.
    void run(const Tree& tree, int height, std::vector<char>& keep, const Control& control);

private:
    struct Function {
        double tail, slopes, moment;  // slopes and moment: sums of slope and of slope * x over the breakpoints
        Node low, high;               // the breakpoints as heaps, smallest first and largest first
    };
    struct Open {  // the sum of the functions of the finished children of `node`
        Node node;
        Function sum;
    };
    struct Point {  // a breakpoint; a node's own has the place of the node
        double x, slope;            // slope < 0: dropped, but still in one of the heaps
        Node child[2], sibling[2];  // in the pairing heaps: [0] smallest first, [1] largest first
        bool dead() const { return slope < 0; }
    };

    void sort_by_subtree(const Tree& tree);
    void pass(const Tree& tree, double* threshold, const Control& control);
    double finish(Node node, double cut, Function& f);
    double descend(Function& f, double& tail, double& slope, double level);
    void drop(Function& f, Node p);
    Node meld(Node a, Node b, bool max);
    Node pop(Node root, bool max);

    std::vector<Open> open_;
    std::vector<Point> point_;
    std::vector<double> log_volume_, below_, threshold_, nearest_;
    std::vector<Node> order_, up_, levels_, pairs_, passed_, size_, heavy_, start_, cursor_;
    small::Compressor small_;
};

// REMOVE as in the paper: take away the inner node whose removal raises the entropy least, until the tree is low enough.
void remove_greedily(const Tree& tree, int height, std::vector<char>& keep, const Control& control);

}  // namespace sepool
