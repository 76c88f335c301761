// The command line of a fuzz driver:
//
//     fuzz_... [CASES [SEED]]      case i of a seed is the same in every run; ends with 1 at the first that fails
//
// Ctrl-C or SIGTERM ends it after the case at hand, with the counts so far.
#pragma once

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>

#include "shapes.hpp"

namespace fuzz {

struct Run {
    const char* name = "";
    long long seed = 0, at = 0, graphs = 0;
};
inline Run current;
inline volatile std::sig_atomic_t stopped = 0;

inline void print_case() {
    std::fprintf(stderr, "%s: this was case %lld of seed %lld: %s 1 %lld\n", current.name, current.at, current.seed, current.name,
                 current.seed + current.at);
}

// Runs case(dice) for consecutive seeds and reports the number of cases and graphs.
template <class Case>
int run_cases(const char* name, int argc, char** argv, Case&& run_case) {
    const long long cases = argc > 1 ? std::atoll(argv[1]) : 2000;
    current.name = name, current.seed = argc > 2 ? std::atoll(argv[2]) : 0;
    std::signal(SIGABRT, [](int) {  // sanitizers end the process by it
        print_case();
        std::_Exit(1);
    });
    for (const int signal : {SIGINT, SIGTERM}) std::signal(signal, [](int) { stopped = 1; });
    for (current.at = 0; current.at < cases && !stopped; ++current.at) {
        try {
            run_case(Dice(static_cast<std::uint64_t>(current.seed + current.at) * 0x2545f4914f6cdd1dULL));
        } catch (const std::exception& error) {
            std::fprintf(stderr, "%s: %s\n", name, error.what());
            print_case();
            return 1;
        }
    }
    std::printf("%s: seed %lld, %lld cases with %lld graphs passed\n", name, current.seed, current.at, current.graphs);
    return 0;
}

}  // namespace fuzz

extern "C" inline const char* __asan_default_options() { return "abort_on_error=1"; }
extern "C" inline const char* __ubsan_default_options() { return "abort_on_error=1:print_stacktrace=1"; }
extern "C" inline const char* __tsan_default_options() { return "abort_on_error=1:halt_on_error=1"; }
