// The same over carriers: what is saved on one goes on in a new process on another: port to port, sockets,
// pins.
//
// WARPLINE_CHECKPOINTS_CARRIERS sets how many programs are drawn, WARPLINE_RANDOM_SEED the first one's seed.
#include <gtest/gtest.h>

#include "platform/systemc/systemc_backend.h"
#include "tests/programs/checkpoint_child.h"

namespace warpline::test {
namespace checkpoints_carriers_test {

std::shared_ptr<NetlistBackend> backend_of(const std::string& carrier, const GpuConfig& config) {
  if (carrier == "plain") return std::make_shared<DirectBackend>();
  const bool sockets = carrier == "sockets";
  std::vector<std::string> pins;
  if (carrier == "pins") pins = {"*.from_crossbar", "*.l1_lg.from_sm"};
  return std::make_shared<SystemCBackend>(
      config.clocks, sockets ? HopTransport::socket : HopTransport::direct, TickMode::lazy, 1, pins);
}

/// Loosely timed, what overlaps is up to the world around.
StoppedProgram timed_program(std::uint64_t seed) {
  StoppedProgram stopped(seed);
  stopped.timing = Timing::timed;
  return stopped;
}

constexpr const char* kCarriers[] = {"plain", "sockets", "pins", "direct"};

/// Run by the processes that the test below starts: saves, or continues.
TEST(CheckpointsOverCarriers, DISABLED_Continue) {
  const Continuation asked = Continuation::asked();
  ASSERT_NE(asked.seed, 0U) << "only another test runs this one";
  const StoppedProgram stopped = timed_program(asked.seed);
  const auto play = stopped.play(backend_of(asked.carrier, stopped.config));
  play->build();
  continue_there(stopped, *play, asked.folder);
}

TEST(CheckpointsOverCarriers, DISABLED_Save) {
  const Continuation asked = Continuation::asked();
  ASSERT_NE(asked.seed, 0U) << "only another test runs this one";
  const StoppedProgram stopped = timed_program(asked.seed);
  const auto play = stopped.play(backend_of(asked.carrier, stopped.config));
  play->build();
  Outcome out;
  save_at_rest(stopped, *play, asked.folder, out);
}

TEST(CheckpointsOverCarriers, WhatIsSavedOnOneGoesOnOnAnother) {
  const std::uint64_t first = from_environment("WARPLINE_RANDOM_SEED", 1);
  const std::uint64_t count = from_environment("WARPLINE_CHECKPOINTS_CARRIERS", 4);
  for (std::uint64_t seed = first; seed < first + count; ++seed) {
    const std::string from = kCarriers[seed % 4], to = kCarriers[(seed + seed / 4) % 4];
    SCOPED_TRACE("WARPLINE_CHECKPOINTS_CARRIERS=1 WARPLINE_RANDOM_SEED=" + std::to_string(seed) + ": " +
                 from + " to " + to);
    const StoppedProgram stopped = timed_program(seed);
    const CheckpointFolder folder;
    Outcome whole;
    const auto twin = stopped.play(std::make_shared<DirectBackend>());
    twin->run_grids(0, stopped.program.grids.size(), whole, stopped.timing);
    twin->conclude(whole);
    ASSERT_TRUE(whole.complaints.empty()) << ::testing::PrintToString(whole.complaints);
    whole.cycles.erase(whole.cycles.begin(),
                       whole.cycles.begin() + static_cast<std::ptrdiff_t>(stopped.rest));
    ASSERT_EQ((Continuation{seed, folder.path, from}.in_new_process("CheckpointsOverCarriers.DISABLED_Save")),
              0)
        << contents_of(folder.path + "/log");
    ASSERT_EQ(
        (Continuation{seed, folder.path, to}.in_new_process("CheckpointsOverCarriers.DISABLED_Continue")), 0)
        << contents_of(folder.path + "/log");
    ASSERT_TRUE(contents_of(folder.path + "/again") == contents_of(folder.path + "/saved"));
    ASSERT_EQ(contents_of(folder.path + "/ended"), text_of(whole, twin->platform().now()));
  }
}

}  // namespace checkpoints_carriers_test
}  // namespace warpline::test
