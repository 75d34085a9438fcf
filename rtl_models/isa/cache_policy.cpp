#include "rtl_models/isa/cache_policy.h"

#include <algorithm>
#include <array>

#include "rtl_models/base/contract.h"

namespace warpline {
namespace {

constexpr std::uint64_t kModeFractional = 2;
constexpr std::uint64_t kModeRange = 3;
constexpr unsigned kSmallestBlockShift = 12;
constexpr unsigned kLineShift = 7;
constexpr std::array<L2Eviction, 4> kPrimaries = {L2Eviction::unchanged, L2Eviction::first, L2Eviction::last,
                                                  L2Eviction::normal};

constexpr std::uint64_t field(std::uint64_t bits, unsigned high, unsigned low) {
  return bits >> low & ((std::uint64_t{2} << (high - low)) - 1);
}

/// The lines' numbers as polynomials over two elements, modulo x^4 + x + 1: a remainder of four bits. That
/// polynomial is primitive, so the powers x^i to x^(i+3) are independent for every i: any four adjacent bits
/// of a line number reach all 16 remainders. Bit k of the remainder is the parity of the bits in kMasks[k].
constexpr std::array<std::uint64_t, 4> kMasks = [] {
  std::array<std::uint64_t, 4> masks{};
  unsigned power = 1;
  for (unsigned i = 0; i < 64; ++i) {
    for (unsigned k = 0; k < 4; ++k)
      if ((power >> k & 1U) != 0) masks[k] |= std::uint64_t{1} << i;
    power = power << 1U ^ ((power & 8U) != 0 ? 0x13U : 0U);
  }
  return masks;
}();

unsigned sixteenth_of(std::uint64_t line) {
  unsigned remainder = 0;
  for (unsigned k = 0; k < 4; ++k)
    remainder |= static_cast<unsigned>(__builtin_parityll(line & kMasks[k])) << k;
  return remainder;
}

unsigned ceil_log2(std::uint32_t x) {
  return x <= 1 ? 0 : 32 - static_cast<unsigned>(__builtin_clz(x - 1));
}

bool is_secondary(L2Eviction e) {
  return e == L2Eviction::first || e == L2Eviction::unchanged;
}

}  // namespace

L2Eviction CachePolicy::applied_to(std::uint64_t address) const {
  switch (mode) {
    case Mode::implicit: return L2Eviction::none;
    case Mode::fractional: return sixteenth_of(address >> kLineShift) < sixteenths ? primary : secondary;
    case Mode::range: return (((address >> block_shift) - start) & 127U) < count ? primary : secondary;
  }
  return L2Eviction::none;
}

std::optional<CachePolicy> decode_policy(std::uint64_t descriptor) {
  if (field(descriptor, 63, 63) != 0) return std::nullopt;
  CachePolicy p;
  p.promotes = field(descriptor, 62, 62) != 0;
  p.skips_l1 = field(descriptor, 61, 61) != 0;
  const std::uint64_t mode = field(descriptor, 60, 59);
  if (mode == 0) return field(descriptor, 58, 0) == 0 ? std::make_optional(p) : std::nullopt;
  p.primary = kPrimaries.at(field(descriptor, 58, 57));
  p.secondary = field(descriptor, 56, 56) != 0 ? L2Eviction::first : L2Eviction::unchanged;
  const auto high = static_cast<unsigned>(field(descriptor, 55, 52));
  if (mode == kModeFractional) {
    p.mode = CachePolicy::Mode::fractional;
    p.sixteenths = high + 1;
    return field(descriptor, 51, 0) == 0 ? std::make_optional(p) : std::nullopt;
  }
  if (mode != kModeRange || field(descriptor, 51, 51) != 0 || field(descriptor, 36, 0) != 0)
    return std::nullopt;
  p.mode = CachePolicy::Mode::range;
  p.block_shift = kSmallestBlockShift + high;
  p.start = static_cast<unsigned>(field(descriptor, 50, 44));
  p.count = static_cast<unsigned>(field(descriptor, 43, 37));
  return p;
}

std::uint64_t encode_policy(const CachePolicy& p) {
  std::uint64_t bits = std::uint64_t{p.promotes} << 62U | std::uint64_t{p.skips_l1} << 61U;
  if (p.mode == CachePolicy::Mode::implicit) return bits;
  const auto* primary = std::find(kPrimaries.begin(), kPrimaries.end(), p.primary);
  WARPLINE_EXPECT(primary != kPrimaries.end() && is_secondary(p.secondary),
                  "priorities that a policy can have");
  bits |= static_cast<std::uint64_t>(primary - kPrimaries.begin()) << 57U;
  bits |= std::uint64_t{p.secondary == L2Eviction::first} << 56U;
  if (p.mode == CachePolicy::Mode::fractional) {
    WARPLINE_EXPECT(p.sixteenths - 1 < 16, "1 to 16 sixteenths");
    return bits | kModeFractional << 59U | std::uint64_t{p.sixteenths - 1} << 52U;
  }
  WARPLINE_EXPECT(p.block_shift - kSmallestBlockShift < 16 && p.start < 128 && p.count < 128,
                  "a range that a policy can have");
  return bits | kModeRange << 59U | std::uint64_t{p.block_shift - kSmallestBlockShift} << 52U |
         std::uint64_t{p.start} << 44U | std::uint64_t{p.count} << 37U;
}

std::uint64_t fractional_policy(L2Eviction primary, L2Eviction secondary, float fraction) {
  constexpr float kScale = 15.99F;
  const float product = fraction * kScale;
  std::uint32_t whole = 0;
  if (product >= 4294967296.0F) {
    whole = ~std::uint32_t{0};
  } else if (product > 0) {
    whole = static_cast<std::uint32_t>(product);
  }
  CachePolicy p;
  p.mode = CachePolicy::Mode::fractional;
  p.primary = primary;
  p.secondary = secondary;
  p.sixteenths = (whole & 15U) + 1;
  return encode_policy(p);
}

unsigned library_sixteenths(float fraction) {
  constexpr float kLittle = 1.0F / 8388608.0F;
  return static_cast<unsigned>(std::max(0.0F, (fraction - kLittle) * 16.0F)) + 1;
}

std::uint64_t range_policy(L2Eviction primary, L2Eviction secondary, std::uint64_t address,
                           std::uint32_t primary_bytes, std::uint32_t total_bytes) {
  constexpr std::uint64_t kMostBlocks = 127;
  CachePolicy p;
  p.mode = CachePolicy::Mode::range;
  if (total_bytes == 0) return encode_policy(p);
  p.primary = primary;
  p.secondary = secondary;
  p.block_shift = std::max(ceil_log2(total_bytes), kSmallestBlockShift + kLineShift) - kLineShift;
  const std::uint64_t block = std::uint64_t{1} << p.block_shift;
  const std::uint64_t first = address >> p.block_shift;
  const std::uint64_t end = (address + primary_bytes + (block - 1)) >> p.block_shift;
  p.start = static_cast<unsigned>(first & 127U);
  p.count = static_cast<unsigned>(std::min(end - first, kMostBlocks));
  return encode_policy(p);
}

std::uint64_t static_policy(AccessProperty property) {
  CachePolicy p;
  p.mode = CachePolicy::Mode::fractional;
  switch (property) {
    case AccessProperty::global: break;
    case AccessProperty::normal: p.primary = L2Eviction::normal; break;
    case AccessProperty::streaming: p.primary = L2Eviction::first; break;
    case AccessProperty::persisting: p.primary = L2Eviction::last; break;
  }
  return encode_policy(p);
}

}  // namespace warpline
