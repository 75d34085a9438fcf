// CCTLL.CRS.WBALL; CCTLL.IVALL on an SM with its L1, above a memory: under full queues no token is lost.
#include <gtest/gtest.h>

#include <memory>

#include "rtl_models/l1_lg/l1_lg.h"
#include "rtl_models/sm/sm.h"
#include "rtl_models/sm/work_distributor.h"
#include "tests/rtl_models/sm/call_script.h"
#include "tests/support/environment.h"
#include "tests/support/flat_memory.h"

namespace warpline::test {
namespace stack_interlock_test {

constexpr std::uint64_t kLocalBase = 0x200000;
constexpr std::uint32_t kProgramLocal = 64;

using Script = CallSource::Script;
using Kind = InstructionKind;

Script local(MemKind kind, CctlTarget target, std::uint32_t address, std::uint32_t value) {
  CallSource::Move m{Kind::memory};
  m.mem.kind = kind;
  m.mem.space = Space::local;
  m.mem.type = kind == MemKind::cache_control ? DataType::none : DataType::b32;
  m.mem.cache_operation =
      target == CctlTarget::data_line ? CctlOperation::invalidate : CctlOperation::invalidate_all;
  m.mem.cache_target = target;
  m.fill = [=](MemoryAccess& a) {
    a.active = ~LaneMask{0};
    for (unsigned lane = 0; lane < kWarpLanes; ++lane) {
      a.address[lane] = address;
      std::memcpy(a.lane_data(lane), &value, sizeof value);
    }
  };
  return {m};
}
Script invalidate_local() {
  return local(MemKind::cache_control, CctlTarget::local_lines, 0, 0);
}

/// An SM, its L1 and a memory, with warps that run scripts.
struct Machine {
  Machine(std::vector<Script> the_scripts, const SmParameters& p, const L1LgParameters& l1_parameters,
          FlatMemory::Delay delay, Cycle gap, ChannelParameters channel)
      : scripts(std::move(the_scripts)),
        parameters(p),
        sm(engine, "sm", ClockDomain{}, p, SmNumber{}),
        distributor(engine, "distributor", ClockDomain{}, 1),
        l1(engine, "l1_lg", ClockDomain{}, l1_parameters, true),
        l2(engine, "l2", std::move(delay), gap),
        texture(engine, "texture", FlatMemory::fixed(1)),
        constant(engine, "constant", FlatMemory::fixed(1)) {
    connect(sm.to_l1_lg, l1.from_sm, channel);
    connect(l1.to_sm, sm.from_l1_lg, channel);
    connect(l1.to_crossbar, l2.in, channel);
    connect(l2.out, l1.from_crossbar, channel);
    connect(sm.to_texture, texture.in, channel);
    connect(texture.out, sm.from_texture, channel);
    connect(sm.to_constant, constant.in, channel);
    connect(constant.out, sm.from_constant, channel);
    connect(distributor.to_sm[0], sm.from_distributor, {128, 1, 8, 1});
    connect(sm.to_distributor, distributor.from_sm[0], {128, 1, 8, 1});
    KernelInfo info;
    info.grid = {1, 1, 1};
    info.block = {static_cast<unsigned>(scripts.size()) * kWarpLanes, 1, 1};
    info.registers = 8;
    info.local_bytes = kProgramLocal;
    info.calls = true;
    MemoryMap map;
    map.space = &space;
    map.local_base = physical(Aperture::vidmem, kLocalBase);
    map.local_bytes = window = info.local_window_bytes(p);
    sm.start(info, std::make_unique<CallSource>(scripts, log), map, 1);
    distributor.start(info.grid, 1);
  }
  /// Token `index` of the first warp's backing store, as memory below L1 has it.
  [[nodiscard]] std::uint64_t in_memory(unsigned index) {
    const std::uint64_t at = kLocalBase + std::uint64_t{kProgramLocal} * kWarpLanes + index * 8;
    std::uint64_t token = 0;
    std::memcpy(&token, l2.lines[at / kLineBytes * kLineBytes].data() + at % kLineBytes, sizeof token);
    return token;
  }

  std::vector<Script> scripts;
  SmParameters parameters;
  CallSource::Log log;
  AddressSpace space;
  Engine engine;
  Sm sm;
  WorkDistributor distributor;
  L1Lg l1;
  FlatMemory l2, texture, constant;
  std::uint32_t window = 0;
};

/// What the other warps do meanwhile: local stores and loads, line operations, calls.
Script noise(Random& random, unsigned count) {
  Script out;
  for (unsigned n = 0; n < count; ++n) {
    const auto address = static_cast<std::uint32_t>(4 * random.below(kProgramLocal / 4));
    switch (random.below(6)) {
      case 0: out = out + local(MemKind::load, CctlTarget::data_line, address, 0); break;
      case 1: out = out + local(MemKind::cache_control, CctlTarget::data_line, address, 0); break;
      case 2: out.push_back({Kind::call}); break;
      case 3: out.push_back({Kind::ret}); break;
      default: out = out + local(MemKind::store, CctlTarget::data_line, address, n); break;
    }
  }
  return out;
}

TEST(StackInterlock, NoTokenIsLostUnderFullQueues) {
  const std::uint64_t interleavings = everyday(3'000);
  std::uint64_t full = 0;
  for (std::uint64_t seed = 1; seed <= interleavings; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    SmParameters p;
    p.stack_entries = static_cast<unsigned>(8 + 4 * random.below(4));
    p.stack_depth = 64;
    p.lsu_queue = static_cast<unsigned>(1 + random.below(3));
    p.lsu_entries = p.lsu_queue + static_cast<unsigned>(random.below(3));
    p.issue_latency = static_cast<unsigned>(1 + random.below(6));
    L1LgParameters l1;
    l1.geometry = {static_cast<unsigned>(1 + random.below(2)), static_cast<unsigned>(1 + random.below(3))};
    l1.miss_registers = static_cast<unsigned>(1 + random.below(3));
    l1.outgoing = static_cast<unsigned>(4 + random.below(4));
    const auto depth = static_cast<unsigned>(1 + random.below(40));
    Script act = repeated(Kind::call, depth);
    if (random.below(2) == 0) act = act + noise(random, 3);
    unsigned left = depth;
    for (std::size_t n = depth; n < act.size(); ++n) {
      left += act[n].kind == Kind::call;
      if (act[n].kind == Kind::ret && left != 0) --left;
    }
    act = act + Script{{Kind::flush_stack}} + invalidate_local();
    const std::size_t rest = act.size();
    if (random.below(2) == 0) act = act + Script{{Kind::set_stack, 0}, {Kind::set_stack, left}};
    act = act + repeated(Kind::ret, left);
    std::vector<Script> scripts = {act};
    for (std::uint64_t n = random.below(4); n > 0; --n) scripts.push_back(noise(random, 30));
    const auto credits = static_cast<unsigned>(2 + random.below(3));
    Machine m(scripts, p, l1, FlatMemory::random_delay(seed, 1 + random.below(80)), 1 + random.below(8),
              {128, 1, credits, 1});
    ASSERT_EQ(m.engine.run_until(1'000'000), RunOutcome::quiescent);
    ASSERT_TRUE(m.sm.faults().empty());
    // Tokens are told by the move that pushed them: replay the first warp's calls and returns.
    std::vector<std::uint64_t> stack, expected;
    for (std::size_t n = 0; n < act.size(); ++n) {
      for (unsigned t = 0; n == rest && t < stack.size(); ++t)
        ASSERT_EQ(m.in_memory(t), stack[t]) << "token " << t;
      if (act[n].kind == Kind::call) stack.push_back(kToken + n);
      if (act[n].kind != Kind::ret) continue;
      expected.push_back(stack.empty() ? 0 : stack.back());
      if (!stack.empty()) stack.pop_back();
    }
    ASSERT_EQ(m.log.returned, expected);
    full += m.l1.counters().local_invalidations;
  }
  EXPECT_EQ(full, interleavings);
}

/// A warp that a fault ends leaves its tokens where they are on their way, and nobody waits for them.
TEST(StackInterlock, AFaultEndsAWarpWhoseTokensAreOnTheirWay) {
  for (std::uint64_t seed = 1; seed <= everyday(1'000); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    SmParameters p;
    p.stack_entries = 8;
    p.stack_depth = 64;
    p.lsu_queue = static_cast<unsigned>(1 + random.below(4));
    p.lsu_entries = p.lsu_queue + static_cast<unsigned>(random.below(3));
    L1LgParameters l1;
    l1.geometry = {1, static_cast<unsigned>(1 + random.below(2))};
    l1.outgoing = static_cast<unsigned>(2 + random.below(4));
    std::vector<Script> scripts = {repeated(Kind::call, 40) + Script{{Kind::flush_stack}} +
                                   invalidate_local() + repeated(Kind::ret, 40)};
    const std::uint64_t victims = 1 + random.below(3);
    for (std::uint64_t n = 0; n < victims; ++n) {
      Script s = repeated(Kind::call, static_cast<unsigned>(random.below(40)));
      const auto back = static_cast<unsigned>(random.below(30));
      const Script bad = local(MemKind::load, CctlTarget::data_line, kProgramLocal, 0);
      const unsigned place = static_cast<unsigned>(random.below(3));
      if (place == 0) s = s + bad;
      if (random.below(2) == 0) s.push_back({Kind::flush_stack});
      if (place == 1) s = s + bad;
      s = s + repeated(Kind::ret, back);
      if (place == 2) s = s + bad;
      scripts.push_back(s + repeated(Kind::ret, 40));
    }
    Machine m(scripts, p, l1, FlatMemory::random_delay(seed, 1 + random.below(200)), 1 + random.below(8),
              {128, 1, static_cast<unsigned>(2 + random.below(3)), 1});
    ASSERT_EQ(m.engine.run_until(1'000'000), RunOutcome::quiescent);
    ASSERT_EQ(m.sm.faults().size(), victims);
    ASSERT_EQ(m.sm.counters().warps, scripts.size());
    ASSERT_EQ(m.log.returned.size(), 40U);
    for (unsigned n = 0; n < 40; ++n) ASSERT_EQ(m.log.returned[n], kToken + 39 - n);
  }
}

}  // namespace stack_interlock_test
}  // namespace warpline::test
