// Products of parts of a register: 24 bits, or bytes and halves summed up.
#include "platform/programs/ptx/families.h"
#include "platform/programs/ptx/opcodes.h"

namespace warpline::ptx {
namespace {

/// 24-bit multiplication: the middle (hi) or low 32 bits of a 48-bit product.
template <bool kSigned, bool kHigh>
struct Product24 {
  static std::uint32_t of(std::uint32_t a, std::uint32_t b) {
    const auto narrow = [](std::uint32_t x) {
      return kSigned ? static_cast<std::int64_t>(static_cast<std::int32_t>(x << 8U) >> 8)
                     : std::int64_t{x & 0xFFFFFFU};
    };
    const std::int64_t p = narrow(a) * narrow(b);
    return static_cast<std::uint32_t>(kHigh ? p >> 16 : p);
  }
};
template <bool kSigned, bool kHigh>
struct Mul24 : Same<std::uint32_t> {
  static std::uint32_t apply(std::uint32_t a, std::uint32_t b) { return Product24<kSigned, kHigh>::of(a, b); }
};
template <bool kSigned, bool kHigh>
struct Mad24 : Same<std::uint32_t> {
  static std::uint32_t apply(std::uint32_t a, std::uint32_t b, std::uint32_t c) {
    return Product24<kSigned, kHigh>::of(a, b) + c;
  }
};

template <bool kAdds>
void decode_24(Decoder& d) {
  const auto half = d.take_one_of({".lo", ".hi"});
  if (!half) d.fail("a 24-bit product needs '.lo' or '.hi'");
  const DataType type = d.take_type({DataType::u32, DataType::s32});
  const bool s = type == DataType::s32;
  Op op = plain_operands(d, type, kAdds ? 3 : 2);
  if (kAdds)
    op.run = *half == 1 ? (s ? &Ternary<Mad24<true, true>>::run : &Ternary<Mad24<false, true>>::run)
                        : (s ? &Ternary<Mad24<true, false>>::run : &Ternary<Mad24<false, false>>::run);
  else
    op.run = *half == 1 ? (s ? &Binary<Mul24<true, true>>::run : &Binary<Mul24<false, true>>::run)
                        : (s ? &Binary<Mul24<true, false>>::run : &Binary<Mul24<false, false>>::run);
  d.emit(op, latency::kMultiply);
}

/// dp4a and dp2a: bit 0 of mode: a is signed, bit 1: b is; kFirst: the first byte of b that dp2a uses.
template <bool kPairs, unsigned kFirst>
void run_dot(const Op& op, Frame& f) {
  const auto* a = f.in<std::uint32_t>(op.r[1]);
  const auto* b = f.in<std::uint32_t>(op.r[2]);
  const auto* c = f.in<std::uint32_t>(op.r[3]);
  const auto part = [](std::uint32_t word, unsigned bit, unsigned width, bool is_signed) {
    const std::uint32_t raw = (word >> bit) & ((1U << width) - 1);
    const std::uint32_t sign = 1U << (width - 1);
    return is_signed ? (raw ^ sign) - sign : raw;
  };
  std::uint32_t t[kWarpLanes];
  for (unsigned i = 0; i < kWarpLanes; ++i) {
    t[i] = c[i];
    for (unsigned k = 0; k < (kPairs ? 2U : 4U); ++k)
      t[i] += part(a[i], k * (kPairs ? 16U : 8U), kPairs ? 16 : 8, (op.mode & 1U) != 0) *
              part(b[i], 8 * (kFirst + k), 8, (op.mode & 2U) != 0);
  }
  f.write(op.r[0], t);
}

template <bool kPairs>
void decode_dot(Decoder& d) {
  const auto half = kPairs ? d.take_one_of({".lo", ".hi"}) : std::optional<std::size_t>(0);
  if (!half) d.fail("'dp2a' needs '.lo' or '.hi'");
  const DataType a = d.take_type({DataType::u32, DataType::s32});
  const DataType b = d.take_type({DataType::u32, DataType::s32});
  d.need_operands(4);
  Op op;
  op.r[1] = d.source(1, DataType::b32);
  op.r[2] = d.source(2, DataType::b32);
  op.r[3] = d.source(3, DataType::b32);
  op.r[0] = d.destination(std::size_t{0}, DataType::b32);
  op.mode = static_cast<std::uint8_t>((is_signed(a) ? 1U : 0U) | (is_signed(b) ? 2U : 0U));
  op.run = !kPairs ? &run_dot<false, 0> : *half == 0 ? &run_dot<true, 0> : &run_dot<true, 2>;
  d.emit(op, latency::kMultiply);
}

}  // namespace

const std::vector<Opcode>& narrow_product_opcodes() {
  static const std::vector<Opcode> kOpcodes = {{"mul24", &decode_24<false>},
                                               {"mad24", &decode_24<true>},
                                               {"dp4a", &decode_dot<false>},
                                               {"dp2a", &decode_dot<true>}};
  return kOpcodes;
}

}  // namespace warpline::ptx
