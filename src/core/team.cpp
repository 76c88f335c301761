#include "team.hpp"

#include <system_error>

namespace sepool {
namespace {

constexpr int kSpins = 1'000;  // before a thread sleeps, or yields: some tens of microseconds

inline void pause() {
#if defined(__x86_64__) || defined(_M_X64)
#if defined(__GNUC__)
    __builtin_ia32_pause();
#endif
#endif
}

}  // namespace

Team::Team(int threads) {
    try {
        threads_.reserve(threads > 1 ? threads - 1 : 0);
        for (int index = 1; index < threads; ++index) {
            threads_.emplace_back([this, index] { serve(index); });
            ++size_;
        }
    } catch (const std::exception&) {
        // The system gives no more threads, or no memory for one: the present ones do the work.
    }
}

Team::~Team() {
    {
        const std::lock_guard<std::mutex> lock(mutex_);
        stop_ = true;
    }
    wake_.notify_all();
    for (std::thread& thread : threads_) thread.join();
}

void Team::guard(const std::function<void(int)>& work, int index) {
    try {
        work(index);
    } catch (...) {
        const std::lock_guard<std::mutex> lock(mutex_);
        if (!failure_) failure_ = std::current_exception();
    }
}

void Team::serve(int index) {
    for (std::uint64_t done = 0;;) {
        for (int spin = 0; spin < kSpins && task_.load(std::memory_order_acquire) == done; ++spin) pause();
        if (task_.load(std::memory_order_acquire) == done) {
            std::unique_lock<std::mutex> lock(mutex_);
            wake_.wait(lock, [&] { return stop_ || task_.load(std::memory_order_relaxed) != done; });
            if (stop_) return;
        }
        done = task_.load(std::memory_order_acquire);
        guard(*work_, index);
        busy_.fetch_sub(1, std::memory_order_release);
    }
}

void Team::run(const std::function<void(int)>& work) {
    if (size_ == 1) return work(0);
    failure_ = nullptr;
    {
        const std::lock_guard<std::mutex> lock(mutex_);
        work_ = &work;
        busy_.store(size_ - 1, std::memory_order_relaxed);
        task_.fetch_add(1, std::memory_order_release);
    }
    wake_.notify_all();
    guard(work, 0);
    for (int spin = 0; busy_.load(std::memory_order_acquire) > 0; ++spin) {
        if (spin < kSpins) pause();
        else std::this_thread::yield();
    }
    if (failure_) std::rethrow_exception(failure_);
}

void Team::barrier() {
    if (size_ == 1) return;
    const std::uint64_t phase = phase_.load(std::memory_order_relaxed);
    if (arrived_.fetch_add(1, std::memory_order_acq_rel) + 1 == size_) {
        arrived_.store(0, std::memory_order_relaxed);
        phase_.fetch_add(1, std::memory_order_release);
        return;
    }
    for (int spin = 0; phase_.load(std::memory_order_acquire) == phase; ++spin) {
        if (spin < kSpins) pause();
        else std::this_thread::yield();
    }
}

}  // namespace sepool
