#include "warpline/isa/atomic.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "warpline/base/contract.h"

namespace warpline {
namespace {

template <class To>
To bits_as(std::uint64_t bits) {
  To value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}
template <class From>
std::uint64_t as_bits(From value) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof value);
  return bits;
}

float flush(float x) {
  return std::fpclassify(x) == FP_SUBNORMAL ? std::copysign(0.0F, x) : x;
}

std::uint64_t add_f32(std::uint64_t a, std::uint64_t b) {
  const float sum = flush(flush(bits_as<float>(a)) + flush(bits_as<float>(b)));
  return std::isnan(sum) ? 0x7FFFFFFFU : as_bits(sum);
}
std::uint64_t add_f64(std::uint64_t a, std::uint64_t b) {
  const double sum = bits_as<double>(a) + bits_as<double>(b);
  return std::isnan(sum) ? 0x7FF8000000000000U : as_bits(sum);
}

template <class T>
std::uint64_t apply_integer(AtomicOperation operation, std::uint64_t old_value, std::uint64_t operand,
                            std::uint64_t second) {
  const T old = bits_as<T>(old_value);
  const T b = bits_as<T>(operand);
  switch (operation) {
    case AtomicOperation::min: return as_bits(std::min(old, b));
    case AtomicOperation::max: return as_bits(std::max(old, b));
    case AtomicOperation::increment: return as_bits(old >= b ? T{0} : static_cast<T>(old + 1));
    case AtomicOperation::decrement: return as_bits(old == 0 || old > b ? b : static_cast<T>(old - 1));
    case AtomicOperation::compare_and_swap: return as_bits(old == b ? bits_as<T>(second) : old);
    case AtomicOperation::add: return as_bits(bits_as<T>(old_value + operand));
    case AtomicOperation::bit_and: return as_bits(bits_as<T>(old_value & operand));
    case AtomicOperation::bit_or: return as_bits(bits_as<T>(old_value | operand));
    case AtomicOperation::bit_xor: return as_bits(bits_as<T>(old_value ^ operand));
    case AtomicOperation::exchange: return as_bits(b);
    case AtomicOperation::none: break;
  }
  WARPLINE_EXPECT(false, "an atomic operation");
  return 0;
}

}  // namespace

bool is_atomic_legal(AtomicOperation operation, DataType type) {
  using O = AtomicOperation;
  using T = DataType;
  const auto among = [type](std::initializer_list<T> list) {
    return std::find(list.begin(), list.end(), type) != list.end();
  };
  switch (operation) {
    case O::add: return among({T::u32, T::u64, T::s32, T::f32, T::f64});
    case O::min:
    case O::max: return among({T::u32, T::u64, T::s32, T::s64});
    case O::bit_and:
    case O::bit_or:
    case O::bit_xor:
    case O::exchange: return among({T::b32, T::b64});
    case O::compare_and_swap: return among({T::b16, T::b32, T::b64});
    case O::increment:
    case O::decrement: return type == T::u32;
    case O::none: return false;
  }
  return false;
}

std::uint64_t apply_atomic(AtomicOperation operation, DataType type, std::uint64_t old_value,
                           std::uint64_t operand, std::uint64_t second) {
  switch (type) {
    case DataType::f32: return add_f32(old_value, operand);
    case DataType::f64: return add_f64(old_value, operand);
    case DataType::s32: return apply_integer<std::int32_t>(operation, old_value, operand, second);
    case DataType::s64: return apply_integer<std::int64_t>(operation, old_value, operand, second);
    case DataType::b16: return apply_integer<std::uint16_t>(operation, old_value, operand, second);
    case DataType::u64:
    case DataType::b64: return apply_integer<std::uint64_t>(operation, old_value, operand, second);
    default: return apply_integer<std::uint32_t>(operation, old_value, operand, second);
  }
}

}  // namespace warpline
