// Faults of a text: where they are reported, and how.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "platform/programs/ptx/module.h"

namespace warpline::ptx::test {
namespace diagnostics_test {

using ::testing::HasSubstr;

Diagnostics faults_of(const std::string& body, const std::string& before = "") {
  const std::string text = ".version 8.8\n.target sm_100\n.address_size 64\n" + before +
                           ".visible .entry k(.param .u64 p)\n{\n.reg .pred %p<4>;\n.reg .b16 %rs<4>;\n.reg "
                           ".b32 %r<8>;\n.reg .f32 %f<4>;\n"
                           ".reg .b64 %rd<8>;\n.shared .align 4 .b8 tile[64];\n" +
                           body + "\nret;\n}\n";
  const auto result = parse(text, "bad.ptx");
  return result.ok() ? Diagnostics{} : result.faults();
}

struct Case {
  const char* body;
  const char* message;
  unsigned column;
  const char* hint;
};

class OneFault : public ::testing::TestWithParam<Case> {};

TEST_P(OneFault, IsReportedAtItsPlace) {
  const Case& c = GetParam();
  const Diagnostics faults = faults_of(c.body);
  ASSERT_EQ(faults.size(), 1U) << (faults.empty() ? "no fault" : faults[1].text());
  EXPECT_THAT(faults[0].message, HasSubstr(c.message));
  EXPECT_EQ(faults[0].file, "bad.ptx");
  EXPECT_EQ(faults[0].line, 12U);
  EXPECT_EQ(faults[0].column, c.column) << faults[0].text();
  EXPECT_THAT(faults[0].hint, HasSubstr(c.hint));
  EXPECT_EQ(faults[0].source, c.body);
}

INSTANTIATE_TEST_SUITE_P(
    Ptx, OneFault,
    ::testing::Values(
        Case{"ad.s32 %r1, %r2, %r3;", "unknown opcode 'ad'", 1, "did you mean 'add'"},
        Case{"prefetch.global [%rd1];",
             "'prefetch' needs '.L1', '.L2', '.tensormap' or an L2 eviction priority", 1, ""},
        Case{"prefetch.local.L2::evict_last [%rd1];", "'.L2::evict_last' does not go with '.local'", 9, ""},
        Case{"prefetchu [%rd1];", "'prefetchu' needs '.L1'", 1, ""},
        Case{"applypriority.global.L2::evict_last [%rd1], 128;", "'applypriority' takes no '.L2::evict_last'",
             21, "it takes .L2::evict_normal"},
        Case{"discard.global.L2 [%rd1], 64;", "expected the literal 128", 27, ""},
        Case{"st.global.v4.u32 [%rd1], {%r1,_,%r2,%r3};", "'_' is stored by accesses of 32 bytes only", 31,
             ""},
        Case{"ld.shared.u32 %r1, tile[%r2];", "a register as index is not modelled", 20,
             "add it to the address"},
        Case{"ld.global.v2.u32 {_,_}, [%rd1];", "one element at least must be a register", 18, ""},
        Case{"ld.shared.v4.u64 {%rd1,_,_,_}, [%r1];", "an access of 32 bytes does not go with '.shared'", 3,
             ""},
        Case{"add.s33 %r1, %r2, %r3;", "'.s33' is not a type that 'add' takes", 4, "did you mean '.s"},
        Case{"cvt.ftz.u32.u16 %r1, %rs1;", "'.ftz' goes with a conversion from or to '.f32'", 1, ""},
        Case{"cvt.sat.u32.u16 %r1, %rs1;", "'.sat' goes with a type that does not hold every value", 1, ""},
        Case{"cvt.f32.f64 %f1, 0d0000000000000000;", "a conversion to a narrower float needs '.rn'", 1, ""},
        Case{"cvt.rn.f32.f16 %f1, %rs1;", "this conversion is exact, and takes no rounding modifier", 1, ""},
        Case{"cvt.rn.bf16.u8 %rs1, %rs2;", "'cvt' does not convert between these types", 1, ""},
        Case{"add.fast.s32 %r1, %r2, %r3;", "qualifier '.fast' is not supported on 'add'", 4, ""},
        Case{"add.s32 %r1, %r2;", "takes 3 operands, not 2", 1, ""},
        Case{"add.s32 %r1, %r2, %r8;", "'%r8' is not a register", 19, "did you mean"},
        Case{"add.s32 %r1, %x2, %r3;", "'%x2' is not a register", 14, ""},
        Case{"add.s64 %rd1, %rd2, %r3;", "register '%r3' is .b32, the instruction wants .s64", 21, ""},
        Case{"add.f32 %f1, %f2, 3;", "expected a floating-point literal", 19, ""},
        Case{"add.s32 5, %r1, %r2;", "expected a destination register", 9, ""},
        Case{"@%q1 add.s32 %r1, %r1, %r2;", "'%q1' is not a register", 2, ""},
        Case{"@%r1 add.s32 %r1, %r1, %r2;", "register '%r1' is .b32, the instruction wants .pred", 2, ""},
        Case{"bra nowhere;", "label 'nowhere' is not defined", 5, ""},
        Case{"ld.global.u32 %r1, [%rd1+4;", "expected ']' after the address, found ';'", 27, ""},
        Case{"ld.global.v2.u32 {%r1. %r2}, [%rd1];", "expected ',', found '.'", 22, "did you mean ','"},
        Case{"ld.global.u32 %r1, [%rd1, {%r2}];", "takes no coordinates", 27, ""},
        Case{"ld.global.u32 %r1, [%rd1].unified;", "'.unified' is not modelled", 26, ""},
        Case{"ld.global.u32 %r1, [%r2];", "a global or generic address has 64 bits", 21, ""},
        Case{"ld.global.u32 %r1, [tile];", "is not in the state space", 21, ""},
        Case{"ld.global.u32 %r1, [tiles];", "'tiles' is not declared", 21, "did you mean 'tile'"},
        Case{"ld.param.u64 %rd1, [p+8];", "outside parameter 'p'", 21, ""},
        Case{"ld.param.u64 %rd1, [p+-4];", "outside parameter 'p'", 21, ""},
        Case{"ld.global.gpu.u32 %r1, [%rd1];", "'.gpu' needs '.relaxed', '.acquire' or '.release'", 10, ""},
        Case{"ld.relaxed.global.u32 %r1, [%rd1];", "'.relaxed' needs a scope such as '.gpu'", 3, ""},
        Case{"ld.global.wt.u32 %r1, [%rd1];", "'ld' takes no '.wt'", 10,
             "it takes .ca, .cg, .cs, .lu or .cv"},
        Case{"ld.mmio.relaxed.gpu.global.u32 %r1, [%rd1];", "'.mmio' needs '.sys'", 3, ""},
        Case{"ld.mmio.relaxed.sys.shared.u32 %r1, [%r2];", "'.mmio' does not go with '.shared'", 20, ""},
        Case{"ld.mmio.relaxed.sys.global.v2.u32 {%r1,%r2}, [%rd1];", "'.mmio' does not go with '.v2'", 27,
             ""},
        Case{"ld.mmio.relaxed.sys.global.L2::128B.u32 %r1, [%rd1];", "'.mmio' does not go with '.L2::128B'",
             27, ""},
        Case{"ld.global.L2::cache_hint.u32 %r1, [%rd1];", "'ld' takes 3 operands here, not 2", 1, ""},
        Case{"ld.global.u32 %r1, [%rd1], %rd2;", "'ld' takes 2 operands here, not 3", 1,
             "with '.L2::cache_hint' it takes that many"},
        Case{"ld.global.L2::cache_hint.u32 %r1, [%rd1], %r2;",
             "register '%r2' is .b32, the instruction wants .u64", 43, ""},
        Case{"ld.global.L2::cache_hint.u32 %r1, [%rd1], 1.0;", "'1.0' is no literal of .u64", 43, ""},
        Case{"ld.shared.L2::cache_hint.u32 %r1, [tile], %rd1;",
             "'.L2::cache_hint' does not go with '.shared'", 3, ""},
        Case{"atom.global.cas.L2::cache_hint.b32 %r1, [%rd1], %r2, %r3;",
             "'.L2::cache_hint' does not go with '.cas'", 12, ""},
        Case{"createpolicy.b64 %rd1, 1.0;", "needs '.fractional', '.range' or '.cvt'", 1, ""},
        Case{"createpolicy.fractional.b64 %rd1, 1.0;",
             "'createpolicy.fractional' needs an L2 eviction priority", 1, ""},
        Case{"createpolicy.fractional.L2::evict_last.b64 %rd1, 1;", "expected a fraction such as 0.5", 50,
             ""},
        Case{"createpolicy.fractional.L2::evict_last.b64 %rd1, 1.5;",
             "a fraction is more than 0 and at most 1", 50, ""},
        Case{"createpolicy.fractional.L2::evict_last.b64 %rd1, 0.0;",
             "a fraction is more than 0 and at most 1", 50, ""},
        Case{"createpolicy.fractional.L2::evict_last.L2::evict_normal.b64 %rd1, 0.5;", "L2::evict_normal", 39,
             ""},
        Case{"createpolicy.range.L2::evict_last.b64 %rd1, [%rd2], 2, 1;",
             "the total size is not below the primary size", 56, ""},
        Case{"createpolicy.range.L2::evict_last.b64 %rd1, [%rd2], %rd1, 1;",
             "register '%rd1' is .b64, the instruction wants .u32", 53, ""},
        Case{"createpolicy.range.L2::evict_last.b64 %rd1, [%rd2], 1, 4294967296;",
             "the total size is not below the primary size", 56, ""},
        Case{"createpolicy.range.global.L2::evict_last.b64 %rd1, [tile], 1, 1;", "not in the state space", 53,
             ""},
        Case{"createpolicy.cvt.b64 %rd1, %rd2;", "needs '.L2'", 1, ""},
        Case{"ld.global.v2.u32 {%r1,%r2,%r3}, [%rd1];", "expected 2 elements, found 3", 18, ""},
        Case{"atom.global.cas.b32 %r1, [%rd1], %r2;", "'atom' takes 4 operands here, not 3", 1, ""},
        Case{"atom.global.add.s64 %rd1, [%rd2], %rd3;",
             "'.add' needs '.u32', '.u64', '.s32', '.f32', '.f64' or a half-precision type", 12, ""},
        Case{"st.const.u32 [%rd1], %r1;", "'st' takes no '.const'", 3,
             "it takes .global, .shared, .shared::cta, .shared::cluster, .local, .param or .param::func"},
        Case{"atom.global.add.f16x2 %r1, [%rd1], %r2;", "'.f16x2' needs '.noftz'", 16, ""},
        Case{"red.global.add.noftz.f32 [%rd1], %f1;", "'.noftz' needs a half-precision type", 15, ""},
        Case{"red.global.min.v2.f32 [%rd1], {%f1,%f2};", "'.v2' with '.min' needs a half-precision type", 15,
             ""},
        Case{"red.global.add.v2.f32 [%rd1], %f1;", "expected 2 elements, found 1", 31, ""},
        Case{"red.global.add.v2.f32 [%rd1], {%f1,%f2,%f3};", "expected 2 elements, found 3", 31, ""},
        Case{"red.shared.add.v2.f32 [tile], {%f1,%f2};", "'.v2' does not go with '.shared'", 4, ""},
        Case{"red.global.exch.b32 [%rd1], %r1;", "'red' takes no '.exch'", 11, ""},
        Case{"bar.sync 16;", "barriers are 0 to 15", 10, ""},
        Case{"shfl.down.b32 %r1, %r2, %r3, %r4;", "without '.sync'", 1, ""},
        Case{"call nobody;", "function 'nobody' is not declared", 6, ""},
        Case{"membar.proxy.async;", "'membar.proxy' takes no '.async'", 13, ""},
        Case{"mov.u32 %r1, %tid.q;", "'%tid.q' is not a register", 14, "did you mean '%tid."},
        Case{"mov.u32 %r1, 99999999999999999999;", "is not a number", 14, ""},
        Case{".reg .b32 %one; mov.u32 %r1, %one.x;", "'%one.x' is not a register", 30, ""},
        Case{".reg .v4 .b32 %v; mov.u32 %r1, %v.q;", "'%v.q' is not a register", 32, ""},
        Case{"add.u32 %r1, %clock, 1;", "can only be read by 'mov'", 14, ""},
        Case{".reg .b32 %r<4000000000>;", "a family has 1 to 1048576 registers", 14, ""},
        Case{"L1: L1: ret;", "label 'L1' is defined twice", 5, ""},
        Case{"{ X1: } bra X1;", "label 'X1' is not defined", 13, ""},
        Case{"mov.u32 %r1, #;", "no meaning in PTX", 14, ""}));

TEST(PtxDiagnostics, AllFaultsAtOnceInOrder) {
  const Diagnostics faults =
      faults_of("bra nowhere;\nfrob %r1;\nadd.s32 %r1, %r2;\nld.global.u32 %r9, [%rd1];");
  ASSERT_EQ(faults.size(), 4U);
  for (unsigned i = 0; i < 4; ++i) EXPECT_EQ(faults[i].line, 12 + i);
}

TEST(PtxDiagnostics, AtMostTwenty) {
  std::string body;
  for (int i = 0; i < 100; ++i) body += "frob %r1;\n";
  EXPECT_EQ(faults_of(body).size(), 20U);
}

TEST(PtxDiagnostics, FaultsOfDeclarations) {
  EXPECT_THAT(faults_of("", ".global .u32 x;\n.global .u32 x;\n").at(0).message, HasSubstr("defined twice"));
  EXPECT_THAT(faults_of("", ".global .u32 x[2] = {1, 2, 3};\n").at(0).message, HasSubstr("more elements"));
  EXPECT_THAT(faults_of("", ".global .u64 x = {nobody};\n").at(0).message,
              HasSubstr("'nobody' is not a variable"));
  EXPECT_THAT(faults_of("", ".globl .u64 x;\n").at(0).hint, HasSubstr("did you mean '.global'"));
  EXPECT_THAT(faults_of("mov.u64 %rd1, away;", ".extern .global .u32 away;\n").at(0).message,
              HasSubstr("defined nowhere"));
  EXPECT_THAT(faults_of("call.uni printf;", ".extern .func printf;\n").at(0).message,
              HasSubstr("has no body"));
}

TEST(PtxDiagnostics, AModuleNeedsAHeaderAndAKernel) {
  EXPECT_FALSE(parse("", "empty.ptx").ok());
  const auto none = parse(".version 8.0\n.target sm_80\n.address_size 64\n", "none.ptx");
  ASSERT_FALSE(none.ok());
  EXPECT_THAT(none.faults()[0].message, HasSubstr("no kernel entry"));
  EXPECT_THAT(parse(".version 5.0\n.target sm_80\n", "old.ptx").faults()[0].message,
              HasSubstr("6.0 to 6.5, 7.0 to 7.8, 8.0 to 8.8 and 9.0 are modelled, not '5.0'"));
}

TEST(PtxDiagnostics, OnlyVersionsThatThereAreAreRead) {
  const auto reads = [](const std::string& version) {
    return parse(".version " + version + "\n.target sm_60\n.address_size 64\n.visible .entry k() { ret; }\n",
                 "m.ptx")
        .ok();
  };
  for (const char* const version : {"6.0", "6.5", "7.8", "8.0", "8.8", "9.0"})
    EXPECT_TRUE(reads(version)) << version;
  for (const char* const version : {"6.6", "7.9", "8.9", "9.1", "9.9", "10.0", "8", "8.0\n.version 8.0"})
    EXPECT_FALSE(reads(version)) << version;
}

TEST(PtxDiagnostics, ATargetThatPtxDoesNotHaveByThenIsNoSilentDefault) {
  const std::string body = ".address_size 64\n.visible .entry k() {\nret;\n}\n";
  EXPECT_TRUE(parse(".version 8.0\n.target sm_80\n" + body, "good.ptx").ok());
  const auto unknown = parse(".version 8.0\n.target sm_999\n" + body, "unknown.ptx");
  ASSERT_FALSE(unknown.ok());
  EXPECT_THAT(unknown.faults()[0].message, HasSubstr("unknown target 'sm_999'"));
  EXPECT_FALSE(parse(".version 7.0\n.target sm_90\n" + body, "early.ptx").ok());
}

TEST(PtxDiagnostics, FaultsInUncalledFunctionsAreFoundToo) {
  EXPECT_THAT(faults_of("", ".func f()\n{\nfrob;\nret;\n}\n").at(0).message,
              HasSubstr("unknown opcode 'frob'"));
}

/// Of a module of three kernels and a device function.
std::string module_of(const std::string& good, const std::string& calls, const std::string& bad,
                      const std::string& function) {
  const std::string registers = ".reg .b32 %r<8>;\n";
  return ".version 8.0\n.target sm_90\n.address_size 64\n.extern .func lost;\n.func f\n{\n" + registers +
         function + "\nret;\n}\n.visible .entry good()\n{\n" + registers + good +
         "\nret;\n}\n.visible .entry calls()\n{\n" + registers + calls +
         "\nret;\n}\n.visible .entry bad()\n{\n" + registers + bad + "\nret;\n}\n";
}

TEST(Refusals, OfAKernelAreThatKernels) {
  for (const char* const use : {"call lost;", "membar.proxy.alias;", "tcgen05.wait::ld.sync.aligned;"}) {
    const auto module = parse(module_of("mov.u32 %r1, 1;", "call f;", use, ""), "m.ptx");
    ASSERT_TRUE(module.ok()) << module.faults()[0].text();
    const auto& entries = module.value()->entries();
    ASSERT_EQ(entries.size(), 3U);
    EXPECT_TRUE(entries[0].refused.empty());
    EXPECT_TRUE(entries[1].refused.empty());
    const bool runs = std::string(use).rfind("membar", 0) == 0;
    EXPECT_EQ(entries[2].refused.size(), runs ? 0U : 1U) << use;
  }
}

TEST(Refusals, OfSpecialRegistersThereAreNone) {
  for (const char* const use : {"mov.u32 %r1, %pm0;", "mov.u32 %r1, %envreg31;", "mov.u32 %r1, %gridid;",
                                "mov.u32 %r1, %reserved_smem_offset_1;"}) {
    const auto module = parse(module_of("mov.u32 %r1, %cluster_ctarank;", "", use, ""), "m.ptx");
    ASSERT_TRUE(module.ok()) << module.faults()[0].text();
    for (const auto& entry : module.value()->entries()) EXPECT_TRUE(entry.refused.empty()) << use;
  }
}

TEST(Refusals, AreThoseOfWhatAKernelCalls) {
  const auto module = parse(module_of("mov.u32 %r1, 1;", "call f;", "call f;", "call lost;"), "m.ptx");
  ASSERT_TRUE(module.ok());
  const auto& entries = module.value()->entries();
  EXPECT_TRUE(entries[0].refused.empty());
  ASSERT_EQ(entries[1].refused.size(), 1U);
  EXPECT_EQ(entries[1].refused[0].line, 8U);
  EXPECT_EQ(entries[2].refused.size(), 1U);
  const ModuleRuns runs = kernels_that_run(module_of("", "call f;", "", "call lost;"), "m.ptx");
  EXPECT_TRUE(runs.faults.empty());
  ASSERT_EQ(runs.kernels.size(), 3U);
  EXPECT_EQ(runs.kernels[1].name, "calls");
  EXPECT_TRUE(runs.kernels[0].refused.empty());
  EXPECT_FALSE(runs.kernels[1].refused.empty());
}

TEST(Refusals, OfWhatTheAssemblerRefusesAreTheModules) {
  for (const char* const use : {"lad.u32 %r1, [%r2];", "ld.global.L9.u32 %r1, [%r2];", "mov.u32 %r1 %r2;"}) {
    const auto module = parse(module_of("", "", use, "call lost;"), "m.ptx");
    ASSERT_FALSE(module.ok()) << use;
    EXPECT_GE(module.faults().size(), 2U) << "with all others";
    EXPECT_FALSE(kernels_that_run(module_of("", "", use, ""), "m.ptx").faults.empty());
  }
}

TEST(Refusals, OfEveryKernelAreTheModules) {
  const auto module = parse(module_of("call lost;", "call f;", "call lost;", "call lost;"), "m.ptx");
  ASSERT_FALSE(module.ok());
  EXPECT_EQ(module.faults().size(), 3U) << "each place once";
}

}  // namespace diagnostics_test
}  // namespace warpline::ptx::test
