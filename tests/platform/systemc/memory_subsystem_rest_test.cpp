// A memory subsystem that is saved, restored and reset, among modules that know nothing of it. One simulation
// per process.
#include <gtest/gtest.h>

#include <array>
#include <deque>
#include <sstream>
#include <utility>

#include "platform/machine/checkpoint.h"
#include "platform/systemc/memory_subsystem_module.h"
#include "rtl_models/base/random.h"
#include "rtl_models/tlm/idle_sockets.h"
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

/// An initiator that ends responses when it is told to.
struct Withholding final : sc_core::sc_module, tlm::tlm_bw_transport_if<>, tlm::tlm_mm_interface {
  explicit Withholding(const sc_core::sc_module_name& name) : sc_module(name) {
    socket.bind(static_cast<tlm::tlm_bw_transport_if<>&>(*this));
  }
  void send() {
    tlm::tlm_generic_payload& p = payloads.emplace_back(this);
    p.acquire();
    p.set_command(tlm::TLM_READ_COMMAND);
    p.set_address(256 * payloads.size());
    p.set_data_ptr(data.data());
    p.set_data_length(4);
    p.set_streaming_width(4);
    tlm::tlm_phase phase = tlm::BEGIN_REQ;
    sc_core::sc_time delay;
    EXPECT_NE(socket->nb_transport_fw(p, phase, delay), tlm::TLM_COMPLETED);
  }
  void end() {
    ASSERT_NE(owed, nullptr);
    tlm::tlm_phase phase = tlm::END_RESP;
    sc_core::sc_time delay;
    static_cast<void>(socket->nb_transport_fw(*std::exchange(owed, nullptr), phase, delay));
  }
  tlm::tlm_sync_enum nb_transport_bw(tlm::tlm_generic_payload& p, tlm::tlm_phase& phase,
                                     sc_core::sc_time&) override {
    if (phase != tlm::BEGIN_RESP) return tlm::TLM_ACCEPTED;
    EXPECT_EQ(owed, nullptr) << "a response before the end of the one before";
    EXPECT_TRUE(p.is_response_ok());
    owed = &p;
    ++answers;
    return tlm::TLM_ACCEPTED;
  }
  void invalidate_direct_mem_ptr(sc_dt::uint64, sc_dt::uint64) override {}
  void free(tlm::tlm_generic_payload*) override { ++freed; }
  tlm::tlm_initiator_socket<256> socket{"socket"};
  std::deque<tlm::tlm_generic_payload> payloads;
  std::array<unsigned char, 4> data{};
  tlm::tlm_generic_payload* owed = nullptr;
  unsigned answers = 0, freed = 0;
};

TEST(MemorySubsystemRest, ARestoredOneStillWaitsForTheEndOfAResponse) {
  Board board("board", 0, 1);
  MemorySubsystemModule memory("slow", small());
  Withholding initiator("withholding");
  initiator.socket.bind(memory.from_device(0));
  const IdleInitiator idle("idle", memory.from_sm(0));
  bool through = false;
  const sc_core::sc_time us(1, sc_core::SC_US);
  board.work = [&] {
    sc_core::wait(us);
    std::stringstream file;
    ASSERT_TRUE(memory.save(file).empty());
    const auto checkpoint = Checkpoint::read(file);
    ASSERT_TRUE(checkpoint.ok());
    // Far on, in the time that is then taken back.
    for (unsigned n = 0; n < 50; ++n) {
      initiator.send();
      sc_core::wait(us);
      ASSERT_EQ(initiator.answers, n + 1);
      if (n != 49) initiator.end();
    }
    ASSERT_TRUE(memory.idle());
    ASSERT_TRUE(memory.restore(checkpoint.value()).empty());
    initiator.send();
    sc_core::wait(us);
    EXPECT_EQ(initiator.answers, 50U) << "END_RESP is owed";
    initiator.end();
    sc_core::wait(us);
    EXPECT_EQ(initiator.answers, 51U);
    initiator.end();
    EXPECT_TRUE(memory.idle());
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
