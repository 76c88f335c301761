#include "small/small.hpp"

namespace sepool::small {

std::atomic<bool> enabled{true};

}  // namespace sepool::small
