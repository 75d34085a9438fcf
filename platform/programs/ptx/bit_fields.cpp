#include "platform/programs/ptx/families.h"
#include "platform/programs/ptx/opcodes.h"

namespace warpline::ptx {
namespace {

/// PTX ISA, "bfe": position and length are the low bytes of b and c.
template <class T>
struct Extract : Same<T> {
  using B = std::uint32_t;
  using C = std::uint32_t;
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
void run_insert(const Op& op, Frame& f) {
  const auto* a = f.in<T>(op.r[1]);
  const auto* b = f.in<T>(op.r[2]);
  const auto* c = f.in<std::uint32_t>(op.r[3]);
  const auto* e = f.in<std::uint32_t>(op.r[4]);
  constexpr std::uint32_t kBits = 8 * sizeof(T);
  T t[kWarpLanes];
  for (unsigned i = 0; i < kWarpLanes; ++i) {
    const std::uint32_t position = c[i] & 0xFF;
    const std::uint32_t length = e[i] & 0xFF;
    const T field = length >= kBits ? ~T{0} : static_cast<T>((T{1} << length) - 1);
    const T mask = position < kBits ? static_cast<T>(field << position) : T{0};
    const T moved = position < kBits ? static_cast<T>(a[i] << position) : T{0};
    t[i] = (b[i] & ~mask) | (moved & mask);
  }
  f.write(op.r[0], t);
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

void run_permute(const Op& op, Frame& f) {
  const auto* a = f.in<std::uint32_t>(op.r[1]);
  const auto* b = f.in<std::uint32_t>(op.r[2]);
  const auto* c = f.in<std::uint32_t>(op.r[3]);
  std::uint32_t t[kWarpLanes];
  for (unsigned i = 0; i < kWarpLanes; ++i) {
    const std::uint64_t pair = (std::uint64_t{b[i]} << 32U) | a[i];
    const std::uint32_t s = op.mode == 4 || op.mode == 5 ? edge_selector(op.mode == 4, c[i])
                            : op.mode == 6               ? (c[i] & 1U) * 0x2222U + 0x1010U
                                                         : selector_of(op.mode, c[i]);
    t[i] = 0;
    for (unsigned k = 0; k < 4; ++k) {
      const std::uint32_t pick = s >> (4 * k);
      const auto byte = static_cast<std::uint32_t>(pair >> (8 * (pick & 7U))) & 0xFFU;
      t[i] |= ((pick & 8U) != 0 ? ((byte & 0x80U) != 0 ? 0xFFU : 0U) : byte) << (8 * k);
    }
  }
  f.write(op.r[0], t);
}

/// szext and bmsk: out-of-range counts clamp or wrap (bit 0 of mode).
template <bool kSigned>
void run_extend(const Op& op, Frame& f) {
  const auto* a = f.in<std::uint32_t>(op.r[1]);
  const auto* b = f.in<std::uint32_t>(op.r[2]);
  std::uint32_t t[kWarpLanes];
  for (unsigned i = 0; i < kWarpLanes; ++i) {
    const std::uint32_t n = (op.mode & 1U) != 0 ? b[i] & 31U : std::min(b[i], 32U);
    if (n == 0 || n == 32) {
      t[i] = n == 0 ? 0 : a[i];
      continue;
    }
    const std::uint32_t field = a[i] & ((1U << n) - 1);
    const std::uint32_t sign = 1U << (n - 1);
    t[i] = kSigned ? (field ^ sign) - sign : field;
  }
  f.write(op.r[0], t);
}

void run_mask(const Op& op, Frame& f) {
  const auto* a = f.in<std::uint32_t>(op.r[1]);
  const auto* b = f.in<std::uint32_t>(op.r[2]);
  std::uint32_t t[kWarpLanes];
  for (unsigned i = 0; i < kWarpLanes; ++i) {
    const bool wraps = (op.mode & 1U) != 0;
    const std::uint32_t start = wraps ? a[i] & 31U : std::min(a[i], 32U);
    const std::uint32_t count = wraps ? b[i] & 31U : std::min(b[i], 32U);
    t[i] = static_cast<std::uint32_t>(((std::uint64_t{1} << count) - 1) << start);
  }
  f.write(op.r[0], t);
}

void decode_extract(Decoder& d) {
  const DataType type = d.take_type({DataType::u32, DataType::u64, DataType::s32, DataType::s64});
  d.need_operands(4);
  Op op;
  op.r[1] = d.source(1, type);
  op.r[2] = d.source(2, DataType::u32);
  op.r[3] = d.source(3, DataType::u32);
  op.r[0] = d.destination(std::size_t{0}, type);
  op.run = for_integer<Extract, Ternary>(type);
  d.emit(op, integer_latency(type));
}

void decode_insert(Decoder& d) {
  const DataType type = d.take_type({DataType::b32, DataType::b64});
  d.need_operands(5);
  Op op;
  op.r[1] = d.source(1, type);
  op.r[2] = d.source(2, type);
  op.r[3] = d.source(3, DataType::u32);
  op.r[4] = d.source(4, DataType::u32);
  op.r[0] = d.destination(std::size_t{0}, type);
  op.run = size_of(type) == 8 ? &run_insert<std::uint64_t> : &run_insert<std::uint32_t>;
  d.emit(op, integer_latency(type));
}

void decode_permute(Decoder& d) {
  d.take_type({DataType::b32});
  const auto mode = d.take_one_of({".f4e", ".b4e", ".rc8", ".ecl", ".ecr", ".rc16"});
  Op op = plain_operands(d, DataType::b32, 3);
  op.mode = static_cast<std::uint8_t>(mode ? *mode + 1 : 0);
  op.run = &run_permute;
  d.emit(op, latency::kSimple);
}

void decode_extend(Decoder& d) {
  const auto mode = d.take_one_of({".clamp", ".wrap"});
  const DataType type = d.take_type({DataType::u32, DataType::s32});
  if (!mode) d.fail("'szext' needs '.clamp' or '.wrap'");
  Op op = plain_operands(d, DataType::b32, 2);
  op.mode = static_cast<std::uint8_t>(*mode);
  op.run = type == DataType::s32 ? &run_extend<true> : &run_extend<false>;
  d.emit(op, latency::kSimple);
}

void decode_mask(Decoder& d) {
  const auto mode = d.take_one_of({".clamp", ".wrap"});
  d.take_type({DataType::b32});
  if (!mode) d.fail("'bmsk' needs '.clamp' or '.wrap'");
  Op op = plain_operands(d, DataType::b32, 2);
  op.mode = static_cast<std::uint8_t>(*mode);
  op.run = &run_mask;
  d.emit(op, latency::kSimple);
}

}  // namespace

const std::vector<Opcode>& bit_field_opcodes() {
  static const std::vector<Opcode> kOpcodes = {
      {"bfe", &decode_extract},  {"bfi", &decode_insert}, {"prmt", &decode_permute},
      {"szext", &decode_extend}, {"bmsk", &decode_mask},
  };
  return kOpcodes;
}

}  // namespace warpline::ptx
