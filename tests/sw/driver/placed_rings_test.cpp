// Rings in memory that the driver reaches through its port alone, which may fail it: a port of a few bytes.
#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <functional>
#include <map>

#include "sw/driver/wl_peer.h"

namespace warpline {
namespace placed_rings_test {

/// A peer whose registers read as they were written, and memory behind WL_SPACE_BUS.
struct Port {
  Port() {
    registers[WL_PEER_IDENTITY_OFFSET] = WL_PEER_IDENTITY_VALUE;
    registers[WL_PEER_PRESENT_OFFSET] = WL_PEER_PRESENT_VALUE;
    registers[WL_PEER_STATUS_OFFSET] = WL_PEER_STATUS_READY_MASK;
    registers[WL_PEER_VERSION_OFFSET] = 1U << WL_PEER_VERSION_MAJOR_SHIFT;
    registers[WL_PEER_CAPABILITY_OFFSET] = 2U << WL_PEER_CAPABILITY_QUEUES_SHIFT |
                                           8U << WL_PEER_CAPABILITY_MAX_ORDER_SHIFT |
                                           2U << WL_PEER_CAPABILITY_VECTORS_SHIFT;
    port.context = this;
    port.read = [](void* self, unsigned space, std::uint64_t offset, unsigned bytes) {
      return static_cast<Port*>(self)->read(space, offset, bytes);
    };
    port.write = [](void* self, unsigned space, std::uint64_t offset, unsigned bytes, std::uint64_t value) {
      static_cast<Port*>(self)->write(space, offset, bytes, value);
    };
    port.barrier = [](void*) {};
    port.delay = [](void*, std::uint32_t) {};
    port.log = [](void*, wl_log_level, const char*) {};
    EXPECT_EQ(wl_peer_probe(&peer, &port), WL_OK);
    options.order = 2;
    options.slots = slots.data();
    options.submissions_at = {WL_SPACE_BUS, 0, 0x10000};
    options.completions_at = {WL_SPACE_BUS, kCompletions, 0x10000 + kCompletions};
  }
  std::uint64_t read(unsigned space, std::uint64_t offset, unsigned bytes) {
    std::uint64_t value = registers[offset];
    if (space == WL_SPACE_BUS) {
      value = 0;
      std::memcpy(&value, &memory.at(offset), bytes);
      if (lost(offset)) value = bytes == 8 ? UINT64_MAX : (std::uint64_t{1} << 8 * bytes) - 1;
    }
    return value;
  }
  void write(unsigned space, std::uint64_t offset, unsigned bytes, std::uint64_t value) {
    if (space == WL_SPACE_BUS) {
      if (!dropped(offset)) std::memcpy(&memory.at(offset), &value, bytes);
    } else {
      registers[offset] = value;
    }
  }
  /// What the device writes when its first command is done.
  void complete(std::uint64_t result) {
    std::memcpy(&memory[kCompletions + WL_PEER_COMPLETION_RESULT_OFFSET], &result, 8);
    memory[kCompletions + WL_PEER_COMPLETION_PHASE_OFFSET] = 1;
  }
  static constexpr std::uint64_t kCompletions = 1024;

  std::map<std::uint64_t, std::uint64_t> registers;
  std::array<std::uint8_t, 4096> memory{};
  std::function<bool(std::uint64_t)> lost = [](std::uint64_t) { return false; };     ///< a read of memory
  std::function<bool(std::uint64_t)> dropped = [](std::uint64_t) { return false; };  ///< a write of memory
  wl_port port{};
  wl_peer peer{};
  std::array<wl_peer_slot, 4> slots{};
  wl_peer_queue_options options{};
};

TEST(PlacedRings, AResultThatNobodyAnswersAnyMoreIsNoCompletion) {
  // The phase, the word with it, and then the result are read: gone from each of them on, and not at all.
  // With 3 all is answered, and with 4 the result is in truth all ones.
  for (unsigned last = 0; last <= 4; ++last) {
    Port p;
    ASSERT_EQ(wl_peer_queue_create(&p.peer, 0, &p.options), WL_OK);
    wl_peer_command command{};
    command.cookie = 77;
    ASSERT_EQ(wl_peer_submit(&p.peer, 0, &command), WL_OK);
    ASSERT_EQ(wl_peer_ring(&p.peer, 0), WL_OK);
    p.complete(last == 4 ? UINT64_MAX : 0x1234);
    unsigned reads = 0;
    p.lost = [&](std::uint64_t) { return reads++ >= last && last < 3; };
    wl_peer_completion completion{};
    const wl_result result = wl_peer_poll(&p.peer, 0, &completion);
    EXPECT_EQ(result, last < 3 ? WL_NONE : WL_OK) << "gone after " << last;
    if (last >= 3) {
      EXPECT_EQ(completion.result, last == 4 ? UINT64_MAX : 0x1234U);
      continue;
    }
    // It is there as soon as somebody answers again.
    p.lost = [](std::uint64_t) { return false; };
    ASSERT_EQ(wl_peer_poll(&p.peer, 0, &completion), WL_OK);
    EXPECT_EQ(completion.cookie, 77U);
    EXPECT_EQ(completion.result, 0x1234U);
  }
}

/// A port where an earlier round left a completion, and `drops` of the writes that clear it get lost.
struct UsedPort : Port {
  explicit UsedPort(unsigned drops) {
    complete(0x1234);
    dropped = [this, drops](std::uint64_t offset) {
      return offset == kCompletions + WL_PEER_COMPLETION_ID_OFFSET && lost_writes_++ < drops;
    };
  }
  [[nodiscard]] bool enabled() {
    return (registers[WL_PEER_QUEUE_CONTROL_OFFSET(0)] & WL_PEER_QUEUE_CONTROL_ENABLE_MASK) != 0;
  }

 private:
  unsigned lost_writes_ = 0;
};

TEST(PlacedRings, AnOldCompletionIsNeverTakenForANewOne) {
  for (unsigned drops = 0; drops <= 3; ++drops) {
    UsedPort p(drops);
    EXPECT_EQ(wl_peer_queue_create(&p.peer, 0, &p.options), drops < 3 ? WL_OK : WL_TIMEOUT) << drops;
    EXPECT_EQ(p.enabled(), drops < 3) << "the device is not told of a queue that cannot be used";
    EXPECT_EQ(p.memory[Port::kCompletions + WL_PEER_COMPLETION_PHASE_OFFSET], drops < 3 ? 0 : 1);
  }
}

TEST(PlacedRings, ARecoveryThatCannotClearThemSaysSoAndMayBeRepeated) {
  UsedPort p(0);
  ASSERT_EQ(wl_peer_queue_create(&p.peer, 0, &p.options), WL_OK);
  wl_peer_command command{};
  command.cookie = 77;
  ASSERT_EQ(wl_peer_submit(&p.peer, 0, &command), WL_OK);
  p.complete(1);
  p.dropped = [](std::uint64_t) { return true; };
  EXPECT_EQ(wl_peer_recover(&p.peer), WL_TIMEOUT);
  EXPECT_EQ(p.registers[WL_PEER_CONTROL_OFFSET] & WL_PEER_CONTROL_ENABLE_MASK, 0U);
  p.dropped = [](std::uint64_t) { return false; };
  EXPECT_EQ(wl_peer_recover(&p.peer), WL_OK);
  EXPECT_NE(p.registers[WL_PEER_CONTROL_OFFSET] & WL_PEER_CONTROL_ENABLE_MASK, 0U);
  wl_peer_completion completion{};
  ASSERT_EQ(wl_peer_poll(&p.peer, 0, &completion), WL_OK);
  EXPECT_EQ(completion.cookie, 77U);
  EXPECT_EQ(completion.status, WL_PEER_STATUS_CODE_ABORTED);
  EXPECT_EQ(wl_peer_poll(&p.peer, 0, &completion), WL_NONE) << "the old one";
}

TEST(PlacedRings, ALostAnswerIsAskedForAgain) {
  UsedPort p(0);
  unsigned reads = 0;
  p.lost = [&](std::uint64_t) { return ++reads % 2 == 1; };
  EXPECT_EQ(wl_peer_queue_create(&p.peer, 0, &p.options), WL_OK);
  EXPECT_EQ(reads, 8U) << "each of four entries twice, and none of the others again";
}

TEST(PlacedRings, QueuesThatARecoveryLeftBehindTakeNothingAndTellNothing) {
  UsedPort p(0);
  ASSERT_EQ(wl_peer_queue_create(&p.peer, 0, &p.options), WL_OK);
  wl_peer_queue_options second = p.options;
  std::array<wl_peer_slot, 4> slots{};
  second.slots = slots.data();
  second.submissions_at = {WL_SPACE_BUS, 2048, 0x10000 + 2048};
  second.completions_at = {WL_SPACE_BUS, 3072, 0x10000 + 3072};
  ASSERT_EQ(wl_peer_queue_create(&p.peer, 1, &second), WL_OK);
  wl_peer_command command{};
  ASSERT_EQ(wl_peer_submit(&p.peer, 1, &command), WL_OK);
  // The first has a completion that nobody has taken, and that cannot be cleared.
  command.cookie = 77;
  ASSERT_EQ(wl_peer_submit(&p.peer, 0, &command), WL_OK);
  p.complete(0x1234);
  p.dropped = [](std::uint64_t offset) { return offset >= Port::kCompletions && offset < 2048; };
  EXPECT_EQ(wl_peer_queue_destroy(&p.peer, 1, 1), WL_TIMEOUT)
      << "it is never done, so the device is recovered";
  wl_peer_completion completion{};
  ASSERT_EQ(wl_peer_poll(&p.peer, 0, &completion), WL_OK);
  EXPECT_EQ(completion.status, WL_PEER_STATUS_CODE_ABORTED);
  EXPECT_EQ(wl_peer_submit(&p.peer, 0, &command), WL_STOPPED);
  EXPECT_EQ(wl_peer_ring(&p.peer, 0), WL_STOPPED);
  EXPECT_EQ(wl_peer_poll(&p.peer, 0, &completion), WL_STOPPED) << "what lies there is of the round before";
  EXPECT_EQ(wl_peer_wait(&p.peer, 0, 1, &completion), WL_STOPPED);
  p.dropped = [](std::uint64_t) { return false; };
  ASSERT_EQ(wl_peer_recover(&p.peer), WL_OK);
  EXPECT_EQ(wl_peer_poll(&p.peer, 0, &completion), WL_NONE);
  EXPECT_EQ(wl_peer_submit(&p.peer, 0, &command), WL_OK);
}

TEST(PlacedRings, ThePeersOwnSpacesAreNoPlace) {
  for (const unsigned space : {0U, unsigned{WL_PEER_BAR}, 4U, 5U, WL_SPACE_CONFIG}) {
    for (const bool completions : {false, true}) {
      Port p;
      const auto before = p.registers;
      (completions ? p.options.completions_at : p.options.submissions_at).space = space;
      EXPECT_EQ(wl_peer_queue_create(&p.peer, 0, &p.options), WL_BAD_ARGUMENT) << "space " << space;
      EXPECT_EQ(p.registers, before) << "space " << space;
    }
  }
}

}  // namespace placed_rings_test
}  // namespace warpline
