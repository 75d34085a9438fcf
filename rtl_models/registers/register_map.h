#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "rtl_models/base/bits.h"
#include "rtl_models/base/visibility.h"

namespace warpline {

/// What software's accesses do to a field.
enum class FieldAccess : std::uint8_t {
  read_only,
  read_write,
  write_only,          ///< reads as 0
  write_one_to_clear,  ///< a 1 clears the bit, a 0 leaves it
  read_to_clear,       ///< a read returns the field and brings it to 0; writes leave it
  read_to_pop,         ///< a read takes what it returns out of a queue; writes leave it
};

/// The field of `word` whose bits are `kMask`, as generated headers name fields.
template <std::uint64_t kMask>
[[nodiscard]] constexpr std::uint64_t field(std::uint64_t word) {
  static_assert(kMask != 0, "a field has bits");
  return (word & kMask) / (kMask & (~kMask + 1));
}
/// A word of nothing but that field. What `value` has beyond the field is cut off.
template <std::uint64_t kMask>
[[nodiscard]] constexpr std::uint64_t in_field(std::uint64_t value) {
  static_assert(kMask != 0, "a field has bits");
  return (value * (kMask & (~kMask + 1))) & kMask;
}

/// A field as its description says.
struct WARPLINE_PUBLIC FieldDescription {
  const char* name;
  BitField at;
  FieldAccess access;
  std::uint64_t reset;  ///< of the field, from its lowest bit
  const char* meaning;
};

/// A register, or several alike.
struct WARPLINE_PUBLIC RegisterDescription {
  const char* name;
  std::uint32_t offset;  ///< of the first, bytes; a multiple of `bytes`
  std::uint8_t bytes;    ///< of one: 4 or 8
  std::uint16_t count;   ///< how many; 1: no array
  std::uint32_t stride;  ///< from one to the next, bytes; a multiple of `bytes`
  bool kept;             ///< a reset leaves its value
  const char* meaning;
  /// Without overlap; bits of none read as 0 and ignore writes.
  const FieldDescription* fields;
  unsigned field_count;
};

/// The registers of a block as data: made of one description file, as are the driver's header and the manual
/// (sw/regs). A register is named by its index here; the generated header has a constant for each.
struct WARPLINE_PUBLIC RegisterMap {
  const char* name;
  std::uint32_t bytes;  ///< of address space
  const RegisterDescription* registers;
  unsigned register_count;
};

/// One of several registers alike: which in RegisterMap::registers, and which element.
struct WARPLINE_PUBLIC RegisterAt {
  unsigned index = 0;
  unsigned element = 0;
};

/// The register that the byte at `offset` belongs to.
[[nodiscard]] inline std::optional<RegisterAt> register_at(const RegisterMap& map, std::uint64_t offset) {
  for (unsigned i = 0; i < map.register_count; ++i) {
    const RegisterDescription& r = map.registers[i];
    if (offset < r.offset) continue;
    const std::uint64_t element = (offset - r.offset) / r.stride;
    if (element < r.count && (offset - r.offset) % r.stride < r.bytes)
      return RegisterAt{i, static_cast<unsigned>(element)};
  }
  return std::nullopt;
}

/// Its name as people write it: "SCRATCH[1]", or "STATUS" of a register that is no array.
[[nodiscard]] inline std::string name_of(const RegisterMap& map, RegisterAt at) {
  const RegisterDescription& r = map.registers[at.index];
  return r.count == 1 ? r.name : r.name + ("[" + std::to_string(at.element) + "]");
}

/// What the register holds after a reset.
[[nodiscard]] inline std::uint64_t reset_value(const RegisterDescription& of) {
  std::uint64_t value = 0;
  for (unsigned i = 0; i < of.field_count; ++i) value |= of.fields[i].at.of(of.fields[i].reset);
  return value;
}

}  // namespace warpline
