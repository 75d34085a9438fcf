#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "rtl_models/base/problem.h"
#include "rtl_models/registers/generator/description.h"

namespace warpline::registers {

/// The largest number of a description: TOML knows no larger integer.
inline constexpr std::uint64_t kMost = std::numeric_limits<std::int64_t>::max();

/// What the tables of a description have in common: keys of one kind are read, and judged, alike. A fault
/// goes to where the value stands; what is returned then is harmless.
class Keys {
 public:
  /// Keeps references.
  Keys(const Document& document, Diagnostics& faults) : document_(document), faults_(faults) {}

 protected:
  /// `name` and `meaning`.
  void read_named(TableReader& in, Named& named);
  /// A text that is not empty, with its line breaks as spaces.
  std::string line_of(TableReader& in, std::string_view key);
  FieldAccess read_access(TableReader& in);
  /// `reset` of a field of these bits.
  static std::uint64_t read_reset(TableReader& in, BitField at);
  /// `bits`: one number for one bit, or [LOWEST, HIGHEST], in a word of `width` bits.
  BitField read_bits(TableReader& in, unsigned width);
  static std::uint32_t number(TableReader& in, std::string_view key, std::uint64_t low, std::uint64_t high,
                              TableReader::Need need, std::uint32_t otherwise = 0) {
    return static_cast<std::uint32_t>(in.number(key, low, high, need).value_or(otherwise));
  }
  /// The tables of [[path]]; `key` is its last part.
  std::vector<const Value*> tables(TableReader& in, std::string_view key, const std::string& path);

  /// Of the key's value; of the table where there is none.
  static Place place_of(const TableReader& in, std::string_view key) {
    const Member* const m = in.table().find(key);
    return m == nullptr ? in.place() : m->value.place;
  }
  void fault(Place place, std::string message, std::string hint = {});

  const Document& document_;
  Diagnostics& faults_;
};

}  // namespace warpline::registers
