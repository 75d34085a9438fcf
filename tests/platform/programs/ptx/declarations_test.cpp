// Declarations that are lawful PTX and not modelled: they refuse the kernels that use them, and nobody else.
// What is lawful was asked of ptxas 13.0.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "platform/programs/ptx/check_text.h"
#include "platform/programs/ptx/module.h"

namespace warpline::ptx::test {
namespace declarations_test {

using ::testing::HasSubstr;

struct Case {
  const char* head;  ///< version and target
  const char* declarations;
};

/// A module of these declarations, of kernel good, which uses none of them, and of kernel uses.
std::string text_of(const Case& c, const std::string& use = "") {
  const std::string head = c.head;
  const std::size_t blank = head.find(' ');
  std::string text = ".version " + head.substr(0, blank) + "\n.target " + head.substr(blank + 1) +
                     "\n.address_size 64\n" + c.declarations +
                     "\n.visible .entry good(.param .u64 p) { .reg .u64 %a; ld.param.u64 %a,[p]; "
                     "st.global.u32 [%a],7; ret; }\n";
  if (!use.empty())
    text += ".visible .entry uses() { .reg .b64 %rd<4>; .reg .b32 %r<8>;\n" + use + "\nret; }\n";
  return text;
}

std::string fault_of(const Case& c) {
  const ModuleLegality j = check_text(text_of(c), "m.ptx");
  return j.faults.empty() ? "" : j.faults[0].text();
}

const Case kLawful[] = {
    {"8.0 sm_80", ".global .attribute(.managed) .align 4 .u32 x = 4;"},
    {"8.0 sm_80", ".visible .attribute(.managed) .global .u32 x, y;"},
    {"8.0 sm_80", ".extern .global .attribute(.managed) .u32 x;"},
    {"8.0 sm_90", ".global .attribute(.managed, .unified(19, 0x5F)) .u32 x;"},
    {"8.0 sm_90", ".func .attribute(.unified(1, 2)) (.param .u32 r) f() { ret; }"},
    {"8.0 sm_80", ".visible .global .texref t;"},
    {"8.0 sm_80", ".global .texref t[3], u;"},
    {"8.0 sm_80", ".global .texref t = { width = 4, height = 5 };"},
    {"8.0 sm_80", ".extern .global .surfref t;"},
    {"8.0 sm_80, texmode_independent",
     ".global .samplerref t = { filter_mode = linear, addr_mode_0 = wrap };"},
    {"8.0 sm_80", ".entry n(.param .texref t, .param .surfref s) { ret; }"},
    {"8.0 sm_80", ".entry n(.param .u64 .ptr .surfref t) { ret; }"},
    {"8.0 sm_80", ".func fa() { ret; } .func fb(); .alias fb, fa;"},
    {"6.3 sm_30", ".func fa() { ret; } .weak .func fb(); .alias fb, fa; .func f() { call fb; ret; }"},
    {"8.0 sm_80", ".func (.reg .u32 r) f(.reg .u32 t) { mov.u32 r, t; ret; }"},
    {"8.0 sm_80", ".extern .func f(.reg .v2 .u32 t);"},
    {"8.0 sm_80", ".func f() { T: .callprototype (.reg .u32 b) _ (.reg .u32 a); ret; }"},
    {"8.0 sm_80", ".func f() { ret; } .func n() { T: .calltargets f; ret; }"},
    {"9.0 sm_80", ".func f() .abi_preserve 16 .abi_preserve_control 2 { ret; }"},
    {"9.0 sm_80", ".func f() { T: .callprototype _ (.param .u32 a) .abi_preserve 10; ret; }"},
    {"8.0 sm_80", ".global .u32 x<4>; .shared .u32 y<4>;"},
    {"8.0 sm_80", ".func f() { .local .u32 x<4>; .shared .u32 y<4>; .param .u32 z<4>; ret; }"},
    {"8.0 sm_80", ".func f() { .global .u32 x; .const .u32 y; ret; }"},
    {"8.0 sm_80", ".func f() { .reg .align 4 .u32 x; ret; }"},
    {"8.0 sm_80", ".func f(.param .align 8 .b8 a[40000]) { ret; }"},
    {"8.0 sm_80", ".global .align 8192 .u32 x;"},
    {"8.0 sm_80", ".global .align 0x40000000 .u32 x;"},
    {"8.0 sm_80", ".global .u32 x[400000000]; .global .u8 y[0x200000000];"},
    {"8.0 sm_80", ".shared .u32 x[5000000];"},
    {"8.0 sm_80", ".extern .global .u32 x[]; .extern .global .u32 y[0]; .extern .const .u32 z[];"},
    {"8.0 sm_80", ".const .u32 c; .global .u64 x = c; .global .u64 y = generic(c); .global .u64 z = x;"},
    {"8.0 sm_80", ".extern .global .u32 e; .global .u64 x = generic(e)+4;"},
    {"8.0 sm_80", ".global .texref t; .global .u64 x = t;"},
};

TEST(Declarations, ThatAreLawfulRefuseNoKernelThatDoesNotUseThem) {
  for (const Case& c : kLawful) {
    EXPECT_EQ(fault_of(c), "") << c.declarations;
    const auto module = parse(text_of(c), "m.ptx");
    ASSERT_TRUE(module.ok()) << module.faults()[0].text();
    const auto& entries = module.value()->entries();
    ASSERT_FALSE(entries.empty());
    EXPECT_EQ(entries.back().name, "good");
    EXPECT_TRUE(entries.back().refused.empty()) << c.declarations;
    const ModuleRuns runs = kernels_that_run(text_of(c), "m.ptx");
    EXPECT_TRUE(runs.faults.empty()) << c.declarations;
    EXPECT_TRUE(runs.kernels.back().refused.empty()) << c.declarations;
  }
}

const Case kUnlawful[] = {
    {"8.0 sm_20", ".global .attribute(.managed) .u32 x;"},
    {"8.0 sm_80", ".const .attribute(.managed) .u32 x;"},
    {"8.0 sm_80", ".global .attribute(.foo) .u32 x;"},
    {"8.0 sm_80", ".global .attribute() .u32 x;"},
    {"8.0 sm_80", ".global .attribute(.unified(1, 2)) .u32 x;"},
    {"9.0 sm_90", ".global .attribute(.unified(-1, 2)) .u32 x;"},
    {"9.0 sm_90", ".global .attribute(.unified(1)) .u32 x;"},
    {"9.0 sm_90", ".entry f .attribute(.unified(1, 2)) () { ret; }"},
    {"8.0 sm_80", ".global .samplerref t;"},
    {"8.0 sm_80", ".const .texref t;"},
    {"8.0 sm_80", ".shared .surfref t;"},
    {"8.0 sm_80", ".func f(.param .texref t) { ret; }"},
    {"8.0 sm_80", ".func f() { .global .texref t; ret; }"},
    {"8.0 sm_80", ".global .surfref t; .func f() { .reg .b32 %r; ld.global.u32 %r, [t]; ret; }"},
    {"8.0 sm_80", ".func fa() { ret; } .alias fb, fa;"},
    {"8.0 sm_80", ".func fa() { ret; } .func fb() { ret; } .alias fb, fa;"},
    {"6.2 sm_70", ".func fa() { ret; } .func fb(); .alias fb, fa;"},
    {"6.3 sm_20", ".func fa() { ret; } .func fb(); .alias fb, fa;"},
    {"8.0 sm_80", ".func fa() { ret; } .func fb(.param .u32 x); .alias fb, fa;"},
    {"8.0 sm_80", ".func fb(); .alias fb, fa; .func fa() { ret; }"},
    {"8.0 sm_80", ".entry fa() { ret; } .func fb(); .alias fb, fa;"},
    {"8.0 sm_80", ".func fa() { ret; } .func fb(); .alias fb, fa; .alias fb, fa;"},
    {"8.0 sm_80", ".entry x(.reg .u32 b) { ret; }"},
    {"8.8 sm_80", ".func f() .abi_preserve 16 { ret; }"},
    {"9.0 sm_75", ".func f() .abi_preserve 16 { ret; }"},
    {"9.0 sm_80", ".func f() .abi_preserve -1 { ret; }"},
    {"9.0 sm_80", ".entry f() .abi_preserve 16 { ret; }"},
    {"8.0 sm_80", ".global .b128 x;"},
    {"8.3 sm_60", ".func f() { .reg .b128 x; ret; }"},
    {"8.0 sm_80", ".global .u32 x[0];"},
    {"8.0 sm_80", ".global .u32 x[-1];"},
    {"8.0 sm_80", ".global .align 3 .u32 x;"},
    {"8.0 sm_80", ".const .u32 x[20000];"},
    {"8.1 sm_80", ".entry f(.param .align 8 .b8 a[40000]) { ret; }"},
};

TEST(Declarations, ThatTheAssemblerRefusesAreRefused) {
  for (const Case& c : kUnlawful) {
    EXPECT_NE(fault_of(c), "") << c.head << " " << c.declarations;
    EXPECT_FALSE(parse(text_of(c), "m.ptx").ok()) << c.declarations;
  }
}

TEST(Declarations, ThatAreNotModelledRefuseTheKernelsThatUseThem) {
  struct Use {
    const char* declarations;
    const char* use;
    const char* message;
  };
  for (const Use& u : {
           Use{".global .texref t;", "tex.2d.v4.s32.s32 {%r0,%r1,%r2,%r3}, [t, {%r4,%r5}];",
               "a texture or surface is named by a 64-bit register"},
           Use{".global .surfref t;", "mov.u64 %rd1, t;", "texture and surface references are not modelled"},
           Use{".global .u32 x[400000000];", "mov.u64 %rd1, x;", "it is too large"},
           Use{".shared .u32 x[5000000];", "mov.u64 %rd1, x;", "it is too large"},
           Use{".extern .global .u32 c; .global .u64 x = c; .global .u64 y = x;", "ld.global.u64 %rd1, [y];",
               "starts with the address of 'x'"},
           Use{".func f(.reg .u32 a) { ret; }", "call f, (%r1);", "parameters in registers are not modelled"},
           Use{"", ".global .u32 x; st.global.u32 [x], 1;", "inside a function are not modelled"},
           Use{".func f() { .const .u32 x; .reg .b32 %r; ld.const.u32 %r, [x]; ret; }", "call f;",
               "inside a function are not modelled"},
       }) {
    const std::string text = text_of({"8.0 sm_80", u.declarations}, u.use);
    EXPECT_TRUE(check_text(text, "m.ptx").faults.empty()) << text;
    const auto module = parse(text, "m.ptx");
    ASSERT_TRUE(module.ok()) << module.faults()[0].text();
    const auto& entries = module.value()->entries();
    ASSERT_EQ(entries.size(), 2U);
    EXPECT_TRUE(entries[0].refused.empty()) << text;
    ASSERT_FALSE(entries[1].refused.empty()) << text;
    EXPECT_THAT(entries[1].refused[0].message, HasSubstr(u.message));
  }
}

TEST(Declarations, AnAliasIsTheFunctionThatItMeans) {
  const auto module =
      parse(text_of({"8.0 sm_80", ".func fa() { ret; } .func fb(); .alias fb, fa;"}, "call fb;"), "m.ptx");
  ASSERT_TRUE(module.ok());
  EXPECT_TRUE(module.value()->entries()[1].refused.empty());
  const auto late =
      parse(text_of({"8.0 sm_80", ".func fa(); .func fb(); .alias fb, fa; .func fa() { frob; }"}, "call fb;"),
            "m.ptx");
  ASSERT_FALSE(late.ok());
}

TEST(Declarations, OfAFamilyAreItsVariables) {
  const auto module = parse(text_of({"8.0 sm_80", ".global .u32 x<4>;"}, "st.global.u32 [x3], 1;"), "m.ptx");
  ASSERT_TRUE(module.ok());
  EXPECT_TRUE(module.value()->entries()[1].refused.empty());
  ASSERT_EQ(module.value()->variables().size(), 4U);
  EXPECT_EQ(module.value()->variables()[3].name, "x3");
  EXPECT_FALSE(parse(text_of({"8.0 sm_80", ".global .u32 x<4>;"}, "st.global.u32 [x4], 1;"), "m.ptx").ok());
}

TEST(Declarations, OfRefusedVariablesSayWhy) {
  const auto module = parse(text_of({"8.0 sm_80", ".global .u32 x[400000000]; .global .u32 y;"}), "m.ptx");
  ASSERT_TRUE(module.ok());
  const auto& variables = module.value()->variables();
  ASSERT_EQ(variables.size(), 2U);
  EXPECT_THAT(variables[0].refused, HasSubstr("it is too large"));
  EXPECT_EQ(variables[1].refused, "");
}

}  // namespace declarations_test
}  // namespace warpline::ptx::test
