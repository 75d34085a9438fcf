// Loosely timed initiators beside timed ones at a memory subsystem. One simulation per process.
#include <gtest/gtest.h>
// The keeper leaves the inclusion of SystemC to its users.
#include <tlm_utils/simple_initiator_socket.h>
#include <tlm_utils/tlm_quantumkeeper.h>

#include <array>
#include <deque>
#include <systemc>
#include <vector>

#include "platform/systemc/memory_subsystem_module.h"
#include "rtl_models/base/random.h"
#include "tests/rtl_models/tlm/foreign_modules.h"
#include "tests/support/checked_binding.h"

namespace warpline::test {
namespace mixed_initiators_test {

/// Software that works on lines of its own, ahead of time by the quantum at most.
class Software final : public sc_core::sc_module {
 public:
  Software(const sc_core::sc_module_name& name, std::uint64_t base, unsigned accesses)
      : sc_module(name), base_(base), accesses_(accesses), bytes_(kBytes) {
    SC_HAS_PROCESS(Software);
    SC_THREAD(run);
  }
  tlm_utils::simple_initiator_socket<Software, 256> socket{"socket"};
  unsigned wrong = 0, done = 0, waited = 0;

 private:
  static constexpr unsigned kBytes = 64 * 128;
  void run() {
    tlm_utils::tlm_quantumkeeper keeper;
    keeper.reset();
    Random random(base_);
    std::array<std::uint8_t, 128> data{};
    for (; done < accesses_; ++done) {
      const auto offset = static_cast<unsigned>(random.below(64) * 128 + random.below(97));
      const auto length = static_cast<unsigned>(1 + random.below(32));
      const bool write = random.below(2) == 0;
      for (unsigned i = 0; i < length; ++i) data[i] = static_cast<std::uint8_t>(random.next());
      if (write) std::copy_n(data.begin(), length, &bytes_[offset]);
      tlm::tlm_generic_payload p;
      p.set_command(write ? tlm::TLM_WRITE_COMMAND : tlm::TLM_READ_COMMAND);
      p.set_address(base_ + offset);
      p.set_data_ptr(data.data());
      p.set_data_length(length);
      p.set_streaming_width(length);
      sc_core::sc_time delay = keeper.get_local_time();
      const sc_core::sc_time begun = sc_core::sc_time_stamp() + delay;
      socket->b_transport(p, delay);
      waited += delay == sc_core::SC_ZERO_TIME && sc_core::sc_time_stamp() > begun;
      wrong += !p.is_response_ok() || !std::equal(data.begin(), data.begin() + length, &bytes_[offset]);
      keeper.set(delay + sc_core::sc_time(static_cast<double>(random.below(9)), sc_core::SC_NS));
      if (keeper.need_sync()) keeper.sync();
    }
  }
  std::uint64_t base_;
  unsigned accesses_;
  std::vector<std::uint8_t> bytes_;
};

std::vector<Access> accesses(std::uint64_t base, unsigned count) {
  std::vector<Access> all;
  for (unsigned i = 0; i < count; ++i)
    for (const tlm::tlm_command command : {tlm::TLM_WRITE_COMMAND, tlm::TLM_READ_COMMAND}) {
      Access a;
      a.command = command;
      a.address = base + i * 37 % 200 * 128 + i % 64;
      a.data.assign(1 + i % 60, command == tlm::TLM_WRITE_COMMAND ? static_cast<std::uint8_t>(i * 31) : 0);
      all.push_back(a);
    }
  return all;
}

/// By the global quantum, ns.
class MixedInitiators : public ::testing::TestWithParam<unsigned> {};

TEST_P(MixedInitiators, EachFindTheBytesThatTheyWrote) {
  tlm::tlm_global_quantum::instance().set(sc_core::sc_time(GetParam(), sc_core::SC_NS));
  MemorySubsystemOptions o;
  o.settings = {"sms=2", "l2.slices=2", "l2.sets=2"};
  o.devices = 2;
  o.interpose = [](const HopSite& site) -> HopSockets {
    if (!site.matches("l2[0]*")) return {};
    ProtocolChecker& checker = lasting_checker();
    return {&checker.from_initiator, &checker.to_target};
  };
  MemorySubsystemModule memory("memory", o);
  std::deque<Software> software;
  software.emplace_back("software_0", 0x10000, 1500);
  software.emplace_back("software_1", MemorySubsystemModule::kSystemMemory + 0x20000, 1500);
  std::deque<ForeignInitiator> timed;
  timed.emplace_back("timed_0", accesses(0x100000, 800), ForeignInitiator::Habits{});
  timed.emplace_back("timed_1", accesses(0x200000, 800),
                     ForeignInitiator::Habits{sc_core::sc_time(2, sc_core::SC_NS)});
  bind_checked(software[0].socket, memory.from_sm(0));
  bind_checked(software[1].socket, memory.from_device(0));
  bind_checked(timed[0].socket, memory.from_sm(1));
  bind_checked(timed[1].socket, memory.from_device(1));
  sc_core::sc_start();
  for (const Software& s : software) {
    EXPECT_EQ(s.done, 1500U);
    EXPECT_EQ(s.wrong, 0U);
    EXPECT_GE(s.waited, 1500U) << "each takes its turn, and the time it needs";
  }
  for (const ForeignInitiator& t : timed)
    for (std::size_t i = 0; i < t.accesses.size(); ++i) {
      ASSERT_TRUE(t.accesses[i].answered);
      if (i % 2 == 1) {
        ASSERT_EQ(t.accesses[i].data, t.accesses[i - 1].data) << t.name() << " " << i;
      }
    }
  EXPECT_TRUE(memory.idle());
}

INSTANTIATE_TEST_SUITE_P(Quantum, MixedInitiators, ::testing::Values(0U, 100U, 10000U));

}  // namespace mixed_initiators_test
}  // namespace warpline::test
