// Several PTX texts that are linked: modules = [...].
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/platform/machine/ptx_run.h"

namespace warpline::test {
namespace linked_modules_test {

using testing::HasSubstr;
using testing::IsEmpty;

constexpr const char* kHead = ".version 8.0\n.target sm_80\n.address_size 64\n";

/// Kernel k stores what f(3) answers, the variable `shared`, and its own `table[1]`.
const std::string kCaller = kHead + std::string(R"(
.extern .func (.param .b32 r) f(.param .b32 a);
.extern .global .align 4 .u32 common_word;
.extern .const .align 4 .u32 factor;
.global .align 4 .u32 table[2] = {1, 10};
.visible .entry k(.param .u64 out)
{
.reg .b64 %rd<4>; .reg .b32 %r<6>;
ld.param.u64 %rd1, [out];
{
.param .b32 p0; .param .b32 q;
st.param.b32 [p0], 3;
call.uni (q), f, (p0);
ld.param.b32 %r1, [q];
}
st.global.u32 [%rd1], %r1;
ld.global.u32 %r2, [common_word];
st.global.u32 [%rd1+4], %r2;
ld.global.u32 %r3, [table+4];
st.global.u32 [%rd1+8], %r3;
ld.const.u32 %r4, [factor];
st.global.u32 [%rd1+12], %r4;
ret;
}
)");
/// The same declarations, of which nothing is used.
const std::string kPlain = kHead + std::string(R"(
.extern .func (.param .b32 r) f(.param .b32 a);
.extern .global .align 4 .u32 common_word;
.extern .const .align 4 .u32 factor;
.visible .entry k(.param .u64 out) { ret; }
)");
/// f(a) = a * factor + its own table[1].
const std::string kCallee = ".version 7.0\n.target sm_70\n.address_size 64\n" + std::string(R"(
.visible .global .align 4 .u32 common_word = 77;
.visible .const .align 4 .u32 factor = 5;
.global .align 4 .u32 table[2] = {2, 20};
.global .u64 pointer = table;
.visible .func (.param .b32 r) f(.param .b32 a)
{
.reg .b32 %r<6>; .reg .b64 %rd<3>;
ld.param.u32 %r1, [a];
ld.const.u32 %r2, [factor];
ld.global.u64 %rd1, [pointer];
ld.global.u32 %r3, [%rd1+4];
mad.lo.u32 %r4, %r1, %r2, %r3;
st.param.b32 [r], %r4;
ret;
}
)");

std::string launch(const std::string& modules, const std::string& more = {}) {
  return "modules = [" + modules +
         "]\nkernel = \"k\"\ngrid = [1]\nblock = [1]\n[[argument]]\nbuffer = \"out\"\ntype = \"u32\"\n"
         "count = 4\n" +
         more;
}

std::string refusal(const std::string& a, const std::string& b, const std::string& text = {}) {
  try {
    const PtxRun run(a, text.empty() ? launch("\"k.ptx\", \"b.ptx\"") : text, {}, {{"b.ptx", b}});
  } catch (const std::runtime_error& fault) {
    return fault.what();
  }
  return {};
}

TEST(LinkedModules, CallAndReadEachOther) {
  for (const char* order : {"\"k.ptx\", \"b.ptx\"", "\"b.ptx\", \"k.ptx\""}) {
    PtxRun run(kCaller,
               launch(order, "expect = { expression = \"i == 0 ? 35 : i == 1 ? 77 : i == 2 ? 10 : 5\" }\n"),
               {}, {{"b.ptx", kCallee}});
    EXPECT_THAT(run.end().failures, IsEmpty());
    EXPECT_TRUE(run.gpu().faults().empty());
  }
}

TEST(LinkedModules, EachIsJudgedByItsOwnVersionAndTarget) {
  // A vector of eight is right since PTX 8.8 and sm_100 only, whatever the other module is for.
  const std::string late = kHead + std::string(R"(
.visible .func g(.param .b64 a)
{
.reg .b64 %rd<3>; .reg .b32 %r<9>;
ld.param.u64 %rd1, [a];
ld.global.v8.u32 {%r1,%r2,%r3,%r4,%r5,%r6,%r7,%r8}, [%rd1];
ret;
}
)");
  const std::string why = refusal(kPlain, late);
  EXPECT_THAT(why, HasSubstr("b.ptx:9:"));
  EXPECT_THAT(why, HasSubstr("sm_80"));
}

TEST(LinkedModules, ClashesAreToldWithBothPlaces) {
  EXPECT_THAT(refusal(kCallee, kCallee), HasSubstr("'common_word' is defined twice: here, and at "));
  EXPECT_THAT(refusal(kCallee, kCallee), HasSubstr("k.ptx:5"));
  const std::string other_size = kHead + std::string(".visible .global .align 4 .u32 common_word[3];\n");
  EXPECT_THAT(refusal(kPlain, other_size), HasSubstr("has 12 bytes, and 4 at "));
  const std::string other_space = kHead + std::string(".visible .const .align 4 .u32 common_word;\n");
  EXPECT_THAT(refusal(kPlain, other_space), HasSubstr("lies in another state space than at "));
  const std::string other_function = kHead + std::string(".visible .func f(.param .b64 a) { ret; }\n");
  EXPECT_THAT(refusal(kPlain, other_function), HasSubstr("'f' has other parameters than at "));
  const std::string variable = kHead + std::string(".visible .global .u32 f;\n");
  EXPECT_THAT(refusal(kPlain, variable), HasSubstr("has the name of the "));
  const std::string twice = kHead + std::string(".visible .entry k(.param .u64 out) { ret; }\n");
  EXPECT_THAT(refusal(kPlain, twice), HasSubstr("function 'k' is defined twice: here, and at "));
}

TEST(LinkedModules, WhatIsDefinedNowhereRefusesWhoReachesIt) {
  const std::string nothing =
      kHead + std::string(".visible .global .u32 unused;\n.visible .entry other(.param .u64 out) { ret; }\n");
  const std::string why = refusal(kCaller, nothing);
  EXPECT_THAT(why, HasSubstr("\"k\" cannot be run"));
  // Its neighbour runs.
  std::string text = launch("\"k.ptx\", \"b.ptx\"");
  text.replace(text.find("\"k\""), 3, "\"other\"");
  EXPECT_EQ(refusal(kCaller, nothing, text), "");
}

TEST(LinkedModules, AStrongDefinitionBeatsWeakOnesAndTheLargestCommonIsMeant) {
  const std::string user = kHead + std::string(R"(
.common .global .align 4 .b8 pool[4];
.weak .func (.param .b32 r) f()
{
st.param.b32 [r], 1;
ret;
}
.weak .global .align 4 .u32 word = 1;
.visible .entry k(.param .u64 out)
{
.reg .b64 %rd<4>; .reg .b32 %r<6>;
ld.param.u64 %rd1, [out];
{
.param .b32 q;
call.uni (q), f;
ld.param.b32 %r1, [q];
}
st.global.u32 [%rd1], %r1;
ld.global.u32 %r2, [word];
st.global.u32 [%rd1+4], %r2;
ld.global.u32 %r3, [pool+60];
st.global.u32 [%rd1+8], %r3;
ret;
}
)");
  const std::string strong = kHead + std::string(R"(
.common .global .align 4 .b8 pool[64];
.visible .func (.param .b32 r) f()
{
st.param.b32 [r], 2;
ret;
}
.visible .global .align 4 .u32 word = 2;
)");
  for (const char* order : {"\"k.ptx\", \"b.ptx\"", "\"b.ptx\", \"k.ptx\""}) {
    PtxRun run(user, launch(order, "expect = { expression = \"i < 2 ? 2 : 0\" }\n"), {}, {{"b.ptx", strong}});
    EXPECT_THAT(run.end().failures, IsEmpty()) << order;
    EXPECT_TRUE(run.gpu().faults().empty()) << order;
  }
}

TEST(LinkedModules, KeepOneRingAndHeapAndFaultsNameTheirFiles) {
  const std::string faulty = kHead + std::string(R"(
.extern .func (.param .b64 r) malloc(.param .b64 a);
.visible .func (.param .b32 r) f(.param .b32 a)
{
.reg .b64 %rd<3>;
{
.param .b64 p0; .param .b64 q;
st.param.b64 [p0], 16;
call.uni (q), malloc, (p0);
ld.param.b64 %rd1, [q];
}
st.u32 [%rd1], 1;
mov.u64 %rd1, 64;
st.global.u32 [%rd1], 1;
ret;
}
.visible .global .align 4 .u32 common_word = 77;
.visible .const .align 4 .u32 factor = 5;
)");
  PtxRun run(kCaller, launch("\"k.ptx\", \"b.ptx\""), {}, {{"b.ptx", faulty}});
  const std::vector<FaultRecord> faults = run.gpu().faults();
  ASSERT_EQ(faults.size(), 1U);
  EXPECT_THAT(faults[0].where, HasSubstr("b.ptx:17"));
}

}  // namespace linked_modules_test
}  // namespace warpline::test
