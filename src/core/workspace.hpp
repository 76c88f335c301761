// The stages with their memory, which is used again from graph to graph. One for each thread that takes graphs; its team works on
// one graph together.
#pragma once

#include "graph/canonical.hpp"
#include "stages/compress.hpp"
#include "stages/fill.hpp"
#include "stages/merge.hpp"
#include "team.hpp"

namespace sepool {

struct Workspace {
    explicit Workspace(int threads) : team(threads) {}

    Team team;
    Canonical canonical;
    Graph relabelled;            // the graph in canonical order,
    std::vector<Node> position;  // and the place of every node in it
    MergeProblem problem;
    Merger merger;
    Tree tree;
    std::vector<char> keep;  // 1 for the inner nodes of `tree` that stay
    OptimalCompressor compressor;
    Filler filler;
};

}  // namespace sepool
