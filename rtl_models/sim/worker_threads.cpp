#include "rtl_models/sim/worker_threads.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>

#include <chrono>
#include <system_error>

#include "rtl_models/base/contract.h"

namespace warpline {
namespace {

/// For so long a thread looks for work before it sleeps: some times what the caller needs between two calls,
/// and little beside what it takes to wake up.
constexpr std::chrono::microseconds kPatience{100};
/// Looks between two of the clock.
constexpr unsigned kLooks = 64;

void pause() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#endif
}

/// Leaves a processor. The host may wake a thread on that of the one that wakes it, where it would wait until
/// that one has done all the work.
void leave_processor(int number) {
  cpu_set_t all;
  if (sched_getaffinity(0, sizeof all, &all) != 0 || CPU_COUNT(&all) < 2) return;
  cpu_set_t others = all;
  CPU_CLR(static_cast<unsigned>(number), &others);
  // It moves with the first, and may be moved from where it is then by the second.
  if (sched_setaffinity(0, sizeof others, &others) == 0)
    static_cast<void>(sched_setaffinity(0, sizeof all, &all));
}

/// While there is one, threads are made that take no signals of the process, but those that are about
/// themselves: which thread of the program around takes them is for that to say.
class NoSignals {
 public:
  NoSignals() {
    sigset_t most;
    sigfillset(&most);
    for (const int own : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP}) sigdelset(&most, own);
    pthread_sigmask(SIG_SETMASK, &most, &before_);
  }
  NoSignals(const NoSignals&) = delete;
  NoSignals& operator=(const NoSignals&) = delete;
  ~NoSignals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

 private:
  sigset_t before_;
};

}  // namespace

WorkerThreads::WorkerThreads(unsigned threads, std::function<void(std::size_t)> task)
    : task_(std::move(task)), count_(threads), lists_(std::make_unique<List[]>(threads)) {
  WARPLINE_EXPECT(threads > 1, "somebody is there to help");
  const NoSignals none;
  for (unsigned i = 1; i < threads; ++i) {
    try {
      threads_.emplace_back([this, i] { work(i); });
    } catch (const std::system_error&) {
      return;  // the host has no more; those that there are do it all
    }
  }
}

WorkerThreads::~WorkerThreads() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    over_ = true;
  }
  more_.notify_all();
  for (std::thread& t : threads_) t.join();
}

void WorkerThreads::do_all(const std::vector<std::size_t>& ends) {
  done_.store(0, std::memory_order_relaxed);
  std::size_t first = 0;
  for (std::size_t t = 0; t < count_; ++t) {
    lists_[t].left.store(std::uint64_t{first} << 32U | (ends[t] - first), std::memory_order_release);
    first = ends[t];
  }
  // Whoever falls asleep says so before it looks for the last time.
  calls_.fetch_add(1);
  if (asleep_.load() != 0) {
    waker_ = sched_getcpu();
    { const std::lock_guard<std::mutex> lock(mutex_); }
    more_.notify_all();
  }
  while (do_one(0)) {
  }
  for (unsigned looks = 0; done_.load(std::memory_order_acquire) != first; ++looks) {
    // Where there are fewer processors than threads, one that has begun a task may need this one.
    if (looks % kLooks == kLooks - 1) std::this_thread::yield();
    pause();
  }
}

bool WorkerThreads::do_one_of(List& list) {
  std::uint64_t left = list.left.load(std::memory_order_relaxed);
  std::uint32_t number = 0;
  do {
    number = static_cast<std::uint32_t>(left);
    if (number == 0) return false;
  } while (
      !list.left.compare_exchange_weak(left, left - 1, std::memory_order_acq_rel, std::memory_order_relaxed));
  task_(static_cast<std::size_t>(left >> 32U) + number - 1);
  done_.fetch_add(1, std::memory_order_acq_rel);
  return true;
}

/// One of the thread's own tasks, or of the next one's that has any.
bool WorkerThreads::do_one(std::size_t thread) {
  for (std::size_t i = 0; i < count_; ++i)
    if (do_one_of(lists_[(thread + i) % count_])) return true;
  return false;
}

bool WorkerThreads::has_work() const {
  for (std::size_t i = 0; i < count_; ++i)
    if (static_cast<std::uint32_t>(lists_[i].left.load(std::memory_order_relaxed)) != 0) return true;
  return false;
}

/// Waits until there are tasks. False: there will be none.
bool WorkerThreads::find_work() {
  const auto tired = std::chrono::steady_clock::now() + kPatience;
  const std::uint64_t calls = calls_.load();
  do {
    for (unsigned looks = 0; looks < kLooks; ++looks) {
      if (calls_.load(std::memory_order_relaxed) != calls || has_work()) return true;
      pause();
    }
  } while (!over_.load(std::memory_order_relaxed) && std::chrono::steady_clock::now() < tired);
  std::unique_lock<std::mutex> lock(mutex_);
  ++asleep_;
  more_.wait(lock, [&] { return calls_.load() != calls || over_; });
  --asleep_;
  lock.unlock();
  if (const int waker = waker_; !over_ && waker >= 0 && waker == sched_getcpu()) leave_processor(waker);
  return !over_;
}

void WorkerThreads::work(std::size_t thread) {
  while (find_work())
    while (do_one(thread)) {
    }
}

}  // namespace warpline
