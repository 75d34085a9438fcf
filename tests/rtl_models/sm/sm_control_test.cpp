// Prefetches, priorities and discards as the load/store unit sends them, and what it makes of bad addresses.
#include <gtest/gtest.h>

#include "tests/rtl_models/sm/script.h"

namespace warpline::test {
namespace sm_control_test {

constexpr std::uint64_t kLocal = AddressWindows::kLocalBase, kShared = AddressWindows::kSharedBase;

Step control(MemKind kind, Space space, std::function<void(MemoryAccess&)> fill, std::uint8_t level = 2) {
  Step s = memory(kind, space, DataType::none, std::move(fill));
  s.instruction.mem.level = level;
  return s;
}

/// Runs one instruction and what follows it.
struct OneStep {
  explicit OneStep(const Step& step) : bench({{step, alu(4)}}) {
    bench.space.map({0x3000, 300, physical(Aperture::vidmem, 0x9000), 0});
    EXPECT_EQ(bench.run(), RunOutcome::quiescent);
  }
  [[nodiscard]] const std::vector<FlatMemory::Seen>& seen() const { return bench.l1.seen; }
  [[nodiscard]] const LsuCounters& counters() const { return bench.sm.lsu_counters(); }
  SmBench bench;
};

TEST(SmControl, EveryDistinctLineIsControlledOnce) {
  struct Row {
    MemKind kind;
    std::uint8_t level;
    L2Eviction priority;
    LineControl control;
    EvictionPriority at_l2;
  };
  for (const Row& row :
       {Row{MemKind::prefetch, 1, L2Eviction::none, LineControl::prefetch_l1, EvictionPriority::none},
        Row{MemKind::prefetch, 2, L2Eviction::none, LineControl::prefetch_l2, EvictionPriority::none},
        Row{MemKind::prefetch, 2, L2Eviction::last, LineControl::prefetch_l2, EvictionPriority::last},
        Row{MemKind::prefetch_uniform, 1, L2Eviction::none, LineControl::prefetch_l1, EvictionPriority::none},
        Row{MemKind::apply_priority, 2, L2Eviction::normal, LineControl::apply_priority,
            EvictionPriority::normal},
        Row{MemKind::discard, 2, L2Eviction::none, LineControl::discard, EvictionPriority::none}}) {
    const bool prefetches = row.kind == MemKind::prefetch || row.kind == MemKind::prefetch_uniform;
    // Lanes two by two on a line; a prefetch may name any byte of it.
    Step s = control(
        row.kind, Space::generic,
        [&](MemoryAccess& a) {
          a.active = 0xFF;
          for (unsigned lane = 0; lane < 8; ++lane)
            a.address[lane] = 0x1000 + lane / 2 * kLineBytes + (prefetches ? lane * 5 : 0);
        },
        row.level);
    s.instruction.mem.l2_eviction = row.priority;
    const OneStep run(s);
    ASSERT_EQ(run.seen().size(), 4U);
    for (unsigned i = 0; i < 4; ++i) {
      const FlatMemory::Seen& r = run.seen()[i];
      EXPECT_EQ(r.command, Command::control);
      EXPECT_EQ(r.control, row.control);
      EXPECT_EQ(r.line.value, 0x8000 + i * kLineBytes);
      EXPECT_EQ(r.sectors, kAllSectors);
      EXPECT_EQ(r.l2_priority, row.at_l2);
      EXPECT_EQ(r.scope, Scope::none);
    }
    EXPECT_EQ(run.counters().controls, 4U);
    EXPECT_EQ(run.counters().global_requests, 0U) << "it accesses nothing";
    EXPECT_EQ(run.counters().l1_lg_sectors, 0U);
  }
}

TEST(SmControl, APrefetchNamesTheMappedSectorsOfItsLine) {
  const OneStep run(control(MemKind::prefetch, Space::global, strided(0x3000 + 2 * kLineBytes, 0)));
  ASSERT_EQ(run.seen().size(), 1U);
  EXPECT_EQ(run.seen()[0].sectors, 0x3) << "the mapping ends 44 bytes into the line";
}

TEST(SmControl, APrefetchOfLocalMemoryIsOfTheLineOfAllLanesWords) {
  for (const Space space : {Space::local, Space::generic}) {
    const OneStep run(
        control(MemKind::prefetch, space, strided(space == Space::local ? 7 : kLocal + 7, 0), 1));
    ASSERT_EQ(run.seen().size(), 1U);
    EXPECT_EQ(run.seen()[0].line.value, 0x200000 + kLineBytes);
    EXPECT_EQ(run.seen()[0].sectors, kAllSectors);
  }
}

TEST(SmControl, PrefetchesOfWhatHasNoLineDoNothing) {
  struct Row {
    MemKind kind;
    std::uint64_t address;
    unsigned dropped;
  };
  for (const Row& row :
       {Row{MemKind::prefetch, kShared, 0}, Row{MemKind::prefetch, kShared + 4096, 0},
        Row{MemKind::prefetch, 0x7777'0000, 32}, Row{MemKind::prefetch, kLocal + 64, 32},
        Row{MemKind::prefetch_uniform, kShared, 0}, Row{MemKind::prefetch_uniform, kLocal, 0},
        Row{MemKind::apply_priority, 0x7777'0000, 32}}) {
    const OneStep run(control(row.kind, Space::generic, strided(row.address, 0)));
    EXPECT_TRUE(run.seen().empty());
    EXPECT_EQ(run.counters().dropped_controls, row.dropped);
    EXPECT_EQ(run.counters().faults, 0U);
    EXPECT_EQ(run.bench.sm.counters().instructions, 2U) << "the warp goes on";
  }
}

TEST(SmControl, FaultsOfWhatWantsAWholeLineOfGlobalMemory) {
  struct Row {
    MemKind kind;
    std::uint64_t address;
    FaultKind fault;
  };
  for (const Row& row : {Row{MemKind::discard, 0x1040, FaultKind::misaligned},
                         Row{MemKind::apply_priority, 0x1001, FaultKind::misaligned},
                         Row{MemKind::discard, kShared, FaultKind::not_global},
                         Row{MemKind::apply_priority, kLocal, FaultKind::not_global},
                         Row{MemKind::discard, 0x7777'0000, FaultKind::unmapped},
                         Row{MemKind::discard, 0x3000 + 2 * kLineBytes, FaultKind::unmapped}}) {
    const OneStep run(control(row.kind, Space::generic, [&](MemoryAccess& a) {
      a.active = LaneMask{1} << 9U;
      a.address[9] = row.address;
    }));
    ASSERT_EQ(run.bench.sm.faults().size(), 1U);
    EXPECT_EQ(run.bench.sm.faults()[0].fault.kind, row.fault);
    EXPECT_EQ(run.bench.sm.faults()[0].fault.lane, 9U);
    EXPECT_EQ(run.bench.sm.faults()[0].fault.address, row.address);
    EXPECT_TRUE(run.seen().empty());
  }
}

TEST(SmControl, QualifiersOfGlobalMemoryOnlyFaultElsewhere) {
  const std::vector<void (*)(MemOp&)> qualifiers = {[](MemOp& m) { m.cache_hint = true; },
                                                    [](MemOp& m) { m.prefetch_bytes = 128; },
                                                    [](MemOp& m) {
                                                      m.is_mmio = true;
                                                      m.semantics = Semantics::relaxed;
                                                      m.scope = Scope::sys;
                                                    }};
  for (std::size_t i = 0; i < qualifiers.size(); ++i) {
    for (const std::uint64_t address : {kShared, kLocal, std::uint64_t{0x1000}}) {
      Step s = memory(MemKind::load, Space::generic, DataType::b32, [=](MemoryAccess& a) {
        a.active = 4;
        a.address[2] = address;
      });
      qualifiers[i](s.instruction.mem);
      s.instruction.mem.kind = MemKind::load;
      const OneStep run(s);
      ASSERT_EQ(run.bench.sm.faults().size(), address == 0x1000 ? 0U : 1U) << i;
      if (address == 0x1000) continue;
      EXPECT_EQ(run.bench.sm.faults()[0].fault.kind, FaultKind::not_global);
      EXPECT_EQ(run.bench.sm.faults()[0].fault.address, address);
    }
  }
}

}  // namespace sm_control_test
}  // namespace warpline::test
