// Products of matrices against a twin that knows whole matrices only, and where the PTX ISA's chapters on
// fragments say that elements are, case by case.
#include "rtl_models/isa/matrix_product.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <string>

#include "rtl_models/base/bits.h"
#include "rtl_models/base/random.h"

namespace warpline {
namespace matrix_product_test {

using Type = MatrixType;
constexpr const char* kNames[] = {"f16", "bf16", "tf32", "e4m3", "e5m2", "f32", "f64",
                                  "s8",  "u8",   "s4",   "u4",   "b1",   "s32"};

struct Place {
  unsigned row, column;
};
/// Where element i of a lane is, with g = lane / 4 and t = lane % 4, as the PTX ISA writes it.
using Where = std::function<Place(unsigned g, unsigned t, unsigned i)>;

struct Case {
  MatrixForm form;
  unsigned a_elements, b_elements;  ///< of a lane
  Where a, b;
};

Where rows_by(std::function<bool(unsigned i)> lower, std::function<unsigned(unsigned t, unsigned i)> column) {
  return [=](unsigned g, unsigned t, unsigned i) { return Place{lower(i) ? g + 8 : g, column(t, i)}; };
}
Where b_by(std::function<unsigned(unsigned t, unsigned i)> row) {
  return [=](unsigned g, unsigned t, unsigned i) { return Place{row(t, i), g}; };
}
bool never(unsigned) {
  return false;
}

// The multiplicands by shape of what is stored, in the ISA's own terms.
Where a_of_16_bits(unsigned k) {
  if (k == 8)
    return rows_by([](unsigned i) { return i >= 2; },
                   [](unsigned t, unsigned i) { return t * 2 + (i & 1U); });
  return rows_by([](unsigned i) { return !(i < 2 || (4 <= i && i < 6)); },
                 [](unsigned t, unsigned i) { return t * 2 + (i & 1U) + (i < 4 ? 0 : 8); });
}
Where b_of_16_bits() {
  return b_by([](unsigned t, unsigned i) { return t * 2 + (i & 1U) + i / 2 * 8; });
}
Where a_of_8_bits(unsigned k) {
  if (k == 16)
    return rows_by([](unsigned i) { return i >= 4; },
                   [](unsigned t, unsigned i) { return t * 4 + (i & 3U); });
  return rows_by([](unsigned i) { return !(i < 4 || (8 <= i && i < 12)); },
                 [](unsigned t, unsigned i) { return t * 4 + (i & 3U) + (i < 8 ? 0 : 16); });
}
Where b_of_8_bits() {
  return b_by([](unsigned t, unsigned i) { return t * 4 + (i & 3U) + i / 4 * 16; });
}
Where a_of_4_bits(unsigned k) {
  if (k == 32)
    return rows_by([](unsigned i) { return i >= 8; },
                   [](unsigned t, unsigned i) { return t * 8 + (i & 7U); });
  return rows_by([](unsigned i) { return !(i < 8 || (16 <= i && i < 24)); },
                 [](unsigned t, unsigned i) { return t * 8 + (i & 7U) + (i < 16 ? 0 : 32); });
}
Where b_of_4_bits() {
  return b_by([](unsigned t, unsigned i) { return t * 8 + (i & 7U) + i / 8 * 32; });
}
Where a_of_bits(unsigned k) {
  if (k == 128)
    return rows_by([](unsigned i) { return i >= 32; },
                   [](unsigned t, unsigned i) { return t * 32 + (i & 31U); });
  return rows_by([](unsigned i) { return !(i < 32 || (64 <= i && i < 96)); },
                 [](unsigned t, unsigned i) { return t * 32 + (i & 31U) + (i < 64 ? 0 : 128); });
}
Where b_of_bits() {
  return b_by([](unsigned t, unsigned i) { return t * 32 + (i & 31U) + i / 32 * 128; });
}
Where a_of_words() {
  return rows_by([](unsigned i) { return i % 2 == 1; }, [](unsigned t, unsigned i) { return t + i / 2 * 4; });
}
Where b_of_words() {
  return b_by([](unsigned t, unsigned i) { return t + i * 4; });
}

Where a_of(Type type, unsigned m, unsigned k) {
  if (m == 8) {
    const unsigned per = 32 / std::min(32U, bits_of(type));
    return rows_by(never, [per](unsigned t, unsigned i) { return t * per + i; });
  }
  switch (bits_of(type)) {
    case 16: return a_of_16_bits(k);
    case 8: return a_of_8_bits(k);
    case 4: return a_of_4_bits(k);
    case 1: return a_of_bits(k);
    default: return a_of_words();
  }
}
Where b_of(Type type) {
  switch (bits_of(type)) {
    case 16: return b_of_16_bits();
    case 8: return b_of_8_bits();
    case 4: return b_of_4_bits();
    case 1: return b_of_bits();
    default: return b_of_words();
  }
}
Place c_of(unsigned g, unsigned t, unsigned i) {
  return {i < 2 ? g : g + 8, t * 2 + (i & 1U)};
}

std::vector<MatrixForm> forms() {
  std::vector<MatrixForm> all;
  const auto add = [&](MatrixShape shape, Type a, Type b, Type c, Type d, bool sparse = false) {
    MatrixForm f;
    f.shape = shape;
    f.a = a;
    f.b = b;
    f.c = c;
    f.d = d;
    f.sparse = sparse;
    all.push_back(f);
  };
  for (const Type sum : {Type::f16, Type::f32}) {
    for (const unsigned k : {8U, 16U}) add({16, 8, k}, Type::f16, Type::f16, sum, sum);
    for (const unsigned k : {16U, 32U}) add({16, 8, k}, Type::f16, Type::f16, sum, sum, true);
    for (const Type a : {Type::e4m3, Type::e5m2})
      for (const Type b : {Type::e4m3, Type::e5m2}) {
        for (const unsigned k : {16U, 32U}) add({16, 8, k}, a, b, sum, sum);
        add({16, 8, 64}, a, b, sum, sum, true);
      }
  }
  for (const unsigned k : {8U, 16U}) {
    add({16, 8, k}, Type::bf16, Type::bf16, Type::f32, Type::f32);
    add({16, 8, k * 2}, Type::bf16, Type::bf16, Type::f32, Type::f32, true);
    add({16, 8, k / 2}, Type::tf32, Type::tf32, Type::f32, Type::f32);
    add({16, 8, k}, Type::tf32, Type::tf32, Type::f32, Type::f32, true);
  }
  for (const Rounding r : {Rounding::nearest, Rounding::zero, Rounding::down, Rounding::up}) {
    for (const MatrixShape& s : {MatrixShape{8, 8, 4}, {16, 8, 4}, {16, 8, 8}, {16, 8, 16}}) {
      add(s, Type::f64, Type::f64, Type::f64, Type::f64);
      all.back().rounding = r;
    }
  }
  for (const bool saturate : {false, true})
    for (const unsigned a : {0U, 1U})
      for (const unsigned b : {0U, 1U}) {
        const auto integers = [&](MatrixShape shape, Type first, bool sparse) {
          add(shape, static_cast<Type>(static_cast<unsigned>(first) + a),
              static_cast<Type>(static_cast<unsigned>(first) + b), Type::s32, Type::s32, sparse);
          all.back().saturate = saturate;
        };
        for (const MatrixShape& s : {MatrixShape{8, 8, 16}, {16, 8, 16}, {16, 8, 32}})
          integers(s, Type::s8, false);
        for (const unsigned k : {32U, 64U}) integers({16, 8, k}, Type::s8, true);
        for (const MatrixShape& s : {MatrixShape{8, 8, 32}, {16, 8, 32}, {16, 8, 64}})
          integers(s, Type::s4, false);
        for (const unsigned k : {64U, 128U}) integers({16, 8, k}, Type::s4, true);
      }
  for (const BitProduct p : {BitProduct::exclusive_or, BitProduct::conjunction})
    for (const MatrixShape& s : {MatrixShape{8, 8, 128}, {16, 8, 128}, {16, 8, 256}}) {
      add(s, Type::b1, Type::b1, Type::s32, Type::s32);
      all.back().bits = p;
    }
  return all;
}

// Arithmetic by integers: a number is sign, whole number and the exponent of its last place.
struct Number {
  bool nan = false, infinite = false, negative = false;
  std::uint64_t significand = 0;
  int unit = 0;
  int exponent = 0;  ///< of the binary point
};

Number read(std::uint64_t bits, int mantissa, int exponent_bits, bool has_infinity) {
  Number n;
  const int bias = (1 << (exponent_bits - 1)) - 1;
  const std::uint64_t fraction = bits & ((1ULL << mantissa) - 1);
  const int field = static_cast<int>(bits >> mantissa & ((1ULL << exponent_bits) - 1));
  n.negative = (bits >> (mantissa + exponent_bits) & 1U) != 0;
  if (field == (1 << exponent_bits) - 1 && (has_infinity || fraction == (1ULL << mantissa) - 1)) {
    n.nan = fraction != 0;
    n.infinite = fraction == 0;
    return n;
  }
  n.exponent = std::max(field, 1) - bias;
  n.significand = fraction | (field != 0 ? 1ULL << mantissa : 0);
  n.unit = n.exponent - mantissa;
  return n;
}

Number read(Type type, std::uint64_t bits) {
  switch (type) {
    case Type::f16: return read(bits, 10, 5, true);
    case Type::bf16: return read(bits, 7, 8, true);
    case Type::tf32: return read(bits >> 13U, 10, 8, true);
    case Type::e4m3: return read(bits, 3, 4, false);
    case Type::e5m2: return read(bits, 2, 5, true);
    default: return read(bits, 23, 8, true);
  }
}

std::uint32_t naive_step(const std::vector<std::pair<Number, Number>>& factors, std::uint32_t c) {
  std::vector<Number> addends = {read(Type::f32, c)};
  for (const auto& [x, y] : factors) {
    Number p;
    p.nan = x.nan || y.nan || (x.infinite && !y.infinite && y.significand == 0) ||
            (y.infinite && !x.infinite && x.significand == 0);
    p.infinite = !p.nan && (x.infinite || y.infinite);
    p.negative = x.negative != y.negative;
    p.significand = x.significand * y.significand;
    p.unit = x.unit + y.unit;
    p.exponent = x.exponent + y.exponent;
    addends.push_back(p);
  }
  bool nan = false, plus = false, minus = false;
  int largest = -1000;
  for (const Number& n : addends) {
    nan |= n.nan;
    if (n.infinite) (n.negative ? minus : plus) = true;
    if (n.significand != 0) largest = std::max(largest, n.exponent);
  }
  if (nan || (plus && minus)) return 0x7FFFFFFF;
  if (plus || minus) return plus ? 0x7F800000 : 0xFF800000;
  std::int64_t sum = 0;
  const int last = largest - 24;
  for (const Number& n : addends) {
    const int shift = n.unit - last;
    const std::uint64_t cut = shift >= 0    ? n.significand << (n.significand == 0 ? 0 : shift)
                              : shift > -64 ? n.significand >> -shift
                                            : 0;
    sum += n.negative ? -static_cast<std::int64_t>(cut) : static_cast<std::int64_t>(cut);
  }
  std::uint64_t magnitude = static_cast<std::uint64_t>(std::abs(sum));
  int unit = last;
  while (magnitude >> 24U != 0 || (magnitude != 0 && unit < -149)) {
    magnitude >>= 1U;
    ++unit;
  }
  if (magnitude == 0) return 0;
  while (magnitude >> 23U == 0 && unit > -149) {
    magnitude <<= 1U;
    --unit;
  }
  const std::uint32_t sign = sum < 0 ? 0x80000000 : 0;
  const int field = magnitude >> 23U == 0 ? 0 : unit + 23 + 127;
  if (field >= 255) return sign | 0x7F800000;
  return sign | static_cast<std::uint32_t>(field) << 23U | (static_cast<std::uint32_t>(magnitude) & 0x7FFFFF);
}

std::uint16_t narrow_to_half(std::uint32_t bits) {
  return encode(static_cast<double>(bits_as<float>(bits)), kHalf, Rounding::nearest);
}
std::uint32_t widen_half(std::uint16_t bits) {
  return bits_as<std::uint32_t>(static_cast<float>(decode(bits, kHalf)));
}

/// A matrix of bits, one word an element.
struct Matrix {
  unsigned rows, columns;
  std::vector<std::uint64_t> at;
  Matrix(unsigned r, unsigned c) : rows(r), columns(c), at(std::size_t{r} * c) {}
  std::uint64_t& operator()(unsigned r, unsigned c) { return at[std::size_t{r} * columns + c]; }
  std::uint64_t operator()(unsigned r, unsigned c) const { return at[std::size_t{r} * columns + c]; }
};

/// D of whole matrices. `columns`: of a sparse A, in order, those of row r that are stored; else all.
std::uint64_t naive_element(const MatrixForm& f, const Matrix& a, const Matrix& b, unsigned row,
                            unsigned column, std::uint64_t c, const std::vector<unsigned>& stored,
                            unsigned step) {
  if (f.a == Type::f64) {
    auto sum = bits_as<double>(c);
    for (unsigned k = 0; k < f.shape.k; ++k) {
      // A product of doubles in long double rounds; these are drawn short enough that it is exact.
      const long double exact = static_cast<long double>(bits_as<double>(a(row, k))) *
                                    static_cast<long double>(bits_as<double>(b(k, column))) +
                                static_cast<long double>(sum);
      auto near = static_cast<double>(exact);
      if (f.rounding != Rounding::nearest && static_cast<long double>(near) != exact) {
        const bool above = static_cast<long double>(near) > exact;
        const bool down = f.rounding == Rounding::down || (f.rounding == Rounding::zero && exact > 0);
        if (above == down) near = std::nextafter(near, down ? -INFINITY : INFINITY);
      }
      if (near == 0 && f.rounding == Rounding::down && exact == 0 && sum != 0) near = -0.0;
      sum = near;
    }
    return bits_as<std::uint64_t>(sum);
  }
  if (f.c == Type::s32) {
    std::int64_t sum = static_cast<std::int32_t>(c);
    const auto number = [](Type t, std::uint64_t bits) -> std::int64_t {
      const bool is_signed = t == Type::s8 || t == Type::s4;
      return is_signed ? sign_extended(bits, bits_of(t)) : static_cast<std::int64_t>(bits);
    };
    for (unsigned k = 0; k < f.shape.k; ++k) {
      const std::uint64_t x = a(row, k), y = b(k, column);
      if (f.a == Type::b1)
        sum += static_cast<std::int64_t>(f.bits == BitProduct::conjunction ? x & y : x ^ y);
      else
        sum += number(f.a, x) * number(f.b, y);
    }
    if (f.saturate) sum = std::clamp<std::int64_t>(sum, INT32_MIN, INT32_MAX);
    return static_cast<std::uint32_t>(sum);
  }
  auto sum = f.c == Type::f16 ? widen_half(static_cast<std::uint16_t>(c)) : static_cast<std::uint32_t>(c);
  for (std::size_t first = 0; first < stored.size(); first += step) {
    std::vector<std::pair<Number, Number>> factors;
    for (std::size_t s = first; s < std::min<std::size_t>(first + step, stored.size()); ++s)
      factors.emplace_back(read(f.a, a(row, stored[s])), read(f.b, b(stored[s], column)));
    sum = naive_step(factors, sum);
  }
  return f.d == Type::f16 ? narrow_to_half(sum) : sum;
}

/// Bits of an element: tame numbers, or any.
std::uint64_t draw(Type type, unsigned how, Random& random) {
  const std::uint64_t any = random.next();
  if (type == Type::f64)
    return bits_as<std::uint64_t>(static_cast<double>(static_cast<std::int32_t>(any % 2000001) - 1000000) *
                                  std::ldexp(1.0, static_cast<int>(any >> 40U & 7U)));
  if (type == Type::s32) return how == 0 ? any % 1000 : how == 1 ? 0x7FFFFFF0 + any % 32 : any & 0xFFFFFFFF;
  const unsigned bits = bits_of(type);
  if (bits < 16 || how == 2) return any & (bits == 64 ? ~0ULL : (1ULL << bits) - 1);
  const double number =
      how == 0 ? static_cast<double>(any % 17) - 8
               : std::ldexp(static_cast<double>(static_cast<std::int32_t>(any % 4096) - 2048) / 1024,
                            static_cast<int>(any >> 20U & 15U) - 8);
  if (any >> 60U == 0) return 0;
  if (type == Type::f16) return encode(number, kHalf, Rounding::nearest);
  if (type == Type::bf16) return encode(number, kBrain, Rounding::nearest);
  const auto single = bits_as<std::uint32_t>(static_cast<float>(number));
  return single;  // tf32: the lower bits are to be ignored
}

unsigned element_count(Type type, unsigned rows, unsigned columns) {
  static_cast<void>(type);
  return rows * columns / kWarpLanes;
}

/// Puts or takes element i of a lane, in registers that lie one after another, 32 lanes side by side.
void put(std::vector<std::uint8_t>& raw, Type type, unsigned lane, unsigned i, std::uint64_t bits) {
  const unsigned width = bits_of(type), reg_bits = width == 64 ? 64 : 32, per = reg_bits / width;
  const std::size_t first =
      (std::size_t{i / per} * kWarpLanes + lane) * reg_bits + std::size_t{i % per} * width;
  raw.resize(std::max<std::size_t>(raw.size(), first / 8 + 8));
  for (unsigned n = 0; n < width; ++n) {
    const std::size_t at = first + n;
    const auto mask = static_cast<std::uint8_t>(1U << at % 8);
    raw[at / 8] = static_cast<std::uint8_t>((raw[at / 8] & ~mask) | ((bits >> n & 1U) != 0 ? mask : 0));
  }
}
std::uint64_t take(const std::vector<std::uint8_t>& raw, Type type, unsigned lane, unsigned i) {
  const unsigned width = bits_of(type), reg_bits = width == 64 ? 64 : 32, per = reg_bits / width;
  const std::size_t first =
      (std::size_t{i / per} * kWarpLanes + lane) * reg_bits + std::size_t{i % per} * width;
  std::uint64_t bits = 0;
  for (unsigned n = 0; n < width; ++n)
    bits |= std::uint64_t{raw[(first + n) / 8] >> (first + n) % 8 & 1U} << n;
  return bits;
}

std::string text_of(const MatrixForm& f) {
  const auto name = [](Type t) { return std::string(".") + kNames[static_cast<std::size_t>(t)]; };
  return std::string(f.sparse ? "mma.sp" : "mma") + ".m" + std::to_string(f.shape.m) + "n" +
         std::to_string(f.shape.n) + "k" + std::to_string(f.shape.k) + name(f.d) + name(f.a) + name(f.b) +
         name(f.c);
}

/// The elements of a row that are stored, and the metadata that says so (PTX ISA, "Sparse matrix storage").
struct Sparsity {
  std::vector<std::vector<unsigned>> stored;  ///< by row
  std::vector<std::uint32_t> words = std::vector<std::uint32_t>(kWarpLanes);
};

Sparsity draw_sparsity(const MatrixForm& f, unsigned selector, Random& random) {
  Sparsity s;
  for (std::uint32_t& w : s.words) w = static_cast<std::uint32_t>(random.next());
  const unsigned bits = bits_of(f.a), k = f.shape.k;
  const unsigned chunk = bits == 32 ? 2 : bits == 4 ? 8 : 4;
  for (unsigned row = 0; row < 16; ++row) {
    std::vector<unsigned> stored;
    for (unsigned c = 0; c < k / chunk; ++c) {
      unsigned nibble = 0;
      if (chunk == 2) {
        const bool second = random.below(2) != 0;
        nibble = second ? 14 : 4;
        stored.push_back(c * 2 + (second ? 1 : 0));
      } else {
        const auto low = static_cast<unsigned>(random.below(3));
        const unsigned high = low + 1 + static_cast<unsigned>(random.below(3 - low));
        nibble = low | high << 2U;
        for (const unsigned index : {low, high}) {
          if (chunk == 4) {
            stored.push_back(c * 4 + index);
          } else {
            stored.push_back(c * 8 + index * 2);
            stored.push_back(c * 8 + index * 2 + 1);
          }
        }
      }
      // Which lane of the four that share rows g and g + 8, and which of its bits.
      const unsigned lower = row / 8;
      unsigned lane = 0, low_bit = 0;
      const std::string shape = std::to_string(bits) + "k" + std::to_string(k);
      if (shape == "16k16" || shape == "32k8") {
        lane = selector;
        low_bit = c * 4 + lower * 16;
      } else if (shape == "16k32" || shape == "32k16") {
        lane = selector * 2 + (c < 4 ? 0 : 1);
        low_bit = c % 4 * 4 + lower * 16;
      } else if (shape == "8k32" || shape == "4k64") {
        lane = selector * 2 + lower;
        low_bit = c * 4;
      } else {  // 8k64, 4k128
        lane = (c < 8 ? 0 : 2) + lower;
        low_bit = c % 8 * 4;
      }
      std::uint32_t& word = s.words[row % 8 * 4 + lane];
      word = (word & ~(15U << low_bit)) | nibble << low_bit;
    }
    s.stored.push_back(stored);
  }
  return s;
}

bool same(Type type, std::uint64_t x, std::uint64_t y) {
  if (type == Type::f64 && x << 1U == 0 && y << 1U == 0) return true;  // the sign of a sum of zero
  return x == y;
}

void check(const MatrixForm& f, std::uint64_t seed) {
  Random random(seed);
  const auto how = static_cast<unsigned>(random.below(3));
  const auto [m, n, k] = f.shape;
  const unsigned selector = f.sparse ? static_cast<unsigned>(random.below(selectors_of(f))) : 0;
  const unsigned stored_k = f.sparse ? k / 2 : k;
  Matrix a(m, stored_k), b(k, n), c(m, n);
  for (auto& x : a.at) x = draw(f.a, how, random);
  for (auto& x : b.at) x = draw(f.b, how, random);
  for (auto& x : c.at) x = draw(f.c, how, random);
  std::vector<std::uint8_t> raw_a, raw_b, raw_c, raw_d(4096);
  const Where where_a = a_of(f.a, m, stored_k), where_b = b_of(f.b);
  for (unsigned lane = 0; lane < kWarpLanes; ++lane) {
    for (unsigned i = 0; i < element_count(f.a, m, stored_k); ++i) {
      const Place p = where_a(lane / 4, lane % 4, i);
      put(raw_a, f.a, lane, i, a(p.row, p.column));
    }
    for (unsigned i = 0; i < element_count(f.b, k, n); ++i) {
      const Place p = where_b(lane / 4, lane % 4, i);
      put(raw_b, f.b, lane, i, b(p.row, p.column));
    }
    for (unsigned i = 0; i < element_count(f.c, m, n); ++i) {
      const Place p = c_of(lane / 4, lane % 4, i);
      put(raw_c, f.c, lane, i, c(p.row, p.column));
    }
  }
  Sparsity sparsity;
  Matrix whole(m, k);
  std::vector<unsigned> every;
  for (unsigned x = 0; x < k; ++x) every.push_back(x);
  if (f.sparse) {
    sparsity = draw_sparsity(f, selector, random);
    for (unsigned row = 0; row < m; ++row)
      for (unsigned s = 0; s < stored_k; ++s) whole(row, sparsity.stored[row][s]) = a(row, s);
  } else {
    whole = a;
  }
  const MatrixProduct product = mma_product(f, false, true);
  product.run(raw_a.data(), raw_b.data(), raw_c.data(), raw_d.data(), sparsity.words.data(), selector);
  const unsigned step = bits_of(f.a) == 8 ? 16 : bits_of(f.a) == 16 ? 8 : 4;
  for (unsigned lane = 0; lane < kWarpLanes; ++lane)
    for (unsigned i = 0; i < element_count(f.d, m, n); ++i) {
      const Place p = c_of(lane / 4, lane % 4, i);
      const std::uint64_t want = naive_element(f, whole, b, p.row, p.column, c(p.row, p.column),
                                               f.sparse ? sparsity.stored[p.row] : every, step);
      const std::uint64_t got = take(raw_d, f.d, lane, i);
      ASSERT_TRUE(same(f.d, got, want)) << text_of(f) << " seed " << seed << " row " << p.row << " column "
                                        << p.column << std::hex << ": got 0x" << got << ", want 0x" << want;
    }
}

TEST(MatrixProduct, EqualsTheTwinOfWholeMatrices) {
  std::uint64_t seed = 1;
  for (const MatrixForm& f : forms())
    for (unsigned round = 0; round < 6; ++round) ASSERT_NO_FATAL_FAILURE(check(f, seed++));
}

/// mma.m8n8k4 of f16: four products, of lanes 4 q to 4 q + 3 with 16 more.
TEST(MatrixProduct, OfQuadsIsFourProducts) {
  std::uint64_t seed = 1000;
  for (const bool a_column : {false, true})
    for (const bool b_column : {false, true})
      for (const auto& [c_type, d_type] :
           {std::pair{Type::f16, Type::f16}, {Type::f16, Type::f32}, {Type::f32, Type::f32}}) {
        Random random(seed++);
        MatrixForm f;
        f.shape = {8, 8, 4};
        f.c = c_type;
        f.d = d_type;
        std::vector<std::uint8_t> raw_a, raw_b, raw_c, raw_d(4096);
        std::vector<Matrix> as(4, Matrix(8, 4)), bs(4, Matrix(4, 8)), cs(4, Matrix(8, 8));
        const auto place_c = [](Type type, unsigned lane, unsigned i) {
          if (type == Type::f16) return Place{lane % 4 + (lane < 16 ? 0 : 4), i};
          const unsigned x = (lane & 1U) + (i & 2U);
          return Place{lane < 16 ? x : x + 4, (i & 4U) + (lane & 2U) + (i & 1U)};
        };
        for (unsigned lane = 0; lane < kWarpLanes; ++lane) {
          const unsigned q = lane % 16 / 4, upper = lane < 16 ? 0 : 4;
          for (unsigned i = 0; i < 4; ++i) {
            const std::uint64_t x = draw(Type::f16, 1, random), y = draw(Type::f16, 1, random);
            put(raw_a, Type::f16, lane, i, x);
            put(raw_b, Type::f16, lane, i, y);
            (a_column ? as[q](i + upper, lane % 4) : as[q](lane % 4 + upper, i)) = x;
            (b_column ? bs[q](i, lane % 4 + upper) : bs[q](lane % 4, i + upper)) = y;
          }
          for (unsigned i = 0; i < 8; ++i) {
            const std::uint64_t z = draw(c_type, 1, random);
            const Place p = place_c(c_type, lane, i);
            put(raw_c, c_type, lane, i, z);
            cs[q](p.row, p.column) = z;
          }
        }
        mma_product(f, a_column, b_column).run(raw_a.data(), raw_b.data(), raw_c.data(), raw_d.data());
        for (unsigned lane = 0; lane < kWarpLanes; ++lane)
          for (unsigned i = 0; i < 8; ++i) {
            const unsigned q = lane % 16 / 4;
            const Place p = place_c(d_type, lane, i);
            ASSERT_EQ(take(raw_d, d_type, lane, i), naive_element(f, as[q], bs[q], p.row, p.column,
                                                                  cs[q](p.row, p.column), {0, 1, 2, 3}, 4))
                << a_column << b_column << " lane " << lane << " element " << i;
          }
      }
}

/// What `wmma` holds of a matrix: every element once, and a lane's pieces as they lie in memory.
TEST(MatrixProduct, FragmentsOfWmmaHoldEveryElementOnce) {
  for (const auto& [type, rows, columns, column_major] : {std::tuple{Type::f16, 16U, 16U, false},
                                                          {Type::f16, 32U, 16U, true},
                                                          {Type::f16, 16U, 8U, false},
                                                          {Type::f32, 16U, 16U, false},
                                                          {Type::f32, 32U, 8U, false},
                                                          {Type::u8, 16U, 16U, true},
                                                          {Type::s8, 16U, 8U, false},
                                                          {Type::f64, 8U, 4U, true},
                                                          {Type::f64, 8U, 8U, false},
                                                          {Type::s4, 8U, 32U, false},
                                                          {Type::b1, 8U, 128U, false},
                                                          {Type::b1, 128U, 8U, true},
                                                          {Type::tf32, 16U, 8U, false}}) {
    const LoadedFragment f = wmma_fragment(type, rows, columns, column_major);
    std::vector<bool> seen(f.bytes() * 8 / f.bits);
    ASSERT_EQ(f.at.size(), seen.size());
    for (const std::uint16_t at : f.at) {
      ASSERT_LT(at, seen.size());
      EXPECT_FALSE(seen[at]);
      seen[at] = true;
    }
    EXPECT_EQ(f.chunk_bytes * f.chunks * kWarpLanes, rows * columns * bits_of(type) / 8);
    // Lane 1's first piece follows lane 0's.
    const unsigned along = f.chunk_bytes * 8 / f.bits;
    const std::size_t second = column_major ? std::size_t{along} * f.columns : along;
    if (f.chunks_per_line > 1) {
      EXPECT_EQ(f.at[second], f.parts());
    }
  }
}

}  // namespace matrix_product_test
}  // namespace warpline
