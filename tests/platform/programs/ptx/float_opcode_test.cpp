// Floating-point opcodes against the host's own arithmetic under each rounding mode.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cfenv>
#include <cmath>
#include <cstring>
#include <limits>

#include "tests/platform/programs/ptx/opcode_harness.h"

namespace warpline::ptx::test {
namespace float_opcode_test {

using U64 = std::uint64_t;

float f32(U64 bits) {
  const auto low_word = static_cast<std::uint32_t>(bits);
  float f = 0;
  std::memcpy(&f, &low_word, 4);
  return f;
}
double f64(U64 bits) {
  double d = 0;
  std::memcpy(&d, &bits, 8);
  return d;
}
U64 bits(float f) {
  std::uint32_t b = 0;
  std::memcpy(&b, &f, 4);
  return b;
}
U64 bits(double d) {
  U64 b = 0;
  std::memcpy(&b, &d, 8);
  return b;
}
float flushed(float x) {
  return std::fpclassify(x) == FP_SUBNORMAL ? std::copysign(0.0F, x) : x;
}

struct Mode {
  const char* name;
  int host;
};
constexpr std::array<Mode, 4> kModes = {
    {{"rn", FE_TONEAREST}, {"rz", FE_TOWARDZERO}, {"rm", FE_DOWNWARD}, {"rp", FE_UPWARD}}};

template <class T, class F>
T under(int mode, T a, T b, T c, F f) {
  volatile T x = a, y = b, z = c;
  std::fesetround(mode);
  volatile T r = f(x, y, z);
  std::fesetround(FE_TONEAREST);
  return r;
}

template <class T>
using Operation = T (*)(T, T, T);
template <class T>
struct Named {
  const char* name;
  std::size_t sources;
  Operation<T> apply;
};
template <class T>
const std::array<Named<T>, 4>& sums() {
  static const std::array<Named<T>, 4> kSums = {
      {{"add", 2, [](T a, T b, T) { return a + b; }},
       {"sub", 2, [](T a, T b, T) { return a - b; }},
       {"mul", 2, [](T a, T b, T) { return a * b; }},
       {"fma", 3, [](T a, T b, T c) { return std::fma(a, b, c); }}}};
  return kSums;
}
template <class T>
const std::array<Named<T>, 3>& quotients() {
  static const std::array<Named<T>, 3> kQuotients = {{{"div", 2, [](T a, T b, T) { return a / b; }},
                                                      {"rcp", 1, [](T a, T, T) { return T{1} / a; }},
                                                      {"sqrt", 1, [](T a, T, T) { return std::sqrt(a); }}}};
  return kQuotients;
}

template <class List>
void add_single(std::vector<Form>& forms, const List& list, bool saturates) {
  for (const auto& o : list)
    for (const Mode& m : kModes)
      for (const bool flush : {false, true})
        for (const bool saturate : {false, true}) {
          if (saturate && !saturates) continue;
          const std::string text =
              std::string(o.name) + "." + m.name + (flush ? ".ftz" : "") + (saturate ? ".sat" : "") + ".f32";
          forms.push_back({text, "f32", std::vector<std::string>(o.sources, "f32"), [=](U64 a, U64 b, U64 c) {
                             const auto take = [flush](U64 x) { return flush ? flushed(f32(x)) : f32(x); };
                             float r = under(m.host, take(a), take(b), take(c), o.apply);
                             if (flush) r = flushed(r);
                             if (saturate) r = std::isnan(r) || r <= 0 ? 0.0F : std::min(r, 1.0F);
                             return bits(r);
                           }});
        }
}

TEST(PtxFloat, SingleSumsAndProducts) {
  std::vector<Form> forms;
  add_single(forms, sums<float>(), true);
  check_forms(forms, 21);
}

TEST(PtxFloat, SingleQuotientsAndRoots) {
  std::vector<Form> forms;
  add_single(forms, quotients<float>(), false);
  check_forms(forms, 22);
}

TEST(PtxFloat, Doubles) {
  std::vector<Form> forms;
  const auto add = [&](const auto& list) {
    for (const auto& o : list)
      for (const Mode& m : kModes)
        forms.push_back(
            {std::string(o.name) + "." + m.name + ".f64", "f64", std::vector<std::string>(o.sources, "f64"),
             [=](U64 a, U64 b, U64 c) { return bits(under(m.host, f64(a), f64(b), f64(c), o.apply)); }});
  };
  add(sums<double>());
  add(quotients<double>());
  check_forms(forms, 23);
}

TEST(PtxFloat, NanResultsOfSinglesAreCanonical) {
  std::vector<Form> forms;
  for (const char* name : {"add", "sub", "mul", "min", "max", "div.rn"})
    // Bit patterns are compared as integers here, so that one NaN differs from another.
    forms.push_back(
        {std::string("{ ") + name + ".f32 $d, $a, 0f7FC12345; }", "b32", {"f32"}, [name](U64 a, U64, U64) {
           const bool selects = name[0] == 'm' && name[1] != 'u';
           return selects && !std::isnan(f32(a)) ? a : U64{0x7FFFFFFF};
         }});
  for (Form& f : forms) f.text = f.text.substr(2, f.text.size() - 5);
  check_forms(forms, 24);
}

TEST(PtxFloat, ExtremesAndSigns) {
  std::vector<Form> forms;
  const auto extreme = [](auto a, auto b, bool most, bool strict) {
    using T = decltype(a);
    if (std::isnan(a) || std::isnan(b))
      return strict || (std::isnan(a) && std::isnan(b)) ? std::numeric_limits<T>::quiet_NaN()
             : std::isnan(a)                            ? b
                                                        : a;
    if (a == b) return std::signbit(a) == most ? b : a;
    return most ? std::max(a, b) : std::min(a, b);
  };
  for (const bool most : {false, true}) {
    const std::string name = most ? "max" : "min";
    forms.push_back({name + ".f32", "f32", {"f32", "f32"}, [=](U64 a, U64 b, U64) {
                       return bits(extreme(f32(a), f32(b), most, false));
                     }});
    forms.push_back({name + ".NaN.f32", "f32", {"f32", "f32"}, [=](U64 a, U64 b, U64) {
                       return bits(extreme(f32(a), f32(b), most, true));
                     }});
    forms.push_back({name + ".ftz.f32", "f32", {"f32", "f32"}, [=](U64 a, U64 b, U64) {
                       return bits(extreme(flushed(f32(a)), flushed(f32(b)), most, false));
                     }});
    forms.push_back({name + ".f64", "f64", {"f64", "f64"}, [=](U64 a, U64 b, U64) {
                       return bits(extreme(f64(a), f64(b), most, false));
                     }});
  }
  forms.push_back({"abs.f32", "f32", {"f32"}, [](U64 a, U64, U64) { return a & 0x7FFFFFFF; }});
  forms.push_back({"neg.f64", "f64", {"f64"}, [](U64 a, U64, U64) { return a ^ 0x8000000000000000; }});
  forms.push_back({"neg.ftz.f32", "f32", {"f32"}, [](U64 a, U64, U64) { return bits(-flushed(f32(a))); }});
  forms.push_back({"copysign.f32", "f32", {"f32", "f32"}, [](U64 a, U64 b, U64) {
                     return bits(std::copysign(f32(b), f32(a)));
                   }});
  const std::vector<std::pair<const char*, bool (*)(float)>> tests = {
      {"finite", [](float x) { return std::isfinite(x); }},
      {"infinite", [](float x) { return std::isinf(x); }},
      {"number", [](float x) { return !std::isnan(x); }},
      {"notanumber", [](float x) { return std::isnan(x); }},
      {"normal", [](float x) { return std::isnormal(x) || x == 0; }},
      {"subnormal", [](float x) { return std::fpclassify(x) == FP_SUBNORMAL; }}};
  for (const auto& [name, holds] : tests)
    forms.push_back({std::string("testp.") + name + ".f32", "pred", {"f32"}, [h = holds](U64 a, U64, U64) {
                       return h(f32(a)) ? U64{1} : U64{0};
                     }});
  check_forms(forms, 25);
}

TEST(PtxFloat, Comparisons) {
  std::vector<Form> forms;
  const std::vector<std::pair<std::string, bool (*)(double, double)>> relations = {
      {"eq", [](double a, double b) { return a == b; }},
      {"ne", [](double a, double b) { return a < b || a > b; }},
      {"lt", [](double a, double b) { return a < b; }},
      {"le", [](double a, double b) { return a <= b; }},
      {"gt", [](double a, double b) { return a > b; }},
      {"ge", [](double a, double b) { return a >= b; }}};
  const auto unordered = [](double a, double b) { return std::isnan(a) || std::isnan(b); };
  for (const auto& [name, relation] : relations)
    for (const bool loose : {false, true}) {
      const auto holds = [=, r = relation](double a, double b) {
        return r(a, b) || (loose && unordered(a, b)) ? U64{1} : U64{0};
      };
      const std::string n = name + (loose ? "u" : "");
      forms.push_back({"setp." + n + ".f32", "pred", {"f32", "f32"}, [=](U64 a, U64 b, U64) {
                         return holds(f32(a), f32(b));
                       }});
      forms.push_back({"setp." + n + ".ftz.f32", "pred", {"f32", "f32"}, [=](U64 a, U64 b, U64) {
                         return holds(flushed(f32(a)), flushed(f32(b)));
                       }});
      forms.push_back({"setp." + n + ".f64", "pred", {"f64", "f64"}, [=](U64 a, U64 b, U64) {
                         return holds(f64(a), f64(b));
                       }});
      forms.push_back({"set." + n + ".f32.f32", "f32", {"f32", "f32"}, [=](U64 a, U64 b, U64) {
                         return holds(f32(a), f32(b)) != 0 ? 0x3F800000 : 0;
                       }});
    }
  forms.push_back({"setp.num.f32", "pred", {"f32", "f32"}, [=](U64 a, U64 b, U64) {
                     return unordered(f32(a), f32(b)) ? U64{0} : U64{1};
                   }});
  forms.push_back({"setp.nan.f64", "pred", {"f64", "f64"}, [=](U64 a, U64 b, U64) {
                     return unordered(f64(a), f64(b)) ? U64{1} : U64{0};
                   }});
  forms.push_back({"slct.b32.f32", "b32", {"b32", "b32", "f32"}, [](U64 a, U64 b, U64 c) {
                     return f32(c) >= 0 ? a : b;
                   }});
  check_forms(forms, 26);
}

struct Integer {
  std::string name;
  unsigned width;
  bool is_signed;
};

TEST(PtxFloat, ConversionsWithIntegers) {
  std::vector<Form> forms;
  const std::vector<Integer> integers = {{"s8", 8, true},    {"u8", 8, false},  {"s16", 16, true},
                                         {"u16", 16, false}, {"s32", 32, true}, {"u32", 32, false},
                                         {"s64", 64, true},  {"u64", 64, false}};
  for (const Integer& t : integers) {
    const long double least = t.is_signed ? -std::ldexp(1.0L, static_cast<int>(t.width) - 1) : 0.0L;
    const long double most = std::ldexp(1.0L, static_cast<int>(t.width) - (t.is_signed ? 1 : 0)) - 1;
    for (const Mode& m : kModes) {
      const auto to_integer = [=](double x, bool from_double) -> U64 {
        if (std::isnan(x)) {
          if (!from_double && t.width != 64) return 0;
          return low((t.is_signed ? ~U64{0} : U64{1}) << (t.width - 1), std::max(16U, t.width));
        }
        const double whole =
            under(m.host, x, 0.0, 0.0, [](double v, double, double) { return std::nearbyint(v); });
        const long double clamped = std::min(std::max(static_cast<long double>(whole), least), most);
        const U64 v =
            t.is_signed ? static_cast<U64>(static_cast<std::int64_t>(clamped)) : static_cast<U64>(clamped);
        return low(v, std::max(16U, t.width));
      };
      forms.push_back(
          {std::string("cvt.") + m.name + "i." + t.name + ".f32", t.name, {"f32"}, [=](U64 a, U64, U64) {
             return to_integer(static_cast<double>(f32(a)), false);
           }});
      forms.push_back(
          {std::string("cvt.") + m.name + "i." + t.name + ".f64", t.name, {"f64"}, [=](U64 a, U64, U64) {
             return to_integer(f64(a), true);
           }});
      const auto from_integer = [=](U64 a, auto zero) {
        using T = decltype(zero);
        volatile std::int64_t s = signed_low(a, t.width);
        volatile U64 u = low(a, t.width);
        if (u == 0) return U64{0};  // a compiler's own sequence may give -0 when rounding down
        std::fesetround(m.host);
        volatile T r = t.is_signed ? static_cast<T>(s) : static_cast<T>(u);
        std::fesetround(FE_TONEAREST);
        return bits(static_cast<T>(r));
      };
      forms.push_back(
          {std::string("cvt.") + m.name + ".f32." + t.name, "f32", {t.name}, [=](U64 a, U64, U64) {
             return from_integer(a, 0.0F);
           }});
      forms.push_back(
          {std::string("cvt.") + m.name + ".f64." + t.name, "f64", {t.name}, [=](U64 a, U64, U64) {
             return from_integer(a, 0.0);
           }});
    }
  }
  check_forms(forms, 27);
}

/// The half nearest to x in the direction asked for, found among all of them.
U64 half_of(double x, const std::string& mode) {
  if (std::isnan(x)) return 0x7FFF;
  const U64 sign = std::signbit(x) ? 0x8000 : 0;
  const double m = std::fabs(x);
  const auto value = [](U64 h) {
    return (h >> 10U) == 0
               ? std::ldexp(static_cast<double>(h), -24)
               : std::ldexp(1024.0 + static_cast<double>(h & 1023U), static_cast<int>(h >> 10U) - 25);
  };
  if (std::isinf(x)) return sign | 0x7C00;
  U64 below = 0;
  for (U64 step = 0x4000; step != 0; step /= 2)
    if (below + step <= 0x7BFF && value(below + step) <= m) below += step;
  if (value(below) == m) return sign | below;
  const double next = below == 0x7BFF ? 65536.0 : value(below + 1);
  const double left = m - value(below);
  const double right = next - m;
  const bool away = mode == "rn"   ? left > right || (left == right && (below & 1U) != 0)
                    : mode == "rz" ? false
                                   : (mode == "rp") == (sign == 0);
  return sign | (below + (away ? 1 : 0));
}

TEST(PtxFloat, ConversionsBetweenFloats) {
  std::vector<Form> forms;
  for (const Mode& m : kModes) {
    const std::string n = m.name;
    forms.push_back({"cvt." + n + ".f32.f64", "f32", {"f64"}, [=](U64 a, U64, U64) {
                       volatile double d = f64(a);
                       std::fesetround(m.host);
                       volatile float r = static_cast<float>(d);
                       std::fesetround(FE_TONEAREST);
                       return bits(static_cast<float>(r));
                     }});
    forms.push_back({"cvt." + n + "i.f32.f32", "f32", {"f32"}, [=](U64 a, U64, U64) {
                       return bits(under(m.host, f32(a), 0.0F, 0.0F,
                                         [](float x, float, float) { return std::nearbyint(x); }));
                     }});
    forms.push_back({"cvt." + n + "i.f64.f64", "f64", {"f64"}, [=](U64 a, U64, U64) {
                       return bits(under(m.host, f64(a), 0.0, 0.0,
                                         [](double x, double, double) { return std::nearbyint(x); }));
                     }});
    forms.push_back({"cvt." + n + ".f16.f32", "f16", {"f32"}, [=](U64 a, U64, U64) {
                       return half_of(static_cast<double>(f32(a)), n);
                     }});
  }
  forms.push_back(
      {"cvt.f64.f32", "f64", {"f32"}, [](U64 a, U64, U64) { return bits(static_cast<double>(f32(a))); }});
  forms.push_back({"cvt.f64.f32 $d, $a", "f64", {"f32"}, [](U64 a, U64, U64) {
                     return bits(static_cast<double>(f32(a)));
                   }});
  forms.push_back({"cvt.sat.f32.f32", "f32", {"f32"}, [](U64 a, U64, U64) {
                     return bits(std::isnan(f32(a)) || f32(a) <= 0 ? 0.0F : std::min(f32(a), 1.0F));
                   }});
  forms.push_back({"cvt.rn.f16x2.f32", "b32", {"f32", "f32"}, [](U64 a, U64 b, U64) {
                     return half_of(static_cast<double>(f32(a)), "rn") << 16U |
                            half_of(static_cast<double>(f32(b)), "rn");
                   }});
  check_forms(forms, 28);
}

TEST(PtxFloat, HalfArithmetic) {
  const auto value = [](U64 h) {
    const U64 m = h & 0x7FFF;
    const double x =
        m > 0x7C00    ? std::nan("")
        : m == 0x7C00 ? HUGE_VAL
        : m < 0x400   ? std::ldexp(static_cast<double>(m), -24)
                      : std::ldexp(1024.0 + static_cast<double>(m & 1023U), static_cast<int>(m >> 10U) - 25);
    return (h & 0x8000) != 0 ? -x : x;
  };
  // Exact in long double: 64 bits of mantissa hold any sum of a product of halves and a half.
  const auto rounded = [](long double x) {
    const auto d = static_cast<double>(x);
    if (static_cast<long double>(d) == x || std::isnan(d) || std::isinf(d)) return half_of(d, "rn");
    // Keep the inexactness: a double one step nearer or farther than the tie decides as x does.
    const double toward = std::nextafter(d, x > static_cast<long double>(d) ? HUGE_VAL : -HUGE_VAL);
    return half_of((d + toward) / 2 == d ? toward : d, "rn");
  };
  std::vector<Form> forms;
  forms.push_back({"add.f16", "f16", {"f16", "f16"}, [=](U64 a, U64 b, U64) {
                     return half_of(value(a) + value(b), "rn");
                   }});
  forms.push_back({"sub.f16", "f16", {"f16", "f16"}, [=](U64 a, U64 b, U64) {
                     return half_of(value(a) - value(b), "rn");
                   }});
  forms.push_back({"mul.f16", "f16", {"f16", "f16"}, [=](U64 a, U64 b, U64) {
                     return half_of(value(a) * value(b), "rn");
                   }});
  forms.push_back({"fma.rn.f16", "f16", {"f16", "f16", "f16"}, [=](U64 a, U64 b, U64 c) {
                     return rounded(static_cast<long double>(value(a)) * static_cast<long double>(value(b)) +
                                    static_cast<long double>(value(c)));
                   }});
  forms.push_back({"neg.f16", "f16", {"f16"}, [](U64 a, U64, U64) { return a ^ 0x8000; }});
  forms.push_back({"abs.f16", "f16", {"f16"}, [](U64 a, U64, U64) { return a & 0x7FFF; }});
  forms.push_back({"setp.ltu.f16", "pred", {"f16", "f16"}, [=](U64 a, U64 b, U64) {
                     return !(value(a) >= value(b)) ? U64{1} : U64{0};
                   }});
  forms.push_back({"set.le.f16x2.f16x2", "b32", {"b32", "b32"}, [=](U64 a, U64 b, U64) {
                     const auto one = [&](unsigned k) {
                       return value(low(a >> k, 16)) <= value(low(b >> k, 16)) ? U64{0x3C00} << k : 0;
                     };
                     return one(0) | one(16);
                   }});
  forms.push_back({"set.gtu.u16.f16", "u16", {"f16", "f16"}, [=](U64 a, U64 b, U64) {
                     return !(value(a) <= value(b)) ? U64{0xFFFF} : U64{0};
                   }});
  forms.push_back({"setp.eq.f16x2 $p|$d, $a, $b", "pred", {"b32", "b32"}, [=](U64 a, U64 b, U64) {
                     return value(a >> 16U) == value(b >> 16U) ? U64{1} : U64{0};
                   }});
  forms.push_back(
      {"cvt.f32.f16", "f32", {"f16"}, [=](U64 a, U64, U64) { return bits(static_cast<float>(value(a))); }});
  check_forms(forms, 29);
}

/// An instruction on given bits, and what an H200 made of them.
struct Measured {
  const char* form;
  unsigned result_bits;                           ///< of the register
  std::vector<std::pair<unsigned, U64>> sources;  ///< bits of the register, value
  U64 result;
};

void check_measured(const std::vector<Measured>& rows) {
  std::vector<Form> forms;
  for (const Measured& row : rows) {
    std::string before;
    std::string call = std::string(row.form) + " $d";
    for (std::size_t n = 0; n < row.sources.size(); ++n) {
      const auto [width, value] = row.sources[n];
      const std::string type = ".b" + std::to_string(width);
      const std::string name = "%m" + std::to_string(n);
      before +=
          ".reg " + type + " " + name + "; mov" + type + " " + name + ", " + std::to_string(value) + "; ";
      call += ", " + name;
    }
    forms.push_back(
        {before + call, "b" + std::to_string(row.result_bits), {}, [r = row.result](U64, U64, U64) {
           return r;
         }});
  }
  check_forms(forms, 31);
}

TEST(PtxFloat, FlushedResultsAreThoseThatAnH200Gave) {
  check_measured({
      {"mul.ftz.f32", 32, {{32, 0x3F7FFFFF}, {32, 0x00800000}}, 0},
      {"mul.f32", 32, {{32, 0x3F7FFFFF}, {32, 0x00800000}}, 0x00800000},
      {"mul.rn.ftz.sat.f32", 32, {{32, 0x00800000}, {32, 0x3F7FFFFF}}, 0},
      {"mul.rm.ftz.f32", 32, {{32, 0x80800000}, {32, 0x3F7FFFFF}}, 0x80000000},
      {"div.rn.ftz.f32", 32, {{32, 0x017FFFFF}, {32, 0x40800000}}, 0},
      {"div.rm.ftz.f32", 32, {{32, 0x80800000}, {32, 0x3F800001}}, 0x80000000},
      {"div.full.ftz.f32", 32, {{32, 0x817FFFFF}, {32, 0x40800000}}, 0x80000000},
      {"fma.rn.ftz.f16", 16, {{16, 0x0400}, {16, 0x3BFF}, {16, 0x011E}}, 0},
      {"set.eq.ftz.u16.f16", 16, {{16, 0x03FF}, {16, 0}}, 0xFFFF},
      {"set.eq.u16.f16", 16, {{16, 0x03FF}, {16, 0}}, 0},
  });
}

TEST(PtxFloat, NansAreThoseThatAnH200Gave) {
  constexpr U64 kSignaling = 0x7FF5555555555555;
  constexpr U64 kQuiet = 0x7FFD555555555555;
  check_measured({
      {"add.f64", 64, {{64, 0x3FF0000000000000}, {64, kSignaling}}, kQuiet},
      {"sub.f64", 64, {{64, 0x7FF8000000000000}, {64, kSignaling}}, kQuiet},
      {"sub.f64", 64, {{64, 0x7FF0000000000000}, {64, 0x7FF0000000000000}}, 0xFFF8000000000000},
      {"mul.f64", 64, {{64, kSignaling}, {64, 0}}, kQuiet},
      {"div.rn.f64", 64, {{64, 0xFFF8000000000000}, {64, kSignaling}}, 0xFFF8000000000000},
      {"fma.rn.f64", 64, {{64, 0x7FFFFFFFFFFFFFFF}, {64, kSignaling}, {64, 0}}, kQuiet},
      {"fma.rn.f64", 64, {{64, 0xFFF8000000000000}, {64, 0}, {64, 0xFFF0000000000001}}, 0xFFF8000000000001},
      {"sqrt.rn.f64", 64, {{64, 0xC077064480E86E77}}, 0xFFF8000000000000},
      {"min.f64", 64, {{64, ~U64{0}}, {64, kSignaling}}, kQuiet},
      {"abs.f64", 64, {{64, 0xFFF5555555555555}}, 0xFFFD555555555555},
      {"neg.f64", 64, {{64, kSignaling}}, kQuiet},
      {"rcp.approx.ftz.f64", 64, {{64, kSignaling}}, 0x7FFFFFFF00000000},
      {"rsqrt.approx.ftz.f64", 64, {{64, 0x8010000000000000}}, 0x7FFFFFFF00000000},
      {"abs.f32", 32, {{32, 0xFFC86DB8}}, 0x7FFFFFFF},
      {"neg.f32", 32, {{32, 0x7F95D5C4}}, 0x7FFFFFFF},
      {"neg.f16", 16, {{16, 0xFCCD}}, 0x7FFF},
      {"abs.bf16", 16, {{16, 0x7FB3}}, 0x7FFF},
      {"cvt.rn.f32.f64", 32, {{64, 0xFFFDC50D0F35DE73}}, 0xFFEE2868},
      {"cvt.rn.bf16.f64", 16, {{64, 0xFFFDC50D0F35DE73}}, 0xFFEE},
      {"cvt.f64.f32", 64, {{32, 0x7FB64DCF}}, 0x7FFEC9B9E0000000},
      {"cvt.f64.f16", 64, {{16, 0xFCCD}}, 0xFFFB340000000000},
      {"cvt.f32.bf16", 32, {{16, 0x7FB3}}, 0x7FB30000},
      {"cvt.ftz.f32.bf16", 32, {{16, 0x7FB3}}, 0x7FFFFFFF},
      {"cvt.rn.ftz.f32.bf16", 32, {{16, 0x7FB3}}, 0x7FFFFFFF},
      {"cvt.f64.f64", 64, {{64, kSignaling}}, kSignaling},
      {"cvt.rni.f64.f64", 64, {{64, kSignaling}}, kQuiet},
      {"cvt.rn.tf32.f32", 32, {{32, 0x7FD8A987}}, 0x7FFFE000},
  });
}

TEST(PtxFloat, ConversionsAreThoseThatAnH200Made) {
  check_measured({
      {"cvt.rni.u32.f64", 32, {{64, 0x7FF8000000000000}}, 0x80000000},
      {"cvt.rzi.s8.f64", 32, {{64, 0x7FF8000000000000}}, 0xFFFFFF80},
      {"cvt.rzi.sat.u16.f64", 16, {{64, 0x7FF8000000000000}}, 0x8000},
      {"cvt.rmi.u64.f16", 64, {{16, 0x7C01}}, 0x8000000000000000},
      {"cvt.rzi.s64.f32", 64, {{32, 0x7FC00000}}, 0x8000000000000000},
      {"cvt.rzi.s32.f32", 32, {{32, 0x7FC00000}}, 0},
      {"cvt.rn.sat.f64.u16", 64, {{16, 2}}, 0x3FF0000000000000},
      {"cvt.rp.sat.f64.s64", 64, {{64, ~U64{0}}}, 0},
      {"div.approx.f32", 32, {{32, 0x3F7FFFFF}, {32, 0x7F7FFFFF}}, 0},
      {"div.approx.f32", 32, {{32, 0xFF800000}, {32, 0x7F7FFFFF}}, 0x7FFFFFFF},
  });
}

TEST(PtxFloat, ApproximationsAreTheExactValueRounded) {
  std::vector<Form> forms;
  const std::vector<std::pair<const char*, double (*)(double)>> functions = {
      {"sin.approx", [](double x) { return std::sin(x); }},
      {"cos.approx", [](double x) { return std::cos(x); }},
      {"lg2.approx", [](double x) { return std::log2(x); }},
      {"ex2.approx", [](double x) { return std::exp2(x); }},
      {"rcp.approx", [](double x) { return 1 / x; }},
      {"rsqrt.approx", [](double x) { return 1 / std::sqrt(x); }},
      {"sqrt.approx", [](double x) { return std::sqrt(x); }},
      {"tanh.approx", [](double x) { return std::tanh(x); }}};
  for (const auto& [name, f] : functions)
    forms.push_back({std::string(name) + ".f32", "f32", {"f32"}, [g = f](U64 a, U64, U64) {
                       return bits(static_cast<float>(g(static_cast<double>(f32(a)))));
                     }});
  check_forms(forms, 30);
}

}  // namespace float_opcode_test
}  // namespace warpline::ptx::test
