// `warpline cctl`: one instruction as a user writes it, or its encoding.
#include <gmock/gmock.h>

#include <string>

#include "tests/support/command.h"

namespace warpline {
namespace cctl_command_test {

using test::Ended;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

Ended cctl(const std::string& text) {
  return test::command({"cctl", text});
}

TEST(CctlCommand, SaysWhatALineOperationDoes) {
  const Ended e = cctl("@!P0 CCTL.E.IV [R2 - 4] &req=0x05 &rd=2 ?WAIT3");
  EXPECT_EQ(e.status, 0) << e.err;
  EXPECT_EQ(e.out.substr(0, e.out.find('\n')), "@!P0 CCTL.E.D.IV [R2 - 4] &req=0x05 &rd=2 ?WAIT3;");
  EXPECT_THAT(e.out, AllOf(HasSubstr("(R2, R3) - 4, 64 bits, generic"), HasSubstr("written back first"),
                           HasSubstr("load/store queue"), HasSubstr("SB0, SB2"),
                           HasSubstr("holds           SB2"), HasSubstr("may issue again 3 cycles later")));
}

TEST(CctlCommand, SaysWhichCachesAnInvalidationOfAllMeans) {
  EXPECT_THAT(cctl("CCTL.IVALL").out, HasSubstr("all global lines are dropped"));
  EXPECT_THAT(cctl("CCTLL.IVALL").out,
              HasSubstr("all local lines are dropped, dirty ones written back first"));
  EXPECT_THAT(cctl("CCTL.C.IVALL").out, AllOf(HasSubstr("L1 constant"), HasSubstr("enters no queue"),
                                              HasSubstr("may issue again 5 cycles later")));
  EXPECT_THAT(cctl("CCTL.I.IVALL").out, HasSubstr("\nL1 instruction  all lines"));
  EXPECT_THAT(cctl("CCTL.U.IVALL").out, AllOf(HasSubstr("indexed constant cache"),
                                              HasSubstr(".U is deprecated"), HasSubstr("load/store queue")));
  EXPECT_THAT(cctl("CCTL.U.WB [R1]").out, HasSubstr(".U is deprecated: write .D"));
  EXPECT_THAT(cctl("CCTLL.CRS.WBALL").out, HasSubstr("has accepted every one of them"));
}

TEST(CctlCommand, SaysWhyAnInstructionIsIllegal) {
  const Ended e = cctl("CCTL.C.IV [R1]");
  EXPECT_EQ(e.status, 1);
  EXPECT_THAT(e.out, IsEmpty());
  EXPECT_THAT(e.err, AllOf(HasSubstr("instruction:1:7: error"), HasSubstr("CCTL.C.IV [R1]\n"),
                           HasSubstr("^~~"), HasSubstr("CCTL.C has .IVALL")));
}

TEST(CctlCommand, TakesWhatItPrintsAsTheEncoding) {
  const Ended e = cctl("CCTLL.RS [R7 + 12]");
  const std::size_t at = e.out.find("0x");
  ASSERT_NE(at, std::string::npos) << e.out;
  const std::string word = e.out.substr(at, e.out.find('\n', at) - at);
  EXPECT_EQ(word.size(), 34U);
  EXPECT_EQ(cctl(word).out, e.out);
  const Ended bad = cctl("0x98f");
  EXPECT_EQ(bad.status, 1);
  EXPECT_THAT(bad.err, HasSubstr("illegal instruction: schedules are"));
}

}  // namespace cctl_command_test
}  // namespace warpline
