// Variables of modules in memory: where they lie, and that those that are not modelled are in nobody's way.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/platform/machine/ptx_run.h"

namespace warpline::test {
namespace module_variables_test {

using testing::HasSubstr;

/// Kernel good stores whether the large variables lie where they must; kernel other names what is not
/// modelled.
constexpr const char* kPtx = R"(.version 8.0
.target sm_80
.address_size 64
.global .attribute(.managed) .align 4 .u32 managed;
.global .texref texture;
.global .u32 small;
.global .align 8192 .u32 x;
.global .align 1024 .u32 y = 7;
.global .u32 huge[400000000];
.global .u64 pointer = managed;
.visible .entry good(.param .u64 p)
{
.reg .b64 %rd<6>; .reg .b32 %r<4>;
ld.param.u64 %rd1, [p];
mov.u64 %rd2, x;
and.b64 %rd2, %rd2, 8191;
mov.u64 %rd3, y;
and.b64 %rd3, %rd3, 1023;
ld.global.u32 %r1, [y];
cvt.u32.u64 %r2, %rd2;
cvt.u32.u64 %r3, %rd3;
st.global.v2.u32 [%rd1], {%r2, %r3};
st.global.u32 [%rd1+8], %r1;
ret;
}
.visible .entry other(.param .u64 p)
{
st.global.u32 [managed], 1;
ret;
}
)";
std::string launch(const std::string& kernel, const std::string& more = {}) {
  return "module = \"k.ptx\"\nkernel = \"" + kernel +
         "\"\ngrid = [1]\nblock = [1]\n[[argument]]\nbuffer = \"p\"\ntype = \"u32\"\ncount = 3\n"
         "expect = { expression = \"i == 2 ? 7 : 0\" }\n" +
         more;
}

std::string refusal(const std::string& text) {
  try {
    const PtxRun run(kPtx, text);
  } catch (const std::runtime_error& fault) {
    return fault.what();
  }
  return {};
}

TEST(ModuleVariables, LieAtTheirAlignmentsBesideThoseThatAreNotModelled) {
  const PtxRun run(kPtx, launch("good"));
  EXPECT_EQ(run.end().outcome, RunOutcome::quiescent);
  EXPECT_EQ(run.end().checks, 1U);
  EXPECT_EQ(run.end().failures, std::vector<std::string>{});
}

TEST(ModuleVariables, ThatAreNotModelledRefuseWhoNamesThem) {
  EXPECT_THAT(refusal(launch("other")), HasSubstr("kernel \"other\" cannot be run"));
  EXPECT_THAT(refusal(launch("good", "[[symbol]]\nname = \"managed\"\nexpect = { expression = \"0\" }\n")),
              HasSubstr("k.ptx cannot be used: attribute '.managed' is not modelled"));
  EXPECT_THAT(refusal(launch("good", "[[symbol]]\nname = \"huge\"\nexpect = { expression = \"0\" }\n")),
              HasSubstr("k.ptx cannot be used: it is too large"));
}

}  // namespace module_variables_test
}  // namespace warpline::test
