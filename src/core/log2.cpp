#include "log2.hpp"

#include <array>
#include <cmath>

namespace sepool {
namespace {

// For the mantissas around 1 + j/32: an approximate inverse of 11 bits and -log2 of it in two parts, of which the first is a
// multiple of 2^-42. Sums of the first part with an exponent are exact.
struct Entry {
    double inverse, high, low;
};
constexpr Entry kTable[33] = {
    {0x1.0p+0, 0x0.0p+0, 0x0.0p+0},
    {0x1.f08p-1, 0x1.6b50e297b0000p-5, -0x1.98fd2dca61c14p-48},
    {0x1.e20p-1, 0x1.64ce26c068000p-4, -0x1.d5297837adb4bp-45},
    {0x1.d40p-1, 0x1.097e38ce60000p-3, 0x1.924ae921f7ecap-45},
    {0x1.c70p-1, 0x1.5cba53a076000p-3, 0x1.769a8e6b40f5ep-46},
    {0x1.bb0p-1, 0x1.abb2ca9ec8000p-3, -0x1.71b3a63cddadfp-44},
    {0x1.af0p-1, 0x1.fcd677e5ac000p-3, 0x1.039b772eda08ep-44},
    {0x1.a40p-1, 0x1.249cd2b13d000p-2, -0x1.49d97df07e357p-45},
    {0x1.998p-1, 0x1.4a03dcbd2e000p-2, 0x1.bdc90791aef03p-46},
    {0x1.8f8p-1, 0x1.6e8a004222000p-2, -0x1.3859a74f0d148p-44},
    {0x1.860p-1, 0x1.921800924e000p-2, -0x1.62404772a151dp-45},
    {0x1.7d0p-1, 0x1.b495d4e918000p-2, 0x1.7dd4bcb97f73cp-44},
    {0x1.748p-1, 0x1.d5eac4d464000p-2, -0x1.410f5d3161a62p-45},
    {0x1.6c0p-1, 0x1.f804ae8d0d000p-2, -0x1.7f33943464056p-45},
    {0x1.640p-1, 0x1.0c6caaf0c5800p-1, -0x1.3483146784bd2p-44},
    {0x1.5c8p-1, 0x1.1c27039d85800p-1, -0x1.a3f6c066ebdd5p-46},
    {0x1.558p-1, 0x1.2b23e51b3a000p-1, -0x1.c27e675df639dp-44},
    {0x1.4e8p-1, 0x1.3a703e50fa800p-1, -0x1.906944ba567f4p-44},
    {0x1.478p-1, 0x1.4a0f6bcc84000p-1, -0x1.06adfcaa4bcf5p-45},
    {0x1.418p-1, 0x1.57b7eb8039000p-1, -0x1.432648cfc8738p-47},
    {0x1.3b0p-1, 0x1.66ce34e4a6800p-1, 0x1.f29947070fc4bp-44},
    {0x1.350p-1, 0x1.7502cc4a27800p-1, 0x1.c029a071eeb10p-44},
    {0x1.2f8p-1, 0x1.8246ea6a60000p-1, 0x1.aaa72ba2c6ba2p-47},
    {0x1.2a0p-1, 0x1.8fc924c89b000p-1, -0x1.bdc81c4db3134p-44},
    {0x1.248p-1, 0x1.9d8bcbd52f000p-1, 0x1.e665e245fe368p-44},
    {0x1.1f8p-1, 0x1.aa482b35ca800p-1, 0x1.cea9347cb6655p-45},
    {0x1.1a8p-1, 0x1.b73dbe68b5800p-1, 0x1.0dd830ee74ef2p-44},
    {0x1.158p-1, 0x1.c46e9076cc000p-1, -0x1.ddb7886f88587p-44},
    {0x1.110p-1, 0x1.d08222d28e800p-1, 0x1.d7ec3be51cdcbp-44},
    {0x1.0c8p-1, 0x1.dcc917f2c1800p-1, -0x1.f09941811b2eep-44},
    {0x1.088p-1, 0x1.e7df5fe538800p-1, 0x1.59a77da8ad64ap-44},
    {0x1.040p-1, 0x1.f48c34bd1e800p-1, 0x1.6eb3ac8ec0ef7p-45},
    {0x1.0p-1, 0x1.0000000000000p+0, 0x0.0p+0},
};

constexpr double kLog2E = 0x1.71547652b82fep+0;      // log2(e)
constexpr double kLog2EHigh = 0x1.7154p+0;           // its first 17 bits
constexpr double kLog2ELow = 0x1.d94ae0bf85ddfp-18;  // and the rest

constexpr double coefficient(int n) { return (n % 2 ? kLog2E : -kLog2E) / n; }

// (log2(1 + r) - r log2(e)) / r^2 by the series to r^10, in parts that do not wait for each other.
double tail(double r) {
    constexpr double c2 = coefficient(2), c3 = coefficient(3), c4 = coefficient(4), c5 = coefficient(5), c6 = coefficient(6),
                     c7 = coefficient(7), c8 = coefficient(8), c9 = coefficient(9), c10 = coefficient(10);
    const double r2 = r * r, r4 = r2 * r2;
    return ((c2 + c3 * r) + (c4 + c5 * r) * r2) + (((c6 + c7 * r) + (c8 + c9 * r) * r2) + c10 * r4) * r4;
}

}  // namespace

// x = 2^k m and log2(x) = k - log2(inverse) + log2(1 + r), where 1 + r = m * inverse. Everything above 2^-42 is added without
// rounding, so that the last addition is the only one that counts: neighbouring doubles differ by far more than the errors
// before it, hence the result never falls.
double fixed_log2(double x) {
    constexpr std::uint64_t kMantissa = (std::uint64_t{1} << 52) - 1, kOne = std::uint64_t{1023} << 52;
    std::uint64_t bits;
    std::memcpy(&bits, &x, sizeof bits);
    const auto exponent = static_cast<double>(static_cast<int>(bits >> 52) - 1023);
    const std::uint64_t mantissa = bits & kMantissa;
    const Entry& entry = kTable[(mantissa + (std::uint64_t{1} << 46)) >> 47];
    const std::uint64_t m_bits = mantissa | kOne, high_bits = m_bits & ~((std::uint64_t{1} << 21) - 1);
    double m, m_high;
    std::memcpy(&m, &m_bits, sizeof m), std::memcpy(&m_high, &high_bits, sizeof m_high);
    const double r_high = m_high * entry.inverse - 1, r_low = (m - m_high) * entry.inverse;  // both exact
    const double r = r_high + r_low;
    const double a = exponent + entry.high, b = r_high * kLog2EHigh;  // both exact
    const double sum = a + b, b_part = sum - a;
    const double error = (a - (sum - b_part)) + (b - b_part);  // of the sum
    return sum + (error + (entry.low + (r_high * kLog2ELow + r_low * kLog2E) + r * r * tail(r)));
}

double fixed_power(double base, double exponent) {
    double power = 1;
    for (double root = std::sqrt(base); exponent > 0 && root < 1; root = std::sqrt(root)) {
        exponent *= 2;
        if (exponent < 1) continue;
        exponent -= 1;
        power *= root;
    }
    return power;
}

const double* const Log2::table_ = [] {
    static std::array<double, kSize> values{};
    for (std::size_t i = 1; i < kSize; ++i) values[i] = fixed_log2(static_cast<double>(i));
    return values.data();
}();

}  // namespace sepool
