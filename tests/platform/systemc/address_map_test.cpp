// Addresses at which nothing answers. One simulation per process.
#include <gtest/gtest.h>

#include <iterator>
#include <string>
#include <vector>

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
      std::vector<std::uint64_t> nowhere(std::begin(kNowhere), std::end(kNowhere));
      // Behind the last byte of either memory, and a line farther.
      for (const std::uint64_t end : {memory.video_memory_bytes(), kSysmem + memory.system_memory_bytes()})
        nowhere.insert(nowhere.end(), {end, end + 128 + kOffset});
      for (const std::uint64_t address : nowhere) {
        SCOPED_TRACE(std::string(initiator->name()) + " " + std::to_string(address));
        access(*initiator, address);
      }
      initiator->expected = tlm::TLM_OK_RESPONSE;
    }
    for (const std::uint64_t memories : {std::uint64_t{0}, kSysmem})
      EXPECT_EQ(device.debug(tlm::TLM_READ_COMMAND, memories + kOffset), 5U) << "nothing was written";
    EXPECT_TRUE(memory.idle());
  }
  /// Refusals that a way in has counted.
  [[nodiscard]] std::uint64_t counted(const std::string& socket) const {
    return memory.counters().at(socket + ".address_errors");
  }
  MemorySubsystemModule memory;
  ByHand sm{"sm"}, device{"device"};
};

TEST(AddressMap, AnswersTimedAccessesToNoMemoryWithAnError) {
  Board board;
  board.refused([](ByHand& initiator, std::uint64_t address) {
    initiator.access(tlm::TLM_WRITE_COMMAND, address, 7);
    initiator.access(tlm::TLM_READ_COMMAND, address);
  });
  EXPECT_EQ(board.memory.counters().at("l2.write_sectors"), 0U) << "no cache keeps anything of them";
  EXPECT_EQ(board.memory.counters().at("pcie.address_errors"), 2U * (std::size(kNowhere) + 2)) << "reads";
  EXPECT_EQ(board.counted("from_sm[0]"), 2U * (std::size(kNowhere) + 4));
  EXPECT_EQ(board.counted("from_device"), 2U * (std::size(kNowhere) + 4));
}

TEST(AddressMap, AnswersLooselyTimedAccessesToNoMemoryWithAnError) {
  Board board;
  board.memory.set_loose(true);
  board.refused([](ByHand& initiator, std::uint64_t address) {
    initiator.loosely(tlm::TLM_WRITE_COMMAND, address, 7);
    initiator.loosely(tlm::TLM_READ_COMMAND, address);
    tlm::tlm_dmi dmi;
    EXPECT_FALSE(initiator.ask(dmi, address));
  });
  EXPECT_EQ(board.counted("from_sm"), board.counted("from_device[0]"));
  EXPECT_EQ(board.counted("from_sm"), 2U * (std::size(kNowhere) + 4));
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
