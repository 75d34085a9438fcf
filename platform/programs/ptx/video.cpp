// The video instructions: integers of 8, 16 and 32 bits picked out of registers, alone or side by side.
#include <algorithm>

#include "platform/programs/ptx/families.h"
#include "platform/programs/ptx/opcodes.h"

namespace warpline::ptx {
namespace {

__extension__ using Int128 = __int128;

enum class Video : std::uint8_t {
  add,
  sub,
  average,
  difference,
  min,
  max,
  shift_left,
  shift_right,
  multiply,
  compare
};
enum class Second : std::uint8_t { none, add, min, max };
enum class Order : std::uint8_t { eq, ne, lt, le, gt, ge };

bool holds(Order order, std::int64_t a, std::int64_t b) {
  switch (order) {
    case Order::eq: return a == b;
    case Order::ne: return a != b;
    case Order::lt: return a < b;
    case Order::le: return a <= b;
    case Order::gt: return a > b;
    case Order::ge: return a >= b;
  }
  return false;
}

std::int64_t extended(std::uint64_t bits, unsigned width, bool is_signed) {
  return is_signed ? sign_extended(bits, width)
                   : static_cast<std::int64_t>(bits & ((std::uint64_t{1} << width) - 1));
}

Int128 clamped(Int128 x, unsigned width, bool is_signed) {
  const Int128 low = is_signed ? -(Int128{1} << (width - 1)) : 0;
  const Int128 high = (Int128{1} << (width - (is_signed ? 1U : 0U))) - 1;
  return std::clamp(x, low, high);
}

/// The part of a register that a scalar operand names: `.b2`, `.h1`, or all.
struct Part {
  std::uint8_t shift = 0;
  std::uint8_t width = 32;
};

/// What a scalar video instruction does, in Op::immediate.
struct Scalar {
  Video operation = Video::add;
  Second second = Second::none;
  Part a, b;
  Part d;  ///< of 32 bits: all of the destination
  bool signed_a = false, signed_b = false, signed_d = false;
  bool wraps = false;    ///< the amount of a shift; else it is clamped
  bool negates = false;  ///< the product of vmad
  bool negates_c = false;
  bool adds_one = false;  ///< .po
  std::uint8_t scale = 0;
  Order order = Order::eq;
};

std::int64_t pack(const Scalar& s) {
  std::uint64_t bits = 0;
  unsigned at = 0;
  const auto put = [&](std::uint64_t value, unsigned width) {
    bits |= value << at;
    at += width;
  };
  put(static_cast<std::uint64_t>(s.operation), 4);
  put(static_cast<std::uint64_t>(s.second), 2);
  for (const Part& p : {s.a, s.b, s.d}) put(p.shift, 5), put(p.width, 6);
  for (const bool b : {s.signed_a, s.signed_b, s.signed_d, s.wraps, s.negates, s.negates_c, s.adds_one})
    put(b ? 1 : 0, 1);
  put(s.scale, 4);
  put(static_cast<std::uint64_t>(s.order), 3);
  return static_cast<std::int64_t>(bits);
}
Scalar unpack(std::int64_t packed) {
  auto bits = static_cast<std::uint64_t>(packed);
  const auto get = [&](unsigned width) {
    const std::uint64_t value = bits & ((std::uint64_t{1} << width) - 1);
    bits >>= width;
    return value;
  };
  Scalar s;
  s.operation = static_cast<Video>(get(4));
  s.second = static_cast<Second>(get(2));
  for (Part* p : {&s.a, &s.b, &s.d}) {
    p->shift = static_cast<std::uint8_t>(get(5));
    p->width = static_cast<std::uint8_t>(get(6));
  }
  for (bool* b : {&s.signed_a, &s.signed_b, &s.signed_d, &s.wraps, &s.negates, &s.negates_c, &s.adds_one})
    *b = get(1) != 0;
  s.scale = static_cast<std::uint8_t>(get(4));
  s.order = static_cast<Order>(get(3));
  return s;
}

Int128 scalar_result(const Scalar& s, std::int64_t a, std::int64_t b) {
  switch (s.operation) {
    case Video::add: return Int128{a} + b;
    case Video::sub: return Int128{a} - b;
    case Video::difference: return a < b ? Int128{b} - a : Int128{a} - b;
    case Video::min: return std::min(a, b);
    case Video::max: return std::max(a, b);
    case Video::shift_left: return Int128{a} * (Int128{1} << b);
    case Video::shift_right: return Int128{a} >> b;
    default: return holds(s.order, a, b) ? 1 : 0;
  }
}

/// PTX ISA, "Scalar Video Instructions".
std::uint32_t scalar(const Op& op, std::uint32_t a, std::uint32_t b, std::uint32_t c) {
  const Scalar s = unpack(op.immediate);
  const std::int64_t x = extended(a >> s.a.shift, s.a.width, s.signed_a);
  std::int64_t y = extended(b >> s.b.shift, s.b.width, s.signed_b);
  const bool shifts = s.operation == Video::shift_left || s.operation == Video::shift_right;
  if (shifts) y = s.wraps ? y & 31 : std::min<std::int64_t>(y, 32);
  Int128 t = scalar_result(s, x, y);
  if (op.saturate) t = clamped(t, s.d.width, s.signed_d);
  const std::int64_t other = extended(c, 32, s.signed_d);
  if (s.second == Second::add) t += other;
  if (s.second == Second::min) t = std::min<Int128>(t, other);
  if (s.second == Second::max) t = std::max<Int128>(t, other);
  const auto bits = static_cast<std::uint32_t>(t);
  if (s.d.width == 32) return bits;
  const std::uint32_t mask = ((1U << s.d.width) - 1) << s.d.shift;
  return ((bits << s.d.shift) & mask) | (c & ~mask);
}

/// PTX ISA, "vmad". A negated product or addend is complemented and one added to the sum.
std::uint32_t multiply_add(const Op& op, std::uint32_t a, std::uint32_t b, std::uint32_t c) {
  const Scalar s = unpack(op.immediate);
  const bool is_signed = s.signed_a || s.signed_b || s.negates || s.negates_c;
  Int128 t = Int128{extended(a >> s.a.shift, s.a.width, s.signed_a)} *
             extended(b >> s.b.shift, s.b.width, s.signed_b);
  if (s.negates) t = ~t;
  const std::uint32_t addend = s.negates_c ? ~c : c;
  t += extended(addend, 32, is_signed);
  if (s.adds_one || s.negates || s.negates_c) t += 1;
  t >>= s.scale;
  if (op.saturate) t = clamped(t, 32, is_signed);
  return static_cast<std::uint32_t>(t);
}

/// What a SIMD video instruction does, in Op::immediate: which element of {b, a} each element comes from.
struct Simd {
  Video operation = Video::add;
  Order order = Order::eq;
  bool halves = false;  ///< two elements of 16 bits, else four of 8
  bool accumulates = false;
  bool signed_a = false, signed_b = false, signed_d = false;
  std::uint8_t mask = 15;  ///< elements of the destination
  std::array<std::uint8_t, 4> a{}, b{};
};

std::int64_t pack(const Simd& s) {
  auto bits = static_cast<std::uint64_t>(s.operation) | static_cast<std::uint64_t>(s.order) << 4U |
              (s.halves ? 1U : 0U) << 7U | (s.accumulates ? 1U : 0U) << 8U | (s.signed_a ? 1U : 0U) << 9U |
              (s.signed_b ? 1U : 0U) << 10U | (s.signed_d ? 1U : 0U) << 11U |
              static_cast<std::uint64_t>(s.mask) << 12U;
  for (unsigned k = 0; k < 4; ++k)
    bits |= std::uint64_t{s.a.at(k)} << (16 + 3 * k) | std::uint64_t{s.b.at(k)} << (28 + 3 * k);
  return static_cast<std::int64_t>(bits);
}

/// PTX ISA, "SIMD Video Instructions".
std::uint32_t simd(const Op& op, std::uint32_t a, std::uint32_t b, std::uint32_t c) {
  const auto bits = static_cast<std::uint64_t>(op.immediate);
  const auto bit = [bits](unsigned n) { return (bits >> n & 1U) != 0; };
  const auto operation = static_cast<Video>(bits & 15U);
  const unsigned width = bit(7) ? 16 : 8;
  const std::uint64_t pair = std::uint64_t{b} << 32U | a;
  const auto element = [&](unsigned first, unsigned k, bool is_signed) {
    return extended(pair >> (width * (bits >> (first + 3 * k) & 7U)), width, is_signed);
  };
  std::uint32_t merged = 0;
  std::uint32_t sum = c;
  for (unsigned k = 0; k < 32 / width; ++k) {
    const std::int64_t x = element(16, k, bit(9));
    const std::int64_t y = element(28, k, bit(10));
    std::int64_t t = 0;
    switch (operation) {
      case Video::add: t = x + y; break;
      case Video::sub: t = x - y; break;
      case Video::average: t = (x + y + (x + y >= 0 ? 1 : 0)) >> 1; break;
      case Video::difference: t = x < y ? y - x : x - y; break;
      case Video::min: t = std::min(x, y); break;
      case Video::max: t = std::max(x, y); break;
      default: t = holds(static_cast<Order>(bits >> 4U & 7U), x, y) ? 1 : 0;
    }
    if (op.saturate) t = static_cast<std::int64_t>(clamped(t, width, bit(11)));
    const bool chosen = bit(12 + k);
    const std::uint32_t mask = (width == 16 ? 0xFFFFU : 0xFFU) << (width * k);
    if (chosen) sum += static_cast<std::uint32_t>(t);
    merged |= (chosen ? static_cast<std::uint32_t>(t) << (width * k) : c) & mask;
  }
  return bit(8) ? sum : merged;
}

/// An operand `%r1.b0` in two.
struct Selected {
  Operand base;
  std::string_view selector;  ///< without its dot; empty: none
};
Selected split(const Operand& o) {
  Selected s{o, {}};
  const std::size_t dot = o.name.rfind('.');
  if (o.kind != Operand::Kind::name || dot == std::string::npos) return s;
  s.base.name.resize(dot);
  s.selector = std::string_view(o.name).substr(dot + 1);
  return s;
}

Part part_of(Decoder& d, const Operand& o, std::string_view selector) {
  if (selector.empty()) return {};
  const bool byte = selector[0] == 'b';
  const char last = byte ? '3' : '1';
  if (selector.size() != 2 || (!byte && selector[0] != 'h') || selector[1] < '0' || selector[1] > last)
    d.fail(o.token.place(),
           "expected a part such as '.b0' or '.h1', found " + quoted("." + std::string(selector)));
  const unsigned width = byte ? 8 : 16;
  return {static_cast<std::uint8_t>(width * static_cast<unsigned>(selector[1] - '0')),
          static_cast<std::uint8_t>(width)};
}

/// A scalar source, and which part of it is meant.
Ref source_part(Decoder& d, std::size_t index, Part& part) {
  const Selected s = split(d.operand(index));
  part = part_of(d, d.operand(index), s.selector);
  return d.source(s.base, DataType::b32);
}

bool take_sign(Decoder& d) {
  return is_signed(d.take_type({DataType::u32, DataType::s32}));
}

Order take_order(Decoder& d) {
  return static_cast<Order>(d.need_one_of({".eq", ".ne", ".lt", ".le", ".gt", ".ge"},
                                          d.opcode() + " needs a comparison such as '.lt'"));
}

template <Video kOperation>
void decode_scalar(Decoder& d) {
  Scalar s;
  Op op;
  s.operation = kOperation;
  constexpr bool kCompares = kOperation == Video::compare;
  if (kCompares) s.order = take_order(d);
  if (!kCompares) s.signed_d = take_sign(d);
  s.signed_a = take_sign(d);
  s.signed_b = take_sign(d);
  op.saturate = !kCompares && d.take(".sat");
  if (kOperation == Video::shift_left || kOperation == Video::shift_right) {
    if (s.signed_b) d.fail("the amount of a shift is '.u32'");
    s.wraps = d.need_one_of({".clamp", ".wrap"}, d.opcode() + " needs '.clamp' or '.wrap'") == 1;
  }
  const auto second = d.take_one_of({".add", ".min", ".max"});
  if (second) s.second = static_cast<Second>(*second + 1);
  const Selected to = split(d.operand(0));
  s.d = part_of(d, d.operand(0), to.selector);
  const bool merges = !to.selector.empty();
  if (merges && second) d.fail("a part of the destination does not go with a second operation");
  d.need_operands(merges || second ? 4 : 3);
  op.r[1] = source_part(d, 1, s.a);
  op.r[2] = source_part(d, 2, s.b);
  op.r[3] = d.operand_count() == 4 ? d.source(3, DataType::b32) : op.r[1];
  op.r[0] = d.destination(to.base, DataType::b32);
  op.immediate = pack(s);
  op.run = &run_lanes<&scalar>;
  d.emit(op, 2 * latency::kSimple);
}

void decode_multiply_add(Decoder& d) {
  Scalar s;
  Op op;
  s.operation = Video::multiply;
  take_sign(d);  // the result's sign follows from the operands'
  s.signed_a = take_sign(d);
  s.signed_b = take_sign(d);
  s.adds_one = d.take(".po");
  op.saturate = d.take(".sat");
  if (const auto scale = d.take_one_of({".shr7", ".shr15"})) s.scale = *scale == 0 ? 7 : 15;
  d.need_operands(4);
  s.negates = d.operand(1).minus != d.operand(2).minus;
  s.negates_c = d.operand(3).minus;
  if ((s.negates && s.negates_c) || (s.adds_one && (d.operand(1).minus || d.operand(2).minus || s.negates_c)))
    d.fail("either the product or the addend is negated, and neither with '.po'");
  op.r[1] = source_part(d, 1, s.a);
  op.r[2] = source_part(d, 2, s.b);
  op.r[3] = d.source(3, DataType::b32);
  op.r[0] = d.destination(0, DataType::b32);
  op.immediate = pack(s);
  op.run = &run_lanes<&multiply_add>;
  d.emit(op, 2 * latency::kMultiply);
}

/// The digits of a selector such as ".b7610", the lowest element's first.
template <class F>
void read_selector(Decoder& d, const Operand& o, std::string_view selector, bool halves, unsigned limit,
                   F&& each) {
  bool good = selector[0] == (halves ? 'h' : 'b') && selector.size() > 1;
  for (const char c : selector.substr(1)) good = good && c >= '0' && c < static_cast<char>('0' + limit);
  if (!good) d.fail(o.token.place(), quoted("." + std::string(selector)) + " selects no elements here");
  for (std::size_t k = selector.size(); k-- > 1;) each(static_cast<unsigned>(selector[k] - '0'));
}

Ref source_elements(Decoder& d, std::size_t index, bool halves, unsigned first,
                    std::array<std::uint8_t, 4>& elements) {
  const Selected s = split(d.operand(index));
  const unsigned count = halves ? 2 : 4;
  for (unsigned k = 0; k < count; ++k) elements.at(k) = static_cast<std::uint8_t>(first + k);
  if (!s.selector.empty()) {
    if (s.selector.size() != 1 + count)
      d.fail(d.operand(index).token.place(), "a source names " + std::to_string(count) + " elements");
    unsigned k = 0;
    read_selector(d, d.operand(index), s.selector, halves, 2 * count,
                  [&](unsigned n) { elements.at(k++) = static_cast<std::uint8_t>(n); });
  }
  return d.source(s.base, DataType::b32);
}

template <Video kOperation, bool kHalves>
void decode_simd(Decoder& d) {
  Simd s;
  Op op;
  s.operation = kOperation;
  s.halves = kHalves;
  constexpr unsigned kCount = kHalves ? 2 : 4;
  constexpr bool kCompares = kOperation == Video::compare;
  if (kCompares) s.order = take_order(d);
  if (!kCompares) s.signed_d = take_sign(d);
  s.signed_a = take_sign(d);
  s.signed_b = take_sign(d);
  op.saturate = !kCompares && d.take(".sat");
  s.accumulates = d.take(".add");
  if (op.saturate && s.accumulates) d.fail("'.sat' does not go with '.add'");
  d.need_operands(4);
  const Selected to = split(d.operand(0));
  if (!to.selector.empty()) {
    s.mask = 0;
    read_selector(d, d.operand(0), to.selector, kHalves, kCount, [&](unsigned n) {
      if (s.mask >> n != 0)
        d.fail(d.operand(0).token.place(), "a mask names its elements from the highest down");
      s.mask = static_cast<std::uint8_t>(s.mask | 1U << n);
    });
  }
  op.r[1] = source_elements(d, 1, kHalves, 0, s.a);
  op.r[2] = source_elements(d, 2, kHalves, kCount, s.b);
  op.r[3] = d.source(3, DataType::b32);
  op.r[0] = d.destination(to.base, DataType::b32);
  op.immediate = pack(s);
  op.run = &run_lanes<&simd>;
  d.emit(op, 2 * latency::kSimple);
}

}  // namespace

std::vector<Opcode> video_opcodes() {
  using V = Video;
  return {{"vadd", &decode_scalar<V::add>},
          {"vsub", &decode_scalar<V::sub>},
          {"vabsdiff", &decode_scalar<V::difference>},
          {"vmin", &decode_scalar<V::min>},
          {"vmax", &decode_scalar<V::max>},
          {"vshl", &decode_scalar<V::shift_left>},
          {"vshr", &decode_scalar<V::shift_right>},
          {"vset", &decode_scalar<V::compare>},
          {"vmad", &decode_multiply_add},
          {"vadd2", &decode_simd<V::add, true>},
          {"vsub2", &decode_simd<V::sub, true>},
          {"vavrg2", &decode_simd<V::average, true>},
          {"vabsdiff2", &decode_simd<V::difference, true>},
          {"vmin2", &decode_simd<V::min, true>},
          {"vmax2", &decode_simd<V::max, true>},
          {"vset2", &decode_simd<V::compare, true>},
          {"vadd4", &decode_simd<V::add, false>},
          {"vsub4", &decode_simd<V::sub, false>},
          {"vavrg4", &decode_simd<V::average, false>},
          {"vabsdiff4", &decode_simd<V::difference, false>},
          {"vmin4", &decode_simd<V::min, false>},
          {"vmax4", &decode_simd<V::max, false>},
          {"vset4", &decode_simd<V::compare, false>}};
}

}  // namespace warpline::ptx
