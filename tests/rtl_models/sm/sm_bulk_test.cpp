// Bulk copies on an SM: what they move, whom they tell, who waits for them, and what is wrong.
#include <gtest/gtest.h>

#include "rtl_models/base/random.h"
#include "rtl_models/sm/mbarrier.h"
#include "tests/rtl_models/sm/script.h"

namespace warpline::test {
namespace sm_bulk_test {

// Virtual 0x1000 lies at 0x8000, 0x10000000 at 0x10000.
constexpr std::uint64_t kGlobal = 0x1000, kGlobalLine = 0x8000, kMaps = 0x10000000, kMapLine = 0x10000;
constexpr std::uint32_t kBar = 0, kTile = 128;

Step bulk(BulkDirection direction, std::uint64_t address, std::uint32_t shared, std::uint32_t bytes,
          unsigned dimensions = 0, std::array<std::int32_t, 5> coordinates = {}) {
  Step s = memory(MemKind::bulk_copy, Space::global, DataType::none, [=](MemoryAccess& a) {
    a.active = 1;
    a.address[0] = address;
    a.second[0] = 0;
    const BulkOperands o{shared, kBar, bytes, coordinates};
    std::memcpy(a.lane_data(0), &o, sizeof o);
  });
  s.instruction.mem.bulk = direction;
  s.instruction.mem.dimensions = static_cast<std::uint8_t>(dimensions);
  s.instruction.mem.level = direction == BulkDirection::prefetch ? 2 : 0;
  return s;
}
Step of_kind(InstructionKind kind, std::uint32_t groups_left = 0) {
  Step s;
  s.instruction.kind = kind;
  s.instruction.groups_left = groups_left;
  return s;
}
Step commit() {
  return of_kind(InstructionKind::commit_bulk);
}
Step on_barrier(MbarrierOperation operation, std::uint32_t count, MbarrierForm form = MbarrierForm::plain) {
  Step s = memory(MemKind::mbarrier, Space::shared, DataType::b64,
                  [=](MemoryAccess& a) {
                    strided(kBar, 0, 1)(a);
                    const MbarrierOperands operands{count, 0};
                    std::memcpy(a.lane_data(0), &operands, sizeof operands);
                    a.second[0] = 0;
                  },
                  {1});
  s.instruction.mem.mbarrier = operation;
  s.instruction.mem.mbarrier_form = form;
  return s;
}
/// The barrier expects `bytes`, and one arrival, which comes.
std::vector<Step> expecting(std::uint32_t bytes) {
  return {on_barrier(MbarrierOperation::init, 1),
          on_barrier(MbarrierOperation::arrive, bytes, MbarrierForm::expect_tx)};
}
Step wait_for_phase() {
  return ordered(on_barrier(MbarrierOperation::try_wait, 1, MbarrierForm::parity), Semantics::acquire,
                 Scope::cta);
}
/// A lane's 16 bytes, for the whole warp: 512 bytes.
Step read_shared(std::uint32_t from, LaneMask lanes = ~LaneMask{0}) {
  Step s = memory(MemKind::load, Space::shared, DataType::b32, strided(from, 16, lanes), {1, 2, 3, 4});
  s.instruction.mem.vector = 4;
  return s;
}
Step write_shared(std::uint32_t to) {
  Step s = memory(MemKind::store, Space::shared, DataType::b32, [=](MemoryAccess& a) {
    strided(to, 16)(a);
    for (unsigned lane = 0; lane < kWarpLanes; ++lane)
      for (unsigned b = 0; b < 16; ++b) a.lane_data(lane)[b] = static_cast<std::uint8_t>(lane * 16 + b + 1);
  });
  s.instruction.mem.vector = 4;
  return s;
}
std::uint8_t seen(const SmBench& bench, std::size_t step, unsigned byte) {
  return bench.log.loaded.at({0, step}).data[byte / 16 * LaneBuffers::kMaxLaneBytes + byte % 16];
}
std::uint8_t at(std::uint64_t address) {
  return static_cast<std::uint8_t>(address * 7 + address / 256 * 3 + 5);
}
/// Gives the 1 KiB from kGlobal on bytes that differ.
void fill_global(SmBench& bench) {
  for (std::uint64_t line = 0; line < 1024; line += kLineBytes)
    for (unsigned b = 0; b < kLineBytes; ++b) bench.crossbar.lines[kGlobalLine + line][b] = at(line + b);
}
template <class... More>
std::vector<Step> joined(std::vector<Step> steps, More&&... more) {
  (steps.push_back(std::forward<More>(more)), ...);
  return steps;
}

TEST(SmBulk, ACopyToSharedMemoryCompletesItsPhase) {
  for (const unsigned bytes : {16U, 112U, 128U, 272U}) {
    SmBench bench({joined(expecting(bytes), bulk(BulkDirection::to_shared, kGlobal + 0x30, kTile, bytes),
                          wait_for_phase(), read_shared(kTile), alu(1, {1}))},
                  SmBench::fixed(300));
    fill_global(bench);
    ASSERT_EQ(bench.run(), RunOutcome::quiescent);
    EXPECT_EQ(bench.sm.lsu_counters().mbarrier_phases, 1U);
    EXPECT_EQ(bench.sm.lsu_counters().mbarrier_timeouts, 0U);
    EXPECT_GT(bench.log.edge_of(0, 4), 300U + bench.parameters.bulk_copy.latency);
    for (unsigned b = 0; b < 512; ++b) ASSERT_EQ(seen(bench, 4, b), b < bytes ? at(0x30 + b) : 0) << b;
    const BulkCopyCounters& c = bench.sm.bulk_copy_counters();
    EXPECT_EQ(c.requests, (0x30 + bytes + 127) / 128);
    EXPECT_EQ(c.bytes_to_shared, bytes);
    EXPECT_EQ(bench.l1.seen.size(), 0U) << "bulk copies go past L1";
  }
}

TEST(SmBulk, ACopyToGlobalMemoryIsWaitedForByItsGroup) {
  std::uint64_t edges[2];
  for (const bool reads : {false, true}) {
    SmBench bench({{write_shared(kTile), bulk(BulkDirection::to_global, kGlobal + 0x60, kTile, 256), commit(),
                    of_kind(reads ? InstructionKind::wait_bulk_reads : InstructionKind::wait_bulk), alu(1)}},
                  SmBench::fixed(400));
    fill_global(bench);
    ASSERT_EQ(bench.run(), RunOutcome::quiescent);
    edges[reads] = bench.log.edge_of(0, 3);
    for (unsigned b = 0; b < 512; ++b) {
      const std::uint64_t address = kGlobalLine + 0x60 + b;
      const std::uint8_t got = bench.crossbar.lines[address / kLineBytes * kLineBytes][address % kLineBytes];
      ASSERT_EQ(got, b < 256 ? static_cast<std::uint8_t>(b + 1) : at(0x60 + b)) << b;
    }
    EXPECT_EQ(bench.sm.bulk_copy_counters().bytes_to_global, 256U);
  }
  EXPECT_GT(edges[0], 400U);
  EXPECT_LT(edges[1], 400U) << "what is read has been read before it is written";
}

TEST(SmBulk, AWaitLeavesTheLastGroupsUnderWay) {
  const auto delay = [](const Request&, std::size_t n) { return Cycle{400} + 1000 * n; };
  const auto edge_of_wait = [&](std::uint32_t left) {
    SmBench bench({{bulk(BulkDirection::to_global, kGlobal, kTile, 128), commit(),
                    bulk(BulkDirection::to_global, kGlobal + 128, kTile, 128), commit(),
                    of_kind(InstructionKind::wait_bulk, left), alu(1)}},
                  delay);
    EXPECT_EQ(bench.run(), RunOutcome::quiescent);
    return bench.log.edge_of(0, 4);
  };
  EXPECT_LT(edge_of_wait(2), 100U);
  EXPECT_GT(edge_of_wait(1), 400U);
  EXPECT_LT(edge_of_wait(1), 1400U);
  EXPECT_GT(edge_of_wait(0), 1400U);
}

TEST(SmBulk, AReductionCombines) {
  Step add = bulk(BulkDirection::reduce, kGlobal, kTile, 128);
  add.instruction.mem.atomic = AtomicOperation::add;
  add.instruction.mem.type = DataType::u32;
  SmBench bench({{write_shared(kTile), add, commit(), of_kind(InstructionKind::wait_bulk), alu(1)}});
  fill_global(bench);
  ASSERT_EQ(bench.run(), RunOutcome::quiescent);
  for (unsigned word = 0; word < 32; ++word) {
    std::uint32_t before = 0, added = 0, got = 0;
    for (unsigned b = 0; b < 4; ++b) {
      before |= std::uint32_t{at(word * 4 + b)} << 8U * b;
      added |= std::uint32_t{static_cast<std::uint8_t>(word * 4 + b + 1)} << 8U * b;
    }
    std::memcpy(&got, &bench.crossbar.lines[kGlobalLine][word * 4], 4);
    ASSERT_EQ(got, before + added) << word;
  }
}

TEST(SmBulk, APrefetchNamesItsLinesToL2) {
  SmBench bench({{bulk(BulkDirection::prefetch, kGlobal + 64, 0, 128)}});
  ASSERT_EQ(bench.run(), RunOutcome::quiescent);
  ASSERT_EQ(bench.crossbar.seen.size(), 2U);
  EXPECT_EQ(bench.crossbar.seen[0].control, LineControl::prefetch_l2);
  EXPECT_EQ(bench.crossbar.seen[0].sectors, 0xCU);
  EXPECT_EQ(bench.crossbar.seen[1].sectors, 0x3U);
}

/// A tensor of 16-bit elements, 12 rows of 20 in 64 bytes each, of which copies take 8 by 4.
TensorMap small_map() {
  TensorMap m;
  m.type = DataType::f16;
  m.rank = 2;
  m.address = kGlobal;
  m.shape = {20, 12, 1, 1, 1};
  m.strides = {2, 64, 0, 0, 0};
  m.box = {8, 4, 1, 1, 1};
  m.fill = TensorFill::nan;
  return m;
}
void put_map(SmBench& bench, const TensorMap& map) {
  const auto bytes = map.encode();
  // At 64 bytes: the descriptor lies in two lines.
  std::copy(bytes.begin(), bytes.begin() + 64, bench.crossbar.lines[kMapLine].begin() + 64);
  std::copy(bytes.begin() + 64, bytes.end(), bench.crossbar.lines[kMapLine + kLineBytes].begin());
}

TEST(SmBulk, ATensorsBoxIsFilledWhereTheTensorIsNot) {
  for (const TensorSwizzle swizzle : {TensorSwizzle::none, TensorSwizzle::bytes_32}) {
    for (const auto& [x, y] : {std::pair{3, 2}, std::pair{-3, -1}, std::pair{16, 10}, std::pair{40, 0}}) {
      TensorMap map = small_map();
      map.swizzle = swizzle;
      // Twice: the second copy finds the map there.
      SmBench bench({joined(expecting(128), bulk(BulkDirection::to_shared, kMaps + 64, 512, 0, 2, {x, y}),
                            bulk(BulkDirection::to_shared, kMaps + 64, kTile, 0, 2, {x, y}), wait_for_phase(),
                            read_shared(kTile), alu(1, {1}))});
      fill_global(bench);
      put_map(bench, map);
      ASSERT_EQ(bench.run(), RunOutcome::quiescent);
      ASSERT_TRUE(bench.sm.faults().empty()) << bench.sm.faults()[0].kind;
      EXPECT_EQ(bench.sm.lsu_counters().mbarrier_phases, 1U);
      for (int row = 0; row < 4; ++row)
        for (int column = 0; column < 8; ++column)
          for (unsigned b = 0; b < 2; ++b) {
            const int ex = x + column, ey = y + row;
            const bool inside = ex >= 0 && ex < 20 && ey >= 0 && ey < 12;
            const std::uint8_t wanted =
                inside ? at(static_cast<unsigned>(ey) * 64 + static_cast<unsigned>(ex) * 2 + b) : 0xFF;
            const auto place = map.swizzled(kTile + static_cast<std::uint32_t>(row) * 16 +
                                            static_cast<std::uint32_t>(column) * 2 + b);
            ASSERT_EQ(seen(bench, 5, place - kTile), wanted) << x << "," << y << " " << row << " " << column;
          }
      EXPECT_EQ(bench.sm.bulk_copy_counters().tensor_map_reads, 1U);
      EXPECT_EQ(bench.sm.bulk_copy_counters().tensor_map_hits, 1U);
      EXPECT_EQ(bench.sm.bulk_copy_counters().filled_bytes + bench.sm.bulk_copy_counters().bytes_to_shared,
                128U);
    }
  }
}

TEST(SmBulk, AnAcquireOfTensorMapsHasThemReadAnew) {
  Step acquire = fence(Semantics::acquire, Scope::gpu);
  acquire.instruction.mem.kind = MemKind::proxy_fence;
  acquire.instruction.mem.proxy = Proxy::tensormap;
  const Step copy = bulk(BulkDirection::prefetch, kMaps + 64, 0, 0, 2);
  SmBench bench(
      {{copy, copy, alu(200, {}, {2}), alu(1, {2}), alu(200, {}, {2}), alu(1, {2}), acquire, copy}});
  put_map(bench, small_map());
  ASSERT_EQ(bench.run(), RunOutcome::quiescent);
  EXPECT_EQ(bench.sm.bulk_copy_counters().tensor_map_reads, 2U);
  EXPECT_EQ(bench.sm.bulk_copy_counters().tensor_map_hits, 1U);
}

TEST(SmBulk, ATensorsBoxIsWrittenWhereTheTensorIs) {
  SmBench bench({{write_shared(kTile), bulk(BulkDirection::to_global, kMaps + 64, kTile, 0, 2, {16, 10}),
                  commit(), of_kind(InstructionKind::wait_bulk), alu(1)}});
  fill_global(bench);
  put_map(bench, small_map());
  ASSERT_EQ(bench.run(), RunOutcome::quiescent);
  for (unsigned row = 9; row < 14; ++row)
    for (unsigned b = 0; b < 64; ++b) {
      const unsigned address = row * 64 + b;
      const bool written = row >= 10 && row < 12 && b >= 32 && b < 40;
      const std::uint8_t wanted =
          written ? static_cast<std::uint8_t>((row - 10) * 16 + b - 32 + 1) : at(address);
      ASSERT_EQ(bench.crossbar.lines[kGlobalLine + address / kLineBytes * kLineBytes][address % kLineBytes],
                wanted)
          << row << " " << b;
    }
}

TEST(SmBulk, WhatIsWrongIsAFaultOfItsLane) {
  const auto in = BulkDirection::to_shared;
  TensorMap three = small_map();
  Step of_rows = bulk(in, kMaps + 64, kTile, 0, 2);
  of_rows.instruction.mem.tensor_mode = TensorMode::rows;
  Step of_rows_beyond = bulk(in, kMaps + 64, 1024 - 128, 0, 2);
  of_rows_beyond.instruction.mem.tensor_mode = TensorMode::rows;
  TensorMap of_one_row = small_map();
  of_one_row.box = {32, 1, 1, 1, 1};
  three.rank = 3;
  three.strides[2] = 768;
  struct Row {
    const char* what;
    Step step;
    FaultKind kind;
    std::uint64_t address;
    TensorMap map = small_map();
  };
  const Row rows[] = {
      {"global address", bulk(in, kGlobal + 8, kTile, 16), FaultKind::misaligned, kGlobal + 8},
      {"shared address", bulk(in, kGlobal, kTile + 8, 16), FaultKind::misaligned, kTile + 8},
      {"size", bulk(in, kGlobal, kTile, 24), FaultKind::bulk_size, kGlobal},
      {"beyond shared memory", bulk(in, kGlobal, 1008, 32), FaultKind::shared_range, 1008},
      {"not mapped", bulk(in, 0x1FF0, kTile, 32), FaultKind::unmapped, 0x2000},
      {"more than is expected may come, but not for nothing",
       bulk(BulkDirection::to_global, 0x9000, kTile, 16), FaultKind::unmapped, 0x9000},
      {"no map", bulk(in, kMaps + 256, kTile, 0, 2), FaultKind::no_tensor_map, kMaps + 256},
      {"map misaligned", bulk(in, kMaps + 32, kTile, 0, 2), FaultKind::misaligned, kMaps + 32},
      {"map of others", bulk(in, kMaps + 64, kTile, 0, 2), FaultKind::other_tensor_map, kMaps + 64, three},
      {"rows by a map of boxes", of_rows, FaultKind::other_tensor_map, kMaps + 64},
      {"rows beyond shared memory", of_rows_beyond, FaultKind::shared_range, 1024 - 128, of_one_row},
      {"tensor's shared address", bulk(in, kMaps + 64, kTile + 16, 0, 2), FaultKind::misaligned, kTile + 16},
      {"tensor beyond shared memory", bulk(in, kMaps + 64, 1024, 0, 2), FaultKind::shared_range, 1024},
  };
  for (const Row& row : rows) {
    SmBench bench(
        {joined(expecting(64), row.step, of_kind(InstructionKind::wait_bulk), wait_for_phase(), alu(1))});
    put_map(bench, row.map);
    ASSERT_EQ(bench.run(), RunOutcome::quiescent) << row.what;
    ASSERT_EQ(bench.sm.faults().size(), 1U) << row.what;
    EXPECT_EQ(bench.sm.faults()[0].kind, name_of(row.kind)) << row.what;
    EXPECT_EQ(bench.sm.faults()[0].fault.address, row.address) << row.what;
  }
  // No object there to be told.
  SmBench bench({{bulk(in, kGlobal, kTile, 64), alu(200), alu(1)}});
  ASSERT_EQ(bench.run(), RunOutcome::quiescent);
  ASSERT_EQ(bench.sm.faults().size(), 1U);
  EXPECT_EQ(bench.sm.faults()[0].kind, name_of(FaultKind::no_mbarrier));
}

// Warps with random copies both ways, few of which may be under way at once, in every mode of ticking.
TEST(SmBulk, AllModesOfTickingDoTheSame) {
  for (std::uint64_t seed = 1; seed <= 25; ++seed) {
    std::vector<std::vector<std::pair<std::size_t, std::uint64_t>>> orders;
    std::vector<std::uint64_t> requests;
    for (const TickMode mode : {TickMode::lazy, TickMode::every_cycle, TickMode::spurious_and_shuffled}) {
      Random random(seed);
      std::vector<std::vector<Step>> scripts(1 + random.below(3));
      for (std::vector<Step>& script : scripts)
        for (unsigned n = 0; n < 12; ++n) {
          const auto bytes = static_cast<std::uint32_t>(16 * random.below(20));
          const auto place = static_cast<std::uint32_t>(16 * random.below(20));
          switch (random.below(4)) {
            case 0:
              script.push_back(bulk(BulkDirection::to_global, kGlobal + 16 * random.below(50), place, bytes));
              break;
            case 1:
              script.push_back(bulk(BulkDirection::prefetch, kGlobal + 16 * random.below(50), 0, bytes));
              break;
            case 2: script.push_back(commit()); break;
            default:
              script.push_back(of_kind(
                  random.below(2) == 0 ? InstructionKind::wait_bulk : InstructionKind::wait_bulk_reads,
                  static_cast<std::uint32_t>(random.below(3))));
          }
        }
      for (std::vector<Step>& script : scripts) script.push_back(alu(1));
      SmParameters p;
      p.bulk_copy.copies = 1 + static_cast<unsigned>(random.below(3));
      p.bulk_copy.requests = 1 + static_cast<unsigned>(random.below(4));
      p.bulk_copy.latency = static_cast<unsigned>(random.below(40));
      p.bulk_copy.request_interval = 1 + static_cast<unsigned>(random.below(3));
      const auto delay = [seed](const Request& r, std::size_t n) {
        return Cycle{20 + (r.line.value / 128 * 37 + n * 13 + seed) % 200};
      };
      SmBench bench(scripts, delay, p, mode);
      ASSERT_EQ(bench.run(), RunOutcome::quiescent) << "seed " << seed;
      ASSERT_TRUE(bench.sm.faults().empty()) << "seed " << seed;
      std::vector<std::pair<std::size_t, std::uint64_t>> order;
      for (const Log::Issued& i : bench.log.issued) order.emplace_back(i.slot * 1000 + i.step, i.edge);
      for (const FlatMemory::Seen& s : bench.crossbar.seen) order.emplace_back(s.line.value, s.at);
      orders.push_back(order);
      requests.push_back(bench.sm.bulk_copy_counters().requests);
    }
    ASSERT_EQ(orders[0], orders[1]) << "seed " << seed;
    ASSERT_EQ(orders[0], orders[2]) << "seed " << seed;
  }
}

}  // namespace sm_bulk_test
}  // namespace warpline::test
