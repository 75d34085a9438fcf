// A GPU with L2 slices that are not ours, and a GPU that is run from within a simulation. One simulation per
// process.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "platform/systemc/systemc_backend.h"
#include "tests/platform/machine/harness.h"
#include "tests/rtl_models/tlm/foreign_modules.h"
#include "tests/support/checked_hops.h"

namespace warpline::test {
namespace foreign_slice_test {

using test::preset;

GeneratorParameters stream() {
  GeneratorParameters p;
  p.kind = "stream";
  p.footprint = 64 * 1024;
  p.accesses = 50;
  p.grid = {7, 1, 1};
  p.block = {64, 1, 1};
  p.base = 0x7F0000000000ULL;
  return p;
}

RunOptions options(std::shared_ptr<NetlistBackend> backend, Cycle max_cycles = kNever) {
  RunOptions o;
  o.tags_only = true;
  o.backend = std::move(backend);
  o.max_cycles = max_cycles;
  return o;
}

GpuConfig config() {
  return preset("mini", {{"sms=2"}, {"l2.slices=3"}, {"dram.channels=5"}});
}

/// A backend whose slices are foreign memories that answer in this way, with checkers on all hops.
std::shared_ptr<SystemCBackend> with_slices(std::deque<ForeignTarget>& slices, Way way, CheckedHops& hops) {
  auto backend = checked_backend(config(), hops);
  backend->replace_slices([&slices, way](const SliceSite& site) {
    SliceSockets sockets;
    sockets.from_crossbar =
        &slices.emplace_back(site.name.c_str(), way, sc_core::sc_time(300, sc_core::SC_NS)).socket;
    return sockets;
  });
  return backend;
}

/// Time passes in the simulation whatever the GPU does.
struct Clocked final : sc_core::sc_module {
  explicit Clocked(const sc_core::sc_module_name& name) : sc_module(name) {}
  sc_core::sc_clock clock{"clock", 3, sc_core::SC_NS};
};

/// Every legal way to answer.
class ForeignSlicesOf : public ::testing::TestWithParam<unsigned> {};

TEST_P(ForeignSlicesOf, RunKernelsInWhateverWayTheyAnswer) {
  std::deque<ForeignTarget> slices;
  CheckedHops hops;
  GpuPlatform gpu(config(), options(with_slices(slices, static_cast<Way>(GetParam()), hops)));
  gpu.map_everything();
  const auto kernel = make_generator(stream());
  const LaunchResult first = gpu.launch(*kernel);
  EXPECT_EQ(first.outcome, RunOutcome::quiescent);
  EXPECT_GT(first.cycles, 100U);
  EXPECT_THAT(gpu.unreconciled(), ::testing::IsEmpty());
  EXPECT_EQ(slices.size(), 3U);
  EXPECT_STREQ(slices[2].name(), "gpu.l2_2");
  const test::AllCounters counters(gpu);
  EXPECT_GT(counters.total("crossbar.read_sectors_requested"), 0U);
  EXPECT_EQ(counters.values().count("l2[0].sector_accesses"), 0U) << "ours are not there";
  EXPECT_EQ(hops.hops(), 2U * 9 + 3U);
  hops.expect_clean();
}

INSTANTIATE_TEST_SUITE_P(Ways, ForeignSlicesOf, ::testing::Range(0U, static_cast<unsigned>(Way::silent)));

TEST(ForeignSlices, OneThatIsSilentIsADeadlockThatNamesItsSocket) {
  std::deque<ForeignTarget> slices;
  CheckedHops hops;
  GpuPlatform gpu(config(), options(with_slices(slices, Way::silent, hops)));
  gpu.map_everything();
  const auto kernel = make_generator(stream());
  const LaunchResult result = gpu.launch(*kernel);
  EXPECT_EQ(result.outcome, RunOutcome::deadlock);
  EXPECT_THAT(result.standstill.waits,
              ::testing::Contains(::testing::Field(&Wait::who, ::testing::HasSubstr("gpu.crossbar.to_l2_"))));
  hops.expect_clean(false);
}

TEST(ForeignSlices, OneThatIsSilentWhileOthersGoOnIsFoundByTheCycleLimit) {
  std::deque<ForeignTarget> slices;
  CheckedHops hops;
  GpuPlatform gpu(config(), options(with_slices(slices, Way::silent, hops), 5000));
  const Clocked clocked("clocked");
  gpu.map_everything();
  const auto kernel = make_generator(stream());
  const LaunchResult result = gpu.launch(*kernel);
  EXPECT_EQ(result.outcome, RunOutcome::cycle_limit);
  EXPECT_THAT(result.standstill.waits,
              ::testing::Contains(::testing::Field(&Wait::who, ::testing::HasSubstr("gpu.crossbar.to_l2_"))));
  EXPECT_EQ(sc_core::sc_time_stamp(), sc_core::sc_time(5001, sc_core::SC_NS));
  hops.expect_clean(false);
}

TEST(ForeignSlices, WhoseSocketsDoNotFitAreRefused) {
  const auto message = [](SliceSockets sockets) -> std::string {
    const auto backend = std::make_shared<SystemCBackend>(config().clocks, HopTransport::direct);
    backend->replace_slices([&](const SliceSite& site) {
      EXPECT_EQ(site.dram_channels, 2U);
      EXPECT_EQ(site.vidmem, nullptr) << "a run without data";
      return sockets;
    });
    GpuPlatform gpu(config(), options(backend));
    try {
      gpu.build();
    } catch (const std::invalid_argument& e) {
      return e.what();
    }
    return {};
  };
  ForeignTarget target("target", Way::called, sc_core::sc_time(1, sc_core::SC_NS));
  struct Unused final : sc_core::sc_module {
    explicit Unused(const sc_core::sc_module_name& name) : sc_module(name) {}
    IdleInitiatorSocket<256> socket{"socket"};
  } initiator("initiator");
  EXPECT_EQ(message({}), "l2_0: an L2 slice needs a socket from_crossbar");
  EXPECT_EQ(message({&target.socket, {&initiator.socket}, nullptr}),
            "l2_0: an L2 slice has no socket to_dram, or one for each of its 2 channels, not 1");
}

TEST(ForeignSlices, HaveHopsThatCannotBePins) {
  std::deque<ForeignTarget> slices;
  const auto message = [&](std::vector<std::string> pins) -> std::string {
    const auto backend = std::make_shared<SystemCBackend>(config().clocks, HopTransport::direct,
                                                          TickMode::lazy, 1, std::move(pins));
    backend->replace_slices([&slices](const SliceSite& site) {
      SliceSockets sockets;
      sockets.from_crossbar =
          &slices.emplace_back(site.name.c_str(), Way::called, sc_core::SC_ZERO_TIME).socket;
      return sockets;
    });
    GpuPlatform gpu(config(), options(backend));
    gpu.map_everything();
    try {
      gpu.build();
    } catch (const std::invalid_argument& e) {
      return e.what();
    }
    return {};
  };
  using ::testing::HasSubstr;
  EXPECT_THAT(message({"crossbar.to_l2[1]"}), HasSubstr("\"crossbar.to_l2[1]\" matches l2[1].from_crossbar"));
  EXPECT_THAT(message({"pcie.from_l2[*]"}), HasSubstr("matches pcie.from_l2[0]"));
  EXPECT_THAT(message({"dram[4].*"}), HasSubstr("matches dram[4].from_l2,"));
  EXPECT_THAT(message({"crossbar.from_l2"}), HasSubstr("\"crossbar.from_l2\" matches no hop"));
  EXPECT_EQ(slices.size(), 0U) << "nothing is made before";
  EXPECT_EQ(message({"crossbar.from_client[0]"}), "");
  EXPECT_EQ(slices.size(), 3U);
}

TEST(GpuInSystemC, TakesTheTimeOfWhoeverLivesBesideIt) {
  const auto backend = std::make_shared<SystemCBackend>(config().clocks, HopTransport::direct);
  GpuPlatform gpu(config(), options(backend));
  gpu.map_everything();
  for (unsigned i = 0; i < 2; ++i) {
    const auto kernel = make_generator(stream());
    gpu.launch(*kernel);
    EXPECT_NEAR(sc_core::sc_time_stamp().to_seconds() * 1e9, static_cast<double>(gpu.now()), 2) << i;
  }
}

/// Launches from a thread of the simulation.
struct Host final : sc_core::sc_module {
  Host(const sc_core::sc_module_name& name, GpuPlatform& platform) : sc_module(name), gpu(platform) {
    SC_HAS_PROCESS(Host);
    SC_THREAD(run);
  }
  void run() {
    for (int i = 0; i < 3; ++i) {
      wait(sc_core::sc_time(100, sc_core::SC_NS));
      const auto kernel = make_generator(stream());
      results.push_back(gpu.launch(*kernel));
    }
    done = sc_core::sc_time_stamp();
  }
  GpuPlatform& gpu;
  std::vector<LaunchResult> results;
  sc_core::sc_time done;
};

/// With hops that are direct, and with checkers on all of them.
class GpuInSystemCOf : public ::testing::TestWithParam<bool> {};

TEST_P(GpuInSystemCOf, IsLaunchedByAThreadWhileOthersGoOn) {
  GpuPlatform plain(config(), options(nullptr));
  plain.map_everything();
  std::vector<Cycle> cycles;
  for (int i = 0; i < 3; ++i) {
    const auto kernel = make_generator(stream());
    cycles.push_back(plain.launch(*kernel).cycles);
  }

  CheckedHops hops;
  const auto backend = std::make_shared<SystemCBackend>(config().clocks, HopTransport::direct);
  if (GetParam()) backend->interpose(hops.interposer());
  GpuPlatform gpu(config(), options(backend));
  gpu.map_everything();
  gpu.build();
  const Clocked clocked("clocked");
  Host host("host", gpu);
  sc_core::sc_start(1, sc_core::SC_MS);
  ASSERT_EQ(host.results.size(), 3U);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(host.results[i].outcome, RunOutcome::quiescent);
    EXPECT_EQ(host.results[i].cycles, cycles[i]) << i;
  }
  // A launch begins and ends in the middle of a cycle of 1 ns.
  EXPECT_NEAR(host.done.to_seconds() * 1e9, static_cast<double>(300 + cycles[0] + cycles[1] + cycles[2]), 3);
  EXPECT_EQ(sc_core::sc_time_stamp(), sc_core::sc_time(1, sc_core::SC_MS)) << "nobody else is stopped";
  EXPECT_EQ(test::AllCounters(plain).values(), test::AllCounters(gpu).values());
  hops.expect_clean();
}

INSTANTIATE_TEST_SUITE_P(Checked, GpuInSystemCOf, ::testing::Bool());

}  // namespace foreign_slice_test
}  // namespace warpline::test
