// Rules that concern several tables, and those of enumerations and structures.
#include <gtest/gtest.h>

#include "tests/rtl_models/registers/generator/marked_faults.h"

namespace warpline::test {
namespace rules_test {

TEST(DescriptionRules, RegistersThatOverlap) {
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

TEST(DescriptionRules, FaultsOfEnumerations) {
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

TEST(DescriptionRules, FaultsOfStructures) {
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

TEST(DescriptionRules, NamesThatWouldMeetInWhatIsGenerated) {
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

TEST(DescriptionRules, TellsEveryFaultAtOnceInTheOrderOfTheFile) {
  expect_faults_of(std::string(kPlain) +
                       "[[register]]\nname = @\"PLAIN\"\noffset = 4\naccess = \"ro\"\nmeaning = \"A\"\n" +
                       "[[register]]\nname = @\"UNDER\"\noffset = 0\naccess = @\"or\"\nmeaning = \"A\"\n" +
                       "[[enumeration]]\nname = \"E\"\nmeaning = @\"\"\n[[enumeration.value]]\nname = "
                       "@\"e\"\nvalue = 0\nmeaning = \"A\"\n",
                   {"PLAIN is described twice", "UNDER overlaps PLAIN", "access: must be",
                    "must not be empty", "is no name"});
}

}  // namespace rules_test
}  // namespace warpline::test
