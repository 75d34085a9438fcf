// `warpline explain`: one instruction as a user writes it, on a preset.
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "tests/support/command.h"

namespace warpline {
namespace explain_command_test {

using test::Ended;

Ended explain(std::vector<std::string> words) {
  words.insert(words.begin(), "explain");
  return test::command(std::move(words));
}

void expect_in(const std::string& text, const std::string& part) {
  EXPECT_NE(text.find(part), std::string::npos) << part << "\nin\n" << text;
}

TEST(ExplainCommand, TakesRegistersThatNobodyDeclared) {
  const Ended e =
      explain({"ld.global.L1::evict_last.L2::cache_hint.v4.u32 {a, b, c, d}, [p], policy;", "--gpu", "a100"});
  EXPECT_EQ(e.status, 0) << e.err;
  expect_in(e.out, "weak load of 4 x u32 (16 bytes)");
  expect_in(e.out, "at most 1152 of the 1536 lines");
  expect_in(e.out, "what the policy says of its address");
  expect_in(e.out, "LDG.E.128.EL");
  expect_in(e.out, "a100");
  // Those of the assembler's own example, and no semicolon.
  EXPECT_EQ(explain({"ld.global.u32 %r1, [%rd1]"}).status, 0);
  EXPECT_EQ(explain({"st.shared.f64 [a], b;"}).status, 0);
  EXPECT_EQ(explain({"atom.global.add.f16x2 d, [a], b;"}).status, 1);  // .noftz is missing
}

TEST(ExplainCommand, SaysWhatALoweringLoses) {
  const Ended e = explain({"ld.local.lu.u32 d, [a];"});
  EXPECT_EQ(e.status, 0) << e.err;
  expect_in(e.out, "last use");
  expect_in(e.out, "LDL");
  expect_in(e.out, "The document says last use");
}

TEST(ExplainCommand, FollowsChangesOfTheGpu) {
  expect_in(explain({"st.global.u32 [a], b;"}).out, "a present line is updated");
  expect_in(explain({"st.global.u32 [a], b;", "--set", "l1_lg.update_on_store=false"}).out,
            "a present line is dropped");
}

TEST(ExplainCommand, SaysThatSomeStoresPassL1By) {
  for (const char* text :
       {"st.global.cg.u32 [a], b;", "st.global.wt.u32 [a], b;", "st.mmio.relaxed.sys.global.u32 [a], b;"})
    expect_in(explain({text}).out, "passed by: not looked up, and nothing is allocated. A present");
  for (const char* text : {"st.global.wb.u32 [a], b;", "st.global.cs.u32 [a], b;"})
    expect_in(explain({text}).out, "a present line is updated");
}

TEST(ExplainCommand, ReadsEveryKindOfMemoryInstruction) {
  for (const char* text : {"ld.global.nc.L2::256B.f32 d, [a];",
                           "ldu.global.u32 d, [a];",
                           "@!p ldu.global.u32 d, [a];",
                           "red.global.add.u32 [a], b;",
                           "prefetch.local.L1 [a];",
                           "prefetchu.L1 [a];",
                           "applypriority.global.L2::evict_normal [a], 128;",
                           "discard.global.L2 [a], 128;",
                           "fence.acq_rel.gpu;",
                           "membar.sys;",
                           "fence.proxy.alias;",
                           "cp.async.ca.shared.global [a], [b], 4;",
                           "createpolicy.fractional.L2::evict_last.b64 p, 0.5;",
                           "createpolicy.range.L2::evict_last.b64 p, [a], s, t;",
                           "ld.mmio.relaxed.sys.global.u32 d, [a];",
                           "isspacep.global p, a;",
                           "tex.2d.v4.f32.f32 {a, b, c, d}, [t, {x, y}];",
                           "ld.global.b128 d, [a];",
                           "st.global.L2::cache_hint.u16 [a], b, p;",
                           "ld.param.u64 d, [kp];",
                           "ld.const.u32 d, [cvar+4];"}) {
    const Ended e = explain({text});
    EXPECT_EQ(e.status, 0) << text << "\n" << e.err;
    EXPECT_FALSE(e.out.empty()) << text;
  }
}

TEST(ExplainCommand, RefusesWhatTheAssemblerRefuses) {
  const Ended near = explain({"ld.gloal.u32 d, [a];"});
  EXPECT_EQ(near.status, 1);
  expect_in(near.err, "instruction:1:3: error: unknown qualifier '.gloal'");
  expect_in(near.err, "did you mean ld.global?");
  EXPECT_EQ(explain({"ld.relaxed.gpu.global.cg.u32 d, [a];"}).status, 1);
  EXPECT_EQ(explain({"add.u32 a, b, c;"}).status, 1);
  EXPECT_EQ(explain({"prefetch.global.tensormap [a];"}).status, 1);
  for (const auto& [text, why] : {std::pair{"mapa.u64 d, a, %r1;", "is no memory instruction"},
                                  {"getctarank.u64 %r1, a;", "is no memory instruction"},
                                  {"multimem.ld_reduce.add.acc::f16.v4.e4m3x4 {a, b, c, d}, [e];",
                                   "is not modelled in this version"}}) {
    const Ended e = explain({text});
    EXPECT_EQ(e.status, 1) << text;
    expect_in(e.err, why);
  }
  for (const char* text : {"", ";", "ld", "ld.global.u32 d, [", "@p", "{", "ld.global.u32 d, [a]; st"})
    EXPECT_EQ(explain({text}).status, 1) << text;
}

TEST(ExplainCommand, SaysWhatBulkCopiesAndArrivalsDo) {
  for (const auto& [instruction, words] :
       {std::pair{"cp.async.bulk.prefetch.L2.global [a], 64;", "bulk copy, global memory"},
        std::pair{"multimem.st.global.f32 [a], %f1;", "one request for every GPU's replica"},
        std::pair{"multimem.ld_reduce.add.v4.f32 {a, b, c, d}, [e];", "the memory of several GPUs at once"},
        std::pair{"cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [a], [b], 64, [c];",
                  "past L1, by a unit of the SM's own"},
        std::pair{"cp.async.mbarrier.arrive.shared.b64 [a];", "operation on an mbarrier"}}) {
    const auto said = explain({instruction});
    EXPECT_EQ(said.status, 0) << instruction;
    expect_in(said.out, words);
  }
}

}  // namespace explain_command_test
}  // namespace warpline
