// Random kernels of all that Hopper has, mixed: what they leave in memory and registers, and print, is the
// same in every tick mode, loosely timed, functionally, whatever the hardware's freedom in time, over sockets
// and pins, and after a checkpoint between two grids. Where time is the same, so is every counter. All
// machines in SystemC are elaborated before the first runs. Instructions issue in the text's order for even
// seeds, in the assembler's for odd ones; and once in the other one, which leaves the same.
//
// WARPLINE_MIXED_KERNELS sets how many are drawn, WARPLINE_RANDOM_SEED the first one's seed. All run timed,
// with jitter and loosely timed, those whose seed WARPLINE_MIXED_SHARE divides in all other ways, too. Of a
// kernel that fails, parts are left out as long as it still does; WARPLINE_MIXED_PARTS, a bit for each part,
// says which are there.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <deque>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "platform/launch/fast_forward.h"
#include "platform/launch/launch_runner.h"
#include "platform/machine/checkpoint.h"
#include "platform/machine/direct_backend.h"
#include "platform/systemc/systemc_backend.h"
#include "tests/fuzz/kernels/mixed_kernel.h"
#include "tests/programs/cluster_program.h"
#include "tests/programs/machine.h"

namespace warpline::test {
namespace mixed_kernels_test {

namespace fs = std::filesystem;

constexpr std::uint64_t kAllParts = ~std::uint64_t{0};
constexpr Cycle kLimit = 200'000'000;

/// What a run leaves.
struct Left {
  std::map<std::string, std::string> files;  ///< that were dumped
  std::vector<std::string> printed;          ///< lines; which thread's come first is up to time
  std::vector<Cycle> cycles;
  std::map<std::string, std::uint64_t> counters;
};

std::string contents(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// A kernel with its launch file in a folder of its own.
struct Case {
  explicit Case(std::uint64_t its_seed, std::uint64_t kept)
      : seed(its_seed),
        folder(fs::temp_directory_path() /
               ("warpline-mixed-" + std::to_string(::getpid()) + "-" + std::to_string(its_seed))) {
    Random random(splitmix64(seed));
    config = random_machine_of_clusters(random);
    kernel = mixed_kernel(seed, config, kept);
    fs::create_directories(folder);
    std::ofstream(folder / "k.ptx") << kernel.ptx;
    std::ofstream(folder / "k.toml") << kernel.launch;
  }
  ~Case() { fs::remove_all(folder); }
  Case(const Case&) = delete;
  Case& operator=(const Case&) = delete;

  std::uint64_t seed;
  fs::path folder;
  GpuConfig config;
  MixedKernel kernel;
};

/// How the hops of a machine in SystemC are carried.
std::shared_ptr<NetlistBackend> carried(const Case& c, bool sockets) {
  std::vector<std::string> pins;
  if (!sockets) pins = {"sm[0].*", "sm_network.*", "*.from_crossbar"};
  return std::make_shared<SystemCBackend>(
      c.config.clocks, sockets ? HopTransport::socket : HopTransport::direct, TickMode::lazy, 1, pins);
}

class Player {
 public:
  Player(const Case& c, std::shared_ptr<NetlistBackend> backend, std::optional<std::uint64_t> jitter = {})
      : case_(c) {
    RunOptions options;
    options.backend = std::move(backend);
    options.max_cycles = kLimit;
    options.jitter = jitter;
    gpu_ = std::make_unique<GpuPlatform>(c.config, options);
  }
  void build() { gpu_->build(); }
  void set_loose() { gpu_->set_loose(true); }
  void set_functional() {
    gpu_->set_functional(true);
    gpu_->set_loose(true);
  }
  /// Instructions issue in the other order: in the text's for odd seeds, else in the assembler's.
  void set_other_order() { other_order_ = true; }
  /// Runs the whole; `from`: goes on behind the first grid, where a checkpoint says that another one got to.
  Left run(const std::string* from = nullptr) {
    Left out;
    auto plan = read_workload({(case_.folder / "k.toml").string()}, false, schedule());
    if (!plan.ok()) return complain(plan.faults().front().text());
    LaunchRunner runner(plan.value(), *gpu_, false);
    if (const Diagnostics faults = runner.prepare(); !faults.empty()) return complain(faults.front().text());
    if (from != nullptr)
      if (const Diagnostics faults = runner.continue_from(restore(*from)); !faults.empty())
        return complain(faults.front().text());
    CounterTable table;
    std::vector<LaunchStatistics> launches;
    const RunEnd end = runner.run(table, launches);
    check(end);
    for (const LaunchStatistics& l : launches) out.cycles.push_back(l.cycles);
    std::istringstream lines(end.printed);
    for (std::string line; std::getline(lines, line);) out.printed.push_back(line);
    std::sort(out.printed.begin(), out.printed.end());
    for (const std::string& name : case_.kernel.files) out.files[name] = contents(case_.folder / name);
    Observation seen;
    gpu_->visit(seen);
    out.counters = std::move(seen.values);
    return out;
  }
  /// Runs the first grid; what is printed by it, and the checkpoint after it.
  std::string save(std::string& printed) {
    auto plan = read_workload({(case_.folder / "k.toml").string()}, false, schedule());
    LaunchRunner runner(plan.value(), *gpu_, false);
    FastForward rest;
    rest.launches = 1;
    runner.stop_after(rest);
    if (const Diagnostics faults = runner.prepare(); !faults.empty()) complain(faults.front().text());
    CounterTable table;
    std::vector<LaunchStatistics> launches;
    const RunEnd end = runner.run(table, launches);
    printed = end.printed;
    check(end);
    std::ostringstream out;
    if (const Diagnostics faults = gpu_->save(out, runner.progress()); !faults.empty())
      complain(faults.front().text());
    return out.str();
  }

 private:
  [[nodiscard]] ptx::Schedule schedule() const {
    return (case_.seed % 2 == 0) != other_order_ ? ptx::Schedule::ptx : ptx::Schedule::assembler;
  }
  static Left complain(const std::string& what) {
    ADD_FAILURE() << what;
    return {};
  }
  std::string restore(const std::string& saved) {
    std::istringstream in(saved);
    const auto checkpoint = Checkpoint::read(in);
    if (!checkpoint.ok()) {
      complain(checkpoint.faults().front().text());
      return {};
    }
    if (const Diagnostics faults = gpu_->restore(checkpoint.value()); !faults.empty())
      complain(faults.front().text());
    return checkpoint.value().note();
  }
  void check(const RunEnd& end) const {
    EXPECT_EQ(end.outcome, RunOutcome::quiescent)
        << "in cycle " << gpu_->now() << (end.standstill.repeats ? ", repeating" : "")
        << (end.standstill.dead ? ", dead" : "");
    for (const Wait& w : end.standstill.waits) ADD_FAILURE() << w.who << " waits for " << w.what;
    for (const FaultRecord& f : gpu_->faults())
      ADD_FAILURE() << f.kind << " at " << f.where << ", SM " << f.sm;
    for (const Diagnostic& d : end.input_faults) ADD_FAILURE() << d.text();
    for (const std::string& f : end.failures) ADD_FAILURE() << f;
    if (end.outcome == RunOutcome::quiescent) {
      EXPECT_EQ(gpu_->unreconciled(), std::vector<std::string>{});
    }
  }

  const Case& case_;
  std::unique_ptr<GpuPlatform> gpu_;
  bool other_order_ = false;
};

void expect_equal(const Left& got, const Left& wanted, bool time, const std::string& how) {
  SCOPED_TRACE(how);
  for (const auto& [name, bytes] : wanted.files) {
    const std::string& other = got.files.count(name) != 0 ? got.files.at(name) : name;
    const auto differs = std::mismatch(bytes.begin(), bytes.end(), other.begin(), other.end());
    EXPECT_TRUE(bytes == other) << name << " differs in byte " << differs.first - bytes.begin();
  }
  EXPECT_EQ(got.printed, wanted.printed);
  if (!time) return;
  EXPECT_EQ(got.cycles, wanted.cycles);
  EXPECT_EQ(got.counters, wanted.counters);
}

/// A kernel, and its machines in SystemC, of which one may go on where a checkpoint was saved.
struct Scene {
  Scene(std::uint64_t seed, std::uint64_t kept, bool in_every_way)
      : it(seed, kept), whole(in_every_way), loose(seed % 5 == 0), restored(seed % 2 == 0) {
    if (!whole) return;
    carriers.push_back(std::make_unique<Player>(it, carried(it, seed % 4 != 3)));
    if (restored && !it.kernel.dependent)
      carriers.push_back(std::make_unique<Player>(it, carried(it, seed % 8 != 4)));
    for (const auto& p : carriers) p->build();
  }
  void play() {
    const Left wanted = Player(it, nullptr).run();
    if (::testing::Test::HasFailure()) return;
    expect_equal(Player(it, nullptr, it.seed).run(), wanted, false, "jitter");
    Player other(it, nullptr);
    other.set_other_order();
    expect_equal(other.run(), wanted, false, "the other order of instructions");
    Player loosely(it, nullptr);
    loosely.set_loose();
    expect_equal(loosely.run(), wanted, false, "loosely timed");
    Player functionally(it, nullptr);
    functionally.set_functional();
    expect_equal(functionally.run(), wanted, false, "functionally");
    if (!whole) return;
    const TickMode mode = it.seed % 2 == 0 ? TickMode::every_cycle : TickMode::spurious_and_shuffled;
    expect_equal(Player(it, std::make_shared<DirectBackend>(mode, it.seed)).run(), wanted, true,
                 "other ticks");
    if (loose) carriers[0]->set_loose();
    SCOPED_TRACE("in SystemC, or after a checkpoint");
    expect_equal(carriers[0]->run(), wanted, !loose, "in SystemC");
    if (it.kernel.dependent) return;  // both grids run at the same time: there is no rest between them
    std::string printed;
    Player first(it, nullptr);
    const std::string saved = first.save(printed);
    Player plain(it, nullptr);
    Left end = (restored ? *carriers[1] : plain).run(&saved);
    std::istringstream lines(printed);
    for (std::string line; std::getline(lines, line);) end.printed.push_back(line);
    std::sort(end.printed.begin(), end.printed.end());
    end.cycles = wanted.cycles;  // those of the second grid alone; the counters tell the rest
    expect_equal(end, wanted, true, restored ? "restored in SystemC" : "restored");
  }

  Case it;
  bool whole, loose, restored;
  std::vector<std::unique_ptr<Player>> carriers;
};

std::string rerun(std::uint64_t seed, std::uint64_t kept) {
  return "WARPLINE_MIXED_SHARE=1 WARPLINE_MIXED_KERNELS=1 WARPLINE_RANDOM_SEED=" + std::to_string(seed) +
         " WARPLINE_MIXED_PARTS=" + std::to_string(kept);
}

/// Leaves out parts, one after the other, without which the kernel fails just so. Says what is left.
std::string shrink(std::uint64_t seed, const MixedKernel& kernel) {
  std::uint64_t kept = (std::uint64_t{1} << kernel.parts.size()) - 1;
  for (std::size_t n = kernel.parts.size(); n-- > 0;) {
    const std::uint64_t fewer = kept & ~(std::uint64_t{1} << n);
    const std::string command = rerun(seed, fewer) + " " + fs::read_symlink("/proc/self/exe").string() +
                                " --gtest_filter=MixedKernels.* >/dev/null 2>&1";
    if (std::system(command.c_str()) != 0) kept = fewer;
  }
  std::string out = rerun(seed, kept) + "\nparts:";
  for (std::size_t n = 0; n < kernel.parts.size(); ++n)
    if ((kept >> n & 1U) != 0) out += " " + kernel.parts[n];
  Random random(splitmix64(seed));
  const MixedKernel small = mixed_kernel(seed, random_machine_of_clusters(random), kept);
  return out + "\n" + small.launch + small.ptx;
}

TEST(MixedKernels, LeaveTheSameWhateverCarriesThem) {
  const std::uint64_t first = from_environment("WARPLINE_RANDOM_SEED", 1);
  const std::uint64_t count = from_environment("WARPLINE_MIXED_KERNELS", 6);
  const std::uint64_t kept = from_environment("WARPLINE_MIXED_PARTS", kAllParts);
  const std::uint64_t share = std::max<std::uint64_t>(from_environment("WARPLINE_MIXED_SHARE", 1), 1);
  sc_core::sc_report_handler::set_actions(sc_core::SC_ID_INSTANCE_EXISTS_, sc_core::SC_DO_NOTHING);
  std::deque<Scene> scenes;
  for (std::uint64_t seed = first; seed < first + count; ++seed)
    scenes.emplace_back(seed, kept, seed % share == 0);
  for (Scene& s : scenes) {
    SCOPED_TRACE(rerun(s.it.seed, kept));
    s.play();
    if (!HasFailure()) continue;
    if (kept == kAllParts) ADD_FAILURE() << "smallest: " << shrink(s.it.seed, s.it.kernel);
    return;
  }
}

}  // namespace mixed_kernels_test
}  // namespace warpline::test
