// Several threads for one platform: kernels of which every counter, every result and the time are as on one.
#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <vector>

#include "platform/config/load_gpu.h"
#include "platform/launch/launch_runner.h"
#include "platform/machine/attachment.h"
#include "platform/machine/netlist_backend.h"
#include "rtl_models/sim/engine.h"
#include "tests/support/counters_text.h"

namespace warpline::test {
namespace one_run_test {

GpuConfig gpu(std::vector<std::string> more = {}) {
  more.insert(more.begin(), {"sms=24", "l2.slices=8", "dram.channels=4"});
  return load_gpu("h100", more).value();
}

struct Record {
  std::string all;  ///< cycles, checks, and every counter
  std::size_t windows = 0;
};

Record run_kernels(const std::string& launch_file, unsigned threads, bool shuffled = false,
                   bool attaches = false) {
  auto plan = read_workload({std::string(WARPLINE_SOURCE_DIR) + "/sw/kernels/" + launch_file}, false);
  if (!plan.ok()) throw std::runtime_error(plan.faults().front().text());
  RunOptions options;
  options.threads = threads;
  GpuPlatform platform(gpu(), options);
  Record run;
  EXPECT_EQ(platform.why_one_thread(), "");
  Engine& engine = platform.backend().engine();
  if (shuffled) engine.shuffle_clusters(threads);
  engine.on_window([&run](const Engine::Window&) { ++run.windows; });
  bool attached = false;
  if (attaches)
    platform.on_progress(500, [&](double) {
      if (!attached) platform.attach(std::make_unique<Attachment>());
      attached = true;
      return true;
    });
  LaunchRunner runner(plan.value(), platform, false);
  if (const Diagnostics faults = runner.prepare(); !faults.empty())
    throw std::runtime_error(faults.front().text());
  CounterTable table;
  std::vector<LaunchStatistics> launches;
  const RunEnd end = runner.run(table, launches);
  EXPECT_GT(end.checks, 0U);
  EXPECT_EQ(attached, attaches) << "the run has no middle";
  run.all = std::to_string(platform.now()) + " cycles, " + std::to_string(end.failed_checks) + " of " +
            std::to_string(end.checks) + " wrong\n";
  EXPECT_EQ(engine.requests_in_use(), 0U);
  for (const std::string& u : platform.unreconciled()) ADD_FAILURE() << u;
  run.all += text_of_counters(platform);
  return run;
}

TEST(OneRun, ByAnyNumberOfThreadsIsTheSame) {
  for (const char* file : {"matmul.toml", "grid_sum.toml", "cluster_histogram.toml"}) {
    SCOPED_TRACE(file);
    const Record one = run_kernels(file, 1);
    EXPECT_EQ(one.windows, 0U);
    EXPECT_EQ(one.all, run_kernels(file, 2).all);
    const Record shuffled = run_kernels(file, 5, true);
    EXPECT_EQ(one.all, shuffled.all);
    EXPECT_GT(shuffled.windows, 0U);
  }
}

TEST(OneRun, GoesOnOnOneThreadWhenItIsWatchedFromItsMiddle) {
  const Record one = run_kernels("grid_sum.toml", 1);
  EXPECT_EQ(one.all, run_kernels("grid_sum.toml", 1, false, true).all);
  EXPECT_EQ(one.all, run_kernels("grid_sum.toml", 3, true, true).all);
}

TEST(OneRun, SaysWhyItKeepsToOneThread) {
  const auto why = [](const GpuConfig& config, RunOptions options, bool attach = false,
                      unsigned threads = 2) {
    options.threads = threads;
    GpuPlatform platform(config, options);
    if (attach) platform.attach(std::make_unique<Attachment>());
    platform.build();
    const std::string text = platform.why_one_thread();
    EXPECT_EQ(text.empty(), platform.backend().engine().runs_side_by_side()) << text;
    return text;
  };
  RunOptions loose;
  loose.loose = true;
  RunOptions every;
  every.tick_mode = TickMode::every_cycle;
  EXPECT_EQ(why(gpu(), {}), "");
  EXPECT_EQ(why(gpu(), loose), "requests are not timed");
  EXPECT_EQ(why(gpu(), every), "blocks are ticked when nothing is due, too");
  EXPECT_EQ(why(gpu(), {}, true), "what is watched is watched in the order in which it happens");
  EXPECT_EQ(why(gpu({"pcie_system.peers=1"}), {}),
            "devices and the host see packets before they have arrived");
  EXPECT_EQ(why(gpu({"hops.crossbar_l2.request.latency=3"}), {}),
            "a hop takes less than 4 cycles, or its credits are back sooner");
  const std::string few = why(gpu(), {}, false, kMostThreads);
  EXPECT_EQ(few.rfind("the hardware falls into ", 0), 0U) << few;
  EXPECT_NE(few.find(" parts, which is fewer than 2 for each thread"), std::string::npos) << few;
  RunOptions one;
  GpuPlatform platform(gpu(), one);
  EXPECT_EQ(platform.why_one_thread(), "");
}

}  // namespace one_run_test
}  // namespace warpline::test
