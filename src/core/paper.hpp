// Algorithm 1 of the SEP paper.
#pragma once

#include "workspace.hpp"

namespace sepool {

// Appends the coding tree of `graph` with this height to `out`.
void paper(const GraphView& graph, int height, Workspace& work, Levels& out, Control& control);

}  // namespace sepool
