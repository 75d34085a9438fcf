#include "platform/cuda/executor.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

namespace warpline::cuda {
namespace {

// A program that asks for more than its GPU does would fill the host's memory otherwise.
TEST(Executor, WhoAsksForTooMuchWaits) {
  std::atomic<bool> open{false}, begun{false};
  Executor executor;
  const Executor::Ticket first = executor.submit([&] {
    begun = true;
    while (!open) std::this_thread::yield();
  });
  while (!begun) std::this_thread::yield();
  for (std::size_t n = 1; n < Executor::kMostQueued; ++n) {
    executor.wait_for_room();  // there is some
    executor.submit([] {});
  }
  EXPECT_FALSE(executor.is_done(first));
  executor.submit([] {});
  bool was_done = false;
  std::thread asks([&] {
    executor.wait_for_room();
    was_done = executor.is_done(first);
  });
  open = true;
  asks.join();
  EXPECT_TRUE(was_done) << "there is room only when what was first is done";
  EXPECT_TRUE(executor.wait(executor.last()));
}

TEST(Executor, ItsOwnWorkDoesNotWaitForRoom) {
  Executor executor;
  std::atomic<bool> open{false};
  const Executor::Ticket first = executor.submit([&] {
    while (!open) std::this_thread::yield();
    executor.wait_for_room();
  });
  for (std::size_t n = 0; n < Executor::kMostQueued; ++n) executor.submit([] {});
  open = true;
  EXPECT_TRUE(executor.wait(first));
}

}  // namespace
}  // namespace warpline::cuda
