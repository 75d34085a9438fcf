#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace warpline {

/// Threads that do tasks of a few microseconds each, together with the one that calls. Between two calls they
/// look for the next one for some microseconds, and sleep after that.
class WorkerThreads {
 public:
  /// `threads`, the caller among them, do task(number) whenever do_all() is called. Pre: threads > 1; tasks
  /// throw nothing.
  WorkerThreads(unsigned threads, std::function<void(std::size_t)> task);
  ~WorkerThreads();
  WorkerThreads(const WorkerThreads&) = delete;
  WorkerThreads& operator=(const WorkerThreads&) = delete;

  /// Does the tasks up to before ends.back(). Those from ends[t - 1] to before ends[t] are thread t's, the
  /// caller being thread 0: it finds in its processor's caches what it worked on before. It begins the last
  /// of them first, and when none are left, it helps others. What tasks have done is seen by the caller
  /// afterwards, and what the caller has done before, by them. Pre: as many ends as threads, in order.
  void do_all(const std::vector<std::size_t>& ends);

 private:
  /// A thread's tasks, in a cache line of its own.
  struct alignas(64) List {
    std::atomic<std::uint64_t> left{0};  ///< tasks that nobody has begun: first task << 32 | their number
  };
  void work(std::size_t thread);
  bool do_one(std::size_t thread);
  bool do_one_of(List& list);
  [[nodiscard]] bool find_work();
  [[nodiscard]] bool has_work() const;

  std::function<void(std::size_t)> task_;
  std::size_t count_;
  std::unique_ptr<List[]> lists_;
  alignas(64) std::atomic<std::size_t> done_{0};     ///< of the tasks of this call
  alignas(64) std::atomic<std::uint64_t> calls_{0};  ///< of do_all()
  alignas(64) std::atomic<unsigned> asleep_{0};
  std::atomic<bool> over_{false};
  std::atomic<int> waker_{-1};  ///< the processor on which the caller was when it woke others last
  std::mutex mutex_;
  std::condition_variable more_;
  std::vector<std::thread> threads_;
};

}  // namespace warpline
