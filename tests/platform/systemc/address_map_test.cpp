// Addresses at which nothing answers. One simulation per process.
#include <gtest/gtest.h>

#include <iterator>
#include <string>

#include "platform/systemc/memory_subsystem_module.h"
#include "rtl_models/base/types.h"
#include "tests/platform/host/by_hand.h"

namespace warpline::test {
namespace address_map_test {

constexpr std::uint64_t kOffset = 256;
constexpr std::uint64_t kSysmem = MemorySubsystemModule::kSystemMemory;
/// Each would be `kOffset` of video or system memory, were bits of it ignored.
constexpr std::uint64_t kNowhere[] = {
    physical(Aperture::peer, kOffset).value, (std::uint64_t{3} << 60U) + kOffset,
    (std::uint64_t{1} << 62U) + kOffset, (std::uint64_t{1} << 63U) + kOffset,
    (std::uint64_t{1} << 62U) + kSysmem + kOffset};

struct Board {
  Board() : memory("memory", options()) {
    sm.socket.bind(memory.from_sm(0));
    device.socket.bind(memory.from_device(0));
    sc_core::sc_start(sc_core::SC_ZERO_TIME);
    for (const std::uint64_t memories : {std::uint64_t{0}, kSysmem})
      device.debug(tlm::TLM_WRITE_COMMAND, memories + kOffset, 5);
  }
  static MemorySubsystemOptions options() {
    MemorySubsystemOptions o;
    o.gpu = "mini";
    o.settings = {"sms=1"};
    o.devices = 1;
    return o;
  }
  /// Has `access` ask for each such address by both ways in.
  template <class F>
  void refused(F&& access) {
    for (ByHand* initiator : {&sm, &device}) {
      initiator->expected = tlm::TLM_ADDRESS_ERROR_RESPONSE;
      for (const std::uint64_t address : kNowhere) {
        SCOPED_TRACE(std::string(initiator->name()) + " " + std::to_string(address));
        access(*initiator, address);
      }
      initiator->expected = tlm::TLM_OK_RESPONSE;
    }
    for (const std::uint64_t memories : {std::uint64_t{0}, kSysmem})
      EXPECT_EQ(device.debug(tlm::TLM_READ_COMMAND, memories + kOffset), 5U) << "nothing was written";
    EXPECT_TRUE(memory.idle());
  }
  /// An L1 answers a write when it has passed it on; what becomes of it is not known by then.
  [[nodiscard]] tlm::tlm_response_status status_of_write(const ByHand& initiator) const {
    return &initiator == &sm ? tlm::TLM_OK_RESPONSE : tlm::TLM_ADDRESS_ERROR_RESPONSE;
  }
  MemorySubsystemModule memory;
  ByHand sm{"sm"}, device{"device"};
};

TEST(AddressMap, AnswersTimedAccessesToNoMemoryWithAnError) {
  Board board;
  board.refused([&board](ByHand& initiator, std::uint64_t address) {
    initiator.expected = board.status_of_write(initiator);
    initiator.access(tlm::TLM_WRITE_COMMAND, address, 7);
    initiator.expected = tlm::TLM_ADDRESS_ERROR_RESPONSE;
    initiator.access(tlm::TLM_READ_COMMAND, address);
  });
  EXPECT_EQ(board.memory.counters().at("l2.sector_accesses"), 0U) << "L2 keeps nothing of them";
  EXPECT_EQ(board.memory.counters().at("pcie.address_errors"), 4U * std::size(kNowhere));
}

TEST(AddressMap, AnswersLooselyTimedAccessesToNoMemoryWithAnError) {
  Board board;
  board.memory.set_loose(true);
  board.refused([&board](ByHand& initiator, std::uint64_t address) {
    initiator.expected = board.status_of_write(initiator);
    initiator.loosely(tlm::TLM_WRITE_COMMAND, address, 7);
    initiator.expected = tlm::TLM_ADDRESS_ERROR_RESPONSE;
    initiator.loosely(tlm::TLM_READ_COMMAND, address);
    tlm::tlm_dmi dmi;
    EXPECT_FALSE(initiator.ask(dmi, address));
  });
}

TEST(AddressMap, FindsNothingForADebuggerWhereNoMemoryIs) {
  Board board;
  board.refused([](ByHand& initiator, std::uint64_t address) {
    initiator.debug(tlm::TLM_WRITE_COMMAND, address, 7);
    initiator.debug(tlm::TLM_READ_COMMAND, address);
  });
}

}  // namespace address_map_test
}  // namespace warpline::test
