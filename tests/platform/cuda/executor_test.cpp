#include "platform/cuda/executor.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <thread>
#include <vector>

namespace warpline::cuda::test {
namespace executor_test {

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
  std::atomic<bool> passed{false};
  std::thread asks([&] {
    executor.wait_for_room();
    was_done = executor.is_done(first);
    passed = true;
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(50));  // who does not wait has passed by then
  EXPECT_FALSE(passed);
  open = true;
  asks.join();
  EXPECT_TRUE(was_done) << "there is room only when what was first is done";
  EXPECT_TRUE(executor.wait_for_all());
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

Executor::Turn turn(std::uint64_t stream, bool is_short, bool blocking = false, bool legacy = false) {
  return {stream, 0, legacy, blocking, is_short};
}

/// Which of `asked` are done while a piece of work of stream 1 is under way, by number.
std::vector<int> done_meanwhile(const Executor::Turn& running, const std::vector<Executor::Turn>& asked) {
  Executor executor;
  std::atomic<bool> all_asked{false};
  std::vector<int> done, meanwhile;
  executor.submit(
      [&] {
        while (!all_asked) std::this_thread::yield();
        executor.do_short();
        meanwhile = done;
      },
      running);
  for (std::size_t n = 0; n < asked.size(); ++n)
    executor.submit([&done, n] { done.push_back(static_cast<int>(n)); }, asked[n]);
  all_asked = true;
  EXPECT_TRUE(executor.wait_for_all());
  EXPECT_EQ(done.size(), asked.size());
  return meanwhile;
}

// A host that waits for a copy in one stream before it lets a grid in another one end would stand still.
TEST(Executor, WhatIsShortIsDoneBesideWhatTakesLong) {
  using Numbers = std::vector<int>;
  const Executor::Turn grid = turn(1, false);
  EXPECT_EQ(done_meanwhile(grid, {turn(2, true), turn(3, true), turn(2, true)}), (Numbers{0, 1, 2}));
  EXPECT_EQ(done_meanwhile(grid, {turn(1, true), turn(2, true)}), (Numbers{1})) << "not of the same stream";
  EXPECT_EQ(done_meanwhile(grid, {turn(2, false), turn(2, true), turn(3, true)}), (Numbers{2}))
      << "nor behind what takes long";
  const Executor::Turn legacy = turn(9, true, true, true);
  EXPECT_EQ(done_meanwhile(turn(1, false, true), {legacy, turn(2, true, true)}), Numbers{})
      << "the legacy stream waits for those that block, and they for it";
  EXPECT_EQ(done_meanwhile(grid, {legacy, turn(2, true, true)}), (Numbers{0, 1}));
  EXPECT_EQ(done_meanwhile(turn(9, false, true, true), {turn(2, true, true), turn(3, true)}), (Numbers{1}));
}

TEST(Executor, WhatIsAskedForMeanwhileHasToWait) {
  Executor executor;
  std::atomic<bool> asked{false};
  std::atomic<int> done{0};
  int meanwhile = 0;
  std::function<void()> again = [&] {
    if (++done < 5) executor.submit(again, turn(2, true));
  };
  executor.submit(
      [&] {
        while (!asked) std::this_thread::yield();
        executor.do_short();
        meanwhile = done;
      },
      turn(1, false));
  executor.submit(again, turn(2, true));
  asked = true;
  while (done < 5) executor.wait_for_all();
  EXPECT_EQ(meanwhile, 1) << "a program that always asks for more would keep its grid from running";
}

TEST(Executor, WhatWaitsForAnotherIsShortWhenThatIsDone) {
  constexpr Executor::Ticket kFirst = 2;  // of what is asked for; the one under way is 1
  const auto after = [](std::size_t number, Executor::Turn turn) {
    turn.after = kFirst + number;
    return turn;
  };
  EXPECT_EQ(done_meanwhile(turn(1, false),
                           {turn(2, true), after(0, turn(3, true)), turn(4, false), after(2, turn(5, true))}),
            (std::vector<int>{0, 1}))
      << "and not what waits for a grid";
}

TEST(Executor, WhatIsDoneEarlyIsKnownToBe) {
  Executor executor;
  std::atomic<bool> open{false};
  const Executor::Ticket grid = executor.submit(
      [&] {
        while (!open) executor.do_short();
      },
      turn(1, false));
  const Executor::Ticket copy = executor.submit([] {}, turn(2, true));
  EXPECT_TRUE(executor.wait(copy));
  EXPECT_FALSE(executor.is_done(grid));
  open = true;
  EXPECT_TRUE(executor.wait_for_all());
  EXPECT_TRUE(executor.is_done(grid));
}

}  // namespace executor_test
}  // namespace warpline::cuda::test
