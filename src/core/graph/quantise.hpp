// Weights as integers.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

#include "types.hpp"

namespace sepool {

inline std::string number(double x) {
    char text[32];
    std::snprintf(text, sizeof text, "%.12g", x);
    return text;
}

[[noreturn]] inline void fail(const std::string& text) { throw std::invalid_argument(text); }

// Turns one graph's weights into integers and returns the weight of one unit. Integers stay as they are; weights with
// a common part, such as 0.2, 0.3 and 0.5, become integers; all others are rounded to multiples of a power of two, at most 2^-58 of the
// total volume, and to no less than one of them.
class Quantiser {
    static constexpr int kVolumeBits = 61;           // of the total volume in units; leaves a bit for sums of two
    static constexpr double kSnap = 0x1p-40;         // weights this close to multiples of a common part count as such
    static constexpr double kMaxParts = 1000;        // and the smallest weight may be this many of them
    static constexpr double kExact = 0x1p-50;        // or this close, and
    static constexpr double kMostParts = 1e6;        // this many
    static constexpr double kMaxInteger = 0x1p53;    // up to here every integer is a double

public:
    // `counts(i)` is true for the weights in use; the others only have to be valid.
    template <class Counts>
    double operator()(const double* w, std::int64_t m, Counts counts, const std::string& place) {
        units.resize(m);
        double smallest = std::numeric_limits<double>::infinity(), sum = 0;
        bool integers = true;
        for (std::int64_t i = 0; i < m; ++i) {
            if (!(w[i] >= 0) || std::isinf(w[i]))
                fail("edge " + std::to_string(i) + place + " has weight " + number(w[i]) + "; weights must be finite and not negative");
            if (!counts(i)) continue;
            sum += w[i];
            if (w[i] > 0) smallest = std::min(smallest, w[i]);
            integers = integers && w[i] == std::floor(w[i]);
        }
        if (std::isinf(sum * 4)) fail("the weights" + place + " add up to more than a quarter of the largest double");
        if (sum == 0) {
            std::fill(units.begin(), units.end(), 0);
            return 1;
        }
        if (integers && sum * 4 <= kMaxInteger) return round_to(w, m, counts, 1);
        double parts = 1;  // the smallest weight is this many units
        for (std::int64_t i = 0; parts > 0 && i < m; ++i)
            if (counts(i)) parts = common_parts(w[i] / smallest, parts);
        if (parts == 0) parts = many_parts(w, m, counts, smallest);
        if (parts > 0 && sum / smallest * parts * 4 <= kMaxInteger) return round_to(w, m, counts, smallest / parts);
        int exponent = 0;
        std::frexp(sum, &exponent);
        // A power of two: no rounding but the last. Not less than the least double, of which all others are multiples.
        const double unit = std::max(std::ldexp(1.0, exponent + 2 - kVolumeBits), std::numeric_limits<double>::denorm_min());
        for (std::int64_t i = 0; i < m; ++i) units[i] = counts(i) && w[i] > 0 ? std::max<Weight>(1, std::llround(w[i] / unit)) : 0;
        return unit;
    }

    std::vector<Weight> units;

private:
    static bool whole(double x, double snap) { return std::abs(x - std::round(x)) <= std::max(x, 1.0) * snap; }

    // The least multiple of `parts` by which the ratio becomes an integer, but for rounding; 0 if there is none up to kMaxParts.
    static double common_parts(double ratio, double parts) {
        for (double factor = 1; parts * factor <= kMaxParts; ++factor)
            if (whole(ratio * parts * factor, kSnap)) return parts * factor;
        return 0;
    }

    // The same for many parts and exact weights, such as prices in cents. In the order of the weights, for with large ratios
    // that order may decide; but most weights without a common part show it at the heaviest.
    template <class Counts>
    static double many_parts(const double* w, std::int64_t m, Counts counts, double smallest) {
        std::vector<double> sorted;
        for (std::int64_t i = 0; i < m; ++i)
            if (counts(i) && w[i] > 0) sorted.push_back(w[i]);
        if (next_parts(*std::max_element(sorted.begin(), sorted.end()) / smallest, 1) == 0) return 0;
        std::sort(sorted.begin(), sorted.end());
        double parts = 1;
        for (const double weight : sorted)
            if ((parts = next_parts(weight / smallest, parts)) == 0) return 0;
        return parts;
    }

    // Denominators are those of the continued fraction, if the ratio is one of whole numbers at all.
    static double next_parts(double ratio, double parts) {
        const double x = ratio * parts;
        double rest = x - std::floor(x), before = 0, factor = 1;
        while (parts * factor <= kMostParts) {
            if (whole(x * factor, kExact)) return parts * factor;
            const double inverse = 1 / rest, next = std::floor(inverse) * factor + before;
            rest = inverse - std::floor(inverse);
            before = factor;
            factor = next;  // infinite, or no number, where the rest was 0: both end the search
        }
        return 0;
    }

    template <class Counts>
    double round_to(const double* w, std::int64_t m, Counts counts, double unit) {
        for (std::int64_t i = 0; i < m; ++i) units[i] = counts(i) ? std::llround(w[i] / unit) : 0;
        return unit;
    }
};

}  // namespace sepool
