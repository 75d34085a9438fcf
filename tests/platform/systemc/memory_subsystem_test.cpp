// The memory subsystem on its own, among modules that know nothing of it. One simulation per process.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <tlm_utils/simple_initiator_socket.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <deque>
#include <sstream>

#include "platform/systemc/memory_subsystem_module.h"
#include "rtl_models/base/random.h"
#include "tests/platform/host/by_hand.h"
#include "tests/rtl_models/tlm/foreign_modules.h"
#include "tests/support/checked_binding.h"

namespace warpline::test {
namespace memory_subsystem_test {

constexpr std::uint64_t kSysmem = MemorySubsystemModule::kSystemMemory;

Access access(tlm::tlm_command command, std::uint64_t address, std::size_t length, unsigned value = 0) {
  Access a;
  a.command = command;
  a.address = address;
  for (std::size_t i = 0; i < length; ++i) a.data.push_back(static_cast<std::uint8_t>(value * 31 + i));
  return a;
}

/// Lines all over a region, each written, then read.
std::vector<Access> accesses(std::uint64_t base, unsigned lines, unsigned seed) {
  std::vector<Access> all;
  for (unsigned i = 0; i < lines; ++i) {
    const std::uint64_t line = base + i * 37 % lines * 128;
    const unsigned offset = (i * seed) % 64, length = 1 + (i * 7 + seed) % 64;
    all.push_back(access(tlm::TLM_WRITE_COMMAND, line + offset, length, i + seed));
    all.push_back(access(tlm::TLM_READ_COMMAND, line + offset, length));
  }
  return all;
}

MemorySubsystemOptions options(std::vector<std::string> settings, unsigned devices = 0,
                               const std::string& gpu = "mini") {
  MemorySubsystemOptions o;
  o.gpu = gpu;
  o.settings = std::move(settings);
  o.devices = devices;
  return o;
}

/// One initiator at each socket, a checker between.
struct Board {
  Board(const MemorySubsystemOptions& o, const std::vector<std::vector<Access>>& work) : memory("memory", o) {
    for (std::size_t i = 0; i < work.size(); ++i) {
      const auto n = static_cast<unsigned>(i);
      auto& initiator = initiators.emplace_back(
          ("initiator_" + std::to_string(i)).c_str(), work[i],
          ForeignInitiator::Habits{sc_core::sc_time(n * 2, sc_core::SC_NS), n % 2 == 1});
      auto& checker = checkers.emplace_back(("checker_" + std::to_string(i)).c_str());
      initiator.socket.bind(checker.from_initiator);
      checker.to_target.bind(n < memory.sms() ? memory.from_sm(n) : memory.from_device(n - memory.sms()));
    }
  }
  MemorySubsystemModule memory;
  std::deque<ForeignInitiator> initiators;
  std::deque<ProtocolChecker> checkers;
};

/// With hops within that are direct, and with checkers on all of them.
class MemorySubsystemOf : public ::testing::TestWithParam<bool> {};

TEST_P(MemorySubsystemOf, GivesEveryoneTheBytesThatWereWritten) {
  MemorySubsystemOptions o =
      options({"sms=2", "l2.slices=3", "dram.channels=5", "clocks.dram=777", "l2.sets=2"}, 2);
  if (GetParam())
    o.interpose = [](const HopSite&) -> HopSockets {
      ProtocolChecker& checker = lasting_checker();
      return {&checker.from_initiator, &checker.to_target};
    };
  Board board(o, {accesses(0, 200, 3), accesses(1 << 16, 200, 5), accesses(1 << 17, 200, 7),
                  accesses(kSysmem + (1 << 16), 100, 9)});
  EXPECT_TRUE(board.memory.idle());
  sc_core::sc_start();
  EXPECT_TRUE(board.memory.idle());
  EXPECT_TRUE(board.memory.waits().empty());
  for (const ForeignInitiator& initiator : board.initiators)
    for (std::size_t i = 0; i < initiator.accesses.size(); ++i) {
      const Access& a = initiator.accesses[i];
      ASSERT_TRUE(a.answered) << initiator.name() << " " << i;
      ASSERT_EQ(a.status, tlm::TLM_OK_RESPONSE);
      if (i % 2 == 1) {
        ASSERT_EQ(a.data, initiator.accesses[i - 1].data) << initiator.name() << " " << i;
      }
    }
  for (const ProtocolChecker& checker : board.checkers)
    for (const std::string& v : checker.violations()) ADD_FAILURE() << v;
  const auto counters = board.memory.counters();
  EXPECT_GT(counters.at("l1_lg.sector_accesses"), 0U);
  EXPECT_EQ(counters.at("l1_lg.sector_accesses"),
            counters.at("l1_lg[0].sector_accesses") + counters.at("l1_lg[1].sector_accesses"));
  EXPECT_GT(counters.at("l2[2].sector_accesses"), 0U);
  EXPECT_GT(counters.at("dram[4].bytes_written"), 0U) << "a small L2 writes back, to every channel";
  EXPECT_GT(counters.at("pcie.bytes_up"), 0U);
  std::ostringstream report;
  board.memory.report(report);
  EXPECT_THAT(report.str(), ::testing::HasSubstr(std::to_string(counters.at("l2.sector_hits"))));
}

INSTANTIATE_TEST_SUITE_P(Checked, MemorySubsystemOf, ::testing::Bool());

/// Writes and reads bytes of lines of its own, several lines at a time, and has a debugger look, and
/// sometimes write, as soon as a write is answered.
class Prober final : public sc_core::sc_module, private tlm::tlm_mm_interface {
 public:
  Prober(const sc_core::sc_module_name& name, std::uint64_t base, std::uint64_t seed)
      : sc_module(name), base_(base), random_(seed), bytes_(kLines * 128) {
    socket.register_nb_transport_bw(this, &Prober::nb_transport_bw);
    SC_HAS_PROCESS(Prober);
    SC_THREAD(run);
  }
  tlm_utils::simple_initiator_socket<Prober, 256> socket{"socket"};
  unsigned looks = 0, old = 0;

 private:
  static constexpr unsigned kLines = 40, kWrites = 600;

  void run() {
    for (unsigned i = 0; i < kWrites; ++i) {
      const auto at = static_cast<unsigned>(random_.below(kLines) * 128 + random_.below(96));
      const auto length = static_cast<unsigned>(1 + random_.below(32));
      write(at, length);
      look(at - at % 128);
      if (random_.below(4) == 0) look(static_cast<unsigned>(random_.below(kLines)) * 128);
      if (random_.below(8) == 0) poke(at);
      if (random_.below(3) == 0) wait(static_cast<double>(random_.below(60)), sc_core::SC_NS);
    }
  }
  void write(unsigned at, unsigned length) {
    for (unsigned n = 0; n < length; ++n) bytes_[at + n] = static_cast<std::uint8_t>(random_.below(256));
    tlm::tlm_generic_payload payload(this);
    payload.acquire();
    describe(payload, tlm::TLM_WRITE_COMMAND, at, &bytes_[at], length);
    tlm::tlm_phase phase = tlm::BEGIN_REQ;
    sc_core::sc_time delay;
    answered_ = false;
    static_cast<void>(socket->nb_transport_fw(payload, phase, delay));
    while (!answered_) wait(response_);
    EXPECT_EQ(payload.get_response_status(), tlm::TLM_OK_RESPONSE);
    wait(1, sc_core::SC_NS);  // the payload is not looked at any more
  }
  void look(unsigned line) {
    std::array<std::uint8_t, 128> got{};
    tlm::tlm_generic_payload payload;
    describe(payload, tlm::TLM_READ_COMMAND, line, got.data(), 128);
    EXPECT_EQ(socket->transport_dbg(payload), 128U);
    ++looks;
    old += !std::equal(got.begin(), got.end(), &bytes_[line]);
  }
  /// A byte that was just written, and its neighbours.
  void poke(unsigned at) {
    tlm::tlm_generic_payload payload;
    for (unsigned n = 0; n < 3; ++n) bytes_[at + n] = static_cast<std::uint8_t>(random_.below(256));
    describe(payload, tlm::TLM_WRITE_COMMAND, at, &bytes_[at], 3);
    EXPECT_EQ(socket->transport_dbg(payload), 3U);
  }
  void describe(tlm::tlm_generic_payload& payload, tlm::tlm_command command, unsigned at, std::uint8_t* bytes,
                unsigned length) const {
    payload.set_command(command);
    payload.set_address(base_ + at);
    payload.set_data_ptr(bytes);
    payload.set_data_length(length);
    payload.set_streaming_width(length);
    payload.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
  }
  tlm::tlm_sync_enum nb_transport_bw(tlm::tlm_generic_payload& /*payload*/, tlm::tlm_phase& phase,
                                     sc_core::sc_time& delay) {
    if (phase != tlm::BEGIN_RESP) return tlm::TLM_ACCEPTED;
    answered_ = true;
    response_.notify(delay);
    return tlm::TLM_COMPLETED;
  }
  void free(tlm::tlm_generic_payload* payload) override { payload->reset(); }

  std::uint64_t base_;
  Random random_;
  std::vector<std::uint8_t> bytes_;
  bool answered_ = false;
  sc_core::sc_event response_;
};

TEST(MemorySubsystem, ADebuggerSeesWhatHasBeenWritten) {
  // L2 holds few lines: what was in them is on its way to memory.
  MemorySubsystemModule memory("memory",
                               options({"sms=2", "l2.slices=2", "l2.sets=1", "clocks.link=300"}, 2));
  std::deque<Prober> probers;
  for (unsigned i = 0; i < 4; ++i) {
    Prober& p = probers.emplace_back(("prober_" + std::to_string(i)).c_str(),
                                     (i % 2 == 0 ? 0 : kSysmem) + (i + 1) * 0x10000, i + 1);
    p.socket.bind(i < 2 ? memory.from_sm(i) : memory.from_device(i - 2));
  }
  sc_core::sc_start();
  for (const Prober& p : probers) {
    EXPECT_GT(p.looks, 600U);
    EXPECT_EQ(p.old, 0U) << p.name() << " of " << p.looks;
  }
  EXPECT_TRUE(memory.idle());
}

TEST(MemorySubsystem, ADebuggerSeesWhatOthersHaveWrittenSince) {
  MemorySubsystemModule memory("memory", options({"sms=1"}, 1));
  ByHand sm("sm"), device("device");
  sm.socket.bind(memory.from_sm(0));
  device.socket.bind(memory.from_device(0));
  sc_core::sc_start(sc_core::SC_ZERO_TIME);
  sm.access(tlm::TLM_WRITE_COMMAND, 4096, 1);
  device.access(tlm::TLM_WRITE_COMMAND, 4096, 2);
  EXPECT_EQ(sm.debug(tlm::TLM_READ_COMMAND, 4096), 2U);
  EXPECT_EQ(device.debug(tlm::TLM_READ_COMMAND, 4096), 2U);
}

TEST(MemorySubsystem, AnL1IsStaleUntilItIsInvalidated) {
  MemorySubsystemModule memory("memory", options({"sms=1"}, 1));
  ByHand sm("sm"), device("device");
  bind_checked(sm.socket, memory.from_sm(0));
  bind_checked(device.socket, memory.from_device(0));
  sc_core::sc_start(sc_core::SC_ZERO_TIME);
  device.access(tlm::TLM_WRITE_COMMAND, 256, 1);
  EXPECT_EQ(sm.access(tlm::TLM_READ_COMMAND, 256), 1U);
  device.access(tlm::TLM_WRITE_COMMAND, 256, 2);
  EXPECT_EQ(sm.access(tlm::TLM_READ_COMMAND, 256), 1U) << "no L1 sees what goes past it";
  EXPECT_EQ(device.access(tlm::TLM_READ_COMMAND, 256), 2U);
  EXPECT_TRUE(memory.idle());
  memory.invalidate_l1();
  EXPECT_EQ(sm.access(tlm::TLM_READ_COMMAND, 256), 2U);
  sm.access(tlm::TLM_WRITE_COMMAND, 256, 3);
  EXPECT_EQ(device.access(tlm::TLM_READ_COMMAND, 256), 3U) << "an L1 writes through";
}

/// Host software, behind a bus of anyone's, on the registers.
class Host : public sc_core::sc_module {
 public:
  tlm_utils::simple_initiator_socket<Host, 32> socket{"socket"};
  explicit Host(const sc_core::sc_module_name& name) : sc_module(name) {}

  tlm::tlm_response_status access(tlm::tlm_command command, std::uint64_t address, std::uint32_t& value,
                                  unsigned length = 4) {
    tlm::tlm_generic_payload p;
    p.set_command(command);
    p.set_address(address);
    p.set_data_ptr(reinterpret_cast<unsigned char*>(&value));
    p.set_data_length(length);
    p.set_streaming_width(length);
    sc_core::sc_time delay;
    socket->b_transport(p, delay);
    return p.get_response_status();
  }
  std::uint32_t read(std::uint32_t offset) {
    std::uint32_t value = 0;
    EXPECT_EQ(access(tlm::TLM_READ_COMMAND, offset, value), tlm::TLM_OK_RESPONSE);
    return value;
  }
  void write(std::uint32_t offset, std::uint32_t value) {
    EXPECT_EQ(access(tlm::TLM_WRITE_COMMAND, offset, value), tlm::TLM_OK_RESPONSE);
  }
};

TEST(MemorySubsystem, HostSoftwareInvalidatesL1ByARegister) {
  MemorySubsystemModule memory("memory", options({"sms=1"}, 1));
  ByHand sm("sm"), device("device");
  Host host("host");
  bind_checked(sm.socket, memory.from_sm(0));
  bind_checked(device.socket, memory.from_device(0));
  host.socket.bind(memory.from_host());
  sc_core::sc_start(sc_core::SC_ZERO_TIME);
  EXPECT_EQ(host.read(CacheRegisters::kIdentity), CacheRegisters::kIdentityValue);
  device.access(tlm::TLM_WRITE_COMMAND, 256, 1);
  EXPECT_EQ(sm.access(tlm::TLM_READ_COMMAND, 256), 1U);
  device.access(tlm::TLM_WRITE_COMMAND, 256, 2);
  EXPECT_EQ(sm.access(tlm::TLM_READ_COMMAND, 256), 1U);
  host.write(CacheRegisters::kInvalidate, CacheRegisters::kL1Global);
  EXPECT_EQ(sm.access(tlm::TLM_READ_COMMAND, 256), 2U);
  EXPECT_EQ(host.read(CacheRegisters::kInvalidations), 1U);

  std::uint32_t value = 0;
  EXPECT_EQ(host.access(tlm::TLM_READ_COMMAND, CacheRegisters::kInvalidate, value),
            tlm::TLM_COMMAND_ERROR_RESPONSE);
  EXPECT_EQ(host.access(tlm::TLM_WRITE_COMMAND, CacheRegisters::kIdentity, value),
            tlm::TLM_COMMAND_ERROR_RESPONSE);
  EXPECT_EQ(host.access(tlm::TLM_READ_COMMAND, CacheRegisters::kBytes, value),
            tlm::TLM_ADDRESS_ERROR_RESPONSE);
  EXPECT_EQ(host.access(tlm::TLM_READ_COMMAND, 2, value), tlm::TLM_BURST_ERROR_RESPONSE);
  EXPECT_EQ(host.access(tlm::TLM_READ_COMMAND, 0, value, 2), tlm::TLM_BURST_ERROR_RESPONSE);
  EXPECT_EQ(host.access(tlm::TLM_IGNORE_COMMAND, 0, value), tlm::TLM_COMMAND_ERROR_RESPONSE);
}

TEST(MemorySubsystem, IsBootedLooselyAndMeasuredTimed) {
  MemorySubsystemModule memory("memory", options({"sms=1"}, 1));
  ByHand sm("sm"), device("device");
  bind_checked(sm.socket, memory.from_sm(0));
  bind_checked(device.socket, memory.from_device(0));
  sc_core::sc_start(sc_core::SC_ZERO_TIME);
  tlm::tlm_dmi dmi;
  EXPECT_FALSE(device.ask(dmi, 0)) << "not while accesses are timed";

  memory.set_loose(true);
  device.loosely(tlm::TLM_WRITE_COMMAND, 512, 7);
  EXPECT_EQ(sm.loosely(tlm::TLM_READ_COMMAND, 512), 7U);
  const auto before = memory.counters();
  EXPECT_EQ(sm.debug(tlm::TLM_READ_COMMAND, 512), 7U);
  device.debug(tlm::TLM_WRITE_COMMAND, 516, 8);
  EXPECT_EQ(memory.counters(), before);
  ASSERT_TRUE(device.ask(dmi, 4096));
  EXPECT_EQ(dmi.get_start_address(), 0U);
  EXPECT_EQ(dmi.get_end_address(), memory.video_memory_bytes() - 1);
  std::uint32_t value = 0;
  std::memcpy(&value, dmi.get_dmi_ptr() + 516, 4);
  EXPECT_EQ(value, 8U);
  EXPECT_FALSE(sm.ask(dmi, 4096)) << "an L1 is in between";
  EXPECT_FALSE(device.ask(dmi, kSysmem)) << "L2 copies system memory";

  memory.set_loose(false);
  EXPECT_GE(device.invalidations, 1U);
  memory.invalidate_l1();
  EXPECT_EQ(sm.access(tlm::TLM_READ_COMMAND, 516), 8U);
  EXPECT_EQ(device.loosely(tlm::TLM_READ_COMMAND, 516), 8U) << "at rest both kinds are taken";
}

TEST(MemorySubsystem, AnswersWhatCannotBeWithItsStatus) {
  Board board(options({"sms=1", "vidmem_bytes=1048576", "sysmem_bytes=1048576"}),
              {{access(tlm::TLM_READ_COMMAND, 1 << 20, 32), access(tlm::TLM_READ_COMMAND, 120, 16),
                access(tlm::TLM_IGNORE_COMMAND, 0, 4), access(tlm::TLM_READ_COMMAND, kSysmem + (1 << 20), 4),
                access(tlm::TLM_READ_COMMAND, (1 << 20) - 4, 4)}});
  EXPECT_EQ(board.memory.video_memory_bytes(), 1U << 20U);
  EXPECT_EQ(board.memory.system_memory_bytes(), 1U << 20U);
  sc_core::sc_start();
  std::vector<tlm::tlm_response_status> seen;
  for (const Access& a : board.initiators[0].accesses) seen.push_back(a.status);
  EXPECT_THAT(seen, ::testing::ElementsAre(tlm::TLM_ADDRESS_ERROR_RESPONSE, tlm::TLM_BURST_ERROR_RESPONSE,
                                           tlm::TLM_COMMAND_ERROR_RESPONSE, tlm::TLM_ADDRESS_ERROR_RESPONSE,
                                           tlm::TLM_OK_RESPONSE));
}

TEST(MemorySubsystem, RefusesWhatItCannotBeMadeOf) {
  const auto message = [](const MemorySubsystemOptions& o) -> std::string {
    try {
      const MemorySubsystemModule memory("memory", o);
    } catch (const std::invalid_argument& e) {
      return e.what();
    }
    return {};
  };
  EXPECT_THAT(message(options({"l2.slies=2", "dram.chanels=3"})),
              ::testing::AllOf(::testing::HasSubstr("\"slices\""), ::testing::HasSubstr("\"channels\"")));
  EXPECT_THAT(message(options({}, 0, "minni")), ::testing::HasSubstr("mini"));
  EXPECT_THAT(message(options({"pcie_system.peers=1", "peer_bytes=0"})),
              ::testing::HasSubstr("a memory subsystem has no root complex"));
}

TEST(MemorySubsystem, NamesTheSocketsThatItLacks) {
  MemorySubsystemModule memory("memory", options({"sms=3"}, 1));
  EXPECT_EQ(memory.sms(), 3U);
  EXPECT_EQ(memory.devices(), 1U);
  EXPECT_STREQ(memory.from_sm(2).name(), "memory.from_sm_2");
  EXPECT_STREQ(memory.from_device(0).name(), "memory.from_device_0");
  EXPECT_THROW(static_cast<void>(memory.from_sm(3)), std::out_of_range);
  EXPECT_THROW(static_cast<void>(memory.from_device(1)), std::out_of_range);
  // Nobody is bound to them: elaboration says so, and names one.
  try {
    sc_core::sc_start();
    FAIL() << "unbound sockets pass";
  } catch (const sc_core::sc_report& report) {
    EXPECT_THAT(report.what(), ::testing::HasSubstr("memory.from_"));
  }
}

}  // namespace memory_subsystem_test
}  // namespace warpline::test
