// Foreign models below ours that wait() in b_transport: others go on meanwhile, and nobody is served before
// his time or never.
#include <gtest/gtest.h>

#include "rtl_models/tlm/engine_module.h"
#include "tests/rtl_models/tlm/loose_crowds.h"

namespace warpline::test {
namespace loose_blocking_test {

const sc_core::sc_time kWait = ns(100);

struct Simulation {
  L1LgParameters two_registers;
  std::deque<L1Over> l1;
  std::deque<TextureOver> texture;
  std::deque<SliceOver> slices;
  std::deque<CrossbarOver> crossbars;
  std::deque<FromEngine> engines;
  void round(unsigned line);
  Request atomic, maintain;
  AtomicBlock block;
  static std::vector<Asker> at_one_line(std::uint64_t base) {
    std::vector<Asker> all;
    for (unsigned n = 0; n < 4; ++n) all.push_back(reads(base, ns(10 + 20 * n)));
    return all;
  }
  static std::vector<Asker> at_many_lines(std::uint64_t base) {
    std::vector<Asker> all;
    for (unsigned n = 0; n < 9; ++n) all.push_back(reads(base + n * kLineBytes, ns(10 + n)));
    return all;
  }
  Simulation() {
    tlm::tlm_global_quantum::instance().set(ns(1000));
    two_registers.miss_registers = 2;
    const ReadOnlyCacheParameters texture_two{{4, 2}, 2, {}};
    const LooseMemory::Habits waits{kWait, {}}, annotates{{}, kWait}, both{kWait, ns(30)};
    l1.emplace_back("l1_waits", waits, at_one_line(0), L1LgParameters{});
    l1.emplace_back("l1_annotates", annotates, at_one_line(0), L1LgParameters{});
    l1.emplace_back("l1_both", both, at_one_line(0), L1LgParameters{});
    l1.emplace_back("l1_many", both, at_many_lines(0), two_registers);
    texture.emplace_back("texture_waits", waits, at_one_line(0), ReadOnlyCacheParameters{});
    texture.emplace_back("texture_annotates", annotates, at_one_line(0), ReadOnlyCacheParameters{});
    texture.emplace_back("texture_both", both, at_one_line(0), ReadOnlyCacheParameters{});
    texture.emplace_back("texture_many", both, at_many_lines(0), texture_two);
    for (const std::uint64_t base : {std::uint64_t{0}, kSysmem}) {
      const std::string where = base == 0 ? "vidmem" : "sysmem";
      slices.emplace_back(text("l2_waits_", where), waits, at_one_line(base), 8);
      slices.emplace_back(text("l2_annotates_", where), annotates, at_one_line(base), 8);
      slices.emplace_back(text("l2_both_", where), both, at_one_line(base), 8);
      slices.emplace_back(text("l2_many_", where), both, at_many_lines(base), 2);
    }
    atomic.command = Command::atomic;
    block.operation = AtomicOperation::add;
    block.type = DataType::u32;
    block.count = 1;
    atomic.atomics = &block;
    maintain.command = Command::maintain;
    maintain.maintenance = maintenance::kDrain;
    Asker asks = reads(0, ns(10), &atomic), drains = reads(0, ns(300), &maintain);
    asks.access.command = drains.access.command = tlm::TLM_IGNORE_COMMAND;
    crossbars.emplace_back("ignores", waits, std::vector<Asker>{asks});
    LooseMemory::Habits accepts = waits;
    accepts.accepts = true;
    crossbars.emplace_back("accepts", accepts, std::vector<Asker>{asks, drains});
    crossbars.emplace_back("crossbar_both", both, at_many_lines(0));
    for (const HopTransport t : {HopTransport::direct, HopTransport::socket})
      for (const LooseMemory::Habits& h : {waits, annotates})
        engines.emplace_back(text("sm", std::to_string(engines.size())), h, t);
    sc_core::sc_report_handler::set_handler(note_report);
    sc_core::sc_start(sc_core::SC_ZERO_TIME);
    for (FromEngine& e : engines) e.set_loose(true);
    for (const unsigned line : {0U, 0U, 8U}) round(line);
    for (FromEngine& e : engines) e.set_loose(false);
    for (const unsigned line : {0U, 16U}) round(line);
  }
};
void Simulation::round(unsigned line) {
  for (FromEngine& e : engines) e.ask(line);
  sc_core::sc_start();
  for (FromEngine& e : engines) e.rest.push_back(sc_core::sc_time_stamp());
}
Simulation& simulation() {
  static Simulation s;
  return s;
}

void expect_right(const Crowd& crowd) {
  for (const Asker& a : crowd.askers) {
    ASSERT_TRUE(a.done) << crowd.name() << " " << a.access.address;
    ASSERT_EQ(a.access.status, tlm::TLM_OK_RESPONSE);
    const std::uint64_t line = a.access.address & 0xFFFF;
    for (const std::uint8_t byte : a.access.data)
      ASSERT_EQ(byte, static_cast<std::uint8_t>(line / 16 + 1)) << crowd.name();
  }
}

/// Four threads wanted one line, 20 ns apart: one fetch, and nobody is answered before it is there, or long
/// after.
void expect_merged(const Crowd& crowd, const LooseMemory& memory, std::uint64_t base,
                   sc_core::sc_time fetch) {
  SCOPED_TRACE(crowd.name());
  expect_right(crowd);
  ASSERT_EQ(memory.calls, 1U);
  ASSERT_EQ(memory.reads.at(base), 1U);
  const sc_core::sc_time first = crowd.askers[0].ends;
  EXPECT_GE(first, ns(10) + fetch);
  EXPECT_LE(first, ns(10) + fetch + ns(10));
  for (const Asker& a : crowd.askers) {
    // Those who came while it was on its way, or saw its time annotated, which hits do not wait for.
    if (a.starts >= crowd.askers[0].returned) continue;
    EXPECT_GE(a.ends, first) << a.starts;
    EXPECT_LE(a.ends, std::max(first, a.starts) + ns(10)) << a.starts;
  }
}

TEST(LooseBlocking, AccessesToOneLineMergeAndWaitForItsFill) {
  Simulation& s = simulation();
  const auto fetch = [](const std::string& name) {
    return name.find("both") != std::string::npos ? kWait + ns(30) : kWait;
  };
  for (const L1Over& o : s.l1)
    if (o.crowd.askers.size() == 4) expect_merged(o.crowd, o.memory, 0, fetch(o.crowd.name()));
  for (const TextureOver& o : s.texture)
    if (o.crowd.askers.size() == 4) expect_merged(o.crowd, o.memory, 0, fetch(o.crowd.name()));
  for (const SliceOver& o : s.slices) {
    if (o.crowd.askers.size() != 4) continue;
    const bool vidmem = o.crowd.askers[0].access.address == 0;
    expect_merged(o.crowd, vidmem ? o.dram : o.pcie, vidmem ? 0 : kSysmem, fetch(o.crowd.name()));
  }
}

TEST(LooseBlocking, AllAreServedWhereMissRegistersAreFew) {
  Simulation& s = simulation();
  const auto expect = [](const Crowd& crowd, const LooseMemory& memory, unsigned at_once) {
    if (crowd.askers.size() != 9) return;
    SCOPED_TRACE(crowd.name());
    expect_right(crowd);
    EXPECT_EQ(memory.calls, 9U);
    EXPECT_EQ(memory.most_inside, at_once);
    const sc_core::sc_time rounds = (kWait + ns(30)) * ((9 + at_once - 1) / at_once);
    EXPECT_LE(crowd.askers.back().ends, rounds + ns(100));
  };
  for (const L1Over& o : s.l1) expect(o.crowd, o.memory, 2);
  for (const TextureOver& o : s.texture) expect(o.crowd, o.memory, 2);
  for (SliceOver& o : s.slices) expect(o.crowd, o.crowd.askers[0].access.address == 0 ? o.dram : o.pcie, 2);
  for (const CrossbarOver& o : s.crossbars) expect(o.crowd, o.l2, 9);
}

TEST(LooseBlocking, AWaitBelowCountsOnce) {
  const Crowd& crowd = simulation().crossbars.back().crowd;
  for (const Asker& a : crowd.askers) {
    const sc_core::sc_time took = a.ends - a.starts;
    EXPECT_GE(took, kWait + ns(30));
    EXPECT_LE(took, kWait + ns(35));
    EXPECT_GE(a.returned, a.starts + kWait);
  }
}

TEST(LooseBlocking, AtomicsNeedATargetThatAcceptsThem) {
  const CrossbarOver& ignores = simulation().crossbars[0];
  EXPECT_TRUE(ignores.crowd.askers[0].done);
  EXPECT_EQ(ignores.crowd.askers[0].access.status, tlm::TLM_ADDRESS_ERROR_RESPONSE);
  EXPECT_EQ(reported(ignores.crossbar.to_l2[0].name(), "does not take atomics"), 1);
  const CrossbarOver& accepts = simulation().crossbars[1];
  for (const Asker& a : accepts.crowd.askers) EXPECT_EQ(a.access.status, tlm::TLM_OK_RESPONSE);
  EXPECT_EQ(reported(accepts.crossbar.to_l2[0].name()), 0);
}

TEST(LooseBlocking, RequestsOfAnEngineWaitForForeignTargetsToo) {
  for (FromEngine& e : simulation().engines) {
    SCOPED_TRACE(e.requester.name());
    EXPECT_EQ(e.engine.outcome(), RunOutcome::quiescent);
    ASSERT_EQ(e.requester.answers.size(), 5 * FromEngine::kReads);
    // Loosely timed: two rounds of the same lines, one of others; then timed: the same, and others.
    for (unsigned n = 0; n < e.requester.answers.size(); ++n) {
      const unsigned round = n / FromEngine::kReads;
      const unsigned line = n % FromEngine::kReads + (round == 2 ? 8 : round == 4 ? 16 : 0);
      const Answer& a = e.requester.answers[n];
      ASSERT_NE(a.answered, kNever) << n;
      EXPECT_EQ(a.data[0], static_cast<std::uint8_t>(line * 8 + 1));
      const Cycle took = a.answered - a.sent;
      if (round == 0 || round == 2 || round == 4) {
        EXPECT_GE(took, 100U) << n;
        EXPECT_LE(took, 100U * FromEngine::kReads + 20) << n;
      } else {
        EXPECT_LE(took, 12U) << n;
      }
      EXPECT_TRUE(n == 0 || a.answered > e.requester.answers[n - 1].sent) << n;
    }
    EXPECT_EQ(e.memory.calls, 3 * FromEngine::kReads);
    for (std::size_t round = 1; round < e.rest.size(); ++round) EXPECT_GE(e.rest[round], e.rest[round - 1]);
  }
}

}  // namespace loose_blocking_test
}  // namespace warpline::test
