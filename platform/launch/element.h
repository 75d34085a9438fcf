#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "rtl_models/document/document.h"
#include "rtl_models/isa/data_type.h"
#include "rtl_models/isa/small_float.h"

namespace warpline {

/// The types of buffer elements and scalars: u8 to u64, s8 to s64, f16, bf16, f32, f64. Spelt otherwise:
/// `none`.
[[nodiscard]] DataType element_type_from(const std::string& text);
/// Their names, for messages and near misses.
[[nodiscard]] const std::vector<std::string>& element_type_names();

/// An element as its bits: the low size_of(type) bytes of a word, upper bits zero.
[[nodiscard]] std::uint64_t load_element(DataType type, const std::uint8_t* bytes);
void store_element(DataType type, std::uint64_t bits, std::uint8_t* bytes);
/// As decimal text: "-3", "0.1", "nan"; floats with digits enough to tell them apart.
[[nodiscard]] std::string element_text(DataType type, std::uint64_t bits);

/// The value of element bits as a double: exact for floats and integers up to 53 bits.
[[nodiscard]] double element_as_double(DataType type, std::uint64_t bits);
/// The bits of `x` rounded once to a float type. Pre: is_float(type), and it is no pair.
[[nodiscard]] std::uint64_t float_bits(DataType type, double x);
/// The format of a float type of 16 bits; nothing for other types.
[[nodiscard]] std::optional<SmallFormat> small_format_of(DataType type);
/// `n` as a double that, rounded to a float type of at most 24 bits, is `n` rounded once.
[[nodiscard]] double integer_to_round(std::int64_t n);
/// Whether two elements are the same to the bit; any NaN equals any NaN.
[[nodiscard]] bool same_element(DataType type, std::uint64_t a, std::uint64_t b);

/// A TOML number as an element of `type`. Integers must fit the type; numbers beyond TOML's 64-bit
/// signed integers may be written as text ("0xFFFFFFFFFFFFFFFF"). On failure `why` says what is wrong.
[[nodiscard]] std::optional<std::uint64_t> element_from(const Value& value, DataType type, std::string& why);
/// The same of a member, which is a fault then.
[[nodiscard]] std::optional<std::uint64_t> read_element(const Document& document, const Member& member,
                                                        DataType type, Diagnostics& faults);

}  // namespace warpline
