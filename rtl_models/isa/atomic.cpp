#include "rtl_models/isa/atomic.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <type_traits>

#include "rtl_models/base/bits.h"
#include "rtl_models/base/contract.h"
#include "rtl_models/isa/small_float.h"

namespace warpline {
namespace {

/// An integer as the lowest bytes of a word.
template <class T>
std::uint64_t as_word(T value) {
  return static_cast<std::make_unsigned_t<T>>(value);
}

float flush(float x) {
  return std::fpclassify(x) == FP_SUBNORMAL ? std::copysign(0.0F, x) : x;
}

std::uint64_t add_f32(std::uint64_t a, std::uint64_t b, Subnormals subnormals) {
  const bool flushes = subnormals == Subnormals::flushed;
  const auto x = bits_as<float>(static_cast<std::uint32_t>(a));
  const auto y = bits_as<float>(static_cast<std::uint32_t>(b));
  const float sum = flushes ? flush(flush(x) + flush(y)) : x + y;
  return std::isnan(sum) ? 0x7FFFFFFFU : bits_as<std::uint32_t>(sum);
}
/// Which NaN is not specified: the operand's, else memory's (measured on an H200 for global memory).
std::uint64_t add_f64(std::uint64_t a, std::uint64_t b) {
  const double sum = bits_as<double>(a) + bits_as<double>(b);
  if (!std::isnan(sum)) return bits_as<std::uint64_t>(sum);
  if (std::isnan(bits_as<double>(b))) return b;
  return std::isnan(bits_as<double>(a)) ? a : 0xFFF8000000000000U;
}

/// The smaller of two numbers of `format`, or the larger.
std::uint64_t extreme(bool larger, std::uint64_t a, std::uint64_t b, SmallFormat format) {
  constexpr std::uint64_t kNan = 0x7FFF;
  const double x = decode(static_cast<std::uint16_t>(a), format);
  const double y = decode(static_cast<std::uint16_t>(b), format);
  if (std::isnan(x)) return std::isnan(y) ? kNan : b;
  if (std::isnan(y)) return a;
  const bool a_below_b = x < y || (x == y && std::signbit(x));
  return a_below_b == larger ? b : a;
}

std::uint64_t apply_half(AtomicOperation operation, std::uint64_t a, std::uint64_t b, SmallFormat format) {
  if (operation != AtomicOperation::add) return extreme(operation == AtomicOperation::max, a, b, format);
  const double sum = sum_to_odd(decode(static_cast<std::uint16_t>(a), format),
                                decode(static_cast<std::uint16_t>(b), format));
  return encode(sum, format, Rounding::nearest);
}

/// Two of them, in the halves of 32 bits.
std::uint64_t apply_halves(AtomicOperation operation, std::uint64_t a, std::uint64_t b, SmallFormat format) {
  return apply_half(operation, a & 0xFFFFU, b & 0xFFFFU, format) |
         apply_half(operation, a >> 16U, b >> 16U, format) << 16U;
}

template <class T>
std::uint64_t apply_integer(AtomicOperation operation, std::uint64_t old_value, std::uint64_t operand,
                            std::uint64_t second) {
  const T old = static_cast<T>(old_value);
  const T b = static_cast<T>(operand);
  switch (operation) {
    case AtomicOperation::min: return as_word(std::min(old, b));
    case AtomicOperation::max: return as_word(std::max(old, b));
    case AtomicOperation::increment: return as_word(old >= b ? T{0} : static_cast<T>(old + 1));
    case AtomicOperation::decrement: return as_word(old == 0 || old > b ? b : static_cast<T>(old - 1));
    case AtomicOperation::compare_and_swap: return as_word(old == b ? static_cast<T>(second) : old);
    case AtomicOperation::add: return as_word(static_cast<T>(old_value + operand));
    case AtomicOperation::bit_and: return as_word(static_cast<T>(old_value & operand));
    case AtomicOperation::bit_or: return as_word(static_cast<T>(old_value | operand));
    case AtomicOperation::bit_xor: return as_word(static_cast<T>(old_value ^ operand));
    case AtomicOperation::exchange: return as_word(b);
    case AtomicOperation::none: break;
  }
  WARPLINE_EXPECT(false, "an atomic operation");
  return 0;
}

/// The sum in f32 of the 16-bit numbers that lie `shift` bits up in each value, rounded to them.
std::uint64_t wide_sum(const std::uint64_t* values, unsigned count, unsigned shift, SmallFormat format) {
  const auto number = [&](unsigned n) {
    return static_cast<float>(decode(static_cast<std::uint16_t>(values[n] >> shift), format));
  };
  float sum = number(0);
  for (unsigned n = 1; n < count; ++n) sum += number(n);
  return std::uint64_t{encode(static_cast<double>(sum), format, Rounding::nearest)} << shift;
}

}  // namespace

std::uint64_t reduce_values(AtomicOperation operation, DataType type, bool wide, const std::uint64_t* values,
                            unsigned count) {
  if (count == 1) return values[0];
  const bool pair = type == DataType::f16x2 || type == DataType::bf16x2;
  const bool half = type == DataType::f16 || type == DataType::bf16;
  if (wide && operation == AtomicOperation::add && (pair || half)) {
    const SmallFormat format = type == DataType::f16 || type == DataType::f16x2 ? kHalf : kBrain;
    const std::uint64_t low = wide_sum(values, count, 0, format);
    return pair ? low | wide_sum(values, count, 16, format) : low;
  }
  std::uint64_t result = values[0];
  for (unsigned n = 1; n < count; ++n) result = apply_atomic(operation, type, result, values[n], 0);
  return result;
}

bool is_atomic_legal(AtomicOperation operation, DataType type, unsigned vector) {
  using O = AtomicOperation;
  using T = DataType;
  if (vector != 1) {
    const bool half = type == T::f16 || type == T::bf16, pair = type == T::f16x2 || type == T::bf16x2;
    if (operation != O::add && operation != O::min && operation != O::max) return false;
    if (type == T::f32) return operation == O::add && (vector == 2 || vector == 4);
    return (half && (vector == 2 || vector == 4 || vector == 8)) || (pair && (vector == 2 || vector == 4));
  }
  const auto among = [type](std::initializer_list<T> list) {
    return std::find(list.begin(), list.end(), type) != list.end();
  };
  switch (operation) {
    case O::add: return among({T::u32, T::u64, T::s32, T::f32, T::f64, T::f16, T::f16x2, T::bf16, T::bf16x2});
    case O::min:
    case O::max: return among({T::u32, T::u64, T::s32, T::s64});
    case O::bit_and:
    case O::bit_or:
    case O::bit_xor: return among({T::b32, T::b64});
    case O::exchange: return among({T::b32, T::b64, T::b128});
    case O::compare_and_swap: return among({T::b16, T::b32, T::b64, T::b128});
    case O::increment:
    case O::decrement: return type == T::u32;
    case O::none: return false;
  }
  return false;
}

std::uint64_t apply_atomic(AtomicOperation operation, DataType type, std::uint64_t old_value,
                           std::uint64_t operand, std::uint64_t second, Subnormals subnormals) {
  switch (type) {
    case DataType::f32: return add_f32(old_value, operand, subnormals);
    case DataType::f64: return add_f64(old_value, operand);
    case DataType::f16: return apply_half(operation, old_value, operand, kHalf);
    case DataType::bf16: return apply_half(operation, old_value, operand, kBrain);
    case DataType::f16x2: return apply_halves(operation, old_value, operand, kHalf);
    case DataType::bf16x2: return apply_halves(operation, old_value, operand, kBrain);
    case DataType::s32: return apply_integer<std::int32_t>(operation, old_value, operand, second);
    case DataType::s64: return apply_integer<std::int64_t>(operation, old_value, operand, second);
    case DataType::b16: return apply_integer<std::uint16_t>(operation, old_value, operand, second);
    case DataType::u64:
    case DataType::b64: return apply_integer<std::uint64_t>(operation, old_value, operand, second);
    default: return apply_integer<std::uint32_t>(operation, old_value, operand, second);
  }
}

void perform_atomic(AtomicOperation operation, DataType type, unsigned elements, std::uint8_t* at,
                    const std::uint8_t* operand, const std::uint8_t* second, std::uint8_t* old_value,
                    Subnormals subnormals) {
  const unsigned size = size_of(type);
  if (type == DataType::b128) {
    std::memcpy(old_value, at, size);
    if (operation == AtomicOperation::exchange) {
      std::memcpy(at, operand, size);
    } else if (std::memcmp(old_value, operand, size) == 0) {
      std::memcpy(at, second, size);
    }
    return;
  }
  for (unsigned e = 0; e < elements; ++e) {
    const std::size_t place = std::size_t{e} * size;
    std::uint64_t before = 0, b = 0, c = 0;
    std::memcpy(&before, at + place, size);
    std::memcpy(&b, operand + place, size);
    if (operation == AtomicOperation::compare_and_swap) std::memcpy(&c, second + place, size);
    const std::uint64_t after = apply_atomic(operation, type, before, b, c, subnormals);
    std::memcpy(at + place, &after, size);
    std::memcpy(old_value + place, &before, size);
  }
}

}  // namespace warpline
