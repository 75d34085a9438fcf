#include "reader.h"

#include <gtest/gtest.h>

#include <vector>

namespace warpline::testing {
namespace {

using namespace registers;

constexpr const char* kHead = R"([block]
name = "timer"
title = "Timer"
meaning = "Counts."
bytes = 0x40
)";

/// Where an `@` stands in a text, and the text without it.
struct Marked {
  std::string text;
  std::vector<Place> places;

  explicit Marked(const std::string& marked) {
    Place at{1, 1, 1};
    for (const char c : marked) {
      if (c == '@') {
        places.push_back(at);
        continue;
      }
      text += c;
      at = c == '\n' ? Place{at.line + 1, 1, 1} : Place{at.line, at.column + 1, 1};
    }
  }
};

/// The faults of a text with an `@` before each place where one is expected, in that order; `messages`: a
/// part of each, of its hint too.
void expect_faults(const std::string& marked, const std::vector<std::string>& messages) {
  const Marked m(marked);
  ASSERT_EQ(m.places.size(), messages.size()) << "the case itself";
  const Result<Block> read = read_block("timer.toml", m.text);
  ASSERT_FALSE(read.ok()) << m.text;
  std::string all;
  for (const Diagnostic& d : read.faults()) all += d.text() + "\n";
  ASSERT_EQ(read.faults().size(), messages.size()) << all << m.text;
  for (std::size_t i = 0; i < messages.size(); ++i) {
    const Diagnostic& d = read.faults()[i];
    EXPECT_EQ(d.file, "timer.toml");
    EXPECT_EQ(d.line, m.places[i].line) << d.text();
    EXPECT_EQ(d.column, m.places[i].column) << d.text();
    EXPECT_NE(d.text().find(messages[i]), std::string::npos) << d.text() << "\nlacks: " << messages[i];
  }
}

/// The same, of tables after the [block].
void expect_faults_of(const std::string& marked, const std::vector<std::string>& messages) {
  expect_faults(kHead + marked, messages);
}

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

constexpr const char* kPlain = R"([[register]]
name = "PLAIN"
offset = 0
access = "ro"
meaning = "A register."
)";
const std::string kFielded = R"([[register]]
name = "FIELDED"
offset = 4
meaning = "A register."
)";

std::string field(const std::string& keys) {
  return "[[register.field]]\nmeaning = \"A field.\"\naccess = \"rw\"\n" + keys + "\n";
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

TEST(Reader, RegistersThatOverlap) {
  const auto at = [](const std::string& name, const std::string& keys) {
    return "[[register]]\nmeaning = \"A\"\naccess = \"ro\"\nname = " + name + "\n" + keys + "\n";
  };
  expect_faults_of(at("\"A\"", "offset = 8\nbytes = 8") + at("@\"B\"", "offset = 12"),
                   {"B overlaps A of line 9 at 0xC"});
  expect_faults_of(at("\"A\"", "offset = 0\ncount = 4\nstride = 8") +
                       at("\"B\"", "offset = 4\ncount = 2\nstride = 8") +
                       at("@\"C\"", "offset = 20\ncount = 3"),
                   {"C overlaps A of line 9 at 0x18"});
  expect_faults_of(
      at("\"A\"", "offset = 0\ncount = 4\nstride = 8") + at("@\"B\"", "offset = 0x10\nbytes = 8\ncount = 2"),
      {"B overlaps A of line 9 at 0x10"});
}

TEST(Reader, FaultsOfEnumerations) {
  const std::string head = std::string(kPlain) + "[[enumeration]]\nname = \"MODE\"\nmeaning = \"Modes.\"\n";
  const auto value = [](const std::string& keys) {
    return "[[enumeration.value]]\nmeaning = \"A\"\n" + keys + "\n";
  };
  expect_faults_of(std::string(kPlain) + "@[[enumeration]]\nname = \"MODE\"\nmeaning = \"Modes.\"\n",
                   {"lacks [[enumeration.value]] tables"});
  expect_faults_of(head + value("name = \"A\"\nvalue = 1") + value("name = @\"B\"\nvalue = 1"),
                   {"B has the value of A, 1"});
  expect_faults_of(head + value("name = \"A\"\nvalue = 1") + value("name = @\"A\"\nvalue = 2"),
                   {"A is described twice"});
  expect_faults_of(head + value("name = \"A\"\nvalue = @-1"), {"value: must be 0 to"});
  expect_faults_of(kFielded + field("name = @\"F\"\nbits = [0, 1]\nenumeration = \"MODE\"") +
                       "[[enumeration]]\nname = \"MODE\"\nmeaning = \"A\"\n" +
                       value("name = \"A\"\nvalue = 4"),
                   {"F has too few bits for MODE's A, 4"});
}

TEST(Reader, FaultsOfStructures) {
  const std::string head =
      std::string(kPlain) + "[[structure]]\nname = \"ENTRY\"\nbytes = 16\nmeaning = \"A\"\n";
  const auto member = [](const std::string& keys) {
    return "[[structure.member]]\nmeaning = \"A\"\n" + keys + "\n";
  };
  expect_faults_of(std::string(kPlain) + "@[[structure]]\nname = \"ENTRY\"\nbytes = 16\nmeaning = \"A\"\n",
                   {"lacks [[structure.member]] tables"});
  expect_faults_of(head + member("name = \"A\"\noffset = @14\nbytes = 4"),
                   {"ends beyond the structure's 16 bytes"});
  expect_faults_of(head + member("name = \"A\"\noffset = @6\nbytes = 4"),
                   {"multiple of the member's 4 bytes"});
  expect_faults_of(
      head + member("name = \"A\"\noffset = 0\nbytes = 4") + member("name = @\"B\"\noffset = 3\nbytes = 3"),
      {"B overlaps A of line 17"});
  expect_faults_of(
      head + member("name = \"A\"\noffset = 0\nbytes = 4") + member("name = @\"A\"\noffset = 4\nbytes = 4"),
      {"A is described twice"});
  expect_faults_of(head + member("name = \"A\"\noffset = 0\nbytes = 2") +
                       "[[structure.member.field]]\nname = \"F\"\nbits = @16\nmeaning = \"A\"\n",
                   {"the highest here is 15"});
  expect_faults_of(
      head + member("name = \"A\"\noffset = 0\nbytes = 2") +
          "[[structure.member.field]]\nname = \"F\"\nbits = 1\nmeaning = \"A\"\n@access = \"ro\"\n",
      {"unknown key \"access\""});
  expect_faults_of(head + member("name = @\"A\"\noffset = 0\nbytes = 2\nenumeration = \"NONE\""),
                   {"there is no enumeration NONE"});
}

TEST(Reader, NamesThatWouldMeetInWhatIsGenerated) {
  const auto at = [](const std::string& name, const std::string& offset) {
    return "[[register]]\nmeaning = \"A\"\naccess = \"ro\"\nname = " + name + "\noffset = " + offset + "\n";
  };
  expect_faults_of(at("@\"MAP\"", "0"),
                   {"register MAP and something of every block would both be called kMap"});
  expect_faults_of(at("\"A_1\"", "0") + at("@\"A1\"", "4"),
                   {"register A1 and register A_1 would both be called kA1"});
  expect_faults_of("@@@[[constant]]\n" + at("\"A\"", "0"),
                   {"lacks \"name\"", "lacks \"meaning\"", "lacks \"value\""});
  expect_faults_of("[[constant]]\nname = \"A\"\nvalue = 1\nmeaning = \"A\"\n" + at("@\"A\"", "0"),
                   {"A is described twice: first in line 7"});
  expect_faults_of("[[constant]]\nname = \"B_OFFSET\"\nvalue = 1\nmeaning = \"A\"\n" + at("@\"B\"", "0"),
                   {"register B and constant B_OFFSET would both be called WL_TIMER_B_OFFSET"});
  expect_faults_of(kFielded + field("name = \"RUN\"\nbits = 1") + at("@\"FIELDED_RUN\"", "0"),
                   {"would both be called kFieldedRun"});
}

TEST(Reader, TellsEveryFaultAtOnceInTheOrderOfTheFile) {
  expect_faults_of(std::string(kPlain) +
                       "[[register]]\nname = @\"PLAIN\"\noffset = 4\naccess = \"ro\"\nmeaning = \"A\"\n" +
                       "[[register]]\nname = @\"UNDER\"\noffset = 0\naccess = @\"or\"\nmeaning = \"A\"\n" +
                       "[[enumeration]]\nname = \"E\"\nmeaning = @\"\"\n[[enumeration.value]]\nname = "
                       "@\"e\"\nvalue = 0\nmeaning = \"A\"\n",
                   {"PLAIN is described twice", "UNDER overlaps PLAIN", "access: must be",
                    "must not be empty", "is no name"});
}

}  // namespace
}  // namespace warpline::testing
