// What docs/threads.md says: objects of different threads share nothing. Eight threads do everything that
// needs no SystemC at the same time, and each finds what it finds alone. `./warp test --threads` runs this
// under the thread sanitizer.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <fstream>
#include <iterator>
#include <thread>

#include "platform/config/load_gpu.h"
#include "platform/consistency/checker.h"
#include "platform/consistency/parser.h"
#include "platform/consistency/runner.h"
#include "platform/host/wl_machine.h"
#include "platform/launch/launch_runner.h"
#include "sw/driver/wl_peer.h"
#include "tests/support/counters_text.h"

namespace warpline::test {
namespace threads_test {

constexpr unsigned kThreads = 8;
const std::string kSource = WARPLINE_SOURCE_DIR;

/// A launch file on a GPU whose shape is this thread's own: every counter, and how it ended.
std::string run_kernels(const std::string& launch_file, unsigned number) {
  auto plan = read_workload({kSource + "/sw/kernels/" + launch_file}, false);
  if (!plan.ok()) return plan.faults().front().text();
  const GpuConfig config = load_gpu("mini", {{"l2.slices=" + std::to_string(1 + number % 4)}}).value();
  GpuPlatform gpu(config, {});
  LaunchRunner runner(plan.value(), gpu, false);
  if (const Diagnostics faults = runner.prepare(); !faults.empty()) return faults.front().text();
  CounterTable table;
  std::vector<LaunchStatistics> launches;
  const RunEnd end = runner.run(table, launches);
  std::string all = std::to_string(gpu.now()) + " cycles, " + std::to_string(end.failed_checks) + " of " +
                    std::to_string(end.checks) + " wrong\n";
  for (const std::string& u : gpu.unreconciled()) all += u + "\n";
  all += text_of_counters(gpu);
  return all;
}

/// A litmus test, judged and run.
std::string run_litmus(unsigned number) {
  std::ifstream file(kSource + "/tests/litmus/MP+cg+fences.litmus");
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  const auto test = litmus::parse(text, "MP+cg+fences.litmus");
  if (!test.ok()) return test.faults().front().text();
  litmus::Machine machine(load_gpu("mini", {{"sms=2"}}).value());
  litmus::RunSeries plan;
  plan.runs = 10;
  plan.seed = number;
  const litmus::RunReport report = litmus::run(machine, test.value(), plan);
  const litmus::Verdict verdict = litmus::check(test.value());
  std::string all = std::to_string(verdict.executions) + " executions looked at\n";
  for (const litmus::Outcome& o : report.outcomes)
    all += litmus::text_of(o, report.terms, test.value()) + ": " + std::to_string(o.count) + "\n";
  return all;
}

/// The driver and a device.
std::string run_driver(unsigned number) {
  wl_machine* const machine = wl_machine_create(nullptr);
  const wl_port* const port = wl_machine_port(machine, 0);
  auto* const memory = static_cast<std::uint64_t*>(wl_machine_memory(machine, 4096));
  std::array<wl_peer_slot, 16> slots{};
  wl_peer peer{};
  wl_peer_queue_options queue{};
  queue.order = 4;
  queue.slots = slots.data();
  queue.submissions = wl_machine_memory(machine, 16 * WL_PEER_COMMAND_BYTES);
  queue.completions = wl_machine_memory(machine, 16 * WL_PEER_COMPLETION_BYTES);
  wl_peer_command command{};
  command.opcode = WL_PEER_OPCODE_FILL;
  command.length = 4096;
  command.operand = number + 1;
  wl_peer_completion completion{};
  bool good = wl_peer_probe(&peer, port) == WL_OK && wl_peer_start(&peer) == WL_OK &&
              wl_peer_queue_create(&peer, 0, &queue) == WL_OK;
  command.destination = port->dma_map(port->context, memory, 4096, WL_DMA_FROM_DEVICE);
  good = good && wl_peer_submit(&peer, 0, &command) == WL_OK && wl_peer_ring(&peer, 0) == WL_OK &&
         wl_peer_wait(&peer, 0, 100, &completion) == WL_OK;
  std::string all = good && memory[511] == number + 1 ? "filled" : "not filled";
  all += " after " + std::to_string(wl_machine_cycles(machine)) + " cycles\n";
  wl_peer_teardown(&peer);
  wl_machine_destroy(machine);
  return all;
}

std::string do_everything(unsigned number) {
  const std::array<const char*, 4> files{"vecadd.toml", "reduce.toml", "transpose.toml", "texture.toml"};
  return run_kernels(files[number % files.size()], number) + run_litmus(number) + run_driver(number);
}

TEST(Threads, EightOfThemFindWhatEachFindsAlone) {
  std::array<std::string, kThreads> together, alone;
  // All begin at once, before anything was done in this process that could have made what they share.
  std::atomic<unsigned> ready{0};
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < kThreads; ++i)
    threads.emplace_back([&, i] {
      ++ready;
      while (ready < kThreads) std::this_thread::yield();
      together[i] = do_everything(i);
    });
  for (std::thread& t : threads) t.join();
  for (unsigned i = 0; i < kThreads; ++i) {
    alone[i] = do_everything(i);
    EXPECT_EQ(together[i], alone[i]) << "thread " << i;
    EXPECT_NE(alone[i].find(" cycles, 0 of "), std::string::npos) << alone[i].substr(0, 200);
    EXPECT_NE(alone[i].find("filled after"), std::string::npos);
    EXPECT_EQ(alone[i].find("not filled"), std::string::npos);
    EXPECT_NE(alone[i].find(" executions looked at"), std::string::npos)
        << alone[i].substr(alone[i].size() - 300);
  }
  EXPECT_NE(alone[0], alone[1]);
}

}  // namespace threads_test
}  // namespace warpline::test
