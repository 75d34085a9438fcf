// Damaged PTX: parsing gives a module or diagnostics, and never crashes or hangs.

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "platform/programs/ptx/module.h"
#include "rtl_models/base/random.h"
#include "tests/platform/programs/ptx/samples.h"
#include "tests/support/environment.h"

namespace warpline::ptx::test {
namespace fuzz_test {

std::size_t mutant_count() {
  return from_environment("WARPLINE_FUZZ_MUTANTS", 40);
}

const std::vector<std::string>& splinters() {
  static const std::vector<std::string> kSplinters = {"{",
                                                      "}",
                                                      "(",
                                                      ")",
                                                      "[",
                                                      "]",
                                                      ";",
                                                      ",",
                                                      ":",
                                                      "|",
                                                      "@",
                                                      "!",
                                                      "-",
                                                      "+",
                                                      "<",
                                                      ">",
                                                      "\"",
                                                      "/*",
                                                      "//",
                                                      "0f3F80",
                                                      "0x",
                                                      "99999999999999999999",
                                                      "4294967296",
                                                      "-1",
                                                      ".reg .b32 %r<4000000000>;",
                                                      ".shared .b8 z[99999999999];",
                                                      ".local .align 8 .b8 big[16777215];",
                                                      "%r1",
                                                      "%rd1",
                                                      "%p1",
                                                      "%f1",
                                                      "%tid.x",
                                                      "_",
                                                      ".v4",
                                                      ".v8",
                                                      ".f16x2",
                                                      ".pred",
                                                      ".global",
                                                      ".shared",
                                                      ".cc",
                                                      ".sat",
                                                      "bra L9;",
                                                      "call (r), nobody, (p);",
                                                      "{{{{{{{{{{",
                                                      "\x01",
                                                      "\xff",
                                                      ".b128",
                                                      "ld.global.u32 %r1, [%rd1+99999999999];",
                                                      "bar.sync 77;",
                                                      "mov.b64 {%r1,%r2}, %rd1;",
                                                      ".branchtargets",
                                                      "trap;"};
  return kSplinters;
}

std::string mutate(std::string text, Random& random) {
  const std::uint64_t edits = 1 + random.below(4);
  for (std::uint64_t e = 0; e < edits && !text.empty(); ++e) {
    const std::size_t at = random.below(text.size());
    switch (random.below(7)) {
      case 0: text[at] = static_cast<char>(random.below(256)); break;
      case 1: text.erase(at, 1 + random.below(40)); break;
      case 2: text.insert(at, splinters()[random.below(splinters().size())]); break;
      case 3: text.insert(at, text.substr(random.below(text.size()), random.below(200))); break;
      case 4: text.resize(at); break;
      case 5: std::swap(text[at], text[random.below(text.size())]); break;
      default: {  // one word for another
        const std::size_t from = random.below(text.size());
        const std::size_t n = std::min<std::size_t>(1 + random.below(8), text.size() - std::max(from, at));
        text.replace(at, n, text.substr(from, n));
      }
    }
  }
  return text;
}

TEST(PtxFuzz, MutantsParseOrAreDiagnosed) {
  const std::vector<std::string> seeds = sample_modules();
  ASSERT_FALSE(seeds.empty());
  for (const std::string& s : seeds) ASSERT_TRUE(parse(s, "seed.ptx").ok());
  std::size_t refused = 0;
  const std::size_t count = mutant_count();
  for (std::size_t n = 0; n < count; ++n) {
    Random random(splitmix64(n));
    const std::string text = mutate(seeds[random.below(seeds.size())], random);
    const auto result = parse(text, "mutant.ptx");
    if (result.ok()) continue;
    ++refused;
    ASSERT_FALSE(result.faults().empty()) << "mutant " << n;
    ASSERT_LE(result.faults().size(), 20U) << "mutant " << n;
    for (const Diagnostic& d : result.faults()) {
      ASSERT_FALSE(d.message.empty()) << "mutant " << n;
      ASSERT_GE(d.line, 1U) << "mutant " << n;
      ASSERT_LT(d.text().size(), 2000U) << "mutant " << n;
    }
  }
  EXPECT_GT(refused, count / 3) << "the mutations are too gentle";
}

TEST(PtxFuzz, HostileTextsAreRefused) {
  const std::string head = ".version 8.0\n.target sm_80\n.address_size 64\n";
  const auto refuse = [&](const std::string& body) {
    EXPECT_FALSE(parse(head + body, "hostile.ptx").ok()) << body.substr(0, 60);
  };
  refuse(".visible .entry k() { .reg .b32 %r<4000000000>; ret; }");
  refuse(".global .b8 x[99999999999]; .visible .entry k() { .reg .b64 %a; mov.u64 %a, x; ret; }");
  refuse(
      ".global .b8 x[200000000]; .global .b8 y[200000000]; .visible .entry k() { .reg .b64 %a; mov.u64 %a, "
      "y; ret; }");
  refuse(".visible .entry k() { .local .b8 x[99999999]; .reg .b64 %a; mov.u64 %a, x; ret; }");
  refuse(".global .b8 x<60000>; .global .b8 y<60000>; .visible .entry k() { ret; }");
  refuse(
      ".global .b8 x[99999999999][99999999999][99999999999]; .visible .entry k() { .reg .b64 %a; mov.u64 %a, "
      "x; ret; }");
  refuse(".visible .entry k(.param .b8 x[99999999]) { ret; }");
  refuse(".const .b8 x[65537]; .visible .entry k() { ret; }");
  refuse(".visible .entry k() " + std::string(100000, '{'));
  refuse(".global .u32 x = " + std::string(100000, '{'));
  refuse(".global .u32 x = " + std::string(1000000, '-') + ";");
  refuse(".visible .entry k() { mov.b32 " + std::string(100000, '(') + "; }");
  refuse(std::string(100000, '"'));
  refuse("/*");
}

}  // namespace fuzz_test
}  // namespace warpline::ptx::test
