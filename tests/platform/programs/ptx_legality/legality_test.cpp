// What the judge of memory instructions says: both sides of every rule, and the words it says it in.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <sstream>
#include <string>

#include "platform/programs/ptx/check_text.h"
#include "platform/programs/ptx/judge_table.h"

namespace warpline::ptx::test {
namespace legality_test {

using ::testing::HasSubstr;

std::string judged(const std::string& table) {
  return judge_table(table, [](double, std::uint64_t) {});
}

TEST(Legality, BothSidesOfEveryRule) {
  std::ifstream file(WARPLINE_SOURCE_DIR "/tests/platform/programs/ptx_legality/legality_cases.tsv");
  ASSERT_TRUE(file);
  std::string rows;
  std::vector<std::string> wanted;
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line[0] == '#') continue;
    std::istringstream cells(line);
    std::string row, cell;
    for (int n = 0; n < 4; ++n) {
      std::getline(cells, cell, '\t');
      row += cell + (n == 3 ? "\n" : "\t");
    }
    rows += row;
    wanted.emplace_back(std::istreambuf_iterator<char>(cells), std::istreambuf_iterator<char>());
  }
  std::istringstream verdicts(judged(rows));
  std::istringstream asked(rows);
  for (const std::string& want : wanted) {
    std::string verdict, row;
    std::getline(verdicts, verdict);
    std::getline(asked, row);
    EXPECT_EQ(verdict, want) << row;
  }
}

TEST(Legality, RowsAreJudgedInOrderAndOthersPrintNothing) {
  EXPECT_EQ(judged("# comment\n\n9.0\tsm_90\tmembar.gl;\n  \n9.0\tsm_90\tmembar.gl;\tfunc\tmore\tcolumns\r\n"
                   "9.0\tsm_90\tmembar.gx;"),
            "accept\naccept\nreject\tunknown qualifier '.gx'; did you mean membar.gl?\n");
  EXPECT_EQ(judged(""), "");
}

TEST(Legality, WhatIsNoRowOrNoMemoryInstructionIsRejectedByName) {
  EXPECT_EQ(judged("9.0\tmembar.gl;"),
            "reject\ta row is version, target, instruction and context, separated by tabs\n");
  EXPECT_EQ(judged("5.0\tsm_90\tmembar.gl;"),
            "reject\tPTX versions 6.0 to 6.5, 7.0 to 7.8, 8.0 to 8.8 and 9.0 are modelled, not '5.0'\n");
  EXPECT_EQ(judged("9.0\tsm90\tmembar.gl;"), "reject\tunknown target 'sm90'; did you mean 'sm_90'\n");
  EXPECT_EQ(judged("7.0\tsm_90\tmembar.gl;"),
            "reject\ttarget 'sm_90' is known since PTX ISA 7.8, not in 7.0\n");
  EXPECT_EQ(judged("9.0\tsm_90\tmembar.gl;\tkernel"),
            "reject\tthe context is 'entry' or 'func', not 'kernel'\n");
  EXPECT_EQ(judged("9.0\tsm_90\tdiv.u32 %r1, %r2, %r3;"), "reject\t'div' is no memory instruction\n");
  EXPECT_EQ(judged("9.0\tsm_90\tlb.u32 %r1, [%rd1];"), "reject\tunknown opcode 'lb'; did you mean 'ld'\n");
  EXPECT_EQ(judged("9.0\tsm_90\tmembar.gl"),
            "reject\texpected ';' after the instruction, found the end of the file\n");
  EXPECT_EQ(judged("9.0\tsm_90\tmembar.gl; membar.gl;"), "reject\texpected one instruction, found more\n");
}

/// The faults of one statement, each as "column: message (hint)".
std::vector<std::string> faults_of(const std::string& statement, const std::string& head = "") {
  const std::string text =
      (head.empty() ? ".version 9.0\n.target sm_100\n" : head) +
      ".address_size 64\n.visible .entry k()\n{\n.reg .b32 %r<9>;\n.reg .b64 %rd<9>;\n.reg .f64 "
      "%fd<9>;\n" +
      statement + "\nret;\n}\n";
  std::vector<std::string> out;
  for (const Diagnostic& d : check_text(text, "k.ptx").faults)
    out.push_back(std::to_string(d.column) + ": " + d.message + (d.hint.empty() ? "" : " (" + d.hint + ")"));
  return out;
}
using Faults = std::vector<std::string>;

TEST(Legality, TypingErrorsOfTheDocumentsGetTheirCorrection) {
  EXPECT_EQ(faults_of("ld.gloal.nc.L1::evict_last.u32 %r1, [%rd1];"),
            Faults({"3: unknown qualifier '.gloal' (did you mean ld.global?)"}));
  EXPECT_EQ(faults_of("ld.gloal.u32 %r1, [%rd1];"),
            Faults({"3: unknown qualifier '.gloal' (did you mean ld.global?)"}));
  EXPECT_EQ(faults_of("ld.global.nc.L2::evict_first.v4.f64 {%fd0, %fd1. %fd2, %fd3}. [%rd1];"),
            Faults({"48: expected ',', found '.' (did you mean ',')",
                    "61: expected ',', found '.' (did you mean ',')"}));
}

TEST(Legality, EveryFaultOfAStatementIsFoundAtItsPlace) {
  EXPECT_EQ(faults_of("st.acquire.shared.L1::evict_last.u32 [%r9], %r1, 5;"),
            Faults({"1: 'st' takes 2 operands here, not 3 (with '.L2::cache_hint' it takes that many)",
                    "3: 'st' takes no '.acquire' (it takes .weak, .volatile, .relaxed or .release)",
                    "11: '.L1::evict_last' does not go with '.shared'"}));
  EXPECT_EQ(faults_of("ld.mmio.relaxed.gpu.shared.v2.u32 {%r1,%r2}, [%rd1];"),
            Faults({"3: '.mmio' needs '.sys'", "20: '.mmio' does not go with '.shared'",
                    "27: '.mmio' does not go with '.v2'"}));
}

TEST(Legality, SaysSinceWhenItWouldBeRight) {
  const std::string old = ".version 7.3\n.target sm_75\n";
  EXPECT_EQ(faults_of("ld.global.L2::256B.u32 %r1, [%rd1];", old),
            Faults({"10: '.L2::256B' is right since PTX ISA 7.4 and sm_80; this module is for PTX ISA 7.3 "
                    "and sm_75"}));
  EXPECT_EQ(faults_of("ld.global.L2::256B.u32 %r1, [%rd1];", ".version 7.4\n.target sm_80\n"), Faults());
}

TEST(Legality, NotesWhereTheAssemblerIsLaxerThanTheDocument) {
  const ModuleLegality j = check_text(
      ".version 9.0\n.target sm_100\n.address_size 64\n.entry k()\n{\n.reg .b64 %rd<9>;\n"
      "ld.global.cg.L2::evict_last.v4.u64 {%rd1,%rd2,%rd3,%rd4}, [%rd5];\n}\n",
      "k.ptx");
  EXPECT_TRUE(j.faults.empty());
  ASSERT_EQ(j.notes.size(), 1U);
  EXPECT_EQ(note_text(j.notes[0]),
            "k.ptx:7:10: note: PTX ISA does not list a cache operator with an L2 eviction priority; ptxas "
            "13.0 takes "
            "it\n"
            "  7 | ld.global.cg.L2::evict_last.v4.u64 {%rd1,%rd2,%rd3,%rd4}, [%rd5];\n"
            "    |          ^~~\n");
}

TEST(Legality, ModulesAreJudgedByTheirOwnVersionTargetAndNames) {
  const std::string body =
      ".address_size 64\n.global .b32 counter;\n.shared .b32 tile[32];\n"
      ".func (.param .b32 out) f(.param .b32 in)\n{\n.reg .b32 %a;\nld.param.b32 %a, [in];\nst.param.b32 "
      "[out], %a;\n"
      "ret;\n}\n"
      ".entry k(.param .u64 p)\n{\n.reg .b64 %address;\n.reg .u32 value;\nld.param.u64 %address, [p];\n{\n"
      ".reg .f32 value;\nld.global.f32 value, [%address];\n}\nst.global.u32 [%address], value;\n"
      "atom.shared.add.u32 value, [tile], 1;\nmov.u64 %address, counter;\nmov.u32 value, 3;\nadd.u32 value, "
      "value, value;\n"
      "ret;\n}\n";
  const ModuleLegality good = check_text(".version 8.0\n.target sm_90a, debug\n" + body, "m.ptx");
  EXPECT_TRUE(good.faults.empty()) << good.faults[0].text();
  EXPECT_TRUE(good.readable);
  EXPECT_EQ(good.instructions, 7U) << "a mov of a number is none of them";
  EXPECT_EQ(good.rejected, 0U);

  const ModuleLegality unknown = check_text(".version 8.0\n.target sm_95\n" + body, "m.ptx");
  ASSERT_EQ(unknown.faults.size(), 1U);
  EXPECT_EQ(unknown.faults[0].line, 2U);
  EXPECT_THAT(unknown.faults[0].message, HasSubstr("unknown target 'sm_95'; did you mean"));
  EXPECT_FALSE(unknown.readable);
  EXPECT_FALSE(check_text("nonsense", "m.ptx").readable);
  EXPECT_FALSE(check_text("", "m.ptx").readable);
}

TEST(Legality, AnUnknownOpcodeIsAFaultOfTheModuleAndOthersAreNotJudged) {
  EXPECT_EQ(faults_of("lad.global.u32 %r1, [%rd1];"),
            Faults({"1: unknown opcode 'lad' (did you mean 'ld')"}));
  EXPECT_EQ(faults_of("sin.approx.f64 {%r1}, {%r1};"), Faults());
}

/// What is said of a kernel with these directives; ptxas 13.0 was asked of each.
std::string of_cluster(const std::string& directives, const std::string& version = "9.0",
                       const std::string& target = "sm_90") {
  const ModuleLegality j =
      check_text(".version " + version + "\n.target " + target + "\n.address_size 64\n.visible .entry k() " +
                     directives + " { ret; }\n",
                 "m.ptx");
  return j.faults.empty() ? "" : j.faults[0].message;
}

TEST(Legality, ClusterDirectivesAreJudged) {
  for (const char* text :
       {".explicitcluster .reqnctapercluster 2, 1, 1", ".reqnctapercluster 2", ".reqnctapercluster 17",
        ".reqnctapercluster 0", ".explicitcluster", ".maxclusterrank 8", ".explicitcluster .maxclusterrank 8",
        ".blocksareclusters .reqntid 32 .reqnctapercluster 2"})
    EXPECT_EQ(of_cluster(text), "") << text;
  EXPECT_THAT(of_cluster(".reqnctapercluster 2, 1, 1, 1"), HasSubstr("after the signature"));
  EXPECT_EQ(of_cluster(".maxclusterrank 8 .reqnctapercluster 2"),
            "'.maxclusterrank' does not go with '.reqnctapercluster'");
  EXPECT_EQ(of_cluster(".blocksareclusters"),
            "'.blocksareclusters' needs '.reqntid' and '.reqnctapercluster'");
  EXPECT_EQ(
      of_cluster(".reqnctapercluster 2", "7.7", "sm_80"),
      "'.reqnctapercluster' is right since PTX ISA 7.8 and sm_90; this module is for PTX ISA 7.7 and sm_80");
  EXPECT_EQ(of_cluster(".maxclusterrank 2", "7.8"), "");
  EXPECT_EQ(of_cluster(".explicitcluster", "8.0", "sm_80"),
            "'.explicitcluster' is right since sm_90; this module is for sm_80");
  EXPECT_EQ(of_cluster(".blocksareclusters .reqntid 32 .reqnctapercluster 2", "8.8"),
            "'.blocksareclusters' is right since PTX ISA 9.0; this module is for PTX ISA 8.8");
}

TEST(Legality, DirectivesAreJudgedAsTheAssemblerDoes) {
  for (const char* text : {".reqntid 32", ".reqntid 32, 2, 1 .minnctapersm 4", ".maxntid 32 .maxntid 32",
                           ".maxnreg 32 .maxnreg 32", ".maxntid 2048",
                           ".reqnctapercluster 2 .reqnctapercluster 2", ".maxclusterrank 0"})
    EXPECT_EQ(of_cluster(text), "") << text;
  for (const char* text :
       {".reqnctapercluster -1", ".reqnctapercluster 2, -1", ".reqnctapercluster 4294967296",
        ".maxclusterrank -1", ".maxnreg -32", ".maxnreg 0", ".minnctapersm -4", ".reqntid -1", ".reqntid 0",
        ".maxntid 32, 0", ".maxnctapersm 4", ".noreturn"})
    EXPECT_NE(of_cluster(text), "") << text;
  EXPECT_EQ(of_cluster(".reqntid 32 .maxntid 32"), "'.reqntid' does not go with '.maxntid'");
  EXPECT_EQ(of_cluster(".maxntid 32 .reqntid 32"), "'.reqntid' does not go with '.maxntid'");
  const std::string head = ".version 9.0\n.target sm_90\n.address_size 64\n";
  for (const char* text :
       {".reqntid 32", ".maxntid 32", ".maxnreg 32", ".minnctapersm 4", ".explicitcluster"})
    EXPECT_FALSE(check_text(head + ".func f() " + text + " { ret; }\n", "m.ptx").faults.empty()) << text;
  EXPECT_TRUE(check_text(head + ".func f() .noreturn { trap; }\n", "m.ptx").faults.empty());
  EXPECT_FALSE(check_text(".version 9.0\n.target sm_90, fast\n.address_size 64\n", "m.ptx").readable);
}

/// A special register, how mov reads it, and the version and target before the first that have it ("": none
/// is modelled); ptxas 13.0 was asked.
struct Dated {
  const char* name;
  const char* type;
  const char* since;      ///< version and target
  const char* too_early;  ///< the version before, on that target
  const char* too_small;  ///< that version, on the target before
};
const Dated kDatedRegisters[] = {
    {"%tid.x", "u32", "6.0 sm_10", "", ""},
    {"%gridid", "u64", "6.0 sm_10", "", ""},
    {"%envreg31", "u32", "6.0 sm_10", "", ""},
    {"%pm3", "u32", "6.0 sm_10", "", ""},
    {"%pm4", "u32", "6.0 sm_20", "", "6.0 sm_13"},
    {"%nwarpid", "u32", "6.0 sm_20", "", "6.0 sm_13"},
    {"%nsmid", "u32", "6.0 sm_20", "", "6.0 sm_13"},
    {"%lanemask_lt", "u32", "6.0 sm_20", "", "6.0 sm_13"},
    {"%clock_hi", "u32", "6.0 sm_20", "", "6.0 sm_13"},
    {"%clock64", "u64", "6.0 sm_20", "", "6.0 sm_13"},
    {"%total_smem_size", "u32", "6.0 sm_20", "", "6.0 sm_13"},
    {"%dynamic_smem_size", "u32", "6.0 sm_20", "", "6.0 sm_13"},
    {"%globaltimer", "u64", "6.0 sm_30", "", "6.0 sm_21"},
    {"%globaltimer_hi", "u32", "6.0 sm_30", "", "6.0 sm_21"},
    {"%pm7_64", "u64", "6.0 sm_50", "", "6.0 sm_37"},
    {"%current_graph_exec", "u64", "8.0 sm_50", "7.8 sm_50", "8.0 sm_37"},
    {"%reserved_smem_offset_begin", "u32", "7.6 sm_80", "7.5 sm_80", "7.6 sm_75"},
    {"%reserved_smem_offset_1", "u32", "7.6 sm_80", "7.5 sm_80", "7.6 sm_75"},
    {"%aggr_smem_size", "u32", "8.1 sm_90", "8.0 sm_90", "8.1 sm_89"},
    {"%is_explicit_cluster", "pred", "7.8 sm_90", "", "7.8 sm_89"},
    {"%clusterid.x", "u32", "7.8 sm_90", "", "7.8 sm_89"},
    {"%nclusterid.w", "u32", "7.8 sm_90", "", "7.8 sm_89"},
    {"%cluster_ctaid.y", "u32", "7.8 sm_90", "", "7.8 sm_89"},
    {"%cluster_nctaid.z", "u32", "7.8 sm_90", "", "7.8 sm_89"},
    {"%cluster_ctarank", "u32", "7.8 sm_90", "", "7.8 sm_89"},
    {"%cluster_nctarank", "u32", "7.8 sm_90", "", "7.8 sm_89"},
};

TEST(Legality, SpecialRegistersAreThereFromTheirVersionAndTargetOn) {
  const auto fault_of = [](const std::string& language, const std::string& statement) {
    const std::size_t blank = language.find(' ');
    const ModuleLegality j =
        check_text(".version " + language.substr(0, blank) + "\n.target " + language.substr(blank + 1) +
                       "\n.address_size 64\n.visible .entry k() { .reg .pred %dpred; .reg .b32 %du32; .reg "
                       ".b64 %du64;\n" +
                       statement + "\nret; }\n",
                   "m.ptx");
    return j.faults.empty() ? "" : j.faults[0].message;
  };
  for (const Dated& d : kDatedRegisters) {
    const std::string statement = std::string("mov.") + d.type + " %d" + d.type + ", " + d.name + ";";
    EXPECT_EQ(fault_of(d.since, statement), "") << d.name;
    for (const std::string language : {d.too_early, d.too_small}) {
      if (language.empty()) continue;
      EXPECT_THAT(fault_of(language, statement), HasSubstr(std::string("'") + d.name + "' is right since"))
          << language;
      std::string row = language + "\t" + statement + "\n";
      row[row.find(' ')] = '\t';
      row.replace(row.find(std::string("%d") + d.type), 2 + std::string(d.type).size(),
                  std::string(d.type) == "pred"  ? "%p1"
                  : std::string(d.type) == "u32" ? "%r1"
                                                 : "%rd1");
      EXPECT_THAT(judged(row), HasSubstr("is right since")) << language;
    }
  }
  EXPECT_EQ(fault_of("8.0 sm_80", "mov.u32 %du32, %cluster_ctarank;"),
            "'%cluster_ctarank' is right since sm_90; this module is for sm_80");
  EXPECT_NE(fault_of("8.0 sm_80", "@%is_explicit_cluster ret;"), "");
  EXPECT_NE(fault_of("8.0 sm_80", ".reg .v4 .b32 %v; mov.v4.u32 %v, %clusterid;"), "");
  EXPECT_EQ(fault_of("8.0 sm_80", ".reg .b32 %cluster_ctarank; mov.u32 %du32, %cluster_ctarank;"), "");
  EXPECT_EQ(fault_of("8.0 sm_90", "@!%is_explicit_cluster ret;"), "");
}

TEST(Legality, SpecialRegistersAreReadWithTheirTypes) {
  EXPECT_EQ(judged("9.0\tsm_90\tmov.pred %p1, %is_explicit_cluster;"), "accept\n");
  EXPECT_EQ(judged("9.0\tsm_90\tmov.u16 %h1, %tid.x;"), "accept\n");
  EXPECT_EQ(judged("9.0\tsm_90\tmov.u16 %h1, %gridid;"), "accept\n");
  for (const char* text :
       {"mov.u32 %r1, %is_explicit_cluster;", "mov.pred %p1, %tid.x;", "mov.u16 %h1, %laneid;",
        "mov.u64 %rd1, %laneid;", "mov.pred %is_explicit_cluster, %p1;", "mov.u32 %r1, %pm8;",
        "mov.u32 %r1, %envreg32;", "mov.u32 %r1, %tid.q;"})
    EXPECT_THAT(judged(std::string("9.0\tsm_90\t") + text), HasSubstr("reject")) << text;
}

}  // namespace legality_test
}  // namespace warpline::ptx::test
