// Optimal compression of small trees (see compress.cpp).
#pragma once

#include "types.hpp"

namespace sepool::small {

class Compressor {
public:
    // Keeps the same nodes as OptimalCompressor::run. False for a tree that is too large or too high, without an effect.
    bool run(const Tree& tree, int passes, std::vector<char>& keep);

private:
    bool lay_out(const Tree& tree);
    void fill_tables(const Tree& tree, int passes);
    void last_pass(const Tree& tree, int passes);
    void choose(const Tree& tree, int passes, std::vector<char>& keep);

    Node entries_ = 0;                   // of a table
    std::vector<Node> depth_, start_;    // of a node, and where its row begins
    std::vector<double> log_volume_;
    std::vector<double> below_;          // the sum of the children's costs at the node's own volume, with one level less
    std::vector<double> ancestor_;       // log volumes of the ancestors, row by row
    std::vector<double> sum_;            // of the children's costs, row by row
    std::vector<char> stays_;            // by pass, row by row
    std::vector<Node> levels_, nearest_; // levels left below a node, and the depth of the nearest node that stays
};

}  // namespace sepool::small
