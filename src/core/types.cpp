#include "types.hpp"

#include <array>

namespace sepool {

const double* Log2::table() {
    static const std::array<double, kSize> values = [] {
        std::array<double, kSize> v{};
        for (Weight i = 1; i < kSize; ++i) v[i] = std::log2(static_cast<double>(i));
        return v;  // v[0] = 0: a node without edges has no volume and adds nothing
    }();
    return values.data();
}

}  // namespace sepool
