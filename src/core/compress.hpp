// Stage 2: choose which inner nodes of the tree of stage 1 to keep, so that no path is longer than the height allows.
#pragma once

#include "types.hpp"

namespace sepool {

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
    struct Open {  // what the finished children of `node` add up to
        Node node;
        Function sum;
    };
    struct Point {  // a breakpoint; a node's own has the place of the node
        double x, slope;            // slope < 0: dropped, but still in one of the heaps
        Node child[2], sibling[2];  // in the pairing heaps: [0] smallest first, [1] largest first
        bool dead() const { return slope < 0; }
    };

    bool lay_out(const Tree& tree);
    void run_small(const Tree& tree, int passes, std::vector<char>& keep);
    void fill_tables(const Tree& tree, int passes);

    void sort_by_subtree(const Tree& tree);
    void pass(const Tree& tree, double* threshold, const Control& control);
    double finish(Node node, double cut, Function& f);
    Node meld(Node a, Node b, bool max);
    Node pop(Node root, bool max);

    std::vector<Open> open_;
    std::vector<Point> point_;
    std::vector<double> log_volume_, below_, threshold_, seen_;
    std::vector<Node> order_, up_, levels_, pairs_, size_, heavy_, start_, cursor_;
    // The tables of small trees (compress_small.cpp).
    std::vector<double> sum_;
    std::vector<Node> depth_, nearest_;
    Node entries_ = 0;
    std::vector<char> kept_;
};

// REMOVE as the paper writes it: take away the inner node whose removal raises the entropy least, until the tree is low
// enough.
void remove_greedily(const Tree& tree, int height, std::vector<char>& keep, const Control& control);

}  // namespace sepool
