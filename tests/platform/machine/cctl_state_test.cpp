// What CCTL.C.IVALL, CCTL.U.IVALL and CCTL.I.IVALL do to each cache of an SM: whether lines that were absent,
// present or being fetched are there afterwards, and that the other caches stay as they were.
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <tuple>
#include <utility>

#include "tests/platform/machine/harness.h"
#include "tests/rtl_models/sm/script.h"

namespace warpline::test {
namespace cctl_state_test {

using test::alu;
using test::at;
using test::Step;

enum class Operation : std::uint8_t { none, c_ivall, u_ivall, i_ivall };
enum class State : std::uint8_t { absent, present, being_fetched };
enum class Cache : std::uint8_t { l1_lg, texture, constant, buffer, instruction };
const char* const kOperationNames[] = {"no operation", "CCTL.C.IVALL", "CCTL.U.IVALL", "CCTL.I.IVALL"};
const char* const kStateNames[] = {"absent", "present", "being fetched"};
const char* const kCacheNames[] = {"l1_lg", "texture", "constant", "instruction buffer", "instruction"};

/// Code that is visited, far from where the warps run otherwise. Behind the last line there is none to be
/// fetched ahead.
constexpr std::uint32_t kNeighbourCode = 16 * kLineBytes, kCode = 24 * kLineBytes;
constexpr std::uint32_t kCodeBytes = kCode + kLineBytes;
constexpr std::uint64_t kNeighbourData = 0x30000, kData = 0x31000;
constexpr std::uint64_t kLong = 2000;  ///< cycles after which nothing is under way

/// What the SM's two warps do around an operation.
struct Scene {
  Operation operation = Operation::none;
  State data = State::absent;                    ///< of kData in each cache of data
  std::optional<std::uint32_t> visited, coming;  ///< lines of code: long before it, and right before it
  unsigned lead = 20;                            ///< cycles before it in which lines begin to be fetched
  bool small_buffer = false;                     ///< one line: what was visited has left it
};
/// An access at the very end.
struct Probe {
  Cache cache;
  std::uint64_t address;
};

Step sleep(std::uint64_t cycles) {
  Step s;
  s.instruction.kind = InstructionKind::sleep;
  s.sleep = cycles;
  return s;
}
Step load(Cache cache, std::uint64_t address) {
  Step s = test::memory(MemKind::load, cache == Cache::constant ? Space::constant : Space::global,
                        DataType::u32, test::strided(address, 0, 1));
  s.instruction.mem.is_noncoherent = cache == Cache::texture;
  return s;
}
Step operate(Operation o) {
  if (o == Operation::i_ivall) return test::invalidate_instructions(5);
  Step s = alu(1);
  if (o == Operation::c_ivall) s.instruction.kind = InstructionKind::invalidate_constants;
  if (o != Operation::u_ivall) return s;
  s = test::memory(MemKind::cache_control, Space::generic, DataType::none, test::strided(0, 0));
  s.instruction.mem.cache_operation = CctlOperation::invalidate_all;
  s.instruction.mem.cache_target = CctlTarget::indexed_constants;
  return s;
}
std::vector<Step> load_all(std::uint64_t address) {
  return {load(Cache::l1_lg, address), load(Cache::texture, address), load(Cache::constant, address)};
}

/// Warp 0 loads and operates; warp 1 has code fetched, and meets it at a barrier right before the operation.
std::vector<std::vector<Step>> warps_of(const Scene& scene, const Probe* probe) {
  std::vector<Step> acts, visits;
  std::uint32_t pc = 0;
  const auto act = [&](Step s) { acts.push_back(at(std::exchange(pc, pc + 16), std::move(s))); };
  for (Step& s : load_all(kNeighbourData)) act(std::move(s));
  if (scene.data == State::present)
    for (Step& s : load_all(kData)) act(std::move(s));
  act(sleep(kLong));
  pc = 2 * kLineBytes;
  act(test::barrier({0, 0, true}));
  if (scene.data == State::being_fetched)
    for (Step& s : load_all(kData)) act(std::move(s));
  act(sleep(scene.lead));
  act(operate(scene.operation));
  act(sleep(kLong));
  pc = 5 * kLineBytes;  // into a buffer of one line
  act(alu(1));
  act(sleep(kLong));
  if (probe != nullptr && probe->cache < Cache::buffer) act(load(probe->cache, probe->address));
  if (probe != nullptr && probe->cache >= Cache::buffer)
    acts.push_back(at(static_cast<std::uint32_t>(probe->address), alu(1)));

  visits.push_back(at(kNeighbourCode, alu(1)));
  if (scene.visited) visits.push_back(at(*scene.visited, alu(1)));
  visits.push_back(at(2 * kLineBytes, test::barrier({0, 0, true})));
  visits.push_back(at(scene.coming.value_or(2 * kLineBytes + 16), alu(1)));
  return {acts, visits};
}

/// Scripted warps as a kernel.
class Scripts final : public Kernel {
 public:
  explicit Scripts(std::vector<std::vector<Step>> scripts) : scripts_(std::move(scripts)) {
    info_.name = info_.code_name = "scripts";
    info_.grid = {1, 1, 1};
    info_.block = {static_cast<std::uint32_t>(scripts_.size()) * kWarpLanes, 1, 1};
    info_.registers = 4;
    info_.carries_data = false;
    info_.code_bytes = kCodeBytes;
  }
  [[nodiscard]] const KernelInfo& info() const override { return info_; }
  [[nodiscard]] std::unique_ptr<InstructionSource> make_source(const SmSite& site) override {
    return std::make_unique<test::ScriptSource>(scripts_, log_, site.slots);
  }

 private:
  std::vector<std::vector<Step>> scripts_;
  test::Log log_;
  KernelInfo info_;
};

std::map<std::string, std::uint64_t> counters(const Scene& scene, const Probe* probe) {
  std::vector<std::string> overrides = {{"sms=1"}};
  if (scene.small_buffer) overrides.push_back({"sm.instruction_buffer_lines=1"});
  RunOptions options;
  options.tags_only = true;
  GpuPlatform gpu(preset("mini", overrides), options);
  gpu.map_everything();
  Scripts kernel(warps_of(scene, probe));
  EXPECT_EQ(gpu.launch(kernel).outcome, RunOutcome::quiescent);
  EXPECT_TRUE(gpu.unreconciled().empty());
  return AllCounters(gpu).values();
}

/// Whether the cache has the line at the end: what an access adds to the counters says so.
bool is_there(Scene scene, Cache cache, std::uint64_t address) {
  scene.small_buffer = cache == Cache::instruction;
  const Probe probe{cache, address};
  const auto without = counters(scene, nullptr), with = counters(scene, &probe);
  const auto added = [&](const std::string& name) {
    return with.at("sm[0]." + name) - without.at("sm[0]." + name);
  };
  if (cache == Cache::buffer) return added("fetch.requests") == 0;
  const std::string name = kCacheNames[static_cast<unsigned>(cache)];
  const std::uint64_t hits = added(name + ".sector_hits"), misses = added(name + ".sector_misses");
  EXPECT_TRUE((hits == 0) != (misses == 0)) << hits << " sectors hit, " << misses << " missed";
  return misses == 0;
}

/// What an operation drops: IVALL all lines of its kind.
bool drops(Operation o, Cache cache) {
  switch (o) {
    case Operation::none: return false;
    case Operation::c_ivall:
    case Operation::u_ivall: return cache == Cache::constant;
    case Operation::i_ivall: return cache >= Cache::buffer;
  }
  return false;
}

class CctlState : public ::testing::TestWithParam<std::tuple<Operation, State>> {};

TEST_P(CctlState, OfEveryCache) {
  const auto [operation, state] = GetParam();
  Scene scene;
  scene.operation = operation;
  scene.data = state;
  if (state == State::present) scene.visited = kCode;
  if (state == State::being_fetched) scene.coming = kCode;
  const auto run = counters(scene, nullptr);
  for (const Cache cache :
       {Cache::l1_lg, Cache::texture, Cache::constant, Cache::buffer, Cache::instruction}) {
    const std::string name = kCacheNames[static_cast<unsigned>(cache)];
    SCOPED_TRACE(name);
    const bool of_data = cache < Cache::buffer, dropped = drops(operation, cache);
    EXPECT_EQ(is_there(scene, cache, of_data ? kData : kCode), state != State::absent && !dropped);
    EXPECT_EQ(is_there(scene, cache, of_data ? kNeighbourData : kNeighbourCode), !dropped) << "the neighbour";
    if (cache == Cache::buffer) continue;
    EXPECT_EQ(run.at("sm[0]." + name + ".invalidations"), (dropped ? 1U : 0U) + (of_data ? 1U : 0U))
        << "a launch invalidates the caches of data";
    EXPECT_EQ(run.at("sm[0]." + name + ".dead_fills"), dropped && state == State::being_fetched ? 1U : 0U);
  }
  EXPECT_EQ(run.at("sm[0].fetch.invalidations"), operation == Operation::i_ivall ? 1U : 0U);
}

INSTANTIATE_TEST_SUITE_P(Cells, CctlState,
                         ::testing::Combine(::testing::Values(Operation::none, Operation::c_ivall,
                                                              Operation::u_ivall, Operation::i_ivall),
                                            ::testing::Values(State::absent, State::present,
                                                              State::being_fetched)),
                         [](const auto& cell) {
                           std::string name =
                               std::string(kOperationNames[static_cast<unsigned>(std::get<0>(cell.param))]) +
                               "_" + kStateNames[static_cast<unsigned>(std::get<1>(cell.param))];
                           std::replace_if(
                               name.begin(), name.end(), [](char c) { return c == ' ' || c == '.'; }, '_');
                           return name;
                         });

/// From when both requests are made until long after both lines are there.
TEST(CctlStates, ALineAndTheOneFetchedAheadAreGoneWheneverTheInvalidationComes) {
  constexpr std::uint32_t kVisited = 20 * kLineBytes;
  unsigned under_way = 0;
  for (unsigned lead = 3; lead < 260; lead += lead < 40 ? 1 : 7) {
    SCOPED_TRACE("lead " + std::to_string(lead));
    Scene scene;
    scene.operation = Operation::i_ivall;
    scene.coming = kVisited;
    scene.lead = lead;
    under_way += counters(scene, nullptr).at("sm[0].instruction.dead_fills") != 0;
    for (const Cache cache : {Cache::buffer, Cache::instruction})
      for (const std::uint32_t line : {kVisited, kVisited + static_cast<std::uint32_t>(kLineBytes)})
        ASSERT_FALSE(is_there(scene, cache, line))
            << kCacheNames[static_cast<unsigned>(cache)] << ", " << line;
  }
  EXPECT_GT(under_way, 10U);
}

}  // namespace cctl_state_test
}  // namespace warpline::test
