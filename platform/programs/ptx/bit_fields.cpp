#include <algorithm>

#include "platform/programs/ptx/families.h"
#include "platform/programs/ptx/opcodes.h"

namespace warpline::ptx {
namespace {

/// PTX ISA, "bfe": position and length are the low bytes of b and c.
template <class T>
struct Extract {
  static T apply(T a, std::uint32_t b, std::uint32_t c) {
    using U = std::make_unsigned_t<T>;
    constexpr std::uint32_t kBits = 8 * sizeof(T);
    const std::uint32_t position = b & 0xFF;
    const std::uint32_t length = c & 0xFF;
    if (length == 0) return 0;
    const std::uint32_t top = std::min(position + length - 1, kBits - 1);
    const bool sign = std::is_signed_v<T> && ((static_cast<U>(a) >> top) & 1U) != 0;
    const U shifted = position < kBits ? static_cast<U>(static_cast<U>(a) >> position) : U{0};
    const U mask = length >= kBits ? static_cast<U>(~U{0}) : static_cast<U>((U{1} << length) - 1);
    const std::uint32_t have = position < kBits ? std::min(length, kBits - position) : 0;
    const U present = have >= kBits ? static_cast<U>(~U{0}) : static_cast<U>((U{1} << have) - 1);
    const U field = static_cast<U>(shifted & mask);
    return static_cast<T>(sign ? (field & present) | ~present : field);
  }
};
template <class T>
T insert(T a, T b, std::uint32_t c, std::uint32_t e) {
  constexpr std::uint32_t kBits = 8 * sizeof(T);
  const std::uint32_t position = c & 0xFF;
  const std::uint32_t length = e & 0xFF;
  const T field = length >= kBits ? ~T{0} : static_cast<T>((T{1} << length) - 1);
  const T mask = position < kBits ? static_cast<T>(field << position) : T{0};
  const T moved = position < kBits ? static_cast<T>(a << position) : T{0};
  return (b & ~mask) | (moved & mask);
}

std::uint32_t selector_of(unsigned mode, std::uint32_t c) {
  const std::uint32_t n = c & 3U;
  switch (mode) {
    case 1: return ((n + 3) << 12U | (n + 2) << 8U | (n + 1) << 4U | n) & 0x7777U;                // f4e
    case 2: return ((n + 5) << 12U | ((n + 6) & 7U) << 8U | ((n + 7) & 7U) << 4U | n) & 0x7777U;  // b4e
    case 3: return n * 0x1111U;                                                                   // rc8
    default: return c & 0xFFFFU;
  }
}

std::uint32_t edge_selector(bool left, std::uint32_t c) {
  const std::uint32_t n = c & 3U;
  std::uint32_t s = 0;
  for (std::uint32_t k = 0; k < 4; ++k) s |= (left ? std::max(k, n) : std::min(k, n)) << (4 * k);
  return s;
}

std::uint32_t permute(const Op& op, std::uint32_t a, std::uint32_t b, std::uint32_t c) {
  const std::uint64_t pair = (std::uint64_t{b} << 32U) | a;
  const std::uint32_t s = op.mode == 4 || op.mode == 5 ? edge_selector(op.mode == 4, c)
                          : op.mode == 6               ? (c & 1U) * 0x2222U + 0x1010U
                                                       : selector_of(op.mode, c);
  std::uint32_t t = 0;
  for (unsigned k = 0; k < 4; ++k) {
    const std::uint32_t pick = s >> (4 * k);
    const auto byte = static_cast<std::uint32_t>(pair >> (8 * (pick & 7U))) & 0xFFU;
    t |= ((pick & 8U) != 0 ? ((byte & 0x80U) != 0 ? 0xFFU : 0U) : byte) << (8 * k);
  }
  return t;
}

/// A count of szext or bmsk: one that is out of range is clamped or wraps (bit 0 of mode).
std::uint32_t count_of(const Op& op, std::uint32_t n) {
  return (op.mode & 1U) != 0 ? n & 31U : std::min(n, 32U);
}

template <bool kSigned>
std::uint32_t extend(const Op& op, std::uint32_t a, std::uint32_t b) {
  const std::uint32_t n = count_of(op, b);
  if (n == 0 || n == 32) return n == 0 ? 0 : a;
  return kSigned ? static_cast<std::uint32_t>(sign_extended(a, n)) : a & ((1U << n) - 1);
}

std::uint32_t mask(const Op& op, std::uint32_t a, std::uint32_t b) {
  return static_cast<std::uint32_t>(((std::uint64_t{1} << count_of(op, b)) - 1) << count_of(op, a));
}

void decode_extract(Decoder& d) {
  const DataType type = d.take_type({DataType::u32, DataType::u64, DataType::s32, DataType::s64});
  d.compute(for_integer<Extract>(type), integer_latency(type), type, {type, DataType::u32, DataType::u32});
}

void decode_insert(Decoder& d) {
  const DataType type = d.take_type({DataType::b32, DataType::b64});
  d.compute(size_of(type) == 8 ? &run_lanes<&insert<std::uint64_t>> : &run_lanes<&insert<std::uint32_t>>,
            integer_latency(type), type, {type, type, DataType::u32, DataType::u32});
}

void decode_permute(Decoder& d) {
  d.take_type({DataType::b32});
  const auto mode = d.take_one_of({".f4e", ".b4e", ".rc8", ".ecl", ".ecr", ".rc16"});
  Op op = d.operands(DataType::b32, 3);
  op.mode = static_cast<std::uint8_t>(mode ? *mode + 1 : 0);
  op.run = &run_lanes<&permute>;
  d.emit(op, latency::kSimple);
}

/// szext and bmsk.
void decode_clamped(Decoder& d, std::initializer_list<DataType> types, Handler run, Handler run_signed) {
  const auto mode = d.take_one_of({".clamp", ".wrap"});
  const DataType type = d.take_type(types);
  if (!mode) d.fail(d.opcode() + " needs '.clamp' or '.wrap'");
  Op op = d.operands(DataType::b32, 2);
  op.mode = static_cast<std::uint8_t>(*mode);
  op.run = is_signed(type) ? run_signed : run;
  d.emit(op, latency::kSimple);
}

}  // namespace

std::vector<Opcode> bit_field_opcodes() {
  return {
      {"bfe", &decode_extract},
      {"bfi", &decode_insert},
      {"prmt", &decode_permute},
      {"szext",
       [](Decoder& d) {
         decode_clamped(d, {DataType::u32, DataType::s32}, &run_lanes<&extend<false>>,
                        &run_lanes<&extend<true>>);
       }},
      {"bmsk", [](Decoder& d) { decode_clamped(d, {DataType::b32}, &run_lanes<&mask>, nullptr); }},
  };
}

}  // namespace warpline::ptx
