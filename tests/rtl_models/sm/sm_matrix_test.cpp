// Tensor pipes: how long products of matrices take them, and who waits. Accesses of ldmatrix and stmatrix.
#include <gtest/gtest.h>

#include "tests/rtl_models/sm/script.h"

namespace warpline::test {
namespace sm_matrix_test {

Step product(std::uint32_t products, MatrixClass type, const std::vector<std::uint16_t>& sources = {},
             const std::vector<std::uint16_t>& destinations = {}) {
  Step s;
  s.instruction = with_registers(s.instruction, sources, destinations);
  s.instruction.kind = InstructionKind::matrix;
  s.instruction.products = products;
  s.instruction.matrix_class = type;
  return s;
}

SmParameters parameters() {
  SmParameters p;
  p.partitions = 4;
  p.tensor.f16_per_cycle = 512;
  p.tensor.tf32_per_cycle = 300;
  p.tensor.f8_per_cycle = 1000;
  p.tensor.f64_per_cycle = 32;
  p.tensor.s8_per_cycle = 1024;
  p.tensor.s4_per_cycle = 2048;
  p.tensor.b1_per_cycle = 65536;
  p.tensor.latency = 11;
  return p;
}

TEST(SmMatrix, AProductTakesItsPartitionsPipeAndTheNextWaits) {
  struct Row {
    MatrixClass type;
    std::uint32_t products;
    std::uint64_t cycles;
  };
  for (const Row& row :
       {Row{MatrixClass::f16, 2048, 16}, Row{MatrixClass::tf32, 1024, 14}, Row{MatrixClass::f8, 4096, 17},
        Row{MatrixClass::f64, 256, 32}, Row{MatrixClass::s8, 4096, 16}, Row{MatrixClass::s4, 8192, 16},
        Row{MatrixClass::b1, 8192, 1}}) {
    const Step one = product(row.products, row.type, {}, {3});
    // Slots 0, 4 and 8 share a partition; slot 1 has another. Slot 12 multiplies nothing.
    std::vector<std::vector<Step>> scripts(13, std::vector<Step>{alu(1)});
    scripts[0] = {one, alu(1, {3})};
    scripts[4] = scripts[8] = {one};
    scripts[1] = {one, product(row.products, row.type)};
    scripts[12] = {alu(1), alu(1)};
    SmBench bench(scripts, SmBench::fixed(1), parameters());
    ASSERT_EQ(bench.run(), RunOutcome::quiescent);
    const Log& log = bench.log;
    const std::uint64_t t = log.edge_of(0, 0);
    EXPECT_EQ(log.edge_of(0, 1), t + row.cycles + 11) << "the result";
    EXPECT_EQ(log.edge_of(4, 0), t + row.cycles);
    EXPECT_EQ(log.edge_of(8, 0), t + 2 * row.cycles);
    EXPECT_EQ(log.edge_of(1, 0), t) << "another partition";
    EXPECT_GE(log.edge_of(1, 1), t + row.cycles);
    EXPECT_LE(log.edge_of(1, 1), t + row.cycles + 2) << "others have a turn first";
    EXPECT_LE(log.edge_of(12, 1), t + 4) << "who multiplies nothing does not wait";
    const SmCounters& c = bench.sm.counters();
    EXPECT_EQ(c.matrix_products, 5U);
    EXPECT_EQ(c.matrix_multiply_adds, 5U * row.products);
    EXPECT_EQ(c.tensor_cycles, 5U * row.cycles);
  }
}

TEST(SmMatrix, ItNamesAsManyRegistersAsItHas) {
  // 30 destinations, more than lie in the instruction: all of them are pending, and no others.
  std::vector<std::uint16_t> all;
  for (std::uint16_t r = 0; r < 30; ++r) all.push_back(r);
  Step wide = product(2048, MatrixClass::f16);
  wide.instruction.destination_count = 30;
  wide.instruction.registers.assign({}, all);
  SmBench bench({{wide, alu(1, {}, {30}), alu(1, {29})}}, SmBench::fixed(1), parameters());
  ASSERT_EQ(bench.run(), RunOutcome::quiescent);
  const std::uint64_t t = bench.log.edge_of(0, 0);
  EXPECT_EQ(bench.log.edge_of(0, 1), t + 1);
  EXPECT_EQ(bench.log.edge_of(0, 2), t + 16 + 11);
}

Step rows(MemKind kind, Space space, unsigned matrices, std::uint64_t base, std::int64_t stride) {
  const LaneMask lanes = matrices == 4 ? ~LaneMask{0} : (LaneMask{1} << 8 * matrices) - 1;
  Step s = memory(kind, space, DataType::b128, strided(base, stride, lanes));
  s.instruction.mem.matrices = static_cast<std::uint8_t>(matrices);
  return s;
}

/// A matrix of 8 rows of 16 bytes that fall in different banks goes over these once.
TEST(SmMatrix, RowsOfMatricesPassTheBanksOnceEachWhereNoneConflict) {
  struct Row {
    unsigned matrices;
    std::int64_t stride;
    std::uint64_t passes;
  };
  for (const MemKind kind : {MemKind::load, MemKind::store})
    for (const Row& row : {Row{1, 16, 1}, Row{2, 16, 2}, Row{4, 16, 4}, Row{1, 80, 1}, Row{1, 128, 8},
                           Row{2, 64, 8}, Row{4, 32, 8}}) {
      SmBench bench({{rows(kind, Space::shared, row.matrices, 0, row.stride)}}, SmBench::fixed(1),
                    parameters());
      ASSERT_EQ(bench.run(), RunOutcome::quiescent);
      EXPECT_EQ(bench.sm.lsu_counters().shared_passes, row.passes) << row.matrices << " by " << row.stride;
      EXPECT_EQ(bench.sm.lsu_counters().shared_accesses, 1U);
      EXPECT_EQ(bench.sm.lsu_counters().faults, 0U);
    }
}

TEST(SmMatrix, RowsLieInSharedMemoryAtMultiplesOf16) {
  struct Row {
    Space space;
    std::uint64_t base;
    FaultKind kind;
  };
  for (const Row& row :
       {Row{Space::shared, 8, FaultKind::misaligned}, Row{Space::shared, 1U << 20U, FaultKind::shared_range},
        Row{Space::generic, 0x1000, FaultKind::not_shared}}) {
    SmBench bench({{rows(MemKind::load, row.space, 2, row.base, 16), alu(1)}}, SmBench::fixed(1),
                  parameters());
    ASSERT_EQ(bench.run(), RunOutcome::quiescent);
    ASSERT_EQ(bench.sm.faults().size(), 1U);
    EXPECT_EQ(bench.sm.faults()[0].kind, name_of(row.kind));
    EXPECT_EQ(bench.sm.faults()[0].fault.lane, 0U);
    EXPECT_EQ(bench.sm.faults()[0].fault.address, row.base);
  }
  SmBench generic({{rows(MemKind::load, Space::generic, 4, AddressWindows::kSharedBase, 16)}},
                  SmBench::fixed(1), parameters());
  ASSERT_EQ(generic.run(), RunOutcome::quiescent);
  EXPECT_EQ(generic.sm.lsu_counters().shared_passes, 4U);
  EXPECT_TRUE(generic.sm.faults().empty());
}

Step tiles(std::uint8_t passes, std::uint32_t products, std::uint64_t last = 16) {
  Step s = memory(MemKind::load, Space::shared, DataType::b128, [last](MemoryAccess& a) {
    a.active = 3;
    a.form = AddressForm::per_lane;
    a.address[0] = 0;
    a.address[1] = last;
  });
  s.instruction.mem.tile_passes = passes;
  s.instruction.products = products;
  return s;
}
Step groups(InstructionKind kind, std::uint32_t left = 0) {
  Step s = alu(1);
  s.instruction.kind = kind;
  s.instruction.groups_left = left;
  return s;
}

/// A product that is not waited for holds nobody up; its wait ends when it can be read: its tiles have been
/// read, the pipe has been free and taken, and the result has come.
TEST(SmMatrix, AWaitForAsynchronousProductsEndsWhenTheirGroupsAreMade) {
  for (const TickMode mode : {TickMode::lazy, TickMode::every_cycle, TickMode::spurious_and_shuffled}) {
    const SmParameters p = parameters();
    SmBench bench({{tiles(8, 2048), groups(InstructionKind::commit_products), tiles(8, 2048),
                    groups(InstructionKind::commit_products), alu(1),
                    groups(InstructionKind::wait_products, 2), groups(InstructionKind::wait_products, 1),
                    groups(InstructionKind::wait_products, 0), groups(InstructionKind::wait_products, 0)}},
                  SmBench::fixed(1), p, mode);
    ASSERT_EQ(bench.run(), RunOutcome::quiescent);
    const Log& log = bench.log;
    const std::uint64_t t = log.edge_of(0, 0);
    for (std::size_t step = 1; step < 6; ++step) EXPECT_EQ(log.edge_of(0, step), t + step) << "nothing waits";
    const std::uint64_t read = t + p.issue_latency + 8 - 1 + p.shared_latency - p.issue_latency;
    EXPECT_EQ(log.edge_of(0, 6), read + 16 + 11) << "the first group";
    EXPECT_EQ(log.edge_of(0, 7), read + 16 + 16 + 11) << "the second, whose tiles were read meanwhile";
    EXPECT_EQ(log.edge_of(0, 8), log.edge_of(0, 7) + 1) << "nothing is left";
    EXPECT_EQ(bench.sm.counters().matrix_products, 2U);
    EXPECT_EQ(bench.sm.counters().tensor_cycles, 32U);
    EXPECT_EQ(bench.sm.lsu_counters().shared_passes, 16U);
  }
  SmBench beyond({{tiles(8, 2048, 1U << 20U), groups(InstructionKind::commit_products),
                   groups(InstructionKind::wait_products, 0)}},
                 SmBench::fixed(1), parameters());
  ASSERT_EQ(beyond.run(), RunOutcome::quiescent);
  ASSERT_EQ(beyond.sm.faults().size(), 1U);
  EXPECT_EQ(beyond.sm.faults()[0].kind, name_of(FaultKind::shared_range));
  EXPECT_EQ(beyond.sm.counters().matrix_products, 0U);
}

}  // namespace sm_matrix_test
}  // namespace warpline::test
