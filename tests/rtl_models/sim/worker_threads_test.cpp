#include "rtl_models/sim/worker_threads.h"

#include <gtest/gtest.h>
#include <signal.h>

#include <atomic>
#include <chrono>
#include <numeric>
#include <thread>
#include <vector>

namespace warpline::test {
namespace worker_threads_test {

TEST(WorkerThreads, DoEveryTaskOnceAndAreThroughWhenTheCallReturns) {
  for (const unsigned threads : {2U, 3U, 8U}) {
    std::vector<unsigned> done(100, 0);
    WorkerThreads workers(threads, [&done](std::size_t i) { ++done[i]; });
    for (unsigned call = 1; call <= 2000; ++call) {
      // Each has a share of its own, and some have none.
      std::vector<std::size_t> ends(threads, call % done.size());
      for (unsigned t = 0; t + 1 < threads; ++t) ends[t] = ends.back() * (call % 3) * t / (2 * threads);
      workers.do_all(ends);
      for (std::size_t i = 0; i < call % done.size(); ++i) --done[i];
      ASSERT_EQ(std::accumulate(done.begin(), done.end(), 0U), 0U) << "call " << call;
    }
  }
}

TEST(WorkerThreads, WorkAgainAfterTheyHaveFallenAsleep) {
  std::vector<unsigned> done(8, 0);
  WorkerThreads workers(4, [&done](std::size_t i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    ++done[i];
  });
  for (unsigned call = 1; call <= 10; ++call) {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    workers.do_all({2, 4, 4, 8});
    ASSERT_EQ(done, std::vector<unsigned>(8, call));
  }
}

TEST(WorkerThreads, TakeNoSignalsOfTheProgramAround) {
  const std::thread::id caller = std::this_thread::get_id();
  std::atomic<unsigned> helped{0}, blocked{0};
  WorkerThreads workers(4, [&](std::size_t) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    if (std::this_thread::get_id() == caller) return;
    sigset_t mask;
    pthread_sigmask(SIG_SETMASK, nullptr, &mask);
    ++helped;
    blocked += sigismember(&mask, SIGTERM) == 1 && sigismember(&mask, SIGSEGV) == 0;
  });
  for (unsigned call = 0; call < 200 && helped == 0; ++call) workers.do_all({2, 4, 6, 8});
  EXPECT_GT(helped, 0U);
  EXPECT_EQ(blocked, helped);
  sigset_t own;
  pthread_sigmask(SIG_SETMASK, nullptr, &own);
  EXPECT_EQ(sigismember(&own, SIGTERM), 0);
}

}  // namespace worker_threads_test
}  // namespace warpline::test
