#include "rtl_models/registers/access_log.h"

#include <gtest/gtest.h>

#include "tests/rtl_models/registers/device_map.h"

namespace warpline::test {
namespace access_log_test {

BusAccess write_to(std::uint64_t offset) {
  BusAccess a;
  a.cycle = 1234;
  a.kind = AccessKind::write;
  a.bytes = 4;
  a.offset = offset;
  a.value = 0x1F;
  return a;
}

TEST(AccessLog, KeepsTheNewest) {
  AccessLog log(2);
  for (const std::uint64_t offset : {0x04, 0x10, 0x14}) log.add(write_to(offset));
  ASSERT_EQ(log.entries().size(), 2U);
  EXPECT_EQ(log.entries().front().offset, 0x10U);
  EXPECT_EQ(log.entries().back().offset, 0x14U);
  EXPECT_EQ(log.total(), 3U);
  log.clear();
  EXPECT_TRUE(log.entries().empty());
  EXPECT_EQ(log.total(), 0U);
}

TEST(AccessLog, OfNoLengthCounts) {
  AccessLog log(0);
  log.add(write_to(0));
  EXPECT_TRUE(log.entries().empty());
  EXPECT_EQ(log.total(), 1U);
}

TEST(AccessLog, TextNamesTheRegister) {
  BusAccess a = write_to(0x04);
  EXPECT_EQ(to_text(a, &kDevice),
            "      1234  bar 0  write     4 bytes  0x0004 CONTROL  0x0000001f  from 00:00.0");
  a.requester = 0x1A3D;
  a.outcome = AccessOutcome::misaligned;
  EXPECT_EQ(to_text(a, nullptr),
            "      1234  bar 0  write     4 bytes  0x0004  0x0000001f  from 1a:07.5  misaligned");
}

TEST(AccessLog, TextNamesElementAndHalf) {
  BusAccess a = write_to(0x64);
  EXPECT_NE(to_text(a, &kDevice).find("0x0064 BASE[2]+4  0x0000001f"), std::string::npos);
  a.offset = 0x60;
  a.bytes = 8;
  a.kind = AccessKind::atomic;
  EXPECT_NE(to_text(a, &kDevice).find("atomic    8 bytes  0x0060 BASE[2]  0x000000000000001f"),
            std::string::npos);
}

TEST(AccessLog, TextOfAHoleAndOfNoBytes) {
  BusAccess a = write_to(0x08);
  a.outcome = AccessOutcome::no_register;
  EXPECT_EQ(to_text(a, &kDevice),
            "      1234  bar 0  write     4 bytes  0x0008  0x0000001f  from 00:00.0  no register");
  BusAccess flush;
  flush.kind = AccessKind::flush;
  EXPECT_EQ(to_text(flush, nullptr), "         0  bar 0  flush     0 bytes  0x0000  from 00:00.0");
}

TEST(AccessLog, JsonHasTheSame) {
  BusAccess a = write_to(0x1C);
  a.bar = 2;
  EXPECT_EQ(
      to_json(a, &kDevice),
      R"({"cycle": 1234, "bar": 2, "kind": "write", "offset": 28, "bytes": 4, "register": "SCRATCH[1]", )"
      R"("value": "0x1f", "requester": "00:00.0", "outcome": "done"})");
  a.kind = AccessKind::read;
  a.offset = a.cycle = a.value = ~std::uint64_t{0};
  a.bytes = ~0U;
  a.bar = 255;
  a.requester = 0xFFFF;
  a.outcome = AccessOutcome::no_register;
  EXPECT_EQ(to_json(a, &kDevice),
            R"({"cycle": 18446744073709551615, "bar": 255, "kind": "read", "offset": 18446744073709551615, )"
            R"("bytes": 4294967295, "value": "0xffffffffffffffff", "requester": "ff:1f.7", )"
            R"("outcome": "no register"})");
}

}  // namespace access_log_test
}  // namespace warpline::test
