#include "types.hpp"

#include <array>

namespace sepool {
namespace {

template <std::size_t size>
std::array<double, size> logs() {
    std::array<double, size> values{};
    for (std::size_t i = 1; i < size; ++i) values[i] = std::log2(static_cast<double>(i));
    return values;
}

}  // namespace

const double* const Log2::table_ = [] {
    static const auto values = logs<kSize>();
    return values.data();
}();

}  // namespace sepool
