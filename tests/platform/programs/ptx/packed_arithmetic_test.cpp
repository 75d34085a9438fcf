// Narrow and packed conversions, arithmetic on pairs, video instructions and float reductions, against
// oracles that search or count.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "tests/platform/programs/ptx/harness.h"
#include "tests/platform/programs/ptx/opcode_harness.h"

namespace warpline::ptx::test {
namespace packed_arithmetic_test {

using U64 = std::uint64_t;
constexpr char kLatest[] = ".version 9.0\n.target sm_100a\n";

float f32(U64 bits) {
  const auto word = static_cast<std::uint32_t>(bits);
  float f = 0;
  std::memcpy(&f, &word, 4);
  return f;
}
U64 bits(float f) {
  std::uint32_t b = 0;
  std::memcpy(&b, &f, 4);
  return b;
}

/// A format by its fields; `kind`: 'i' has infinities, 'n' NaN only, 'f' finite numbers only.
struct Format {
  const char* name;
  unsigned mantissa, exponent;
  int bias;
  char kind;
  [[nodiscard]] unsigned sign() const { return 1U << (mantissa + exponent); }
};
constexpr Format kF16 = {"f16", 10, 5, 15, 'i'};
constexpr Format kBf16 = {"bf16", 7, 8, 127, 'i'};
constexpr Format kNarrow[] = {{"e4m3", 3, 4, 7, 'n'},
                              {"e5m2", 2, 5, 15, 'i'},
                              {"e2m3", 3, 2, 1, 'f'},
                              {"e3m2", 2, 3, 3, 'f'},
                              {"e2m1", 1, 2, 1, 'f'}};

double value(const Format& f, U64 code) {
  const U64 c = code & (f.sign() - 1);
  const U64 m = c & ((U64{1} << f.mantissa) - 1);
  const auto e = static_cast<int>(c >> f.mantissa);
  const int top = (1 << f.exponent) - 1;
  double x = std::ldexp(static_cast<double>(m) + (e == 0 ? 0 : std::ldexp(1.0, static_cast<int>(f.mantissa))),
                        std::max(e, 1) - f.bias - static_cast<int>(f.mantissa));
  if (f.kind == 'i' && e == top) x = m == 0 ? HUGE_VAL : std::nan("");
  if (f.kind == 'n' && c == f.sign() - 1) x = std::nan("");
  return (code & f.sign()) != 0 ? -x : x;
}
unsigned largest(const Format& f) {
  const unsigned all = f.sign() - 1;
  return f.kind == 'f' ? all : f.kind == 'n' ? all - 1 : all - (1U << f.mantissa);
}

/// `x` in `f` by bisection among all its codes. mode: 'n' nearest, 'z' toward zero; `finite`: .satfinite.
U64 code_of(double x, const Format& f, char mode = 'n', bool finite = false, bool relu = false) {
  if (std::isnan(x)) return f.kind == 'f' ? largest(f) : f.sign() - 1;
  if (relu && std::signbit(x)) return 0;
  const U64 sign = std::signbit(x) ? f.sign() : 0;
  const double m = std::fabs(x);
  const U64 beyond = finite || f.kind == 'f' ? largest(f) : largest(f) + 1;
  if (std::isinf(x)) return sign | beyond;
  U64 low = 0;
  U64 high = largest(f);
  while (low < high) {
    const U64 middle = (low + high + 1) / 2;
    if (value(f, middle) <= m)
      low = middle;
    else
      high = middle - 1;
  }
  const double below = value(f, low);
  const double step = low == largest(f) ? below - value(f, low - 1) : value(f, low + 1) - below;
  const double half = below + step / 2;
  const bool away = mode == 'n' && (m > half || (m == half && (low & 1U) != 0));
  if (!away) return sign | low;
  return sign | (low == largest(f) ? beyond : low + 1);
}

std::string replaced(std::string s, const std::string& what, const std::string& by) {
  for (std::size_t at = 0; (at = s.find(what, at)) != std::string::npos; at += by.size())
    s.replace(at, what.size(), by);
  return s;
}

TEST(PtxPacked, NarrowFloatsFromSingles) {
  std::vector<Form> forms;
  for (const Format& f : kNarrow)
    for (const bool relu : {false, true}) {
      const unsigned slot = f.mantissa == 1 ? 4 : 8;
      const std::string name = std::string("cvt.rn.satfinite.") + (relu ? "relu." : "") + f.name + "x2.f32";
      const std::string text =
          slot == 4 ? "{ .reg .b8 t; " + name + " t, $a, $b; cvt.u16.u8 $d, t; }" : name + " $d, $a, $b";
      forms.push_back({text, "b16", {"f32", "f32"}, [=](U64 a, U64 b, U64) {
                         const auto one = [&](U64 x) {
                           return code_of(static_cast<double>(f32(x)), f, 'n', true, relu);
                         };
                         return one(a) << slot | one(b);
                       }});
      // Four at a time are rounded by chance; without random bits that is toward zero.
      const std::string four = std::string("{ .reg .b32 none; mov.b32 none, 0; cvt.rs.satfinite.") +
                               (relu ? "relu." : "") + f.name + "x4.f32 $d, {$a, $b, $b, $a}, none; }";
      forms.push_back({four, slot == 4 ? "b16" : "b32", {"f32", "f32"}, [=](U64 a, U64 b, U64) {
                         const auto one = [&](U64 x) {
                           return code_of(static_cast<double>(f32(x)), f, 'z', true, relu);
                         };
                         return ((one(a) << slot | one(b)) << slot | one(b)) << slot | one(a);
                       }});
    }
  for (const bool up : {false, true})
    for (const bool finite : {false, true})
      forms.push_back(
          {std::string("cvt.") + (up ? "rp." : "rz.") + (finite ? "satfinite." : "") + "ue8m0x2.f32",
           "b16",
           {"f32", "f32"},
           [=](U64 a, U64 b, U64) {
             const auto one = [&](U64 x) -> U64 {
               const double m = std::fabs(static_cast<double>(f32(x)));
               if (std::isnan(m)) return 0xFF;
               U64 k = 0;  // the last power of two that is not above, or the first not below
               while (k < 0xFF && (up ? std::ldexp(1.0, static_cast<int>(k) - 127) < m
                                      : std::ldexp(1.0, static_cast<int>(k) - 126) <= m))
                 ++k;
               return finite ? std::min<U64>(k, 0xFE) : k;
             };
             return one(a) << 8U | one(b);
           }});
  check_forms(forms, 31, kLatest);
}

TEST(PtxPacked, RandomBitsOfEachElement) {
  std::vector<Form> forms;
  // 1 + n / 2^k with one bit of chance missing: which random bits an element gets is seen one by one.
  const auto chance = [](const Format& f, unsigned count) {
    return [=](U64 x, U64 random) {
      const double v = static_cast<double>(f32(x));
      if (!std::isfinite(v)) return code_of(v, f);
      const U64 cut = code_of(v, f, 'z');
      if (value(f, cut) == v || (cut & (f.sign() - 1)) == largest(f)) return cut;
      const double rest = (std::fabs(v) - std::fabs(value(f, cut))) /
                          (std::fabs(value(f, cut + 1)) - std::fabs(value(f, cut)));
      return cut + (rest + std::ldexp(static_cast<double>(random), -static_cast<int>(count)) >= 1 ? 1 : 0);
    };
  };
  for (const Format& f : {kF16, kBf16}) {
    const unsigned count = f.mantissa == 10 ? 13 : 16;
    const auto one = chance(f, count);
    forms.push_back({std::string("cvt.rs.satfinite.") + f.name + "x2.f32",
                     "b32",
                     {"f32", "f32", "b32"},
                     [=](U64 a, U64 b, U64 c) {
                       const auto bounded = [&](U64 x, U64 r) {
                         const U64 code = one(x, r);
                         const bool over = (code & (f.sign() - 1)) > largest(f) && !std::isnan(f32(x));
                         return over ? (code & f.sign()) | largest(f) : code;
                       };
                       const U64 mask = (U64{1} << count) - 1;
                       return bounded(a, (c >> 16U) & mask) << 16U | bounded(b, c & mask);
                     }});
  }
  for (const Format& f : kNarrow) {
    const unsigned slot = f.mantissa == 1 ? 4 : 8;
    const auto one = chance(f, 16);
    forms.push_back({std::string("cvt.rs.satfinite.") + f.name + "x4.f32 $d, {$a, $b, $b, $a}, $c",
                     slot == 4 ? "b16" : "b32",
                     {"f32", "f32", "b32"},
                     [=](U64 a, U64 b, U64 c) {
                       const auto bounded = [&](U64 x, U64 r) -> U64 {
                         const double v = static_cast<double>(f32(x));
                         return std::isfinite(v) && std::fabs(v) < value(f, largest(f))
                                    ? one(x, r)
                                    : code_of(v, f, 'z', true);
                       };
                       const U64 high = slot == 4 ? (c >> 24U) << 8U | ((c >> 8U) & 0xFFU) : c >> 16U;
                       const U64 lower = slot == 4 ? ((c >> 16U) & 0xFFU) << 8U | (c & 0xFFU) : c & 0xFFFFU;
                       return ((bounded(a, high) << slot | bounded(b, high)) << slot | bounded(b, lower))
                                  << slot |
                              bounded(a, lower);
                     }});
  }
  check_forms(forms, 32, kLatest);
}

/// One kernel over all values of 16 bits: `body` makes %r2 of %h1, which holds the thread's number.
std::vector<std::uint32_t> for_all_16(const std::string& body) {
  Machine machine(7);
  machine.load(
      std::string(kLatest) +
      ".address_size 64\n.visible .entry k(.param .u64 out)\n{\n.reg .b64 %rd<4>;\n.reg .b32 %r<9>;\n"
      ".reg .b16 %h<4>;\n.reg .b8 %b<4>;\nmov.u32 %r1, %ctaid.x;\nmov.u32 %r3, %tid.x;\n"
      "mad.lo.u32 %r1, %r1, 1024, %r3;\nld.param.u64 %rd1, [out];\nmul.wide.u32 %rd2, %r1, 4;\n"
      "add.u64 %rd1, %rd1, %rd2;\ncvt.u16.u32 %h1, %r1;\nxor.b32 %r4, %r1, 0x5A5A;\nshl.b32 %r4, %r4, "
      "16;\nor.b32 %r4, %r4, %r1;\n" +
      body + "\nst.global.u32 [%rd1], %r2;\nret;\n}\n");
  const auto out = machine.buffer(std::vector<std::uint32_t>(65536));
  machine.launch("k", {64, 1, 1}, {1024, 1, 1}, 0, out);
  return machine.read<std::uint32_t>(out, 65536);
}

TEST(PtxPacked, EveryPairOfNarrowFloatsIsWidened) {
  for (const Format& f : kNarrow) {
    const bool nibbles = f.mantissa == 1;
    const std::string from = std::string(f.name) + "x2";
    const auto got = for_all_16(nibbles ? "mov.b16 {%b1, %b2}, %h1;\ncvt.rn.f16x2." + from + " %r2, %b1;"
                                        : "cvt.rn.f16x2." + from + " %r2, %h1;");
    const U64 mask = 2 * f.sign() - 1;
    for (U64 n = 0; n < 65536; ++n) {
      const U64 high = nibbles ? (n >> 4U) & 15U : (n >> 8U) & mask;
      const U64 low_part = nibbles ? n & 15U : n & mask;
      ASSERT_EQ(got[n], code_of(value(f, high), kF16) << 16U | code_of(value(f, low_part), kF16))
          << f.name << n;
    }
  }
  const auto scales = for_all_16("cvt.rn.bf16x2.ue8m0x2 %r2, %h1;");
  const auto scale = [](U64 b) -> U64 { return b == 0xFF ? 0x7FFF : b == 0 ? 0x40 : b << 7U; };
  for (U64 n = 0; n < 65536; ++n) ASSERT_EQ(scales[n], scale(n >> 8U) << 16U | scale(n & 0xFFU)) << n;
}

TEST(PtxPacked, EveryPairOfHalvesIsNarrowed) {
  for (const Format& f : {kNarrow[0], kNarrow[1]})
    for (const bool relu : {false, true}) {
      const auto got = for_all_16(std::string("cvt.rn.satfinite.") + (relu ? "relu." : "") + f.name +
                                  "x2.f16x2 %h2, %r4;\ncvt.u32.u16 %r2, %h2;");
      const auto one = [&](U64 h) { return code_of(value(kF16, h), f, 'n', true, relu); };
      for (U64 n = 0; n < 65536; ++n) ASSERT_EQ(got[n], one(n ^ 0x5A5AU) << 8U | one(n)) << f.name << n;
    }
  const auto up = for_all_16("cvt.rp.satfinite.ue8m0x2.bf16x2 %h2, %r4;\ncvt.u32.u16 %r2, %h2;");
  const auto one = [](U64 h) -> U64 {
    const double m = std::fabs(value(kBf16, h));
    if (std::isnan(m)) return 0xFF;
    U64 k = 0;
    while (k < 0xFE && std::ldexp(1.0, static_cast<int>(k) - 127) < m) ++k;
    return k;
  };
  for (U64 n = 0; n < 65536; ++n) ASSERT_EQ(up[n], one(n ^ 0x5A5AU) << 8U | one(n)) << n;
}

TEST(PtxPacked, TensorFloats) {
  std::vector<Form> forms;
  for (const std::string rounding : {"rn", "rz", "rna"})
    for (const bool relu : {false, true})
      for (const bool finite : {false, true}) {
        if (relu && rounding == "rna") continue;
        forms.push_back(
            {"cvt." + rounding + (relu ? ".relu" : "") + (finite ? ".satfinite" : "") + ".tf32.f32",
             "f32",
             {"f32"},
             [=](U64 a, U64, U64) -> U64 {
               const double x = static_cast<double>(f32(a));
               if (std::isnan(x)) return 0x7FFFFFFF;
               if (relu && std::signbit(x)) return 0;
               const U64 sign = a & 0x80000000U;
               if (std::isinf(x)) return finite ? sign | 0x7F7FE000 : a;
               const U64 below = a & 0x7FFFE000U;  // the two candidates
               const U64 above = below + 0x2000;
               const U64 rest = a & 0x1FFFU;
               const bool tie = rest == 0x1000;
               const bool away = rounding == "rz" ? false
                                 : tie            ? rounding == "rna" || (below & 0x2000U) != 0
                                                  : rest > 0x1000;
               const U64 r = away ? above : below;
               return sign | (finite && r >= 0x7F800000 ? U64{0x7F7FE000} : r);
             }});
      }
  check_forms(forms, 33, kLatest);
}

TEST(PtxPacked, PackedIntegers) {
  std::vector<Form> forms;
  for (const unsigned width : {2U, 4U, 8U, 16U})
    for (const bool is_signed : {false, true}) {
      const std::string type = (is_signed ? "s" : "u") + std::to_string(width);
      const std::string text = "cvt.pack.sat." + type + (width == 16 ? ".s32" : ".s32.b32");
      std::vector<std::string> sources = {"s32", "s32"};
      if (width != 16) sources.emplace_back("b32");
      forms.push_back({text, "b32", sources, [=](U64 a, U64 b, U64 c) {
                         const auto one = [&](U64 x) {
                           const std::int64_t least = is_signed ? -(std::int64_t{1} << (width - 1)) : 0;
                           const std::int64_t most = (std::int64_t{1} << (width - (is_signed ? 1 : 0))) - 1;
                           const std::int64_t v = std::min(std::max(signed_low(x, 32), least), most);
                           return low(static_cast<U64>(v), width);
                         };
                         const U64 pair = one(a) << width | one(b);
                         return width == 16 ? pair : low(c << (2 * width) | pair, 32);
                       }});
    }
  check_forms(forms, 34);
}

/// Both halves of `a`, `b`, `c` through `each`.
template <class F>
auto pairwise(F each) {
  return [each](U64 a, U64 b, U64 c) {
    return each(a & 0xFFFFU, b & 0xFFFFU, c & 0xFFFFU) |
           each((a >> 16U) & 0xFFFFU, (b >> 16U) & 0xFFFFU, (c >> 16U) & 0xFFFFU) << 16U;
  };
}

TEST(PtxPacked, HalvesAndBrainsInPairs) {
  std::vector<Form> forms;
  for (const Format& f : {kF16, kBf16}) {
    const std::string t = std::string(".") + f.name + "x2";
    const std::vector<std::string> two = {"b32", "b32"};
    const std::vector<std::string> three = {"b32", "b32", "b32"};
    // A product is exact in a long double, and its sum with a half is close enough to round as the exact one.
    const auto fused = [f](U64 a, U64 b, U64 c, bool relu) {
      const long double exact =
          static_cast<long double>(value(f, a)) * value(f, b) + static_cast<long double>(value(f, c));
      auto d = static_cast<double>(exact);
      if (std::isfinite(d) && static_cast<long double>(d) != exact) {
        // Off the double's grid: nudge so that no tie of the narrow format is made of what is none.
        const double other = std::nextafter(d, exact > d ? HUGE_VAL : -HUGE_VAL);
        std::uint64_t even = 0;
        std::memcpy(&even, &d, 8);
        if ((even & 1U) == 0) d = other;
      }
      return code_of(d, f, 'n', false, relu);
    };
    forms.push_back({"add.rn" + t, "b32", two,
                     pairwise([=](U64 a, U64 b, U64) { return fused(a, code_of(1, f), b, false); })});
    forms.push_back({"sub.rn" + t, "b32", two,
                     pairwise([=](U64 a, U64 b, U64) { return code_of(value(f, a) - value(f, b), f); })});
    forms.push_back({"mul.rn" + t, "b32", two,
                     pairwise([=](U64 a, U64 b, U64) { return code_of(value(f, a) * value(f, b), f); })});
    forms.push_back({"fma.rn.relu" + t, "b32", three,
                     pairwise([=](U64 a, U64 b, U64 c) { return fused(a, b, c, true); })});
    forms.push_back({"fma.rn.oob" + t, "b32", three, pairwise([=](U64 a, U64 b, U64 c) {
                       return a == 0x7FF7 || b == 0x7FF7 ? 0 : fused(a, b, c, false);
                     })});
    forms.push_back({"{ .reg .b32 o; mov.b32 o, 0x7FF77FF7; fma.rn.oob" + t + " $d, $a, o, $c; }", "b32",
                     three, [](U64, U64, U64) { return U64{0}; }});
    for (const bool high : {false, true})
      for (const bool strict : {false, true})
        for (const bool signs : {false, true})
          forms.push_back(
              {std::string(high ? "max" : "min") + (strict ? ".NaN" : "") + (signs ? ".xorsign.abs" : "") + t,
               "b32", two, pairwise([=](U64 a, U64 b, U64) -> U64 {
                 const U64 sign = signs ? (a ^ b) & 0x8000U : 0;
                 const U64 x = signs ? a & 0x7FFFU : a;
                 const U64 y = signs ? b & 0x7FFFU : b;
                 const bool nan_x = std::isnan(value(f, x));
                 const bool nan_y = std::isnan(value(f, y));
                 if ((nan_x && nan_y) || (strict && (nan_x || nan_y))) return 0x7FFF;
                 if (nan_x || nan_y) return (nan_x ? y : x) | sign;
                 const auto rank = [&](U64 v) {  // -0 below +0
                   return (v & 0x8000U) != 0 ? -static_cast<int>(v & 0x7FFFU) - 1 : static_cast<int>(v);
                 };
                 return ((rank(x) < rank(y)) == high ? y : x) | sign;
               })});
    const auto unless_nan = [f](U64 x, U64 r) -> U64 { return std::isnan(value(f, x)) ? 0x7FFF : r; };
    forms.push_back(
        {"neg" + t, "b32", {"b32"}, pairwise([=](U64 a, U64, U64) { return unless_nan(a, a ^ 0x8000U); })});
    forms.push_back(
        {"abs" + t, "b32", {"b32"}, pairwise([=](U64 a, U64, U64) { return unless_nan(a, a & 0x7FFFU); })});
    forms.push_back(
        {"setp.lt.and" + t + " $d|$p, $a, $b, $c", "pred", {"b32", "b32", "pred"}, [=](U64 a, U64 b, U64 c) {
           return c != 0 && value(f, a & 0xFFFFU) < value(f, b & 0xFFFFU) ? U64{1} : U64{0};
         }});
    forms.push_back(
        {"setp.geu.or" + t + " $p|$d, $a, $b, $c", "pred", {"b32", "b32", "pred"}, [=](U64 a, U64 b, U64 c) {
           return c != 0 || !(value(f, a >> 16U) < value(f, b >> 16U)) ? U64{1} : U64{0};
         }});
    forms.push_back({"ex2.approx" + std::string(f.mantissa == 7 ? ".ftz" : "") + t,
                     "b32",
                     {"b32"},
                     pairwise([=](U64 a, U64, U64) {
                       const auto flushed = [&](U64 x) {
                         return f.mantissa == 7 && (x & 0x7F80U) == 0 ? x & 0x8000U : x;
                       };
                       return flushed(code_of(std::exp2(value(f, flushed(a))), f));
                     })});
    forms.push_back({"tanh.approx" + t, "b32", {"b32"}, pairwise([=](U64 a, U64, U64) {
                       return code_of(std::tanh(value(f, a)), f);
                     })});
    const std::string narrow = std::string(f.name);
    forms.push_back({"add.f32." + narrow, "f32", {"b16", "f32"}, [=](U64 a, U64 c, U64) {
                       return bits(static_cast<float>(value(f, a)) + f32(c));
                     }});
    forms.push_back({"sub.sat.f32." + narrow, "f32", {"b16", "f32"}, [=](U64 a, U64 c, U64) {
                       const float r = static_cast<float>(value(f, a)) - f32(c);
                       return bits(std::isnan(r) || r <= 0 ? 0.0F : std::min(r, 1.0F));
                     }});
    forms.push_back(
        {"fma.rn.f32." + narrow, "f32", {"b16", "b16", "f32"}, [=](U64 a, U64 b, U64 c) {
           return bits(std::fma(static_cast<float>(value(f, a)), static_cast<float>(value(f, b)), f32(c)));
         }});
  }
  check_forms(forms, 35, kLatest);
}

TEST(PtxPacked, PairsOfSinglesAndOfShorts) {
  std::vector<Form> forms;
  const auto both = [](auto each) {
    return [each](U64 a, U64 b, U64 c) {
      return bits(each(f32(a), f32(b), f32(c))) | bits(each(f32(a >> 32U), f32(b >> 32U), f32(c >> 32U)))
                                                      << 32U;
    };
  };
  const auto canonical = [](float x) { return std::isnan(x) ? f32(0x7FFFFFFF) : x; };
  const std::vector<std::string> two = {"b64", "b64"};
  const std::vector<std::string> three = {"b64", "b64", "b64"};
  forms.push_back(
      {"add.rn.f32x2", "b64", two, both([=](float a, float b, float) { return canonical(a + b); })});
  forms.push_back({"sub.f32x2", "b64", two, both([=](float a, float b, float) { return canonical(a - b); })});
  forms.push_back({"mul.f32x2", "b64", two, both([=](float a, float b, float) { return canonical(a * b); })});
  forms.push_back({"fma.rn.f32x2", "b64", three,
                   both([=](float a, float b, float c) { return canonical(std::fma(a, b, c)); })});
  for (const bool is_signed : {false, true}) {
    const std::string t = is_signed ? ".s16x2" : ".u16x2";
    const auto part = [is_signed](U64 x) {
      return is_signed ? signed_low(x, 16) : static_cast<std::int64_t>(x);
    };
    const std::vector<std::string> words = {"b32", "b32"};
    forms.push_back({"add" + t, "b32", words, pairwise([](U64 a, U64 b, U64) { return (a + b) & 0xFFFFU; })});
    for (const bool relu : {false, true}) {
      if (relu && !is_signed) continue;
      const std::string r = relu ? ".relu" : "";
      const auto take = [=](std::int64_t x) {
        return low(static_cast<U64>(relu ? std::max<std::int64_t>(x, 0) : x), 16);
      };
      forms.push_back({"min" + r + t, "b32", words,
                       pairwise([=](U64 a, U64 b, U64) { return take(std::min(part(a), part(b))); })});
      forms.push_back({"max" + r + t, "b32", words,
                       pairwise([=](U64 a, U64 b, U64) { return take(std::max(part(a), part(b))); })});
    }
  }
  const auto three_way = [](float a, float b, float c, bool high, bool strict, bool abs) {
    float best = std::nanf("");
    for (float x : {a, b, c}) {
      if (strict && std::isnan(x)) return x;
      if (abs) x = std::fabs(x);
      const bool better = std::isnan(best) || (high ? x > best : x < best) ||
                          (x == best && std::signbit(best) == high && std::signbit(x) != high);
      if (!std::isnan(x) && better) best = x;
    }
    return best;
  };
  for (const bool high : {false, true})
    for (const bool strict : {false, true})
      for (const bool abs : {false, true})
        forms.push_back(
            {std::string(high ? "max" : "min") + (strict ? ".NaN" : "") + (abs ? ".abs" : "") + ".f32",
             "f32",
             {"f32", "f32", "f32"},
             [=](U64 a, U64 b, U64 c) {
               return bits(three_way(f32(a), f32(b), f32(c), high, strict, abs));
             }});
  for (const bool disjunction : {false, true})
    forms.push_back({std::string("lop3.") + (disjunction ? "or" : "and") + ".b32 _|$d, $a, $b, $b, 0x6C, !$c",
                     "pred",
                     {"b32", "b32", "pred"},
                     [=](U64 a, U64 b, U64 c) {
                       bool any = false;
                       for (unsigned k = 0; k < 32; ++k) {
                         const U64 index = ((a >> k) & 1U) << 2U | ((b >> k) & 1U) * 3;
                         any = any || ((0x6CU >> index) & 1U) != 0;
                       }
                       return (disjunction ? any || c == 0 : any && c == 0) ? U64{1} : U64{0};
                     }});
  forms.push_back(
      {"mad24.hi.sat.s32", "s32", {"s32", "s32", "s32"}, [](U64 a, U64 b, U64 c) {
         const std::int64_t p = (signed_low(a, 24) * signed_low(b, 24)) >> 16;
         const std::int64_t s = signed_low(static_cast<U64>(p), 32) + signed_low(c, 32);
         return low(static_cast<U64>(std::clamp<std::int64_t>(s, std::numeric_limits<std::int32_t>::min(),
                                                              std::numeric_limits<std::int32_t>::max())),
                    32);
       }});
  check_forms(forms, 36, kLatest);
}

// --- video --------------------------------------------------------------------------------------------

struct Selector {
  const char* text;
  unsigned shift, width;
};
constexpr Selector kParts[] = {{"", 0, 32}, {".b0", 0, 8}, {".b3", 24, 8}, {".h1", 16, 16}};

std::int64_t extended(U64 x, unsigned width, bool is_signed) {
  return is_signed ? signed_low(x, width) : static_cast<std::int64_t>(low(x, width));
}
std::int64_t bounded(std::int64_t x, unsigned width, bool is_signed) {
  const std::int64_t least = is_signed ? -(std::int64_t{1} << (width - 1)) : 0;
  const std::int64_t most = (std::int64_t{1} << (width - (is_signed ? 1U : 0U))) - 1;
  return x < least ? least : x > most ? most : x;
}

TEST(PtxVideo, Scalars) {
  using I = std::int64_t;
  std::vector<Form> forms;
  const std::vector<std::pair<std::string, I (*)(I, I)>> operations = {
      {"vadd", [](I a, I b) { return a + b; }},
      {"vsub", [](I a, I b) { return a - b; }},
      {"vabsdiff", [](I a, I b) { return a > b ? a - b : b - a; }},
      {"vmin", [](I a, I b) { return a < b ? a : b; }},
      {"vmax", [](I a, I b) { return a < b ? b : a; }}};
  unsigned n = 0;
  for (const auto& [name, apply] : operations)
    for (unsigned mix = 0; mix < 16; ++mix, ++n) {
      const bool sd = (mix & 1U) != 0, sa = (mix & 2U) != 0, sb = (mix & 4U) != 0, sat = (mix & 8U) != 0;
      const Selector a = kParts[n % 4], b = kParts[(n / 4 + n) % 4];
      const auto sign = [](bool s) { return std::string(s ? ".s32" : ".u32"); };
      const std::string head = name + sign(sd) + sign(sa) + sign(sb) + (sat ? ".sat" : "");
      const std::string sources = std::string("$a") + a.text + ", $b" + b.text;
      const auto result = [=, f = apply](U64 x, U64 y, unsigned width) {
        const I t = f(extended(x >> a.shift, a.width, sa), extended(y >> b.shift, b.width, sb));
        return sat ? bounded(t, width, sd) : t;
      };
      const Selector d = kParts[1 + n % 3];
      switch (n % 3) {
        case 0:
          forms.push_back({head + " $d, " + sources, "b32", {"b32", "b32"}, [=](U64 x, U64 y, U64) {
                             return low(static_cast<U64>(result(x, y, 32)), 32);
                           }});
          break;
        case 1:
          forms.push_back({head + " $d" + d.text + ", " + sources + ", $c; mov.b32 $d, $d",
                           "b32",
                           {"b32", "b32", "b32"},
                           [=](U64 x, U64 y, U64 z) {
                             const U64 mask = low(~U64{0}, d.width) << d.shift;
                             return ((static_cast<U64>(result(x, y, d.width)) << d.shift) & mask) |
                                    (z & ~mask);
                           }});
          break;
        default: {
          const std::string second = n % 2 == 0 ? ".add" : n % 5 < 2 ? ".min" : ".max";
          forms.push_back(
              {head + second + " $d, " + sources + ", $c",
               "b32",
               {"b32", "b32", "b32"},
               [=](U64 x, U64 y, U64 z) {
                 const I t = result(x, y, 32);
                 const I c = extended(z, 32, sd);
                 const I r = second == ".add" ? t + c : second == ".min" ? std::min(t, c) : std::max(t, c);
                 return low(static_cast<U64>(r), 32);
               }});
        }
      }
    }
  for (const bool left : {false, true})
    for (const bool wrap : {false, true})
      for (const bool sa : {false, true})
        forms.push_back({std::string(left ? "vshl" : "vshr") + (sa ? ".s32.s32" : ".u32.u32") + ".u32.sat" +
                             (wrap ? ".wrap" : ".clamp") + " $d, $a.h1, $b.b0",
                         "b32",
                         {"b32", "b32"},
                         [=](U64 x, U64 y, U64) {
                           const U64 by = wrap ? y & 31U : std::min<U64>(y & 0xFFU, 32);
                           const I a = extended(x >> 16U, 16, sa);
                           return low(static_cast<U64>(bounded(left ? a * (I{1} << by) : a >> by, 32, sa)),
                                      32);
                         }});
  for (const bool sa : {false, true})
    for (const std::string scale : {"", ".shr7", ".shr15"})
      for (const std::string form : {"$a.h1, $b", "$a.h1, -$b", "-$a.h1, -$b", "po", "c"}) {
        const bool plus = form == "po", minus_c = form == "c";
        const std::string operands =
            (plus || minus_c ? "$a.h1, $b" : form) + std::string(minus_c ? ", -$c" : ", $c");
        const bool negated = form == "$a.h1, -$b";
        forms.push_back({std::string("vmad.s32") + (sa ? ".s32" : ".u32") + ".u32" + (plus ? ".po" : "") +
                             ".sat" + scale + " $d, " + operands,
                         "b32",
                         {"b32", "b32", "b32"},
                         [=](U64 x, U64 y, U64 z) {
                           const bool sign = sa || negated || minus_c;
                           const I product = extended(x >> 16U, 16, sa) * extended(y, 32, false);
                           const I c = minus_c ? extended(~z, 32, sign) + 1 : extended(z, 32, sign);
                           const I t = ((negated ? -product : product) + c + (plus ? 1 : 0)) >>
                                       (scale.empty()      ? 0
                                        : scale == ".shr7" ? 7
                                                           : 15);
                           return low(static_cast<U64>(bounded(t, 32, sign)), 32);
                         }});
      }
  forms.push_back(
      {"vset.s32.u32.lt.add $d, $a.b3, $b, $c", "b32", {"b32", "b32", "b32"}, [](U64 x, U64 y, U64 z) {
         return low(z + (extended(x >> 24U, 8, true) < extended(y, 32, false) ? 1 : 0), 32);
       }});
  check_forms(forms, 37);
}

TEST(PtxVideo, Elements) {
  using I = std::int64_t;
  std::vector<Form> forms;
  const std::vector<std::pair<std::string, I (*)(I, I)>> operations = {
      {"vadd", [](I a, I b) { return a + b; }},
      {"vsub", [](I a, I b) { return a - b; }},
      {"vavrg",
       [](I a, I b) {
         return a + b >= 0 ? (a + b + 1) / 2 : static_cast<I>(std::floor(static_cast<double>(a + b) / 2));
       }},
      {"vabsdiff", [](I a, I b) { return a > b ? a - b : b - a; }},
      {"vmin", [](I a, I b) { return a < b ? a : b; }},
      {"vmax", [](I a, I b) { return a < b ? b : a; }},
      {"vset", [](I a, I b) { return I{a > b ? 1 : 0}; }}};
  unsigned n = 0;
  for (const auto& [name, apply] : operations)
    for (const unsigned count : {2U, 4U})
      for (unsigned mix = 0; mix < 8; ++mix, ++n) {
        const bool compares = name == "vset";
        const bool sa = (mix & 1U) != 0, sb = (mix & 2U) != 0, add = (mix & 4U) != 0;
        const bool sd = !compares && (n & 1U) != 0, sat = !compares && !add && n % 3 != 0;
        const unsigned width = 32 / count;
        const std::string letter = count == 2 ? ".h" : ".b";
        // Elements as their selectors name them, the lowest last.
        const std::string pick_a = n % 2 == 0 ? "" : count == 2 ? "21" : "7306";
        const std::string pick_b = n % 3 == 0 ? "" : count == 2 ? "03" : "1425";
        const std::string mask = n % 4 == 0   ? ""
                                 : count == 2 ? (n % 4 == 1 ? "0" : "1")
                                              : (n % 4 == 1 ? "310" : "20");
        const auto sign = [](bool s) { return std::string(s ? ".s32" : ".u32"); };
        const auto with = [&](const std::string& s) { return s.empty() ? s : letter + s; };
        const std::string text = name + std::to_string(count) + (compares ? "" : sign(sd)) + sign(sa) +
                                 sign(sb) + (compares ? ".gt" : "") + (sat ? ".sat" : "") +
                                 (add ? ".add" : "") + " $d" + with(mask) + ", $a" + with(pick_a) + ", $b" +
                                 with(pick_b) + ", $c";
        forms.push_back({text, "b32", {"b32", "b32", "b32"}, [=, f = apply](U64 x, U64 y, U64 z) {
                           const auto element = [&](const std::string& pick, unsigned k, unsigned first,
                                                    bool s) {
                             const unsigned at =
                                 pick.empty() ? first + k : static_cast<unsigned>(pick[count - 1 - k] - '0');
                             return extended((at < count ? x : y) >> (width * (at % count)), width, s);
                           };
                           U64 sum = z, merged = z;
                           for (unsigned k = 0; k < count; ++k) {
                             if (!mask.empty() && mask.find(static_cast<char>('0' + k)) == std::string::npos)
                               continue;
                             I t = f(element(pick_a, k, 0, sa), element(pick_b, k, count, sb));
                             if (sat) t = bounded(t, width, sd);
                             sum += static_cast<U64>(t);
                             const U64 lane = low(~U64{0}, width) << (width * k);
                             merged = (merged & ~lane) | ((static_cast<U64>(t) << (width * k)) & lane);
                           }
                           return low(add ? sum : merged, 32);
                         }});
      }
  check_forms(forms, 38);
}

// --- what is not of single lanes ------------------------------------------------------------------------

TEST(PtxPacked, SinglesAreReducedOverTheWarp) {
  const char* names[] = {"min",     "max",     "min.abs",     "max.abs",
                         "min.NaN", "max.NaN", "min.abs.NaN", "max.abs.NaN"};
  std::string body;
  for (unsigned k = 0; k < 8; ++k)
    body += std::string("redux.sync.") + names[k] + ".f32 %f2, %f1, %r3;\nst.global.f32 [%rd1+" +
            std::to_string(128 + 128 * k) + "], %f2;\n";
  const std::string text =
      std::string(kLatest) +
      ".address_size 64\n.visible .entry k(.param .u64 data)\n{\n.reg .b64 %rd<4>;\n.reg .b32 %r<9>;\n.reg "
      ".f32 %f<4>;\n.reg .pred %p<3>;\nmov.u32 %r1, %tid.x;\nld.param.u64 %rd1, [data];\n"
      "mul.wide.u32 %rd2, %r1, 4;\nadd.u64 %rd1, %rd1, %rd2;\nld.global.f32 %f1, [%rd1];\n"
      "setp.lt.u32 %p1, %r1, 20;\nselp.b32 %r3, 0xFFFFF, 0xFFF00000, %p1;\n" +
      body + "ret;\n}\n";
  for (const U64 seed : {1U, 2U, 3U, 4U}) {
    std::vector<std::uint32_t> in(32 * 9);
    U64 state = seed;
    for (unsigned i = 0; i < 32; ++i) {
      state = state * 6364136223846793005ULL + 1442695040888963407ULL;
      in[i] = static_cast<std::uint32_t>(state >> 33U) % 7 == 0 && seed > 1
                  ? 0xFFC12345
                  : static_cast<std::uint32_t>(
                        bits(static_cast<float>(static_cast<int>(state >> 40U & 15U) - 8) / 4));
      if (seed == 4 && i >= 20) in[i] = 0x7FC00001;
    }
    in[3] = 0x80000000;
    Machine machine(seed);
    machine.load(text);
    const auto data = machine.buffer(in);
    machine.launch("k", {1, 1, 1}, {32, 1, 1}, 0, data);
    const auto got = machine.read<std::uint32_t>(data, in.size());
    for (unsigned k = 0; k < 8; ++k)
      for (unsigned i = 0; i < 32; ++i) {
        const bool high = k % 2 == 1, abs = k % 4 >= 2, strict = k >= 4;
        bool any_nan = false;
        std::vector<float> kept;
        for (unsigned j = i < 20 ? 0 : 20; j < (i < 20 ? 20U : 32U); ++j) {
          const float x = abs ? std::fabs(f32(in[j])) : f32(in[j]);
          std::isnan(x) ? void(any_nan = true) : kept.push_back(x);
        }
        U64 want = 0x7FFFFFFF;
        if (!kept.empty() && !(strict && any_nan)) {
          std::sort(kept.begin(), kept.end(), [](float a, float b) {
            return a < b || (a == b && std::signbit(a) && !std::signbit(b));
          });
          want = bits(high ? kept.back() : kept.front());
        }
        ASSERT_EQ(got[32 + 32 * k + i], want) << names[k] << " lane " << i << " seed " << seed;
      }
  }
}

TEST(PtxStack, MemoryIsTakenAndGivenBack) {
  // f takes n + 8 bytes aligned to 64, fills them, and calls itself with n - 1; whoever returns finds its own
  // numbers, and the stack as it was.
  Machine machine(5);
  machine.load(R"(.version 9.0
.target sm_80
.address_size 64
.func (.param .b32 r) f(.param .b32 n)
{
.reg .b32 %r<9>; .reg .b64 %rd<9>; .reg .pred %p<3>;
ld.param.b32 %r1, [n];
cvt.u64.u32 %rd1, %r1;
add.u64 %rd1, %rd1, 8;
alloca.u64 %rd2, %rd1, 64;
st.local.u32 [%rd2], %r1;
and.b64 %rd3, %rd2, 63;
cvt.u32.u64 %r5, %rd3;
mov.u32 %r2, 0;
setp.eq.u32 %p1, %r1, 0;
@%p1 bra OUT;
sub.u32 %r3, %r1, 1;
{ .param .b32 a; .param .b32 b; st.param.b32 [a], %r3; call (b), f, (a); ld.param.b32 %r2, [b]; }
OUT:
ld.local.u32 %r4, [%rd2];
add.u32 %r2, %r2, %r4;
add.u32 %r2, %r2, %r5;
st.param.b32 [r], %r2;
ret;
}
.visible .entry k(.param .u64 out)
{
.reg .b32 %r<9>; .reg .b64 %rd<9>; .local .align 4 .b8 own[4];
ld.param.u64 %rd1, [out];
mov.u32 %r1, %tid.x;
mul.wide.u32 %rd2, %r1, 8;
add.u64 %rd1, %rd1, %rd2;
st.local.u32 [own], %r1;
stacksave.u64 %rd3;
{ .param .b32 a; .param .b32 b; st.param.b32 [a], %r1; call (b), f, (a); ld.param.b32 %r2, [b]; }
stacksave.u64 %rd4;
sub.u64 %rd4, %rd4, %rd3;
cvt.u32.u64 %r3, %rd4;
alloca.u64 %rd5, 100;
st.local.u8 [%rd5+99], %r1;
stackrestore.u64 %rd3;
stacksave.u64 %rd4;
sub.u64 %rd4, %rd4, %rd3;
cvt.u32.u64 %r4, %rd4;
or.b32 %r3, %r3, %r4;
ld.local.u32 %r5, [own];
sub.u32 %r5, %r5, %r1;
or.b32 %r3, %r3, %r5;
st.global.v2.u32 [%rd1], {%r2, %r3};
ret;
}
.visible .entry deep() { .reg .b64 %rd<3>; alloca.u64 %rd1, 16000; alloca.u64 %rd2, 1000; ret; }
)");
  const auto out = machine.buffer(std::vector<std::uint32_t>(128));
  machine.launch("k", {1, 1, 1}, {64, 1, 1}, 0, out);
  const auto got = machine.read<std::uint32_t>(out, 128);
  for (std::uint32_t i = 0; i < 64; ++i) {
    EXPECT_EQ(got[2 * i], i * (i + 1) / 2) << i;
    EXPECT_EQ(got[2 * i + 1], 0U) << i;
  }
  EXPECT_TRUE(machine.faults.empty());
  machine.launch("deep", {1, 1, 1}, {32, 1, 1}, 0);
  ASSERT_EQ(machine.faults.size(), 1U);
  EXPECT_EQ(machine.faults[0], "alloca: the stack of 16 KiB has no room left");
}

TEST(PtxCalls, ListsOfTargetsSayWhatIsCalled) {
  Machine machine(6);
  machine.load(R"(.version 9.0
.target sm_80
.address_size 64
.func (.param .b32 r) twice(.param .b32 n) { .reg .b32 %r<3>; ld.param.b32 %r1, [n]; shl.b32 %r1, %r1, 1; st.param.b32 [r], %r1; ret; }
.func (.param .b32 r) plus(.param .b32 n) { .reg .b32 %r<3>; ld.param.b32 %r1, [n]; add.u32 %r1, %r1, 7; st.param.b32 [r], %r1; ret; }
.visible .entry k(.param .u64 out)
{
.reg .b32 %r<9>; .reg .b64 %rd<9>; .reg .pred %p<3>;
ld.param.u64 %rd1, [out];
mov.u32 %r1, %tid.x;
mul.wide.u32 %rd2, %r1, 4;
add.u64 %rd1, %rd1, %rd2;
and.b32 %r2, %r1, 1;
setp.eq.u32 %p1, %r2, 0;
mov.u64 %rd3, twice;
mov.u64 %rd4, plus;
selp.b64 %rd3, %rd3, %rd4, %p1;
{ .param .b32 a; .param .b32 b; st.param.b32 [a], %r1;
T: .calltargets twice, plus;
call (b), %rd3, (a), T; ld.param.b32 %r2, [b]; }
st.global.u32 [%rd1], %r2;
ret;
}
)");
  const auto out = machine.buffer(std::vector<std::uint32_t>(32));
  machine.launch("k", {1, 1, 1}, {32, 1, 1}, 0, out);
  const auto got = machine.read<std::uint32_t>(out, 32);
  for (std::uint32_t i = 0; i < 32; ++i) EXPECT_EQ(got[i], i % 2 == 0 ? 2 * i : i + 7) << i;
}

}  // namespace packed_arithmetic_test
}  // namespace warpline::ptx::test
