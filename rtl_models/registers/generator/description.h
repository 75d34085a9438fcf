#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "rtl_models/document/document.h"
#include "rtl_models/registers/register_map.h"

namespace warpline::registers {

/// What everything in a description has: a name (upper case), what it means, and where its name stands.
struct Named {
  std::string name;
  std::string meaning;  ///< on one line
  Place place;
  bool sound = true;  ///< whether its table, up to the tables in it, is without fault
};

/// Some bits of a register or of a structure's member.
struct Field : Named {
  BitField at{0, 1};
  FieldAccess access = FieldAccess::read_only;
  std::uint64_t reset = 0;
  std::string enumeration;  ///< whose values it takes, or empty
};

struct Register : Named {
  std::uint32_t offset = 0;
  unsigned bytes = 4;
  unsigned count = 1;
  std::uint32_t stride = 4;
  bool kept = false;
  bool whole = false;  ///< described without fields: has one, VALUE, of all bits
  std::vector<Field> fields;

  [[nodiscard]] bool is_array() const { return count > 1; }
  /// Of the byte behind the last one.
  [[nodiscard]] std::uint64_t end() const { return offset + std::uint64_t{count - 1} * stride + bytes; }
};

struct Constant : Named {
  std::uint64_t value = 0;
};

struct Enumeration : Named {
  std::vector<Constant> values;
};

struct StructureMember : Named {
  std::uint32_t offset = 0;
  std::uint32_t bytes = 1;
  std::string enumeration;  ///< whose values it takes, or empty
  std::vector<Field> fields;
};

/// Something that software and device pass each other in memory; little-endian.
struct Structure : Named {
  std::uint32_t bytes = 0;
  std::vector<StructureMember> members;
};

/// What the manual says that no single register does.
struct Chapter {
  std::string title;
  std::string text;  ///< Markdown
};

/// A block of registers and what belongs to them, in the order of the file.
struct Block {
  std::string file;  ///< its name without folders
  std::string name;  ///< lower case
  std::string title;
  std::string meaning;
  std::uint32_t bytes = 0;  ///< of address space
  unsigned bar = 0;
  std::vector<Chapter> chapters;
  std::vector<Constant> constants;
  std::vector<Register> registers;
  std::vector<Enumeration> enumerations;
  std::vector<Structure> structures;
};

/// What is said of a FieldAccess.
struct AccessWords {
  const char* word;        ///< in a description file
  const char* enumerator;  ///< of FieldAccess
  const char* read;        ///< what a read does to the field
  const char* write;
};
/// In the order of FieldAccess.
inline constexpr std::array<AccessWords, 6> kAccesses = {{
    {"ro", "read_only", "returns it", "leaves it"},
    {"rw", "read_write", "returns it", "sets it"},
    {"wo", "write_only", "returns 0", "sets it"},
    {"w1c", "write_one_to_clear", "returns it",
     "clears each bit that is 1 in what is written, leaves the others"},
    {"rc", "read_to_clear", "returns it and brings it to 0", "leaves it"},
    {"fifo", "read_to_pop", "returns an entry of a queue and takes it out", "leaves it"},
}};
[[nodiscard]] constexpr const AccessWords& words_of(FieldAccess access) {
  return kAccesses[static_cast<std::size_t>(access)];
}

/// Of all fields.
[[nodiscard]] inline std::uint64_t reset_value(const Register& of) {
  std::uint64_t value = 0;
  for (const Field& f : of.fields) value |= f.at.of(f.reset);
  return value;
}

}  // namespace warpline::registers
