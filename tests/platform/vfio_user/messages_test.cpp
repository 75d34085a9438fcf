#include "platform/vfio_user/messages.h"

#include <gtest/gtest.h>

#include <random>

namespace warpline::vfio_user {
namespace messages_test {

TEST(VfioMessages, HeadersAreLittleEndian) {
  Header h;
  h.id = 0x0102;
  h.command = 9;
  h.bytes = 0x20;
  h.flags = Header::kReply | Header::kError;
  h.error = 22;
  std::array<std::uint8_t, Header::kBytes> bytes{};
  h.put(bytes.data());
  const std::array<std::uint8_t, Header::kBytes> expected{2,    1, 9, 0, 0x20, 0, 0, 0,
                                                          0x21, 0, 0, 0, 22,   0, 0, 0};
  EXPECT_EQ(bytes, expected);
  const Header back = Header::of(bytes.data());
  EXPECT_EQ(back.id, h.id);
  EXPECT_EQ(back.error, 22U);
  EXPECT_TRUE(back.is_reply());
  EXPECT_TRUE(back.wants_reply());
}

TEST(VfioMessages, ASmallerStructureThanOursIsRefusedAndALongerPayload) {
  std::vector<std::uint8_t> payload = DmaMap{3, 0, 0x1000, 0x1000}.payload();
  EXPECT_EQ(payload.size(), 32U);
  EXPECT_TRUE(DmaMap::of(payload));
  payload[0] = 31;
  EXPECT_FALSE(DmaMap::of(payload));
  payload[0] = 32;
  payload.push_back(0);
  EXPECT_FALSE(DmaMap::of(payload));
}

TEST(VfioMessages, RegionInfoAndSetIrqsSayWhatWasPut) {
  RegionInfo info;
  info.index = 4;
  info.bytes = 0x10'0000'0000;
  info.flags = RegionInfo::kReadable;
  const auto back = RegionInfo::of(info.payload());
  ASSERT_TRUE(back);
  EXPECT_EQ(back->index, 4U);
  EXPECT_EQ(back->bytes, info.bytes);
  SetIrqs set;
  set.flags = SetIrqs::kBools | SetIrqs::kTrigger;
  set.count = 3;
  set.bools = {1, 0, 1};
  EXPECT_EQ(SetIrqs::of(set.payload())->bools, set.bools);
  set.bools.pop_back();
  EXPECT_FALSE(SetIrqs::of(set.payload()));
}

TEST(VfioMessages, AVersionIsJsonOrNothing) {
  std::string why;
  Version v;
  v.most_descriptors = 8;
  v.most_data = 4096;
  v.multiple_writes = true;
  const auto back = Version::of(v.payload(), why);
  ASSERT_TRUE(back) << why;
  EXPECT_EQ(back->most_descriptors, 8U);
  EXPECT_EQ(back->most_data, 4096U);
  EXPECT_TRUE(back->multiple_writes);
  EXPECT_TRUE(Version::of({0, 0, 0, 0}, why)) << "without capabilities";
  EXPECT_FALSE(Version::of({0, 0, 0}, why));
  const auto said = [&](const std::string& json) {
    why.clear();
    return Version::of(Writer().u16(0).u16(0).data(json.c_str(), json.size() + 1).take(), why).has_value();
  };
  EXPECT_FALSE(said("{"));
  EXPECT_EQ(why, "what follows the version is no JSON object");
  EXPECT_FALSE(said(R"({"capabilities": []})"));
  EXPECT_FALSE(said(R"({"capabilities": {"max_msg_fds": -1}})"));
  EXPECT_EQ(why, "capability \"max_msg_fds\" is no number");
  EXPECT_TRUE(said(R"({"capabilities": {"migration": {}}})")) << "what is not known is passed over";
  EXPECT_FALSE(said(std::string(100'000, '['))) << "however deep";
}

TEST(VfioMessages, SmallWritesHaveOneToEightBytes) {
  const auto payload = [](std::uint64_t said, std::uint32_t count) {
    return Writer().u64(said).u64(0x10).u32(0).u32(count).u64(0x1122334455667788).take();
  };
  ASSERT_TRUE(writes_of(payload(1, 8)));
  EXPECT_EQ(writes_of(payload(1, 8))->front().data[7], 0x11);
  EXPECT_FALSE(writes_of(payload(1, 0)));
  EXPECT_FALSE(writes_of(payload(1, 9)));
  EXPECT_FALSE(writes_of(payload(2, 8)));
  EXPECT_FALSE(writes_of(payload(std::uint64_t{1} << 61U, 8)));
  EXPECT_FALSE(writes_of({}));
}

TEST(VfioMessages, WhateverBytesAreReadNothingBreaks) {
  std::mt19937 random(1);
  for (unsigned i = 0; i < 20'000; ++i) {
    std::vector<std::uint8_t> bytes(random() % 80);
    for (std::uint8_t& b : bytes) b = static_cast<std::uint8_t>(random() % 4 == 0 ? random() : random() % 40);
    std::string why;
    static_cast<void>(DmaMap::of(bytes));
    static_cast<void>(DmaUnmap::of(bytes));
    static_cast<void>(RegionInfo::of(bytes));
    static_cast<void>(IrqInfo::of(bytes));
    static_cast<void>(SetIrqs::of(bytes));
    static_cast<void>(writes_of(bytes));
    EXPECT_TRUE(Version::of(bytes, why) || !why.empty());
  }
}

}  // namespace messages_test
}  // namespace warpline::vfio_user
