#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <functional>

#include "rtl_models/pcie/packets/byte_stream.h"
#include "rtl_models/queue_device/queue_device_command.h"
#include "rtl_models/queue_device/queue_device_parameters.h"

namespace warpline {
namespace command_test {

using namespace regs::peer;

constexpr std::uint64_t kBuffer = 1U << 16U;

QueueDeviceCommand command(unsigned opcode, std::uint32_t length) {
  QueueDeviceCommand c;
  c.opcode = static_cast<std::uint8_t>(opcode);
  c.length = length;
  return c;
}

TEST(QueueDeviceCommand, IsDecodedFromItsSixtyFourBytes) {
  std::array<std::uint8_t, kCommandBytes> bytes{};
  for (unsigned i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::uint8_t>(i);
  const QueueDeviceCommand c = decode_command(bytes.data());
  EXPECT_EQ(c.opcode, 0);
  EXPECT_EQ(c.flags, 1);
  EXPECT_EQ(c.id, 0x0302);
  EXPECT_EQ(c.source_entries, 0x0504);
  EXPECT_EQ(c.destination_entries, 0x0706);
  EXPECT_EQ(c.length, 0x0B0A0908U);
  EXPECT_EQ(c.reserved, 0x0F0E0D0CU);
  EXPECT_EQ(c.source, 0x1716151413121110U);
  EXPECT_EQ(c.destination, 0x1F1E1D1C1B1A1918U);
  EXPECT_EQ(c.operand, 0x2726252423222120U);
  EXPECT_TRUE(c.reserved_tail);
  std::fill(bytes.begin() + 40, bytes.end(), std::uint8_t{0});
  EXPECT_FALSE(decode_command(bytes.data()).reserved_tail);
  bytes[63] = 1;
  EXPECT_TRUE(decode_command(bytes.data()).reserved_tail);
}

TEST(QueueDeviceCommand, IsRefusedForWhatIsWrongWithIt) {
  struct Row {
    const char* what;
    unsigned opcode;
    std::uint32_t length;
    std::function<void(QueueDeviceCommand&)> change;
    unsigned status;
  };
  const auto as_is = [](QueueDeviceCommand&) {};
  const std::vector<Row> rows = {
      {"nop", kOpcodeNop, 0, as_is, kStatusCodeOk},
      {"no such opcode", kOpcodeNotify + 1, 0, as_is, kStatusCodeBadOpcode},
      {"reserved flag", kOpcodeNop, 0, [](QueueDeviceCommand& c) { c.flags = 4; }, kStatusCodeBadOpcode},
      {"reserved field", kOpcodeNop, 0, [](QueueDeviceCommand& c) { c.reserved = 1; }, kStatusCodeBadOpcode},
      {"a reserved byte", kOpcodeNop, 0, [](QueueDeviceCommand& c) { c.reserved_tail = true; },
       kStatusCodeBadOpcode},
      {"a list that ends beyond the bus", kOpcodeCopy, 8,
       [](QueueDeviceCommand& c) {
         c.flags = 1;
         c.source_entries = 2;
         c.source = ~std::uint64_t{0} - 15;
       },
       kStatusCodeBadScatter},
      {"a list that ends at the end of the bus", kOpcodeCopy, 8,
       [](QueueDeviceCommand& c) {
         c.flags = 1;
         c.source_entries = 2;
         c.source = ~std::uint64_t{0} - 31;
       },
       kStatusCodeOk},
      {"entries without a list", kOpcodeCopy, 8, [](QueueDeviceCommand& c) { c.source_entries = 1; },
       kStatusCodeBadOpcode},
      {"a list without entries", kOpcodeCopy, 8, [](QueueDeviceCommand& c) { c.flags = 1; },
       kStatusCodeBadOpcode},
      {"a list in the buffer", kOpcodeRead, 8,
       [](QueueDeviceCommand& c) {
         c.flags = 2;
         c.destination_entries = 1;
       },
       kStatusCodeBadOpcode},
      {"a list too long", kOpcodeCopy, 8,
       [](QueueDeviceCommand& c) {
         c.flags = 1;
         c.source_entries = 65;
       },
       kStatusCodeBadScatter},
      {"nothing to copy", kOpcodeCopy, 0, as_is, kStatusCodeBadLength},
      {"the longest", kOpcodeFill, kLongestCommand, as_is, kStatusCodeOk},
      {"too long", kOpcodeFill, kLongestCommand + 1, as_is, kStatusCodeBadLength},
      {"past the last address", kOpcodeCopy, 8, [](QueueDeviceCommand& c) { c.source = ~std::uint64_t{3}; },
       kStatusCodeBadLength},
      {"up to the last address", kOpcodeCopy, 16,
       [](QueueDeviceCommand& c) { c.source = c.destination = ~std::uint64_t{15}; }, kStatusCodeOk},
      {"one byte past it", kOpcodeFill, 17, [](QueueDeviceCommand& c) { c.destination = ~std::uint64_t{15}; },
       kStatusCodeBadLength},
      {"the buffer's last byte", kOpcodeRead, 1, [](QueueDeviceCommand& c) { c.destination = kBuffer - 1; },
       kStatusCodeOk},
      {"past the buffer", kOpcodeRead, 2, [](QueueDeviceCommand& c) { c.destination = kBuffer - 1; },
       kStatusCodeBadLength},
      {"far past the buffer", kOpcodeWrite, 2, [](QueueDeviceCommand& c) { c.source = ~std::uint64_t{0}; },
       kStatusCodeBadLength},
      {"an atomic of 4", kOpcodeFetchAdd, 4, [](QueueDeviceCommand& c) { c.destination = 4; }, kStatusCodeOk},
      {"an atomic of 2", kOpcodeFetchAdd, 2, as_is, kStatusCodeBadLength},
      {"an atomic across", kOpcodeFetchAdd, 8, [](QueueDeviceCommand& c) { c.destination = 4; },
       kStatusCodeBadAlignment},
  };
  for (const Row& row : rows) {
    QueueDeviceCommand c = command(row.opcode, row.length);
    row.change(c);
    EXPECT_EQ(validate(c, kBuffer), row.status) << row.what;
  }
}

std::vector<std::uint8_t> list(const std::vector<ByteRun>& segments) {
  std::vector<std::uint8_t> bytes(kScatterBytes * segments.size());
  for (std::size_t i = 0; i < segments.size(); ++i) {
    std::memcpy(bytes.data() + kScatterBytes * i + kScatterAddress, &segments[i].address, 8);
    std::memcpy(bytes.data() + kScatterBytes * i + kScatterLength, &segments[i].bytes, 4);
  }
  return bytes;
}

TEST(ScatterList, AddsUpToTheCommandOrIsNone) {
  EXPECT_EQ(decode_list(list({{100, 5}, {200, 7}}).data(), 2, 12).size(), 2U);
  EXPECT_TRUE(decode_list(list({{100, 5}, {200, 7}}).data(), 2, 13).empty());
  EXPECT_TRUE(decode_list(list({{100, 12}, {200, 0}}).data(), 2, 12).empty()) << "an empty entry";
  EXPECT_TRUE(decode_list(list({{~std::uint64_t{0}, 12}}).data(), 1, 12).empty()) << "past the last address";
  EXPECT_EQ(decode_list(list({{~std::uint64_t{11}, 12}}).data(), 1, 12).size(), 1U) << "up to it";
  EXPECT_TRUE(decode_list(list({{~std::uint64_t{11}, 13}}).data(), 1, 13).empty()) << "a byte past it";
  EXPECT_TRUE(decode_list(list({{0, ~0U}, {0, 13}}).data(), 2, 12).empty()) << "a sum that wraps";
}

TEST(ByteStream, FindsEveryByteInItsSegment) {
  const ByteStream s({{1000, 3}, {2000, 1}, {500, 4}});
  ASSERT_EQ(s.bytes(), 8U);
  const std::vector<std::uint64_t> addresses = {1000, 1001, 1002, 2000, 500, 501, 502, 503};
  const std::vector<std::uint32_t> rest = {3, 2, 1, 1, 4, 3, 2, 1};
  for (std::uint32_t i = 0; i < 8; ++i) {
    EXPECT_EQ(s.at(i).address, addresses[i]);
    EXPECT_EQ(s.at(i).bytes, rest[i]);
  }
}

TEST(QueueDeviceParameters, AreRefusedWhereNoDeviceCouldHaveThem) {
  EXPECT_TRUE(QueueDeviceParameters{}.problems("").empty());
  QueueDeviceParameters p;
  p.completion_spread = ~0U;
  p.buffer_bytes = std::uint64_t{1} << 33U;
  EXPECT_EQ(p.problems("").size(), 2U);
}

}  // namespace command_test
}  // namespace warpline
