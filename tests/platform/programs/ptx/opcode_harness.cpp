#include "tests/platform/programs/ptx/opcode_harness.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstring>

#include "rtl_models/base/random.h"
#include "rtl_models/isa/data_type.h"
#include "tests/platform/programs/ptx/harness.h"

namespace warpline::ptx::test {
namespace {

constexpr std::size_t kCases = 416;

std::string register_type(const std::string& type) {
  if (type == "pred") return "pred";
  return "b" + std::to_string(8 * std::max(2U, size_of(data_type_from(type))));
}

std::string replaced(std::string text, const std::string& what, const std::string& by) {
  for (std::size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += by.size())
    text.replace(at, what.size(), by);
  return text;
}

/// A kernel that loads its sources, executes the form once, and stores the result as 64 bits.
std::string kernel(const Form& f, std::size_t index) {
  const std::array<const char*, 3> names = {"a", "b", "c"};
  std::string s =
      ".visible .entry k" + std::to_string(index) +
      "(.param .u64 in, .param .u64 out)\n{\n.reg .pred %q<4>;\n.reg .b64 %rd<8>;\n.reg .b32 %r<8>;\n";
  std::string instruction = f.text;
  if (instruction.find('$') == std::string::npos) {
    instruction += " $d";
    for (std::size_t i = 0; i < f.sources.size(); ++i) instruction += std::string(", $") + names.at(i);
  }
  s += "mov.u32 %r1, %tid.x;\nmov.u32 %r2, %ctaid.x;\nmad.lo.u32 %r1, %r2, 32, %r1;\n"
       "ld.param.u64 %rd1, [in];\nld.param.u64 %rd2, [out];\nmul.wide.u32 %rd3, %r1, 24;\nadd.s64 %rd1, "
       "%rd1, %rd3;\n"
       "mul.wide.u32 %rd3, %r1, 8;\nadd.s64 %rd2, %rd2, %rd3;\n";
  for (std::size_t i = 0; i < f.sources.size(); ++i) {
    const std::string name = std::string("%") + names.at(i);
    const std::string address = "[%rd1+" + std::to_string(8 * i) + "]";
    s += ".reg ." + register_type(f.sources[i]) + " " + name + ";\n";
    if (f.sources[i] == "pred")
      s += "ld.global.u32 %r3, " + address + ";\nand.b32 %r3, %r3, 1;\nsetp.ne.u32 " + name + ", %r3, 0;\n";
    else
      s += "ld.global." + register_type(f.sources[i]) + " " + name + ", " + address + ";\n";
    instruction = replaced(instruction, std::string("$") + names.at(i), name);
  }
  s += ".reg ." + register_type(f.result) + " %d;\n";
  instruction = replaced(replaced(instruction, "$d", "%d"), "$p", "%q1");
  s += instruction + ";\nmov.u64 %rd4, 0;\n";
  if (f.result == "pred")
    s += "selp.u64 %rd4, 1, 0, %d;\n";
  else
    s += "st.global.u64 [%rd2], %rd4;\nst.global." + register_type(f.result) +
         " [%rd2], %d;\nld.global.u64 %rd4, [%rd2];\n";
  return s + "st.global.u64 [%rd2], %rd4;\nret;\n}\n";
}

std::uint64_t edge(const std::string& type, std::size_t index) {
  const unsigned bits = type == "pred" ? 1 : 8 * size_of(data_type_from(type));
  static const std::array<std::uint32_t, 14> kSingles = {
      0, 0x80000000, 0x3F800000, 0xBF800000, 0x7F800000, 0xFF800000, 0x7FC00000,
      1, 0x807FFFFF, 0x00800000, 0x7F7FFFFF, 0x3F000000, 0x4F000000, 0xC0200000};
  static const std::array<double, 12> kDoubles = {0.0,    -0.0,      1.0,     -1.5, HUGE_VAL,     -HUGE_VAL,
                                                  5e-324, -2.2e-308, 1.7e308, 0.5,  2147483648.5, -9.3e18};
  static const std::array<std::uint16_t, 10> kHalves = {0,      0x8000, 0x3C00, 0xC200, 0x7C00,
                                                        0xFC00, 0x7E00, 1,      0x03FF, 0x7BFF};
  static const std::array<std::uint64_t, 14> kIntegers = {
      0,  1,  ~0ULL,  0x7FFFFFFFFFFFFFFF, 0x8000000000000000, 2,   31, 32,
      33, 64, 0x8000, 0x80000000,         0x7FFFFFFF,         0xFF};
  if (type == "f32") return kSingles[index % kSingles.size()];
  if (type == "f16") return kHalves[index % kHalves.size()];
  if (type == "f64") {
    std::uint64_t b = 0;
    std::memcpy(&b, &kDoubles[index % kDoubles.size()], 8);
    return b;
  }
  const std::uint64_t v = kIntegers[index % kIntegers.size()];
  // The type's own extremes, at its width.
  if (v == 0x8000000000000000) return std::uint64_t{1} << (bits - 1);
  if (v == 0x7FFFFFFFFFFFFFFF) return low(~0ULL, bits - (bits > 1 ? 1 : 0));
  return low(v, bits);
}

std::uint64_t random_value(const std::string& type, Random& random) {
  const std::uint64_t x = random.next();
  if (type == "f32" && random.below(2) == 0) {  // mostly of a size that meets its partner
    const float f = (static_cast<float>(x >> 40U) / 65536.0F - 128.0F) * static_cast<float>(1 << (x & 7U));
    std::uint32_t b = 0;
    std::memcpy(&b, &f, 4);
    return b;
  }
  if (type == "f64" && random.below(2) == 0) {
    const double f = static_cast<double>(x >> 11U) / 35184372088832.0 - 128.0;
    std::uint64_t b = 0;
    std::memcpy(&b, &f, 8);
    return b;
  }
  return type == "pred" ? x & 1U
                        : low(random.below(3) == 0 ? x >> (x & 63U) : x, 8 * size_of(data_type_from(type)));
}

bool same(std::uint64_t got, std::uint64_t want, const std::string& type) {
  if (got == want) return true;
  const auto nan32 = [](std::uint64_t x) { return (x & 0x7FFFFFFFU) > 0x7F800000U; };
  const auto nan64 = [](std::uint64_t x) { return (x & 0x7FFFFFFFFFFFFFFFU) > 0x7FF0000000000000U; };
  const auto nan16 = [](std::uint64_t x) { return (x & 0x7FFFU) > 0x7C00U; };
  if (type == "f32") return nan32(got) && nan32(want);
  if (type == "f64") return nan64(got) && nan64(want);
  return type == "f16" && nan16(got) && nan16(want);
}

}  // namespace

void check_forms(const std::vector<Form>& forms, std::uint64_t seed, const std::string& language) {
  std::string text = language + ".address_size 64\n";
  for (std::size_t i = 0; i < forms.size(); ++i) text += kernel(forms[i], i);
  Machine machine(seed);
  machine.load(text);
  Random random(seed);
  for (std::size_t i = 0; i < forms.size(); ++i) {
    const Form& f = forms[i];
    std::vector<std::uint64_t> in(3 * kCases);
    for (std::size_t k = 0; k < kCases; ++k)
      for (std::size_t s = 0; s < f.sources.size(); ++s)
        in[3 * k + s] = k < 196 ? edge(f.sources[s], s == 0   ? k / 14
                                                     : s == 1 ? k
                                                              : random.below(14))
                                : random_value(f.sources[s], random);
    const auto p = machine.buffer(in);
    const auto out = machine.buffer(std::vector<std::uint64_t>(kCases));
    machine.launch("k" + std::to_string(i), {kCases / 32, 1, 1}, {32, 1, 1}, 0, p, out);
    const auto got = machine.read<std::uint64_t>(out, kCases);
    int shown = 0;
    for (std::size_t k = 0; k < kCases && shown < 3; ++k) {
      const std::uint64_t want = f.oracle(in[3 * k], in[3 * k + 1], in[3 * k + 2]);
      if (same(got[k], want, f.result)) continue;
      ++shown;
      ADD_FAILURE() << f.text << std::hex << " of " << in[3 * k] << ", " << in[3 * k + 1] << ", "
                    << in[3 * k + 2] << " gives " << got[k] << ", not " << want << std::dec << " (seed "
                    << seed << ")";
    }
  }
}

}  // namespace warpline::ptx::test
