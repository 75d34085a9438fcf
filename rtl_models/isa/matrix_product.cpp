#include "rtl_models/isa/matrix_product.h"

#include <algorithm>
#include <array>
#include <cfenv>
#include <cmath>
#include <limits>

#include "rtl_models/base/bits.h"

namespace warpline {
namespace {

constexpr unsigned kStrip = 8;       ///< columns that are computed side by side
constexpr unsigned kMostRows = 32;   ///< of A
constexpr unsigned kMostK = 128;     ///< floating-point or integer elements in a row of A
constexpr unsigned kMostWide = 256;  ///< columns of B
constexpr int kKeptBits = 24;        ///< below the largest exponent of a step
constexpr std::uint32_t kNan = 0x7FFF'FFFF;

bool is_integer(MatrixType t) {
  return t >= MatrixType::s8 && t <= MatrixType::u4;
}

/// The power of an element that is not stored: it meets nothing of B.
constexpr float kAbsent = -0.0F;

/// A number and the power of two of its exponent: of subnormals the least exponent of the type, of zero 0.
struct Part {
  float value = 0;
  float power = 0;
};

/// e4m3 has no infinities and one NaN of each sign.
Part part_of_e4m3(unsigned bits) {
  const unsigned field = bits >> 3U & 15U, fraction = bits & 7U;
  if ((bits & 0x7FU) == 0x7FU) return {bits_as<float>(kNan), std::numeric_limits<float>::infinity()};
  const float power = std::ldexp(1.0F, std::max<int>(static_cast<int>(field), 1) - 7);
  const float magnitude = power * (static_cast<float>(fraction + (field != 0 ? 8 : 0)) / 8);
  return {(bits & 0x80U) != 0 ? -magnitude : magnitude, magnitude == 0 ? 0 : power};
}

Part part_of_half(unsigned bits) {
  const unsigned field = bits >> 10U & 31U;
  const auto value = static_cast<float>(decode(static_cast<std::uint16_t>(bits), kHalf));
  if (field == 31) return {value, std::numeric_limits<float>::infinity()};
  return {value, value == 0 ? 0 : std::ldexp(1.0F, std::max<int>(static_cast<int>(field), 1) - 15)};
}

/// Numbers and powers of the rows of A, or of B, laid out for the loops.
struct Parts {
  explicit Parts(std::size_t count) : value(count), power(count) {}
  std::vector<float> value, power;
  bool finite = true;
};

/// Without tables, as loops without branches.
void convert_halves(const std::uint16_t* from, std::size_t count, Parts& to) {
  constexpr float kScale = 5192296858534827628530496329220096.0F;  // 2^112: from f16's bias to f32's
  std::uint32_t all = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint32_t bits = from[i];
    const float magnitude = bits_as<float>((bits & 0x7FFFU) << 13U) * kScale;
    const float power = bits_as<float>((bits & 0x7C00U) << 13U) * kScale;
    constexpr float kLeast = 6.103515625e-05F;  // 2^-14
    const float least = power > kLeast ? power : kLeast;
    to.power[i] = magnitude == 0 ? 0.0F : least;
    to.value[i] = bits_as<float>(bits_as<std::uint32_t>(magnitude) | (bits & 0x8000U) << 16U);
    all |= ((bits & 0x7C00U) + 0x400U) & 0x8000U;
  }
  if (all == 0) return;
  to.finite = false;
  for (std::size_t i = 0; i < count; ++i) {
    const Part p = part_of_half(from[i]);
    to.value[i] = p.value;
    to.power[i] = p.power;
  }
}

/// Numbers that are the upper bits of an f32: bf16 moved up, tf32.
void convert_floats(const std::uint32_t* from, std::size_t count, Parts& to) {
  std::uint32_t all = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint32_t bits = from[i];
    const auto value = bits_as<float>(bits);
    const float power = bits_as<float>(bits & 0x7F80'0000U);
    constexpr float kLeast = std::numeric_limits<float>::min();
    const float least = power > kLeast ? power : kLeast;
    to.power[i] = value == 0 ? 0.0F : least;
    to.value[i] = value;
    all |= ((bits & 0x7F80'0000U) + 0x80'0000U) & 0x8000'0000U;
  }
  to.finite = to.finite && all == 0;
}

template <class T>
void gather(const void* raw, const Fragment& layout, unsigned lane_shift, T* out) {
  const auto* from = static_cast<const std::uint8_t*>(raw) + std::size_t{lane_shift} * layout.register_bytes;
  const std::uint16_t* at = layout.at.data();
  for (std::size_t i = 0; i < layout.at.size(); ++i)
    std::memcpy(&out[i], from + std::size_t{at[i]} * sizeof(T), sizeof(T));
}

template <class T>
void scatter(const T* values, const Fragment& layout, unsigned lane_shift, void* raw) {
  auto* to = static_cast<std::uint8_t*>(raw) + std::size_t{lane_shift} * layout.register_bytes;
  for (std::size_t i = 0; i < layout.at.size(); ++i)
    std::memcpy(to + std::size_t{layout.at[i]} * sizeof(T), &values[i], sizeof(T));
}

/// Numbers of 8 bits or 4.
void gather_small(const void* raw, const Fragment& layout, MatrixType type, std::int32_t* out) {
  const auto* from = static_cast<const std::uint8_t*>(raw);
  for (std::size_t i = 0; i < layout.at.size(); ++i) {
    const unsigned at = layout.at[i];
    switch (type) {
      case MatrixType::s8: out[i] = static_cast<std::int8_t>(from[at]); break;
      case MatrixType::u8: out[i] = from[at]; break;
      default: {
        const unsigned nibble = from[at / 2] >> at % 2 * 4 & 15U;
        out[i] = type == MatrixType::u4 ? static_cast<std::int32_t>(nibble)
                                        : static_cast<std::int32_t>(sign_extended(nibble, 4));
      }
    }
  }
}

void gather_parts(const void* raw, const Fragment& layout, MatrixType type, unsigned lane_shift, Parts& out) {
  constexpr std::size_t kMost = std::size_t{kMostWide} * 64;
  const std::size_t count = layout.at.size();
  if (type == MatrixType::f16) {
    std::array<std::uint16_t, kMost> bits;
    gather(raw, layout, lane_shift, bits.data());
    return convert_halves(bits.data(), count, out);
  }
  if (bits_of(type) == 8) {
    std::array<std::uint8_t, kMost> bits;
    gather(raw, layout, lane_shift, bits.data());
    static const std::array<std::array<Part, 256>, 2> kTables = [] {
      std::array<std::array<Part, 256>, 2> t;
      for (unsigned i = 0; i < 256; ++i) {
        t[0][i] = part_of_e4m3(i);
        t[1][i] = part_of_half(i << 8U);
      }
      return t;
    }();
    const auto& table = kTables[type == MatrixType::e5m2 ? 1 : 0];
    for (std::size_t i = 0; i < count; ++i) {
      const Part& p = table[bits[i]];
      out.value[i] = p.value;
      out.power[i] = p.power;
      out.finite = out.finite && p.power < std::numeric_limits<float>::infinity();
    }
    return;
  }
  std::array<std::uint32_t, kMost> words;
  if (type == MatrixType::bf16) {
    std::array<std::uint16_t, kMost> bits;
    gather(raw, layout, lane_shift, bits.data());
    for (std::size_t i = 0; i < count; ++i) words[i] = std::uint32_t{bits[i]} << 16U;
  } else {
    gather(raw, layout, lane_shift, words.data());
    constexpr std::uint32_t kUnused = 0x1FFF;  // PTX ISA: the lower 13 bits of tf32 are ignored
    for (std::size_t i = 0; i < count; ++i) words[i] &= ~kUnused;
  }
  convert_floats(words.data(), count, out);
}

/// The sum of `count` products and `c`, as one step makes it, whatever the numbers are. `stride`: between
/// elements of a column of B.
float add_step(const float* a, const float* pa, const float* b, const float* pb, std::size_t stride,
               unsigned count, float c) {
  bool nan = std::isnan(c);
  double infinity = std::isinf(c) ? static_cast<double>(c) : 0;
  int exponent = std::numeric_limits<int>::min();
  for (unsigned k = 0; k < count; ++k) {
    if (std::signbit(pa[k])) continue;  // kAbsent
    const double x = static_cast<double>(a[k]), y = static_cast<double>(b[k * stride]);
    const double product = x * y;
    nan |= std::isnan(product);
    if (std::isinf(product)) {
      nan |= infinity != 0 && infinity != product;
      infinity = product;
    } else if (product != 0 && !std::isnan(product)) {
      exponent = std::max(exponent, std::ilogb(pa[k]) + std::ilogb(pb[k * stride]));
    }
  }
  if (nan) return bits_as<float>(kNan);
  if (infinity != 0) return static_cast<float>(infinity);
  constexpr int kLeast = -126;
  if (c != 0) exponent = std::max(exponent, std::max(std::ilogb(c), kLeast));
  if (exponent == std::numeric_limits<int>::min()) return 0.0F;
  const int shift = kKeptBits - exponent;
  auto sum = static_cast<std::int64_t>(std::ldexp(static_cast<double>(c), shift));
  for (unsigned k = 0; k < count; ++k) {
    if (std::signbit(pa[k])) continue;
    sum += static_cast<std::int64_t>(
        std::ldexp(static_cast<double>(a[k]) * static_cast<double>(b[k * stride]), shift));
  }
  if (sum == 0) return 0.0F;
  const double exact = std::ldexp(static_cast<double>(sum), -shift);
  const auto rounded = static_cast<float>(exact);
  if (std::isinf(rounded) || std::fabs(static_cast<double>(rounded)) <= std::fabs(exact))
    return rounded == 0 ? 0.0F : rounded;
  const float cut = bits_as<float>(bits_as<std::uint32_t>(rounded) - 1);
  return cut == 0 ? 0.0F : cut;
}

/// A product of floating-point matrices, laid out row by row.
struct FloatProduct {
  unsigned n, k, step;
  const float *a, *pa;  ///< a row of A
  const float *b, *pb;  ///< B
};

/// Four numbers side by side, which the compilers know (GCC manual, "Vector Extensions"): loops over as many
/// are unrolled before they could be made vectors of.
using Floats = float __attribute__((vector_size(16)));
using Integers = std::int32_t __attribute__((vector_size(16)));
using Words = std::uint32_t __attribute__((vector_size(16)));
constexpr unsigned kLanes = 4, kHalves = kStrip / kLanes;

Floats floats_at(const float* p) {
  Floats v;
  std::memcpy(&v, p, sizeof v);
  return v;
}

/// Adds a row of A times the columns of B from `column` on, of which there are kStrip, to `c`. All finite.
void add_row(const FloatProduct& p, unsigned column, float* c) {
  // Beyond these, exponents of factors or sums would leave the range of f32.
  constexpr float kLow = 1.0F / (1ULL << 60U) / (1ULL << 30U), kHigh = 1.0F * (1ULL << 60U) * (1ULL << 30U);
  constexpr unsigned kExponentAt = 23;
  constexpr std::uint32_t kShift = static_cast<std::uint32_t>(kKeptBits) << kExponentAt;
  constexpr std::uint32_t kTwiceBias = 254U << kExponentAt;
  constexpr std::int32_t kExponentBits = 0x7F80'0000, kSign = std::numeric_limits<std::int32_t>::min();
  for (unsigned first = 0; first < p.k; first += p.step) {
    const std::size_t end = std::min(first + p.step, p.k);
    Floats sums[kHalves], largest[kHalves];
    for (unsigned h = 0; h < kHalves; ++h) {
      sums[h] = floats_at(c + h * kLanes);
      largest[h] = bits_as<Floats>(bits_as<Integers>(sums[h]) & kExponentBits);
    }
    for (std::size_t k = first; k < end; ++k) {
      const float* pb = p.pb + k * p.n + column;
      for (unsigned h = 0; h < kHalves; ++h) {
        const Floats power = p.pa[k] * floats_at(pb + h * kLanes);
        largest[h] = power > largest[h] ? power : largest[h];
      }
    }
    Integers rare{};
    for (unsigned h = 0; h < kHalves; ++h) {
      const Integers zero = (largest[h] == 0.0F) & (sums[h] == 0.0F);
      rare |= ~(largest[h] <= kHigh) | ((largest[h] < kLow) & ~zero);
    }
    if ((rare[0] | rare[1] | rare[2] | rare[3]) != 0) {
      for (unsigned j = 0; j < kStrip; ++j)
        c[j] = add_step(p.a + first, p.pa + first, p.b + first * p.n + column + j,
                        p.pb + first * p.n + column + j, p.n, static_cast<unsigned>(end) - first, c[j]);
      continue;
    }
    // From numbers to whole ones, 24 bits below the largest exponent, and back: powers of two.
    Floats up[kHalves], down[kHalves];
    Integers whole[kHalves];
    for (unsigned h = 0; h < kHalves; ++h) {
      const Floats one = Floats{} + 1.0F;
      const Words exponent = bits_as<Words>(largest[h] == 0.0F ? one : largest[h]);
      up[h] = bits_as<Floats>(kTwiceBias + kShift - exponent);
      down[h] = bits_as<Floats>(exponent - kShift);
      whole[h] = __builtin_convertvector(sums[h] * up[h], Integers);
    }
    for (std::size_t k = first; k < end; ++k) {
      const float* b = p.b + k * p.n + column;
      for (unsigned h = 0; h < kHalves; ++h)
        whole[h] += __builtin_convertvector(p.a[k] * floats_at(b + h * kLanes) * up[h], Integers);
    }
    for (unsigned h = 0; h < kHalves; ++h) {
      const Integers negative = whole[h] < 0;
      const Integers magnitude = (whole[h] ^ negative) - negative;
      const Floats rounded = __builtin_convertvector(magnitude, Floats);
      const Integers above = __builtin_convertvector(rounded, Integers) > magnitude;  // -1 where it is
      const Floats cut = bits_as<Floats>(bits_as<Integers>(rounded) + above) * down[h];
      const Integers result = bits_as<Integers>(cut) | (negative & kSign);
      std::memcpy(c + h * kLanes, &result, sizeof result);
    }
  }
}

/// m by k times k by n, added to `sums`, in the host's rounding mode. Not inlined, so that nothing is
/// computed before the mode is set.
[[gnu::noinline]] void multiply_doubles(const MatrixShape& shape, const double* a, const double* b,
                                        double* sums) {
  for (unsigned i = 0; i < shape.m; ++i)
    for (unsigned j = 0; j < shape.n; ++j) {
      double& sum = sums[std::size_t{i} * shape.n + j];
      for (unsigned x = 0; x < shape.k; ++x)
        sum = std::fma(a[std::size_t{i} * shape.k + x], b[std::size_t{x} * shape.n + j], sum);
    }
}

/// While it lives the host rounds so.
class HostRounding {
 public:
  explicit HostRounding(Rounding rounding) : before_(std::fegetround()) {
    constexpr std::array<int, 4> kModes = {FE_TONEAREST, FE_TOWARDZERO, FE_DOWNWARD, FE_UPWARD};
    std::fesetround(kModes[static_cast<std::size_t>(rounding)]);
  }
  ~HostRounding() { std::fesetround(before_); }
  HostRounding(const HostRounding&) = delete;
  HostRounding& operator=(const HostRounding&) = delete;

 private:
  int before_;
};

std::uint32_t from_integer(std::int64_t sum, bool saturate) {
  if (saturate)
    sum = std::clamp<std::int64_t>(sum, std::numeric_limits<std::int32_t>::min(),
                                   std::numeric_limits<std::int32_t>::max());
  return static_cast<std::uint32_t>(sum);
}

/// How metadata lies in lanes' words (PTX ISA, "Sparse matrix storage"; the tables of its fragments). Indices
/// of a chunk take 4 bits.
struct MetadataPlan {
  unsigned chunk;   ///< elements of a row that indices are for
  unsigned stored;  ///< of these, stored ones
  unsigned unit;    ///< elements that an index is for: 1, or 2 of 4 bits
  unsigned lanes;   ///< of 4, that hold what a selector chooses
  bool halves;      ///< a word has 4 chunks of row r in its lower half, of row r + 8 in its upper
};

MetadataPlan plan_of(const MatrixForm& form) {
  const unsigned bits = bits_of(form.a);
  MetadataPlan p{};
  p.chunk = bits == 32 ? 2 : bits == 4 ? 8 : 4;
  p.stored = p.chunk / 2;
  p.unit = bits == 4 ? 2 : 1;
  p.halves = bits >= 16;
  p.lanes = form.shape.k / p.chunk / 4;
  return p;
}

/// Where the elements that are stored of row `row` belong: each one's column.
void read_metadata(const MetadataPlan& plan, unsigned k, const std::uint32_t* words, unsigned selector,
                   unsigned row, std::uint16_t* columns) {
  const unsigned quad = row % 8 * 4, upper = row / 8;
  for (unsigned chunk = 0; chunk < k / plan.chunk; ++chunk) {
    const unsigned per_word = plan.halves ? 4 : 8;
    const unsigned word = chunk / per_word;
    const unsigned lane = quad + selector * plan.lanes + (plan.halves ? word : word * 2 + upper);
    const unsigned low = chunk % per_word * 4 + (plan.halves ? upper * 16 : 0);
    const unsigned indices = words[lane] >> low & 15U;
    for (unsigned s = 0; s < plan.stored; ++s) {
      // Of two elements of 32 bits either is named by both its halves, 0 and 1 or 2 and 3.
      const unsigned index = plan.chunk == 2 ? indices >> 1U & 1U : indices >> s / plan.unit * 2 & 3U;
      *columns++ = static_cast<std::uint16_t>(chunk * plan.chunk + index * plan.unit + s % plan.unit);
    }
  }
}

}  // namespace

struct MatrixProduct::State {
  MatrixForm form;
  Layout layout;

  /// A with `absent` where nothing is stored, m rows of k elements.
  template <class T>
  void spread(const T* stored, const std::uint32_t* metadata, unsigned selector, T absent, T* out) const {
    const unsigned k = form.shape.k;
    const MetadataPlan plan = plan_of(form);
    std::array<std::uint16_t, kMostK> columns;
    for (unsigned row = 0; row < form.shape.m; ++row) {
      read_metadata(plan, k, metadata, selector, row, columns.data());
      std::fill_n(out + std::size_t{row} * k, k, absent);
      for (unsigned s = 0; s < k / 2; ++s)
        out[std::size_t{row} * k + columns[s]] = stored[std::size_t{row} * (k / 2) + s];
    }
  }
  [[nodiscard]] unsigned step() const {
    const unsigned bits = bits_of(form.a);
    const unsigned together = bits == 8 ? 16 : bits == 16 && !layout.quads ? 8 : 4;
    return form.sparse ? together * 2 : together;
  }
  void run_floats(const void* a, const void* b, const void* c, void* d, unsigned lane_shift,
                  const std::uint32_t* metadata, unsigned selector) const;
  void run_integers(const void* a, const void* b, const void* c, void* d, const std::uint32_t* metadata,
                    unsigned selector) const;
  void run_bits(const void* a, const void* b, const void* c, void* d) const;
  void run_doubles(const void* a, const void* b, const void* c, void* d) const;
};

void MatrixProduct::State::run_floats(const void* a, const void* b, const void* c, void* d,
                                      unsigned lane_shift, const std::uint32_t* metadata,
                                      unsigned selector) const {
  const auto [m, n, k] = form.shape;
  Parts left(layout.a.at.size()), right(layout.b.at.size());
  gather_parts(a, layout.a, form.a, lane_shift, left);
  gather_parts(b, layout.b, form.b, lane_shift, right);
  if (form.sparse) {
    Parts whole(std::size_t{m} * k);
    spread(left.value.data(), metadata, selector, 0.0F, whole.value.data());
    spread(left.power.data(), metadata, selector, kAbsent, whole.power.data());
    whole.finite = left.finite;
    left = std::move(whole);
  }
  std::array<float, std::size_t{kMostRows} * kMostWide> sums;
  const std::size_t count = std::size_t{m} * n;
  if (form.c == MatrixType::f16) {
    std::array<std::uint16_t, std::size_t{kMostRows} * kMostWide> halves;
    gather(c, layout.c, lane_shift, halves.data());
    for (std::size_t i = 0; i < count; ++i) sums[i] = static_cast<float>(decode(halves[i], kHalf));
  } else {
    gather(c, layout.c, lane_shift, sums.data());
  }
  const bool finite = left.finite && right.finite;
  for (unsigned i = 0; i < m; ++i) {
    const FloatProduct p{n,
                         k,
                         step(),
                         &left.value[std::size_t{i} * k],
                         &left.power[std::size_t{i} * k],
                         right.value.data(),
                         right.power.data()};
    float* row = &sums[std::size_t{i} * n];
    if (finite) {
      for (unsigned j = 0; j < n; j += kStrip) add_row(p, j, row + j);
      continue;
    }
    for (unsigned j = 0; j < n; ++j)
      for (unsigned first = 0; first < k; first += p.step)
        row[j] = add_step(p.a + first, p.pa + first, p.b + std::size_t{first} * n + j,
                          p.pb + std::size_t{first} * n + j, n, std::min(p.step, k - first), row[j]);
  }
  if (form.d == MatrixType::f16) {
    std::array<std::uint16_t, std::size_t{kMostRows} * kMostWide> halves;
    for (std::size_t i = 0; i < count; ++i)
      halves[i] = encode(static_cast<double>(sums[i]), kHalf, Rounding::nearest);
    scatter(halves.data(), layout.d, lane_shift, d);
  } else {
    scatter(sums.data(), layout.d, lane_shift, d);
  }
}

void MatrixProduct::State::run_integers(const void* a, const void* b, const void* c, void* d,
                                        const std::uint32_t* metadata, unsigned selector) const {
  const auto [m, n, k] = form.shape;
  std::vector<std::int32_t> left(layout.a.at.size()), right(layout.b.at.size());
  gather_small(a, layout.a, form.a, left.data());
  gather_small(b, layout.b, form.b, right.data());
  if (form.sparse) {
    std::vector<std::int32_t> whole(std::size_t{m} * k);
    spread(left.data(), metadata, selector, 0, whole.data());
    left = std::move(whole);
  }
  std::vector<std::uint32_t> sums(std::size_t{m} * n);
  gather(c, layout.c, 0, sums.data());
  std::vector<std::int32_t> products(n);  // at most 128 of 16 bits: no overflow
  for (unsigned i = 0; i < m; ++i) {
    std::fill(products.begin(), products.end(), 0);
    for (unsigned x = 0; x < k; ++x) {
      const std::int32_t factor = left[std::size_t{i} * k + x];
      const std::int32_t* row = &right[std::size_t{x} * n];
      for (unsigned j = 0; j < n; ++j) products[j] += factor * row[j];
    }
    for (unsigned j = 0; j < n; ++j) {
      std::uint32_t& sum = sums[std::size_t{i} * n + j];
      sum = from_integer(std::int64_t{static_cast<std::int32_t>(sum)} + products[j], form.saturate);
    }
  }
  scatter(sums.data(), layout.d, 0, d);
}

void MatrixProduct::State::run_bits(const void* a, const void* b, const void* c, void* d) const {
  const unsigned m = form.shape.m, n = form.shape.n, words = form.shape.k / 32;
  std::vector<std::uint32_t> left(layout.a.at.size()), right(layout.b.at.size()), sums(std::size_t{m} * n);
  gather(a, layout.a, 0, left.data());
  gather(b, layout.b, 0, right.data());
  gather(c, layout.c, 0, sums.data());
  for (unsigned i = 0; i < m; ++i)
    for (unsigned j = 0; j < n; ++j) {
      unsigned ones = 0;
      for (unsigned w = 0; w < words; ++w) {
        const std::uint32_t x = left[std::size_t{i} * words + w], y = right[std::size_t{w} * n + j];
        ones +=
            static_cast<unsigned>(__builtin_popcount(form.bits == BitProduct::exclusive_or ? x ^ y : x & y));
      }
      sums[std::size_t{i} * n + j] += ones;
    }
  scatter(sums.data(), layout.d, 0, d);
}

void MatrixProduct::State::run_doubles(const void* a, const void* b, const void* c, void* d) const {
  std::vector<double> left(layout.a.at.size()), right(layout.b.at.size()), sums(layout.c.at.size());
  gather(a, layout.a, 0, left.data());
  gather(b, layout.b, 0, right.data());
  gather(c, layout.c, 0, sums.data());
  {
    const HostRounding rounding(form.rounding);
    multiply_doubles(form.shape, left.data(), right.data(), sums.data());
  }
  for (double& sum : sums)
    if (std::isnan(sum)) sum = bits_as<double>(std::uint64_t{0x7FF8'0000'0000'0000});
  scatter(sums.data(), layout.d, 0, d);
}

MatrixProduct::MatrixProduct(const MatrixForm& form, Layout layout)
    : state_(std::make_unique<State>(State{form, std::move(layout)})) {}
MatrixProduct::~MatrixProduct() = default;
MatrixProduct::MatrixProduct(MatrixProduct&&) noexcept = default;

const MatrixForm& MatrixProduct::form() const {
  return state_->form;
}
const MatrixProduct::Layout& MatrixProduct::layout() const {
  return state_->layout;
}

void MatrixProduct::run(const void* a, const void* b, const void* c, void* d, const std::uint32_t* metadata,
                        unsigned selector) const {
  const MatrixType type = state_->form.a;
  if (type == MatrixType::f64) return state_->run_doubles(a, b, c, d);
  if (type == MatrixType::b1) return state_->run_bits(a, b, c, d);
  if (is_integer(type)) return state_->run_integers(a, b, c, d, metadata, selector);
  const unsigned products = state_->layout.quads ? 4 : 1;
  for (unsigned q = 0; q < products; ++q) state_->run_floats(a, b, c, d, q * 4, metadata, selector);
}

MatrixProduct mma_product(const MatrixForm& form, bool a_column, bool b_column) {
  MatrixProduct::Layout layout;
  layout.quads = form.shape == MatrixShape{8, 8, 4} && form.a == MatrixType::f16;
  if (layout.quads) {
    layout.a = quad_a(a_column);
    layout.b = quad_b(b_column);
    layout.c = quad_c(form.c);
    layout.d = quad_c(form.d);
  } else {
    layout.a = mma_a(form.a, form.shape.m, form.sparse ? form.shape.k / 2 : form.shape.k);
    layout.b = mma_b(form.b, form.shape.k);
    layout.c = mma_c(form.c, form.shape.m, form.shape.n);
    layout.d = mma_c(form.d, form.shape.m, form.shape.n);
  }
  return {form, std::move(layout)};
}

MatrixProduct wmma_product(const MatrixForm& form, bool a_column, bool b_column) {
  const auto [m, n, k] = form.shape;
  MatrixProduct::Layout layout;
  layout.a = wmma_fragment(form.a, m, k, a_column);
  layout.b = wmma_fragment(form.b, k, n, b_column);
  layout.c = wmma_fragment(form.c, m, n, false);
  layout.d = wmma_fragment(form.d, m, n, false);
  return {form, std::move(layout)};
}

MatrixProduct warpgroup_product(const MatrixForm& form, bool a_in_registers) {
  const auto [m, n, k] = form.shape;
  MatrixProduct::Layout layout;
  const unsigned stored = form.sparse ? k / 2 : k;
  layout.a = a_in_registers ? mma_a(form.a, m, stored) : lines_fragment(form.a, m, stored, false);
  layout.b = lines_fragment(form.b, k, n, true);
  layout.c = layout.d = mma_c(form.c, m, n);
  return {form, std::move(layout)};
}

unsigned selectors_of(const MatrixForm& form) {
  return 4 / plan_of(form).lanes;
}

}  // namespace warpline
