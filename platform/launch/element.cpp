#include "platform/launch/element.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <cstring>

#include "rtl_models/base/bits.h"
#include "rtl_models/base/text.h"

namespace warpline {
namespace {

unsigned bits_of(DataType type) {
  return size_of(type) * 8;
}

std::uint64_t truncate(DataType type, std::uint64_t bits) {
  return bits_of(type) == 64 ? bits : bits & ((std::uint64_t{1} << bits_of(type)) - 1);
}

std::int64_t extended(DataType type, std::uint64_t bits) {
  return sign_extended(bits, bits_of(type));
}

/// The bits of an f32.
float narrow(std::uint64_t bits) {
  return bits_as<float>(static_cast<std::uint32_t>(bits));
}

/// Whether the signed integer `n` is a value of the integer type.
bool fits(DataType type, std::int64_t n) {
  if (is_signed(type)) return extended(type, truncate(type, static_cast<std::uint64_t>(n))) == n;
  return n >= 0 && truncate(type, static_cast<std::uint64_t>(n)) == static_cast<std::uint64_t>(n);
}

}  // namespace

const std::vector<std::string>& element_type_names() {
  static const std::vector<std::string> kNames = {"u8",  "u16", "u32", "u64",  "s8",  "s16",
                                                  "s32", "s64", "f16", "bf16", "f32", "f64"};
  return kNames;
}

DataType element_type_from(const std::string& text) {
  const std::vector<std::string>& names = element_type_names();
  return std::find(names.begin(), names.end(), text) == names.end() ? DataType::none : data_type_from(text);
}

std::uint64_t load_element(DataType type, const std::uint8_t* bytes) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, bytes, size_of(type));
  return bits;
}

void store_element(DataType type, std::uint64_t bits, std::uint8_t* bytes) {
  std::memcpy(bytes, &bits, size_of(type));
}

std::string element_text(DataType type, std::uint64_t bits) {
  if (type == DataType::f32) return fmt::format("{}", narrow(bits));
  if (small_format_of(type)) return fmt::format("{}", static_cast<float>(element_as_double(type, bits)));
  if (type == DataType::f64) return fmt::format("{}", bits_as<double>(bits));
  return is_signed(type) ? std::to_string(extended(type, bits)) : std::to_string(bits);
}

double element_as_double(DataType type, std::uint64_t bits) {
  if (type == DataType::f32) return static_cast<double>(narrow(bits));
  if (type == DataType::f64) return bits_as<double>(bits);
  if (const auto format = small_format_of(type)) return decode(static_cast<std::uint16_t>(bits), *format);
  return is_signed(type) ? static_cast<double>(extended(type, bits)) : static_cast<double>(bits);
}

std::optional<SmallFormat> small_format_of(DataType type) {
  if (type == DataType::f16) return kHalf;
  if (type == DataType::bf16) return kBrain;
  return std::nullopt;
}

double integer_to_round(std::int64_t n) {
  const auto low = static_cast<double>(static_cast<std::uint32_t>(n));
  return sum_to_odd(static_cast<double>(n >> 32) * 4294967296.0, low);
}

std::uint64_t float_bits(DataType type, double x) {
  if (const auto format = small_format_of(type)) return encode(x, *format, Rounding::nearest);
  return type == DataType::f32 ? bits_as<std::uint32_t>(static_cast<float>(x)) : bits_as<std::uint64_t>(x);
}

bool same_element(DataType type, std::uint64_t a, std::uint64_t b) {
  if (a == b) return true;
  return is_float(type) && std::isnan(element_as_double(type, a)) && std::isnan(element_as_double(type, b));
}

std::optional<std::uint64_t> element_from(const Value& value, DataType type, std::string& why) {
  const std::string name(name_of(type));
  if (is_float(type)) {
    if (value.kind == Value::Kind::real) return float_bits(type, value.real);
    if (value.kind == Value::Kind::integer && type != DataType::f64)
      return float_bits(type, integer_to_round(value.integer));
    if (value.kind == Value::Kind::integer) return float_bits(type, static_cast<double>(value.integer));
    why = "must be a number of type " + name + ", not " + std::string(value.kind_name());
    return std::nullopt;
  }
  if (value.kind == Value::Kind::integer) {
    if (fits(type, value.integer)) return truncate(type, static_cast<std::uint64_t>(value.integer));
    why = std::to_string(value.integer) + " is not a value of type " + name;
    return std::nullopt;
  }
  if (value.kind == Value::Kind::text && !value.text.empty()) {
    char* end = nullptr;
    errno = 0;
    const std::uint64_t n = std::strtoull(value.text.c_str(), &end, 0);
    if (is_digit(value.text[0]) && *end == '\0' && errno == 0 && truncate(type, n) == n &&
        (!is_signed(type) || extended(type, n) >= 0))
      return n;
    why = "\"" + value.text + "\" is not a value of type " + name;
    return std::nullopt;
  }
  why = "must be an integer of type " + name + ", not " + std::string(value.kind_name());
  return std::nullopt;
}

std::optional<std::uint64_t> read_element(const Document& document, const Member& member, DataType type,
                                          Diagnostics& faults) {
  std::string why;
  const auto bits = element_from(member.value, type, why);
  if (!bits) faults.push_back(document.fault(member.value.place, member.key + ": " + why));
  return bits;
}

}  // namespace warpline
