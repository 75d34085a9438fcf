#include "platform/cli/signal_guard.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <thread>

#include "tests/support/command.h"

namespace warpline {
namespace signal_guard_test {

void interrupt(unsigned times, int signal = SIGINT, bool by_mpi = false) {
  SignalGuard guard;
  guard.stop_on_interrupt(by_mpi);
  for (unsigned n = 0; n < times; ++n) std::raise(signal);
  _exit(SignalGuard::stop_wanted() ? 7 : 8);
}

TEST(SignalGuardTest, ASecondInterruptLetsWhatIsThereBeWrittenAndAThirdKills) {
  EXPECT_EXIT(interrupt(0), testing::ExitedWithCode(8), "");
  EXPECT_EXIT(interrupt(1), testing::ExitedWithCode(7), "");
  EXPECT_EXIT(interrupt(2), testing::ExitedWithCode(7), "once more to give it up");
  EXPECT_EXIT(interrupt(3), testing::KilledBySignal(SIGINT), "");
}

TEST(SignalGuardTest, UnderMpirunATerminationIsAnInterrupt) {
  EXPECT_EXIT(interrupt(1, SIGTERM, true), testing::ExitedWithCode(7), "");
  EXPECT_EXIT(interrupt(3, SIGTERM, true), testing::KilledBySignal(SIGTERM), "");
  EXPECT_EXIT(interrupt(1, SIGTERM), testing::KilledBySignal(SIGTERM), "");
}

TEST(SignalGuardTest, AnInterruptKillsWhileThereIsNothingToWrite) {
  EXPECT_EXIT(
      {
        const SignalGuard guard;
        std::raise(SIGINT);
      },
      testing::KilledBySignal(SIGINT), "");
}

/// The input is a pipe, so that the command is certainly reading it when the signal comes.
TEST(SignalGuardTest, AWishForAListingWhileInputsAreReadIsNoEnd) {
  const std::filesystem::path pipe =
      std::filesystem::temp_directory_path() / ("warpline-" + std::to_string(::getpid()) + ".toml");
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  std::thread writer([&pipe] {
    std::ofstream out(pipe);
    ::kill(::getpid(), SIGUSR1);
    out << "generator = \"stream\"\nfootprint = 65536\naccesses = 2000\n";
  });
  const test::Ended e = test::command({"run", pipe.string(), "--quiet"});
  writer.join();
  std::filesystem::remove(pipe);
  EXPECT_EQ(e.status, 0) << e.err;
}

}  // namespace signal_guard_test
}  // namespace warpline
