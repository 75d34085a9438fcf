// A memory subsystem that is saved, restored and reset, among modules that know nothing of it. One simulation
// per process.
#include <gtest/gtest.h>

#include <deque>
#include <sstream>

#include "platform/machine/checkpoint.h"
#include "platform/systemc/memory_subsystem_module.h"
#include "rtl_models/base/random.h"
#include "tests/rtl_models/tlm/foreign_modules.h"
#include "tests/support/checked_binding.h"

namespace warpline::test {
namespace memory_subsystem_rest_test {

MemorySubsystemOptions small() {
  MemorySubsystemOptions o;
  o.settings = {"sms=1", "l2.sets=2", "l2.slices=2", "vidmem_bytes=8388608", "sysmem_bytes=1048576"};
  o.devices = 1;
  return o;
}

Access random_access(Random& random) {
  Access a;
  a.command = random.below(2) == 0 ? tlm::TLM_READ_COMMAND : tlm::TLM_WRITE_COMMAND;
  a.address = random.below(256) * 128 + random.below(64) +
              (random.below(4) == 0 ? MemorySubsystemModule::kSystemMemory : 0);
  a.data.assign(1 + random.below(64), static_cast<std::uint8_t>(random.next()));
  return a;
}

/// Timed foreign initiators at both sockets, and a thread.
struct Board final : sc_core::sc_module {
  SC_HAS_PROCESS(Board);
  Board(const sc_core::sc_module_name& name, unsigned each, std::uint64_t seed)
      : sc_module(name), random(seed) {
    for (unsigned n = 0; n < 2; ++n) {
      std::vector<Access> accesses;
      for (unsigned i = 0; i < each; ++i) accesses.push_back(random_access(random));
      auto& initiator = initiators.emplace_back(
          ("initiator_" + std::to_string(n)).c_str(), accesses,
          ForeignInitiator::Habits{sc_core::sc_time(n * 2, sc_core::SC_NS), n % 2 == 1});
      auto& checker = checkers.emplace_back(("checker_" + std::to_string(n)).c_str());
      initiator.socket.bind(checker.from_initiator);
      checker.to_target.bind(n == 0 ? memory.from_sm(0) : memory.from_device(0));
    }
    SC_THREAD(run);
  }
  void run() { work(); }
  [[nodiscard]] bool answered() const {
    for (const ForeignInitiator& i : initiators)
      for (const Access& a : i.accesses)
        if (!a.answered) return false;
    return true;
  }
  void wait_until_idle() {
    while (!answered() || !memory.idle()) wait(sc_core::sc_time(100, sc_core::SC_NS));
  }
  /// Waits for rest, and a time at which all clocks of the subsystem have an edge.
  void wait_for_edges() {
    const sc_core::sc_time step(1, sc_core::SC_US);
    do {
      wait(step - sc_core::sc_time::from_value(sc_core::sc_time_stamp().value() % step.value()));
    } while (!memory.idle());
  }
  /// The time that each of a hundred accesses takes, one after the other, past the L1; at rest.
  [[nodiscard]] std::vector<std::uint64_t> times(std::uint64_t seed) {
    Random draws(seed);
    std::vector<std::uint64_t> out;
    for (unsigned i = 0; i < 100; ++i) {
      Access a = random_access(draws);
      tlm::tlm_generic_payload payload;
      payload.set_command(a.command);
      payload.set_address(a.address);
      payload.set_data_ptr(a.data.data());
      payload.set_data_length(static_cast<unsigned>(a.data.size()));
      payload.set_streaming_width(static_cast<unsigned>(a.data.size()));
      const sc_core::sc_time begun = sc_core::sc_time_stamp();
      sc_core::sc_time delay;
      initiators[1].socket->b_transport(payload, delay);
      EXPECT_TRUE(payload.is_response_ok());
      sc_core::wait(delay);
      out.push_back((sc_core::sc_time_stamp() - begun).value());
    }
    return out;
  }

  Random random;
  MemorySubsystemModule memory{"memory", small()};
  std::deque<ForeignInitiator> initiators;
  std::deque<ProtocolChecker> checkers;
  std::function<void()> work = [] {};
};

TEST(MemorySubsystemRest, ASavedOneIsRestoredAndGoesOnAsItDid) {
  Board board("board", 60, 1), other("other", 0, 1);
  bool through = false;
  board.work = [&] {
    std::ostringstream busy;
    sc_core::wait(sc_core::sc_time(50, sc_core::SC_NS));
    EXPECT_FALSE(board.memory.save(busy).empty()) << "requests are in flight";
    board.wait_until_idle();
    board.wait_for_edges();
    std::stringstream file;
    ASSERT_TRUE(board.memory.save(file, "note").empty());
    const std::string saved = file.str();
    const auto once = board.times(7);
    const auto counters = board.memory.counters();
    const auto checkpoint = Checkpoint::read(file);
    ASSERT_TRUE(checkpoint.ok());
    for (Board* on : {&board, &other}) {
      board.wait_for_edges();
      ASSERT_TRUE(on->memory.restore(checkpoint.value()).empty());
      std::ostringstream again;
      ASSERT_TRUE(on->memory.save(again, "note").empty());
      EXPECT_TRUE(again.str() == saved);
      EXPECT_EQ(on->times(7), once);
      auto then = on->memory.counters();
      EXPECT_EQ(then["l2.sector_hits"], counters.at("l2.sector_hits"));
      EXPECT_EQ(then["dram.row_hits"], counters.at("dram.row_hits"));
    }
    through = true;
  };
  sc_core::sc_start();
  EXPECT_TRUE(through);
}

TEST(MemorySubsystemRest, AResetAtAnyTimeAnswersEverythingAndLeavesItAsNew) {
  Board board("board", 400, 2), fresh("fresh", 0, 1);
  bool through = false;
  board.work = [&] {
    for (unsigned n = 0; n < 20 && !board.answered(); ++n) {
      sc_core::wait(sc_core::sc_time(static_cast<double>(20 + board.random.below(200)), sc_core::SC_NS));
      board.memory.reset();
    }
    board.wait_until_idle();
    EXPECT_FALSE(board.memory.resetting());
    unsigned good = 0, failed = 0;
    for (const ForeignInitiator& i : board.initiators)
      for (const Access& a : i.accesses) {
        good += a.status == tlm::TLM_OK_RESPONSE;
        failed += a.status == tlm::TLM_GENERIC_ERROR_RESPONSE;
      }
    EXPECT_EQ(good + failed, 800U) << "there is no other answer";
    for (const ProtocolChecker& c : board.checkers)
      EXPECT_EQ(c.violation_count(), 0U) << c.violations().front();
    EXPECT_NE(good, 0U);
    EXPECT_NE(failed, 0U);
    board.memory.reset();
    EXPECT_FALSE(board.memory.resetting()) << "nothing is in flight";
    // Both at the same time of the same clocks.
    board.wait_for_edges();
    const auto after_reset = board.times(9);
    board.wait_for_edges();
    EXPECT_EQ(after_reset, fresh.times(9));
    through = true;
  };
  sc_core::sc_start();
  EXPECT_TRUE(through);
}

}  // namespace memory_subsystem_rest_test
}  // namespace warpline::test
