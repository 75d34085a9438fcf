#include <gtest/gtest.h>

#include "platform/config/load_gpu.h"
#include "platform/launch/launch_file.h"
#include "rtl_models/base/random.h"
#include "rtl_models/document/document.h"
#include "tests/support/environment.h"

namespace warpline {
namespace config_fuzz_test {

std::uint64_t mutants() {
  return from_environment("WARPLINE_FUZZ_MUTANTS", 150);
}

/// A slightly damaged copy: bytes changed, dropped, doubled, the end cut off, or a token put in.
std::string mutate(std::string text, std::uint64_t seed) {
  static const std::vector<std::string> kTokens = {
      "[[",    "]]",  "=",    "\"", "{",  "}",  "-1",  "99999999999999999999",
      "1e309", "nan", "true", ",",  "#",  "\n", "[",   "i",
      "(",     ")",   "sum(", "?",  "<<", "0",  "'''", "\\u",
      "\xFF"};
  Random random(seed * 1000);
  const std::uint64_t edits = 1 + random.below(4);
  for (std::uint64_t n = 0; n < edits && !text.empty(); ++n) {
    const std::size_t at = random.below(text.size());
    switch (random.below(6)) {
      case 0: text[at] = static_cast<char>(random.below(256)); break;
      case 1: text.erase(at, 1 + random.below(8)); break;
      case 2: text.insert(at, kTokens[random.below(kTokens.size())]); break;
      case 3: text.insert(at, text.substr(random.below(text.size()), random.below(40))); break;
      case 4: text.resize(at); break;
      default: text.replace(at, 1, kTokens[random.below(kTokens.size())]); break;
    }
  }
  return text;
}

/// Faults come with something to read, and point into the text.
void expect_readable(const Diagnostics& faults, std::uint64_t seed) {
  ASSERT_FALSE(faults.empty()) << "seed " << seed;
  for (const Diagnostic& d : faults) EXPECT_FALSE(d.message.empty()) << "seed " << seed;
}

TEST(ConfigFuzz, MutatedExpressionsGiveAValueOrAFault) {
  const std::vector<std::string> seeds = {"a[i] + b[i] * 2.5 - 1e-3",
                                          "sum(k, 0, 4, a[k] * b[(i + k) % 4]) / 3",
                                          "i & 1 ? max(a[i], b[i]) : -sqrt(abs(a[i]))",
                                          "(i << 3 | 5) ^ ~i >> 2",
                                          "dot(k, 0, i, fma(a[k], 2, 1), 0x1F)",
                                          "!(i == 3) && i <= 7 || i != 2"};
  const std::vector<DataType> types = {DataType::f32, DataType::u8, DataType::s64, DataType::u64,
                                       DataType::f64};
  const std::vector<std::uint8_t> content(4 * 8, 0x3F);
  unsigned compiled = 0;
  for (std::uint64_t m = 0; m < mutants(); ++m) {
    const std::string text = mutate(seeds[m % seeds.size()], m);
    const DataType type = types[m % types.size()];
    Expression e;
    const auto faults = Expression::compile(text, type, {{"a", DataType::f32}, {"b", DataType::u64}}, e);
    for (const ExpressionFault& f : faults) EXPECT_LE(f.offset, text.size()) << "seed " << m;
    if (!faults.empty()) continue;
    ++compiled;
    std::uint64_t out[8] = {};
    const auto fault = e.evaluate({{content.data(), 4}, {content.data(), 4}}, 0, 8, out, 10'000);
    EXPECT_FALSE(fault && fault->message.empty()) << "seed " << m;
  }
  EXPECT_GT(compiled, 0U);  // the mutations are small enough to leave some of them right
}

TEST(ConfigFuzz, MutatedLaunchFilesLoadOrExplain) {
  const std::string text =
      "[[launch]]\ngenerator = \"chase\"\nfootprint = 65536\nstride = 128\naccesses = 1000\n"
      "[[launch]]\nmodule = \"/dev/null\"\nkernel = \"vecadd\"\ngrid = [64, 1, 1]\nblock = [256, 1, "
      "1]\nshared_bytes = 16\n"
      "[[launch.argument]]\nbuffer = \"a\"\ntype = \"f32\"\ncount = 16384\ninit = { iota = { start = 0, step "
      "= 1 } }\n"
      "[[launch.argument]]\nbuffer = \"c\"\ntype = \"u64\"\ncount = 7\naperture = \"sysmem\"\ninit = { "
      "random = { seed = 3 } }\n"
      "expect = { expression = \"a[i] + sum(k, 0, 3, c[k])\", tolerance = { abs = 0.5 } }\n"
      "[[launch.argument]]\nscalar = 16384\ntype = \"u32\"\n[[launch.argument]]\nbytes = \"0102\"\n"
      "[[launch.argument]]\naddress = \"peer[0].SCRATCH[1]\"\n"
      "[[launch.argument]]\nbus = \"c\"\ndevice = \"peer[1]\"\noffset = 8\n"
      "[[launch.host]]\nwait = \"c[3]\"\nat_least = 5\n"
      "[[launch.host]]\nwrite = \"peer[0].bar[4]+0x10\"\ntype = \"u64\"\nvalue = { bus = \"c\" }\n"
      "[[launch.host]]\ninterrupt = \"peer[0].vector[2]\"\n"
      "[[register]]\nname = \"peer[0].ERROR\"\ninit = 1\nexpect = 0\nmask = 3\n"
      "[[symbol]]\nname = \"s\"\ninit = { value = 1 }\n";
  ASSERT_TRUE(parse_launch_file("seed.toml", text).ok());
  unsigned loaded = 0;
  for (std::uint64_t m = 0; m < mutants(); ++m) {
    const auto parsed = parse_launch_file("mutant.toml", mutate(text, m));
    loaded += parsed.ok() ? 1 : 0;
    if (!parsed.ok()) expect_readable(parsed.faults(), m);
  }
  EXPECT_LT(loaded, mutants());
}

TEST(ConfigFuzz, MutatedPresetsLoadOrExplain) {
  for (std::uint64_t m = 0; m < mutants(); ++m) {
    const auto names = preset_names();
    const auto loaded = load_gpu_text("mutant.toml", mutate(preset_text(names[m % names.size()]), m), {});
    if (!loaded.ok()) expect_readable(loaded.faults(), m);
  }
}

TEST(ConfigFuzz, MutatedOverridesLoadOrExplain) {
  const std::vector<std::string> seeds = {"l2.slices=16", "hops.sm_l1_lg.request = { latency = 3 }",
                                          "crossbar.hash_masks=[1, 0x20]", "name=\"x\"",
                                          "pcie.atomic_ops=false"};
  for (std::uint64_t m = 0; m < mutants(); ++m) {
    const auto loaded = load_gpu("mini", {{mutate(seeds[m % seeds.size()], m)}});
    if (!loaded.ok()) expect_readable(loaded.faults(), m);
  }
}

}  // namespace config_fuzz_test
}  // namespace warpline
