#pragma once

#include <algorithm>
#include <initializer_list>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "platform/config/load_gpu.h"
#include "platform/machine/direct_backend.h"
#include "platform/machine/gpu_platform.h"
#include "platform/programs/ptx/module.h"
#include "rtl_models/base/counter.h"
#include "rtl_models/base/random.h"
#include "rtl_models/sm/address_windows.h"
#include "tests/support/environment.h"
#include "tests/support/random_pipes.h"

namespace warpline::test {

/// A machine of random shape: caches from one line on, queues from one entry on, wires from 4 bytes on.
inline GpuConfig random_machine(Random& random) {
  Result<GpuConfig> loaded = load_gpu("mini", {});
  if (!loaded.ok()) throw std::runtime_error(loaded.faults().front().text());
  GpuConfig c = loaded.value();
  const auto pick = [&random](std::initializer_list<unsigned> list) {
    return *(list.begin() + random.below(list.size()));
  };
  const auto from_one = [&random](unsigned most) { return static_cast<unsigned>(1 + random.below(most)); };
  c.sms = from_one(5);
  c.clocks = {pick({700, 1000, 1380}), pick({500, 1000, 1380}), pick({333, 877, 1600}), pick({250, 1000})};
  c.sm.warp_slots = pick({4, 7, 64});
  c.sm.partitions = from_one(4);
  c.sm.shared_banks = pick({1, 5, 32});
  const unsigned shared_latency = from_one(20);
  c.sm.issue_latency = from_one(5);
  c.sm.shared_latency = c.sm.issue_latency + shared_latency;
  c.sm.shared_pass_cycles = 1 + shared_latency % 3;
  c.sm.writeback_latency = pick({0, 1, 4});
  c.sm.lsu_entries = pick({1, 2, 5, 64});
  c.sm.lsu_queue = std::min(c.sm.lsu_entries, pick({1, 3, 16}));
  c.l1_lg.geometry = {from_one(8), from_one(4)};
  c.l1_lg.miss_registers = from_one(4);
  c.l1_lg.outgoing = pick({2, 3, 64});
  c.l1_lg.update_on_store = random.below(2) == 0;
  for (ReadOnlyCacheParameters* r : {&c.texture, static_cast<ReadOnlyCacheParameters*>(&c.constant)}) {
    r->geometry = {from_one(8), from_one(4)};
    r->miss_registers = from_one(4);
  }
  if (random.below(2) == 0) c.crossbar.hash_masks.clear();
  c.l2.slices = from_one(7);
  c.l2.geometry = {from_one(8), from_one(4)};
  c.l2.miss_registers = from_one(4);
  c.dram.channels = from_one(8);
  c.dram.banks = pick({1, 3, 16});
  c.dram.queue = pick({1, 2, 32});
  c.pcie.latency = pick({1, 20, 250});
  c.pcie.tags = pick({1, 3, 256});
  c.pcie.max_payload = pick({32, 64, 256});
  c.pcie.atomic_ops = random.below(2) == 0;
  for (CacheGeometry* g : {&c.l1_lg.geometry, &c.texture.geometry, &c.constant.geometry, &c.l2.geometry})
    g->evict_last_percent = pick({0, 50, 75, 100});
  c.sm.unified_l1 = random.below(2) == 0;
  c.sm.l1_ports = pick({1, 2, 4});
  c.sm.texture_latency = pick({0, 1, 30});
  c.sm.clock_latency = pick({0, 1, 40});
  c.sm.clock_cycles = pick({1, 4, 35});
  for (CacheGeometry* g : {&c.l1_lg.geometry, &c.texture.geometry, &c.constant.geometry, &c.l2.geometry})
    g->replacement = pick({0, 1}) == 0 ? "lru" : pick({0, 1}) == 0 ? "pseudo_lru" : "random";
  if (random.below(2) == 0) {  // 4 or 8 KiB of storage, of which shared memory takes up to 3
    c.l1_lg.geometry.sets = 8 * pick({2, 4});
    c.l1_lg.geometry.ways = 2;
    c.l1_lg.carveouts = {0, 1, 3};
  }
  // Where nothing crosses in few cycles, the engine runs its clusters ahead of each other.
  const unsigned more = pick({0, 0, 7, 40, 150});
  c.hops.visit([&](std::string_view, HopParameters& h, std::string_view) {
    h.request = {pick({4, 32, 128}), more + pick({1, 2, 9}), pick({1, 2, 16}), more + pick({1, 3})};
    h.response = {pick({4, 32, 128}), more + pick({1, 2, 9}), pick({1, 2, 16}), more + pick({1, 3})};
  });
  if (random.below(2) == 0) {
    c.gpcs = from_one(2);
    c.sms_per_tpc = from_one(2);
    if (random.below(2) == 0) c.cta_placement = "gpc";
    NetworkParameters& n = c.crossbar.network;
    n.tpc_request = pick({0, 3, 35});
    n.tpc_reply = pick({0, 5, 64});
    n.gpc_request = pick({0, 7, 100});
    n.gpc_reply = pick({0, 9, 200});
    n.slice_reply = pick({0, 4, 30});
    n.group_reply = pick({0, 6, 60});
    n.share_window = pick({0, 1, 100});
    n.groups = from_one(c.l2.slices);
    n.header = pick({1, 8, 32});
    n.queue = pick({1, 2, 64});
    const auto distances = [&](std::size_t count) {
      std::vector<std::uint64_t> list(count);
      for (std::uint64_t& cycles : list) cycles = random.below(60);
      return list;
    };
    if (random.below(2) == 0) n.gpc_distance = distances(std::size_t{c.gpcs} * n.groups);
    if (random.below(2) == 0) n.tpc_distance = distances(1 + random.below(3));
    if (random.below(2) == 0) n.slice_distance = distances(1 + random.below(3));
    c.crossbar.slice_shift = pick({0, 1, 3});
    if (random.below(2) == 0)
      c.crossbar.translation = {4096,
                                pick({1, 16}),
                                pick({0, 10}),
                                pick({0, 2, 16}),
                                pick({0, 9, 300}),
                                pick({0, 0, 1, 2, 3}),
                                pick({1, 2, 16})};
  }
  c.constant.first_level = {pick({0, 64, 2048}), 64, pick({0, 3, 70})};
  draw_pipes(random, c.sm.pipes);
  c.sm.barrier_latency = pick({0, 18});
  c.sm.barrier_arrival_cycles = pick({0, 2});
  c.sm.fence_latency = pick({0, 100});
  c.sm.cta_launch_latency = pick({0, 50});
  c.sm.shared_part_cycles = pick({1, 2});
  if (pick({0, 1}) == 0 && c.l2.slices > 1) c.l2.partitions = {2, pick({0, 7, 90}), pick({0, 4, 32})};
  c.l2.merge_cycles = pick({0, 2});
  c.sm.shared_atomic_cycles = pick({0, 3});
  c.sm.l1_pass_cycles = pick({1, 2});
  c.sm.shared_atomic_interval = pick({0, 6});
  c.sm.atomic_cycles = pick({0, 51});
  if (pick({0, 1}) == 0)
    c.l2.atomics = {pick({0, 10, 60}), pick({0, 46}), pick({0, 111}), pick({0, 5}), pick({0, 9}), 10};
  return c;
}

/// What two runs of one program on one machine have in common if time is the same: cycles and counters.
class Observation final : public CounterVisitor {
 public:
  void counter(std::string_view block, std::string_view name, std::uint64_t value, std::string_view,
               std::string_view) override {
    values[std::string(block) + "." + std::string(name)] = value;
  }
  std::map<std::string, std::uint64_t> values;
};

/// A platform and a module on it, without any file.
class Bench {
 public:
  Bench(const GpuConfig& config, const std::string& ptx, TickMode mode = TickMode::lazy,
        std::uint64_t seed = 1, Cycle limit = 500'000'000)
      : Bench(config, ptx, std::make_shared<DirectBackend>(mode, seed), limit) {}
  /// `schedule`: nothing: half of all texts have either, whatever else is given.
  Bench(const GpuConfig& config, const std::string& ptx, std::shared_ptr<NetlistBackend> backend,
        Cycle limit = 500'000'000, std::optional<std::uint64_t> jitter = {},
        std::optional<ptx::Schedule> schedule = {})
      : backend_(std::move(backend)),
        platform_(config, options(backend_, limit, jitter)),
        module_(parsed(
            ptx, schedule.value_or(ptx.size() % 2 == 0 ? ptx::Schedule::ptx : ptx::Schedule::assembler))) {}

  template <class T>
  std::uint64_t put(const std::vector<T>& values, Aperture aperture = Aperture::vidmem) {
    const std::uint64_t at = platform_.allocate("", values.size() * sizeof(T), aperture);
    platform_.write(at, values.data(), values.size() * sizeof(T));
    return at;
  }
  template <class T>
  [[nodiscard]] std::vector<T> get(std::uint64_t at, std::size_t count) const {
    std::vector<T> values(count);
    platform_.read(at, values.data(), count * sizeof(T));
    return values;
  }
  [[nodiscard]] std::unique_ptr<Kernel> make_kernel(const std::string& entry, unsigned ctas, unsigned threads,
                                                    const std::vector<std::uint64_t>& words,
                                                    const std::vector<std::uint8_t>& tail) {
    std::vector<std::uint8_t> block(words.size() * 8);
    if (!words.empty()) __builtin_memcpy(block.data(), words.data(), block.size());
    block.insert(block.end(), tail.begin(), tail.end());
    return module_->make_kernel(entry, {ctas, 1, 1}, {threads, 1, 1}, 0, block);
  }
  /// Launches an entry whose parameters are 64-bit words, `tail` behind them.
  LaunchResult launch(const std::string& entry, unsigned ctas, unsigned threads,
                      const std::vector<std::uint64_t>& words, bool invalidate = true,
                      const std::vector<std::uint8_t>& tail = {}) {
    const std::unique_ptr<Kernel> kernel = make_kernel(entry, ctas, threads, words, tail);
    const std::vector<std::string> refusals = platform_.refusals(kernel->info());
    if (!refusals.empty()) throw std::runtime_error(refusals.front());
    return platform_.launch(*kernel, invalidate);
  }
  /// Pauses about every `cycles` cycles: the listing must hold each request of the pool exactly once.
  void watch_in_flight(Cycle cycles, std::vector<std::string>& complaints) {
    platform_.on_progress(cycles, [this, &complaints](double) {
      const std::vector<InFlight> rows = platform_.in_flight();
      std::set<const Request*> different;
      for (const InFlight& row : rows)
        if (!different.insert(row.request).second)
          complaints.push_back("listed twice: " + row.what + " at " + row.at);
      seen_in_flight += rows.size();
      const std::size_t used = backend_->engine().requests_in_use();
      if (used != different.size())
        complaints.push_back(std::to_string(different.size()) + " listed, in flight: " +
                             std::to_string(used) + ", in cycle " + std::to_string(platform_.now()));
      return complaints.empty();
    });
  }
  std::size_t seen_in_flight = 0;  ///< requests listed in all
  GpuPlatform& platform() { return platform_; }
  programs::Module& module() { return *module_; }

 private:
  static RunOptions options(std::shared_ptr<NetlistBackend> backend, Cycle limit,
                            std::optional<std::uint64_t> jitter) {
    RunOptions o;
    o.jitter = jitter;
    o.backend = std::move(backend);
    o.max_cycles = limit;
    return o;
  }
  static std::unique_ptr<programs::Module> parsed(const std::string& text, ptx::Schedule schedule) {
    auto module = ptx::parse(text, "test.ptx", schedule);
    if (!module.ok()) throw std::runtime_error(module.faults().front().text());
    return std::move(module.value());
  }
  std::shared_ptr<NetlistBackend> backend_;
  GpuPlatform platform_;
  std::unique_ptr<programs::Module> module_;
};

}  // namespace warpline::test
