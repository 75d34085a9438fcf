// Integer, logic and bit opcodes against naive arithmetic in 128 bits.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>

#include "tests/platform/programs/ptx/opcode_harness.h"

namespace warpline::ptx::test {
namespace integer_opcode_test {

__extension__ using Wide = __int128;
using U64 = std::uint64_t;

struct Type {
  std::string name;
  unsigned bits;
  bool is_signed;
  [[nodiscard]] Wide value(U64 x) const { return is_signed ? Wide{signed_low(x, bits)} : Wide{low(x, bits)}; }
  [[nodiscard]] U64 wrap(Wide x) const { return low(static_cast<U64>(x), bits); }
};

const std::vector<Type>& types() {
  static const std::vector<Type> kList = {{"u16", 16, false}, {"s16", 16, true},  {"u32", 32, false},
                                          {"s32", 32, true},  {"u64", 64, false}, {"s64", 64, true}};
  return kList;
}

using Value = Wide (*)(Wide, Wide, Wide);

Form form(const std::string& name, const Type& t, std::size_t sources, Value f) {
  return {name + "." + t.name, t.name, std::vector<std::string>(sources, t.name),
          [t, f](U64 a, U64 b, U64 c) { return t.wrap(f(t.value(a), t.value(b), t.value(c))); }};
}

TEST(PtxInteger, Arithmetic) {
  std::vector<Form> forms;
  for (const Type& t : types()) {
    forms.push_back(form("add", t, 2, [](Wide a, Wide b, Wide) { return a + b; }));
    forms.push_back(form("sub", t, 2, [](Wide a, Wide b, Wide) { return a - b; }));
    forms.push_back(form("min", t, 2, [](Wide a, Wide b, Wide) { return std::min(a, b); }));
    forms.push_back(form("max", t, 2, [](Wide a, Wide b, Wide) { return std::max(a, b); }));
    forms.push_back(form("div", t, 2, [](Wide a, Wide b, Wide) { return b == 0 ? Wide{-1} : a / b; }));
    forms.push_back(form("rem", t, 2, [](Wide a, Wide b, Wide) { return b == 0 ? Wide{-1} : a % b; }));
    forms.push_back(form("sad", t, 3, [](Wide a, Wide b, Wide c) { return c + (a > b ? a - b : b - a); }));
    if (!t.is_signed) continue;
    forms.push_back(form("neg", t, 1, [](Wide a, Wide, Wide) { return -a; }));
    forms.push_back(form("abs", t, 1, [](Wide a, Wide, Wide) { return a < 0 ? -a : a; }));
  }
  const Type s32 = types()[3];
  const auto clamp = [](Wide x) { return std::min<Wide>(std::max<Wide>(x, INT32_MIN), INT32_MAX); };
  forms.push_back({"add.sat.s32", "s32", {"s32", "s32"}, [=](U64 a, U64 b, U64) {
                     return s32.wrap(clamp(s32.value(a) + s32.value(b)));
                   }});
  forms.push_back({"sub.sat.s32", "s32", {"s32", "s32"}, [=](U64 a, U64 b, U64) {
                     return s32.wrap(clamp(s32.value(a) - s32.value(b)));
                   }});
  forms.push_back({"mad.hi.sat.s32", "s32", {"s32", "s32", "s32"}, [=](U64 a, U64 b, U64 c) {
                     return s32.wrap(clamp((s32.value(a) * s32.value(b) >> 32) + s32.value(c)));
                   }});
  check_forms(forms, 11);
}

TEST(PtxInteger, Products) {
  std::vector<Form> forms;
  for (const Type& t : types()) {
    const auto high = [t](U64 a, U64 b) {
      if (t.bits < 64) return static_cast<U64>((t.value(a) * t.value(b)) >> t.bits);
      // Schoolbook, in halves.
      const U64 al = a & 0xFFFFFFFF, ah = a >> 32U, bl = b & 0xFFFFFFFF, bh = b >> 32U;
      const U64 m = ah * bl + (al * bl >> 32U);
      const U64 n = al * bh + (m & 0xFFFFFFFF);
      U64 h = ah * bh + (m >> 32U) + (n >> 32U);
      if (t.is_signed && signed_low(a, 64) < 0) h -= b;
      if (t.is_signed && signed_low(b, 64) < 0) h -= a;
      return h;
    };
    const auto add = [t](const std::string& name, std::size_t n, auto f) {
      return Form{name + "." + t.name, t.name, std::vector<std::string>(n, t.name),
                  [=](U64 a, U64 b, U64 c) { return low(f(a, b, c), t.bits); }};
    };
    forms.push_back(add("mul.lo", 2, [](U64 a, U64 b, U64) { return a * b; }));
    forms.push_back(add("mul.hi", 2, [=](U64 a, U64 b, U64) { return high(a, b); }));
    forms.push_back(add("mad.lo", 3, [](U64 a, U64 b, U64 c) { return a * b + c; }));
    forms.push_back(add("mad.hi", 3, [=](U64 a, U64 b, U64 c) { return high(a, b) + c; }));
    if (t.bits == 64) continue;
    const std::string twice = t.name.substr(0, 1) + std::to_string(2 * t.bits);
    forms.push_back({"mul.wide." + t.name, twice, {t.name, t.name}, [t](U64 a, U64 b, U64) {
                       return low(static_cast<U64>(t.value(a) * t.value(b)), 2 * t.bits);
                     }});
    forms.push_back({"mad.wide." + t.name, twice, {t.name, t.name, twice}, [t](U64 a, U64 b, U64 c) {
                       return low(static_cast<U64>(t.value(a) * t.value(b)) + c, 2 * t.bits);
                     }});
  }
  for (const bool s : {false, true}) {
    const auto byte = [s](U64 x, unsigned k) {
      return s ? signed_low(x >> (8 * k), 8) : static_cast<std::int64_t>(x >> (8 * k) & 0xFF);
    };
    const std::string type = s ? "s32" : "u32";
    forms.push_back({"dp4a." + type + "." + type, type, {type, type, type}, [=](U64 a, U64 b, U64 c) {
                       std::int64_t sum = static_cast<std::int64_t>(c);
                       for (unsigned k = 0; k < 4; ++k) sum += byte(a, k) * byte(b, k);
                       return low(static_cast<U64>(sum), 32);
                     }});
    forms.push_back({"dp2a.hi." + type + "." + type, type, {type, type, type}, [=](U64 a, U64 b, U64 c) {
                       const auto half = [&](unsigned k) {
                         return s ? signed_low(a >> (16 * k), 16)
                                  : static_cast<std::int64_t>(a >> (16 * k) & 0xFFFF);
                       };
                       return low(static_cast<U64>(static_cast<std::int64_t>(c) + half(0) * byte(b, 2) +
                                                   half(1) * byte(b, 3)),
                                  32);
                     }});
    const auto narrow = [s](U64 x) { return s ? signed_low(x, 24) : static_cast<std::int64_t>(low(x, 24)); };
    forms.push_back({"mul24.lo." + type, type, {type, type}, [=](U64 a, U64 b, U64) {
                       return low(static_cast<U64>(narrow(a) * narrow(b)), 32);
                     }});
    forms.push_back({"mul24.hi." + type, type, {type, type}, [=](U64 a, U64 b, U64) {
                       return low(static_cast<U64>(narrow(a) * narrow(b)) >> 16U, 32);
                     }});
  }
  check_forms(forms, 12);
}

TEST(PtxInteger, CarryChains) {
  std::vector<Form> forms;
  // 96-bit sums of (c, a) and (a, b): the third word shows every carry.
  forms.push_back({"{ add.cc.u32 $d, $a, $b; addc.cc.u32 $d, $b, $c; addc.u32 $d, 0, 0; }",
                   "u32",
                   {"u32", "u32", "u32"},
                   [](U64 a, U64 b, U64 c) { return (((c << 32U) >> 32U) + b + ((a + b) >> 32U)) >> 32U; }});
  forms.push_back({"{ sub.cc.u32 $d, $a, $b; subc.u32 $d, $c, $a; }",
                   "u32",
                   {"u32", "u32", "u32"},
                   [](U64 a, U64 b, U64 c) { return low(c - a - (a < b ? 1 : 0), 32); }});
  // A carry is a borrow that was not needed, and the other way round.
  forms.push_back({"{ sub.cc.u32 $d, $a, $b; subc.cc.u32 $d, $b, $c; addc.u32 $d, $c, 0; }",
                   "u32",
                   {"u32", "u32", "u32"},
                   [](U64 a, U64 b, U64 c) { return low(c + (b < c + (a < b ? 1 : 0) ? 0 : 1), 32); }});
  forms.push_back({"{ add.cc.u64 $d, $a, $b; subc.u64 $d, $c, 0; }",
                   "u64",
                   {"u64", "u64", "u64"},
                   [](U64 a, U64 b, U64 c) { return c - (a + b < a ? 0 : 1); }});
  forms.push_back({"{ sub.cc.u64 $d, $a, $b; madc.lo.u64 $d, $b, $c, 0; }",
                   "u64",
                   {"u64", "u64", "u64"},
                   [](U64 a, U64 b, U64 c) { return b * c + (a < b ? 0 : 1); }});
  forms.push_back({"{ add.cc.u64 $d, $a, $b; addc.u64 $d, $c, 0; }",
                   "u64",
                   {"u64", "u64", "u64"},
                   [](U64 a, U64 b, U64 c) { return c + (a + b < a ? 1 : 0); }});
  forms.push_back(
      {"{ mad.lo.cc.u32 $d, $a, $b, $c; madc.hi.u32 $d, $a, $b, 5; }",
       "u32",
       {"u32", "u32", "u32"},
       [](U64 a, U64 b, U64 c) { return low(((a * b) >> 32U) + 5 + ((low(a * b, 32) + c) >> 32U), 32); }});
  check_forms(forms, 13);
}

TEST(PtxInteger, LogicAndShifts) {
  std::vector<Form> forms;
  for (const unsigned bits : {16U, 32U, 64U}) {
    const std::string t = "b" + std::to_string(bits);
    const auto two = [&](const std::string& name, auto f) {
      forms.push_back({name + "." + t, t, {t, t}, [=](U64 a, U64 b, U64) { return low(f(a, b), bits); }});
    };
    two("and", [](U64 a, U64 b) { return a & b; });
    two("or", [](U64 a, U64 b) { return a | b; });
    two("xor", [](U64 a, U64 b) { return a ^ b; });
    forms.push_back({"not." + t, t, {t}, [=](U64 a, U64, U64) { return low(~a, bits); }});
    forms.push_back({"cnot." + t, t, {t}, [=](U64 a, U64, U64) { return a == 0 ? 1 : 0; }});
    forms.push_back(
        {"shl." + t, t, {t, "u32"}, [=](U64 a, U64 n, U64) { return n >= bits ? 0 : low(a << n, bits); }});
    forms.push_back({"shr.u" + std::to_string(bits), t, {t, "u32"}, [=](U64 a, U64 n, U64) {
                       return n >= bits ? 0 : a >> n;
                     }});
    forms.push_back({"shr.s" + std::to_string(bits), t, {t, "u32"}, [=](U64 a, U64 n, U64) {
                       return low(static_cast<U64>(signed_low(a, bits) >> std::min<U64>(n, bits - 1)), bits);
                     }});
    forms.push_back({"selp." + t, t, {t, t, "pred"}, [](U64 a, U64 b, U64 c) { return c != 0 ? a : b; }});
    forms.push_back({"slct." + t + ".s32", t, {t, t, "s32"}, [](U64 a, U64 b, U64 c) {
                       return signed_low(c, 32) >= 0 ? a : b;
                     }});
  }
  for (const char* name : {"and", "or", "xor"})
    forms.push_back({std::string(name) + ".pred", "pred", {"pred", "pred"}, [name](U64 a, U64 b, U64) {
                       return name[0] == 'a' ? a & b : name[0] == 'o' ? a | b : a ^ b;
                     }});
  forms.push_back({"not.pred", "pred", {"pred"}, [](U64 a, U64, U64) { return 1 - a; }});
  forms.push_back({"mov.pred", "pred", {"pred"}, [](U64 a, U64, U64) { return a; }});
  forms.push_back({"not.pred $d, !$a", "pred", {"pred"}, [](U64 a, U64, U64) { return a; }});
  forms.push_back({"mov.pred $d, !$a", "pred", {"pred"}, [](U64 a, U64, U64) { return 1 - a; }});
  forms.push_back(
      {"and.pred $d, !$a, $b", "pred", {"pred", "pred"}, [](U64 a, U64 b, U64) { return (1 - a) & b; }});
  forms.push_back(
      {"or.pred $d, $a, !$b", "pred", {"pred", "pred"}, [](U64 a, U64 b, U64) { return a | (1 - b); }});
  for (const unsigned table : {0x96U, 0xE8U, 0xCAU, 0x01U, 0xFEU})
    forms.push_back({"lop3.b32 $d, $a, $b, $c, " + std::to_string(table),
                     "b32",
                     {"b32", "b32", "b32"},
                     [table](U64 a, U64 b, U64 c) {
                       U64 d = 0;
                       for (unsigned k = 0; k < 32; ++k)
                         d |= U64{table >> ((a >> k & 1) << 2U | (b >> k & 1) << 1U | (c >> k & 1)) & 1U}
                              << k;
                       return d;
                     }});
  for (const bool clamp : {false, true}) {
    const std::string mode = clamp ? ".clamp" : ".wrap";
    const auto amount = [clamp](U64 c) { return clamp ? std::min<U64>(c, 32) : c % 32; };
    forms.push_back({"shf.l" + mode + ".b32", "b32", {"b32", "b32", "b32"}, [=](U64 a, U64 b, U64 c) {
                       return low((((b << 32U) | a) << amount(c)) >> 32U, 32);
                     }});
    forms.push_back({"shf.r" + mode + ".b32", "b32", {"b32", "b32", "b32"}, [=](U64 a, U64 b, U64 c) {
                       return low(((b << 32U) | a) >> amount(c), 32);
                     }});
  }
  check_forms(forms, 14);
}

U64 reversed(U64 x, unsigned bits) {
  U64 r = 0;
  for (unsigned k = 0; k < bits; ++k) r |= (x >> k & 1U) << (bits - 1 - k);
  return r;
}

TEST(PtxInteger, BitFields) {
  std::vector<Form> forms;
  for (const unsigned bits : {32U, 64U}) {
    const std::string n = std::to_string(bits);
    const auto top = [bits](U64 a) {
      unsigned k = bits;
      while (k > 0 && (a >> (k - 1) & 1U) == 0) --k;
      return k;
    };
    forms.push_back({"popc.b" + n, "u32", {"b" + n}, [](U64 a, U64, U64) {
                       U64 c = 0;
                       for (; a != 0; a &= a - 1) ++c;
                       return c;
                     }});
    forms.push_back({"clz.b" + n, "u32", {"b" + n}, [=](U64 a, U64, U64) { return U64{bits - top(a)}; }});
    forms.push_back({"brev.b" + n, "b" + n, {"b" + n}, [=](U64 a, U64, U64) { return reversed(a, bits); }});
    forms.push_back(
        {"bfind.u" + n, "u32", {"u" + n}, [=](U64 a, U64, U64) { return low(U64{top(a)} - 1, 32); }});
    forms.push_back({"bfind.shiftamt.s" + n, "u32", {"s" + n}, [=](U64 a, U64, U64) {
                       const unsigned t = top(signed_low(a, bits) < 0 ? low(~a, bits) : a);
                       return t == 0 ? 0xFFFFFFFFU : U64{bits - t};
                     }});
    for (const bool s : {false, true})
      forms.push_back({std::string("bfe.") + (s ? "s" : "u") + n,
                       "b" + n,
                       {"b" + n, "u32", "u32"},
                       [=](U64 a, U64 b, U64 c) {
                         const U64 position = b & 0xFF, length = c & 0xFF;
                         if (length == 0) return U64{0};
                         const U64 fill = s ? a >> std::min<U64>(position + length - 1, bits - 1) & 1U : 0;
                         U64 d = 0;
                         for (unsigned k = 0; k < bits; ++k)
                           d |= (k < length && position + k < bits ? a >> (position + k) & 1U : fill) << k;
                         return d;
                       }});
  }
  forms.push_back({"bfi.b32 $d, $a, $b, $c, 7", "b32", {"b32", "b32", "u32"}, [](U64 a, U64 b, U64 c) {
                     for (unsigned k = 0; k < 7; ++k)
                       if ((c & 0xFF) + k < 32)
                         b = (b & ~(U64{1} << ((c & 0xFF) + k))) | (a >> k & 1U) << ((c & 0xFF) + k);
                     return b;
                   }});
  forms.push_back({"bfi.b64 $d, $a, $b, 9, $c", "b64", {"b64", "b64", "u32"}, [](U64 a, U64 b, U64 c) {
                     for (unsigned k = 0; k < (c & 0xFF); ++k)
                       if (9 + k < 64) b = (b & ~(U64{1} << (9 + k))) | (a >> k & 1U) << (9 + k);
                     return b;
                   }});
  forms.push_back({"prmt.b32", "b32", {"b32", "b32", "b32"}, [](U64 a, U64 b, U64 c) {
                     U64 d = 0;
                     for (unsigned k = 0; k < 4; ++k) {
                       const U64 pick = c >> (4 * k) & 15U;
                       const U64 byte = ((b << 32U) | a) >> (8 * (pick & 7U)) & 0xFF;
                       d |= (pick < 8 ? byte : byte >= 128 ? 0xFF : 0) << (8 * k);
                     }
                     return d;
                   }});
  const std::vector<std::pair<std::string, std::array<std::uint16_t, 4>>> modes = {
      {"f4e", {0x3210, 0x4321, 0x5432, 0x6543}}, {"b4e", {0x5670, 0x6701, 0x7012, 0x0123}},
      {"rc8", {0x0000, 0x1111, 0x2222, 0x3333}}, {"ecl", {0x3210, 0x3211, 0x3222, 0x3333}},
      {"ecr", {0x0000, 0x1110, 0x2210, 0x3210}}, {"rc16", {0x1010, 0x3232, 0x1010, 0x3232}}};
  for (const auto& [name, picks] : modes)
    forms.push_back(
        {"prmt.b32." + name, "b32", {"b32", "b32", "b32"}, [nibbles = picks](U64 a, U64 b, U64 c) {
           U64 d = 0;
           for (unsigned k = 0; k < 4; ++k)
             d |= (((b << 32U) | a) >> (8 * (nibbles.at(c & 3U) >> (4 * k) & 7U)) & 0xFF) << (8 * k);
           return d;
         }});
  check_forms(forms, 15);
}

TEST(PtxInteger, Comparisons) {
  std::vector<Form> forms;
  const std::vector<std::pair<std::string, bool (*)(Wide, Wide)>> relations = {
      {"eq", [](Wide a, Wide b) { return a == b; }}, {"ne", [](Wide a, Wide b) { return a != b; }},
      {"lt", [](Wide a, Wide b) { return a < b; }},  {"le", [](Wide a, Wide b) { return a <= b; }},
      {"gt", [](Wide a, Wide b) { return a > b; }},  {"ge", [](Wide a, Wide b) { return a >= b; }}};
  for (const Type& t : types())
    for (const auto& [name, relation] : relations) {
      const auto holds = [t, r = relation](U64 a, U64 b) {
        return r(t.value(a), t.value(b)) ? U64{1} : U64{0};
      };
      forms.push_back({"setp." + name + "." + t.name, "pred", {t.name, t.name}, [=](U64 a, U64 b, U64) {
                         return holds(a, b);
                       }});
      forms.push_back({"setp." + name + ".xor." + t.name + " $d|$p, $a, $b, $c",
                       "pred",
                       {t.name, t.name, "pred"},
                       [=](U64 a, U64 b, U64 c) { return holds(a, b) ^ c; }});
      forms.push_back({"setp." + name + ".and." + t.name + " $p|$d, $a, $b, !$c",
                       "pred",
                       {t.name, t.name, "pred"},
                       [=](U64 a, U64 b, U64 c) { return (1 - holds(a, b)) & (1 - c); }});
      forms.push_back({"set." + name + ".u32." + t.name, "u32", {t.name, t.name}, [=](U64 a, U64 b, U64) {
                         return holds(a, b) != 0 ? 0xFFFFFFFFU : 0U;
                       }});
    }
  check_forms(forms, 16);
}

TEST(PtxInteger, Conversions) {
  std::vector<Form> forms;
  std::vector<Type> all = types();
  all.push_back({"u8", 8, false});
  all.push_back({"s8", 8, true});
  for (const Type& to : all)
    for (const Type& from : all) {
      const unsigned width = std::max(16U, to.bits);
      forms.push_back({"cvt." + to.name + "." + from.name, to.name, {from.name}, [=](U64 a, U64, U64) {
                         const U64 v = static_cast<U64>(from.value(a));
                         return low(to.is_signed ? static_cast<U64>(signed_low(v, to.bits)) : low(v, to.bits),
                                    width);
                       }});
      // Where the type holds every value, there is no such form.
      const bool holds =
          from.is_signed == to.is_signed ? from.bits <= to.bits : to.is_signed && from.bits < to.bits;
      if (holds) continue;
      forms.push_back({"cvt.sat." + to.name + "." + from.name, to.name, {from.name}, [=](U64 a, U64, U64) {
                         const Wide least = to.is_signed ? -(Wide{1} << (to.bits - 1)) : 0;
                         const Wide most = (Wide{1} << (to.bits - (to.is_signed ? 1 : 0))) - 1;
                         return low(static_cast<U64>(std::min(std::max(from.value(a), least), most)), width);
                       }});
    }
  check_forms(forms, 17);
}

}  // namespace integer_opcode_test
}  // namespace warpline::ptx::test
