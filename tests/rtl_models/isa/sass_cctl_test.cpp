#include "rtl_models/isa/sass_cctl.h"

#include <gmock/gmock.h>

#include <optional>
#include <string>
#include <vector>

#include "rtl_models/isa/sass_cctl_text.h"
#include "tests/support/environment.h"

namespace warpline {
namespace sass_cctl_test {

using ::testing::HasSubstr;

/// The choices of one instruction, as words.
struct Words {
  std::string mnemonic;  // CCTL or CCTLL
  bool extended = false;
  std::string cache;  // "" where none is named
  std::string operation;
  std::string address;  // "" where there is none
  std::string required, scoreboard, schedule;

  [[nodiscard]] std::string text() const {
    std::string out = mnemonic + (extended ? ".E" : "");
    if (!cache.empty()) out += "." + cache;
    out += "." + operation;
    if (!address.empty()) out += " " + address;
    for (const std::string& word : {required, scoreboard, schedule})
      if (!word.empty()) out += " " + word;
    return out + ";";
  }
};

/// An address operand and what it is.
struct Operand {
  std::string text;
  bool is_register = false;  // names a register other than RZ
  bool is_zero = true;       // the immediate is 0
  bool fits_24 = true;
};
const std::vector<Operand> kOperands = {
    {"", false, true, true},
    {"[RZ]", false, true, true},
    {"[RZ + 0]", false, true, true},
    {"[0]", false, true, true},
    {"[R255]", false, true, true},
    {"[R0]", true, true, true},
    {"[R254 + 0]", true, true, true},
    {"[R3 + 4]", true, false, true},
    {"[R3 - 8388608]", true, false, true},
    {"[R3 + -8388609]", true, false, false},
    {"[R3 + 8388607]", true, false, true},
    {"[R3+8388608]", true, false, false},
    {"[R3 + 0x7fffffff]", true, false, false},
    {"[R3-2147483648]", true, false, false},
    {"[RZ - 4]", false, false, true},
    {"[0x10]", false, false, true},
    {"[16777215]", false, false, true},
    {"[16777216]", false, false, false},
    {"[0xffffffff]", false, false, false},
};

/// Word by word what the seed says, with no regard to how the parser goes about it: nothing where the
/// instruction is lawful, else every reason that would do.
std::vector<std::string> reasons(const Words& w, const Operand& a) {
  std::vector<std::string> out;
  const bool local = w.mnemonic == "CCTLL";
  const bool crs = w.cache == "CRS";
  const bool all = w.operation == "IVALL" || w.operation == "WBALL";
  const bool data = w.cache.empty() || w.cache == "D" || (w.cache == "U" && !local);
  const bool data_operation = w.operation == "PF1" || w.operation == "PF2" || w.operation == "WB" ||
                              w.operation == "IV" || w.operation == "RS" || w.operation == "IVALL";
  if (w.operation == "QRY1") out.emplace_back("not implemented");
  if (local && !w.cache.empty() && !crs) out.emplace_back("CCTLL names no cache");
  if (!local && crs) out.emplace_back(".CRS is valid in CCTLL.CRS.WBALL only");
  if (data && !data_operation) out.emplace_back("no such operation");
  if ((w.cache == "C" || w.cache == "I") && w.operation != "IVALL") out.emplace_back("no such operation");
  if (crs && w.operation != "WBALL") out.emplace_back("no such operation");
  if (local && w.extended) out.emplace_back("CCTLL takes no .E");
  if (all && w.extended) out.emplace_back("cannot be used with .E");
  if (all && a.is_register) out.emplace_back("require Ra to be RZ");
  if (all && !a.is_zero) out.emplace_back("require the immediate to be 0");
  if (!all && a.text.empty()) out.emplace_back("an address is missing");
  if (local && !a.fits_24) out.emplace_back("does not fit its 24");
  const bool dispatch = w.operation == "IVALL" && (w.cache == "C" || w.cache == "I");
  if (dispatch && !w.scoreboard.empty()) out.emplace_back("take no &rd");
  if (w.scoreboard == "&rd=6") out.emplace_back("six scoreboards");
  if (w.required == "&req=0x40") out.emplace_back("six scoreboards");
  const bool waits = dispatch || crs;
  if (w.schedule == "?WAIT0" || w.schedule == "?WAIT16") {
    out.emplace_back("is no schedule");
  } else if (waits && !w.schedule.empty() && std::stoi(w.schedule.substr(5)) < 5) {
    out.emplace_back("require ?WAIT5 or more");
  }
  return out;
}

void check(const Words& w, const Operand& a, unsigned& accepted, unsigned& refused) {
  const auto why = reasons(w, a);
  const Result<Cctl> parsed = parse_cctl(w.text());
  ASSERT_EQ(parsed.ok(), why.empty()) << w.text() << (parsed.ok() ? "" : ": " + parsed.faults()[0].message)
                                      << (why.empty() ? "" : ": " + why[0]);
  if (!why.empty()) {
    ++refused;
    const std::string& said = parsed.faults()[0].message;
    for (const std::string& reason : why)
      if (said.find(reason) != std::string::npos) return;
    FAIL() << w.text() << ": " << said;
  }
  ++accepted;
  const Cctl& c = parsed.value();
  EXPECT_EQ(c.local, w.mnemonic == "CCTLL");
  EXPECT_EQ(c.extended, w.extended);
  EXPECT_EQ(std::string(name_of(c.operation)), w.operation);
  EXPECT_EQ(std::string(name_of(c.cache)), w.cache.empty() ? "D" : w.cache);
  const bool waits = c.in_dispatch() || w.cache == "CRS";
  EXPECT_EQ(c.wait, !w.schedule.empty() ? std::stoi(w.schedule.substr(5)) : waits ? 5 : 1) << w.text();
  // What is printed reads back as the same instruction.
  const Result<Cctl> again = parse_cctl(to_text(c));
  ASSERT_TRUE(again.ok()) << to_text(c);
  EXPECT_TRUE(again.value() == c) << w.text() << " became " << to_text(c);
}

TEST(SassCctl, IsAcceptedExactlyWhereTheSeedAllows) {
  // Every number of cycles alone, and with WARPLINE_EVERY_SEED beside one other option; else the first and
  // the last numbers, and one too many.
  const bool all = every_seed();
  std::vector<std::string> every = {""};
  for (unsigned n = 0; n <= 16; ++n) every.push_back("?WAIT" + std::to_string(n));
  const std::vector<std::string> some = {"", "?WAIT0", "?WAIT1", "?WAIT15", "?WAIT16"};
  unsigned accepted = 0, refused = 0;
  for (const char* mnemonic : {"CCTL", "CCTLL"})
    for (const bool extended : {false, true})
      for (const char* cache : {"", "D", "U", "C", "I", "CRS"})
        for (const char* operation : {"PF1", "PF2", "WB", "WBALL", "IV", "IVALL", "RS", "QRY1"})
          for (const Operand& a : kOperands)
            for (const char* required : {"", "&req=0x00", "&req=0x3f", "&req=0x40"})
              for (const char* scoreboard : {"", "&rd=0", "&rd=5", "&rd=6"})
                for (const std::string& schedule :
                     (all ? *required == 0 || *scoreboard == 0 : *required == 0 && *scoreboard == 0) ? every
                                                                                                     : some) {
                  check({mnemonic, extended, cache, operation, a.text, required, scoreboard, schedule}, a,
                        accepted, refused);
                  if (HasFatalFailure()) return;
                }
  EXPECT_GT(accepted, 10000U);
  EXPECT_GT(refused, 100000U);
}

Cctl parsed(const std::string& text) {
  const Result<Cctl> r = parse_cctl(text);
  EXPECT_TRUE(r.ok()) << text << ": " << (r.ok() ? "" : r.faults()[0].text());
  return r.ok() ? r.value() : Cctl{};
}

TEST(SassCctl, AddsThirtyTwoBitsAndExtendsWithZeros) {
  const auto at = [](const char* text, std::uint32_t low, std::uint32_t high = 0, unsigned registers = 255) {
    return effective_address(parsed(text), low, high, registers);
  };
  EXPECT_EQ(at("CCTL.WB [R2 + 4]", 0x1000, 7), 0x1004U);
  EXPECT_EQ(at("CCTL.WB [R2 - 8]", 4, 7), 0xfffffffcU);
  EXPECT_EQ(at("CCTL.WB [R2 + 8]", 0xfffffffc, 7), 4U);
  EXPECT_EQ(at("CCTL.E.WB [R2 - 8]", 4, 7), 0x6fffffffcU);
  EXPECT_EQ(at("CCTL.E.WB [R2 + 8]", 0xfffffffc, 7), 0x800000004U);
  EXPECT_EQ(at("CCTLL.WB [R2 - 8]", 4), 0xfffffffcU);
  EXPECT_EQ(at("CCTLL.WB [R2 + 0x7fffff]", 1), 0x800000U);
}

TEST(SassCctl, TakesTheImmediateWhereThereIsNoRegister) {
  const auto at = [](const char* text, unsigned registers) {
    return effective_address(parsed(text), 0x1000, 0x2000, registers);
  };
  EXPECT_EQ(at("CCTL.WB [0xfffffff0]", 255), 0xfffffff0U);
  EXPECT_EQ(at("CCTL.E.WB [0xfffffff0]", 255), 0xfffffff0U);
  EXPECT_EQ(at("CCTL.WB [RZ - 16]", 255), 0xfffffff0U);
  EXPECT_EQ(at("CCTL.E.WB [RZ - 16]", 255), 0xfffffff0U);
  // Beyond the registers of the shader: as if it were not there.
  EXPECT_EQ(at("CCTL.WB [R32 + 4]", 32), 4U);
  EXPECT_EQ(at("CCTL.WB [R31 + 4]", 32), 0x1004U);
  EXPECT_EQ(at("CCTL.E.WB [R32 - 4]", 32), 0xfffffffcU);
  EXPECT_EQ(at("CCTLL.WB [R32 - 4]", 32), 0xfffffcU) << "24 bits, zero-extended";
}

TEST(SassCctl, SaysWhatItTouches) {
  EXPECT_EQ(target_of(parsed("CCTL.IV [R1]")), CctlTarget::data_line);
  EXPECT_EQ(target_of(parsed("CCTL.U.IV [R1]")), CctlTarget::data_line);
  EXPECT_EQ(target_of(parsed("CCTLL.RS [R1]")), CctlTarget::data_line);
  EXPECT_EQ(target_of(parsed("CCTL.IVALL")), CctlTarget::global_lines);
  EXPECT_EQ(target_of(parsed("CCTLL.IVALL")), CctlTarget::local_lines);
  EXPECT_EQ(target_of(parsed("CCTL.U.IVALL")), CctlTarget::indexed_constants);
  EXPECT_EQ(target_of(parsed("CCTL.C.IVALL")), CctlTarget::constants);
  EXPECT_EQ(target_of(parsed("CCTL.I.IVALL")), CctlTarget::instructions);
  EXPECT_EQ(target_of(parsed("CCTLL.CRS.WBALL")), CctlTarget::call_return_stack);
  for (const char* text : {"CCTL.C.IVALL", "CCTL.I.IVALL"}) EXPECT_TRUE(parsed(text).in_dispatch()) << text;
  for (const char* text : {"CCTL.U.IVALL", "CCTL.IVALL", "CCTLL.IVALL", "CCTLL.CRS.WBALL"})
    EXPECT_FALSE(parsed(text).in_dispatch()) << text;
}

TEST(SassCctl, IsWrittenAsTheSeedWritesIt) {
  for (const char* text :
       {"@P0 CCTL.D.PF1 [R3 + 4];", "@!P6 CCTL.E.D.IV [R2 - 16] &req=0x21 &rd=3 ?WAIT2;", "CCTL.U.IVALL;",
        "CCTL.C.IVALL ?WAIT9;", "CCTLL.WB [0x10];", "CCTLL.CRS.WBALL &rd=0;", "@!PT CCTL.I.IVALL;",
        "CCTLL.RS [R0 - 8388608];", "CCTL.D.WB [R1 - 2147483648];"})
    EXPECT_EQ(to_text(parsed(text)), text);
}

struct Mistake {
  const char* text;
  unsigned column;
  const char* message;
  const char* hint;
};

TEST(SassCctl, PointsAtWhatIsWrong) {
  for (const Mistake& m : std::vector<Mistake>{
           {"", 1, "an instruction is missing", "CCTL or CCTLL"},
           {"CCTS.IV [R1]", 1, "no cache control instruction", "CCTL or CCTLL"},
           {"@P7 CCTL.IV [R1]", 2, "\"P7\" is no predicate", "P0 to P6"},
           {"CCTL [R1]", 1, "an operation is missing", ".PF1"},
           {"CCTL.DML2 [R1]", 5, ".DML2 is what applypriority of PTX becomes", "in traces it acts"},
           {"CCTL.IVAL [R1]", 5, "neither a cache nor an operation", "did you mean \".IVALL\"?"},
           {"CCTL.QRY1 [R1]", 5, "illegal instruction encoding", ""},
           {"CCTL.C.IV [R1]", 7, "no such operation", "CCTL.C has .IVALL"},
           {"CCTLL.CRS.IV [R1]", 10, "no such operation", "CCTLL.CRS has .WBALL"},
           {"CCTLL.WBALL", 6, "no such operation", "CCTLL has .PF1 .PF2 .WB .IV .IVALL .RS"},
           {"CCTL.D.E.IV [R1]", 7, ".E comes first", ""},
           {"CCTL.D.C.IVALL", 7, "one cache", ""},
           {"CCTL.IV.D [R1]", 8, "the operation comes last", ""},
           {"CCTLL.D.IV [R1]", 6, "names no cache but .CRS", ""},
           {"CCTL.IV", 1, "an address is missing", "[Ra + immediate]"},
           {"CCTL.IV [R256]", 10, "no register", "R0 to R254"},
           {"CCTL.IV [R1 + R2]", 15, "an offset is wanted here", ""},
           {"CCTL.IV [-4]", 10, "an absolute address is unsigned", ""},
           {"CCTL.IV []", 10, "a register or an address is wanted here", ""},
           {"CCTL.IV [R1", 12, "\"]\" is wanted here", ""},
           {"CCTL.IV [R1 + 2147483648]", 13, "does not fit its 32 signed bits", ""},
           {"CCTL.IV [99999999999999999999999]", 10, "does not fit its 32 bits", ""},
           {"CCTL.IVALL [R1]", 13, "require Ra to be RZ", ""},
           {"CCTL.IVALL [4]", 13, "require the immediate to be 0", ""},
           {"CCTL.C.IVALL &rd=0", 14, "take no &rd", ""},
           {"CCTL.C.IVALL ?WAIT4", 14, "require ?WAIT5 or more", "without a schedule it gets ?WAIT5"},
           {"CCTL.IV [R1] ?WAIT4 &rd=0", 21, "come in this order", ""},
           {"CCTL.IV [R1] &rd=0 &rd=1", 20, "come in this order", ""},
           {"CCTL.IV [R1] &wr=0", 14, "no scoreboard operand", "&req=0xNN or &rd=N"},
           {"CCTL.IV [R1] &rd 0", 18, "\"=\" is wanted here", ""},
           {"CCTL.IV [R1] ?SLEEP", 14, "is no schedule", "?WAIT1 to ?WAIT15"},
           {"CCTL.IV [R1]; CCTL", 15, "nothing more can stand here", ""}}) {
    const Result<Cctl> r = parse_cctl(m.text);
    ASSERT_FALSE(r.ok()) << m.text;
    const Diagnostic& d = r.faults()[0];
    EXPECT_EQ(d.column, m.column) << m.text << ": " << d.message;
    EXPECT_THAT(d.message, HasSubstr(m.message)) << m.text;
    EXPECT_THAT(d.hint, HasSubstr(m.hint)) << m.text;
  }
}

TEST(SassCctl, CountsColumnsFromWhereItsLineBegins) {
  const Result<Cctl> r = parse_cctl("CCTL.XX [R1]", {"a.wls", 7, 11, "restore:  CCTL.XX [R1]"});
  ASSERT_FALSE(r.ok());
  EXPECT_EQ(r.faults()[0].text(),
            "a.wls:7:15: error: \".XX\" is neither a cache nor an operation\n"
            "  7 | restore:  CCTL.XX [R1]\n"
            "    |               ^~~\n"
            "  hint: caches .D .U .C .I .CRS; operations .PF1 .PF2 .WB .WBALL .IV .IVALL .RS\n");
}

}  // namespace sass_cctl_test
}  // namespace warpline
