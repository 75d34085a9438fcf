#include "rtl_models/registers/generator/reader.h"

#include <gtest/gtest.h>

#include "tests/rtl_models/registers/generator/marked_faults.h"

namespace warpline::test {
namespace reader_test {

using namespace registers;

std::string a_register(const std::string& keys) {
  return "[[register]]\nmeaning = \"A register.\"\n" + keys + "\n";
}

TEST(Reader, ReadsWhatIsThere) {
  const Result<Block> read = read_block("folder/timer.toml", kHead + a_register(R"(name = "COUNT"
offset = 8
bytes = 8
count = 3
stride = 0x10
access = "rc"
reset = 7)") + a_register(R"(name = "CONTROL"
offset = 0
kept = true
[[register.field]]
name = "RUN"
bits = 31
access = "w1c"
meaning = "Runs."
[[register.field]]
name = "MODE"
bits = [4, 6]
access = "rw"
reset = 7
enumeration = "MODE"
meaning = "How."
[[enumeration]]
name = "MODE"
meaning = "Modes."
[[enumeration.value]]
name = "UP"
value = 7
meaning = "Up."
)"));
  ASSERT_TRUE(read.ok()) << read.faults().front().text();
  const Block& b = read.value();
  EXPECT_EQ(b.file, "timer.toml");
  EXPECT_EQ(b.name, "timer");
  EXPECT_EQ(b.bytes, 0x40U);
  EXPECT_EQ(b.bar, 0U);
  ASSERT_EQ(b.registers.size(), 2U);
  const Register& count = b.registers[0];
  EXPECT_TRUE(count.whole);
  EXPECT_EQ(count.offset, 8U);
  EXPECT_EQ(count.bytes, 8U);
  EXPECT_EQ(count.count, 3U);
  EXPECT_EQ(count.stride, 0x10U);
  EXPECT_FALSE(count.kept);
  ASSERT_EQ(count.fields.size(), 1U);
  EXPECT_EQ(count.fields[0].at.bits, 64U);
  EXPECT_EQ(count.fields[0].access, FieldAccess::read_to_clear);
  EXPECT_EQ(count.fields[0].reset, 7U);
  const Register& control = b.registers[1];
  EXPECT_FALSE(control.whole);
  EXPECT_TRUE(control.kept);
  EXPECT_EQ(control.bytes, 4U);
  EXPECT_EQ(control.stride, 4U);
  ASSERT_EQ(control.fields.size(), 2U);
  EXPECT_EQ(control.fields[0].at.mask(), 0x80000000U);
  EXPECT_EQ(control.fields[1].at.mask(), 0x70U);
  EXPECT_EQ(control.fields[1].enumeration, "MODE");
  EXPECT_EQ(reset_value(control), 0x70U);
  ASSERT_EQ(b.enumerations.size(), 1U);
  EXPECT_EQ(b.enumerations[0].values[0].value, 7U);
}

TEST(Reader, NoToml) {
  expect_faults("[block@\n", {"error"});
  expect_faults("[block]\nname = 'timer' @'x'\n", {"error"});
}

TEST(Reader, AnEmptyFileLacksBlockAndRegisters) {
  const Result<Block> read = read_block("empty.toml", "");
  ASSERT_FALSE(read.ok());
  ASSERT_EQ(read.faults().size(), 2U);
  EXPECT_EQ(read.faults()[0].text(), "empty.toml: error: the file lacks \"block\"\n");
  EXPECT_NE(read.faults()[1].text().find("the file lacks [[register]] tables"), std::string::npos);
}

TEST(Reader, FaultsOfBlocks) {
  expect_faults(std::string("[@@@@block]\n") + kPlain,
                {"lacks \"name\"", "lacks \"title\"", "lacks \"meaning\"", "lacks \"bytes\""});
  expect_faults(R"([block]
name = @"Timer"
title = @""
meaning = @7
bytes = @66
bar = @6
@adress = 0
)" + std::string(kPlain),
                {"\"Timer\" is no name of a block", "must not be empty", "must be a string",
                 "must be a multiple of 4", "must be 0 to 5", "unknown key \"adress\""});
  for (const char* const name : {"register", "detail", "_a", "a_", "a__b", "1a", ""}) {
    expect_faults("[block]\nname = @\"" + std::string(name) +
                      "\"\ntitle = \"A\"\nmeaning = \"A\"\nbytes = 4\n" + kPlain,
                  {"name: "});
  }
  expect_faults("@block = 3\n[[@regster]]\nname = 3\n" + std::string(kPlain),
                {"block: must be a [block] table", "did you mean \"register\"?"});
}

TEST(Reader, ChaptersAreTextOfManyLines) {
  const std::string chapter = "[[chapter]]\ntitle = \"Use\"\ntext = \"\"\"\nFirst.\n\nThen.\n\"\"\"\n";
  const Result<Block> read = read_block("timer.toml", kHead + chapter + kPlain);
  ASSERT_TRUE(read.ok());
  ASSERT_EQ(read.value().chapters.size(), 1U);
  EXPECT_EQ(read.value().chapters[0].title, "Use");
  EXPECT_EQ(read.value().chapters[0].text, "First.\n\nThen.");
  expect_faults_of("@@[[chapter]]\n@txt = 1\n" + std::string(kPlain),
                   {"lacks \"title\"", "lacks \"text\"", "did you mean \"text\"?"});
}

TEST(Reader, FaultsOfRegisters) {
  expect_faults_of(
      R"([[register]]
name = @"control"
offset = @6
bytes = @6
access = @"rv"
reset = @0x100000000
meaning = @"Line\u0007"
@acess = 1
)",
      {"\"control\" is no name", "must be a multiple of the register's 4 bytes", "must be 4 or 8",
       "did you mean \"ro\"?", "must be 0 to 4294967295", "control characters", "did you mean \"access\"?"});
  expect_faults_of("@@@@[[register]]\n", {"lacks \"name\"", "lacks \"meaning\"", "lacks \"offset\"",
                                          "lacks \"access\", or [[register.field]] tables"});
  expect_faults_of("[[register]]\nname = \"A\"\noffset = @4\nbytes = 8\naccess = \"ro\"\nmeaning = \"A\"\n",
                   {"multiple of the register's 8 bytes"});
  expect_faults_of("[[register]]\nname = \"A\"\noffset = @-4\naccess = \"ro\"\nmeaning = @\"A\\\\\"\n",
                   {"must be 0 to", "must not end with a backslash"});
  for (const char* const name : {"A__B", "_A", "A_", "1A", "", "Ab"})
    expect_faults_of(
        "[[register]]\nname = @\"" + std::string(name) + "\"\noffset = 0\naccess = \"ro\"\nmeaning = \"A\"\n",
        {"is no name"});
}

TEST(Reader, FaultsOfArrays) {
  const std::string head = "[[register]]\nname = \"A\"\noffset = 0\naccess = \"ro\"\nmeaning = \"A\"\n";
  expect_faults_of(head + "count = @0\n", {"must be 1 to 65535"});
  expect_faults_of(head + "count = 2\nbytes = 8\nstride = @4\n", {"at least the register's 8 bytes"});
  expect_faults_of(head + "count = 2\nstride = @0\n", {"at least the register's 4 bytes"});
  expect_faults_of(head + "count = 2\nbytes = 8\nstride = @12\n", {"multiple of the register's 8 bytes"});
  expect_faults_of(head + "stride = @8\n", {"a count of 2 or more"});
  expect_faults_of(
      "[[register]]\nname = @\"A\"\noffset = 0x38\naccess = \"ro\"\nmeaning = \"A\"\ncount = 3\n",
      {"A ends at 0x44, beyond the block's 0x40 bytes"});
}

TEST(Reader, FaultsOfFields) {
  expect_faults_of(kFielded + "@access = \"ro\"\n@reset = 0\n" + field("name = \"F\"\nbits = 0"),
                   {"access: a register with fields has none", "reset: a register with fields has none"});
  expect_faults_of(kFielded + field("name = \"F\"\nbits = [0, @32]"), {"the highest here is 31"});
  expect_faults_of(kFielded + field("name = \"F\"\nbits = @32"), {"the highest here is 31"});
  expect_faults_of(kFielded + field("name = \"F\"\nbits = @[3, 2]"), {"the lowest comes first"});
  expect_faults_of(kFielded + field("name = \"F\"\nbits = @[-1, 2]"), {"the lowest comes first"});
  expect_faults_of(kFielded + field("name = \"F\"\nbits = @[1]"),
                   {"the number of a bit, or [LOWEST, HIGHEST]"});
  expect_faults_of(kFielded + field("name = \"F\"\nbits = @[1, 2, 3]"),
                   {"the number of a bit, or [LOWEST, HIGHEST]"});
  expect_faults_of(kFielded + field("name = \"F\"\nbits = @\"1\""),
                   {"the number of a bit, or [LOWEST, HIGHEST]"});
  expect_faults_of(kFielded + field("name = \"F\"\nbits = [4, 6]\nreset = @8"), {"must be 0 to 7, not 8"});
  expect_faults_of(kFielded + field("name = \"F\"\nbits = [4, 6]") + field("name = @\"G\"\nbits = [6, 7]"),
                   {"G overlaps F of line 13"});
  expect_faults_of(kFielded + field("name = \"F\"\nbits = 1") + field("name = @\"F\"\nbits = 2"),
                   {"F is described twice: first in line 13"});
  expect_faults_of(kFielded + field("name = @\"F\"\nbits = 1\nenumeration = \"NONE\""),
                   {"there is no enumeration NONE"});
  expect_faults_of(kFielded + "@field = 3\n", {"field: must be [[register.field]] tables"});
  expect_faults_of(kFielded + "field = [@3]\naccess = \"ro\"\n",
                   {"field: must be [[register.field]] tables"});
}

}  // namespace reader_test
}  // namespace warpline::test
