// Base-2 logarithms and powers by fixed IEEE operations. libm rounds differently from one library and processor to the
// next, and one different bit is enough to turn a tie between two merges into another tree.
#pragma once

#include <cstdint>
#include <cstring>

namespace sepool {

// log2 of a positive normal number, rounded once: within 0.501 ulp, exact for powers of two, never falling where x rises.
double fixed_log2(double x);

// base^exponent for a base in [0, 1] and an exponent in [0, 1): square roots, which IEEE 754 rounds exactly.
double fixed_power(double base, double exponent);

// log2 to about 1e-4, enough to rank neighbours: exponent from the bits, a cubic for the mantissa.
inline float rough_log2(float x) {
    std::uint32_t bits;
    std::memcpy(&bits, &x, sizeof bits);
    const auto exponent = static_cast<float>(static_cast<int>(bits >> 23) - 127);
    bits = (bits & 0x007fffffu) | 0x3f800000u;
    float m;
    std::memcpy(&m, &bits, sizeof m);
    return exponent + (-2.153620718f + m * (3.047884161f + m * (-1.051875031f + m * 0.158248418f)));
}

// log2 of a volume; small integers, the volumes of small graphs, come from a table. log2(0) is taken as 0: a node without
// edges has no volume and adds nothing.
class Log2 {
public:
    double operator()(std::int64_t v) const { return v < kSize ? table_[v] : fixed_log2(static_cast<double>(v)); }

private:
    static constexpr std::int64_t kSize = 4096;
    static const double* const table_;
};

}  // namespace sepool
