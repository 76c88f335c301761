// Threads that work on one graph together.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace sepool {

// A fixed number of threads, the calling one included. Work is the same function on every thread, told apart by an index; it
// meets at barriers. Results must not depend on the number of threads: see `Team::share`.
class Team {
public:
    // As many threads as the system gives, up to `threads`.
    explicit Team(int threads);
    ~Team();
    Team(const Team&) = delete;
    Team& operator=(const Team&) = delete;

    int size() const { return size_; }

    // Calls work(index) on every thread and waits for all. Rethrows the first exception; work that meets at barriers must not throw.
    void run(const std::function<void(int)>& work);

    // Waits until all threads of the team are here. Only within `run`.
    void barrier();

    // Calls body(begin, end, index) for consecutive chunks of 0 .. count - 1; threads take the next chunk when they are free.
    template <class Body>
    void share(std::int64_t count, std::int64_t chunk, Body&& body) {
        if (size_ == 1 || count <= chunk) {
            for (std::int64_t begin = 0; begin < count; begin += chunk) body(begin, begin + chunk < count ? begin + chunk : count, 0);
            return;
        }
        std::atomic<std::int64_t> next{0};
        run([&](int index) {
            for (std::int64_t begin; (begin = next.fetch_add(chunk, std::memory_order_relaxed)) < count;)
                body(begin, begin + chunk < count ? begin + chunk : count, index);
        });
    }

private:
    void serve(int index);
    void guard(const std::function<void(int)>& work, int index);

    int size_ = 1;
    std::vector<std::thread> threads_;
    std::mutex mutex_;
    std::condition_variable wake_;
    const std::function<void(int)>* work_ = nullptr;
    std::atomic<std::uint64_t> task_{0};   // number of the work at hand
    std::atomic<int> busy_{0};             // other threads that have not finished it
    std::atomic<int> arrived_{0};          // threads at the barrier
    std::atomic<std::uint64_t> phase_{0};  // barriers passed
    bool stop_ = false;
    std::exception_ptr failure_;
};

}  // namespace sepool
