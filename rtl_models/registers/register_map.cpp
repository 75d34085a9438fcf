#include "rtl_models/registers/register_map.h"

namespace warpline {

std::optional<RegisterAt> register_at(const RegisterMap& map, std::uint64_t offset) {
  for (unsigned i = 0; i < map.register_count; ++i) {
    const RegisterDescription& r = map.registers[i];
    if (offset < r.offset) continue;
    const std::uint64_t element = (offset - r.offset) / r.stride;
    if (element < r.count && (offset - r.offset) % r.stride < r.bytes)
      return RegisterAt{i, static_cast<unsigned>(element)};
  }
  return std::nullopt;
}

std::string name_of(const RegisterMap& map, RegisterAt at) {
  const RegisterDescription& r = map.registers[at.index];
  return r.count == 1 ? r.name : r.name + ("[" + std::to_string(at.element) + "]");
}

std::uint64_t reset_value(const RegisterDescription& of) {
  std::uint64_t value = 0;
  for (unsigned i = 0; i < of.field_count; ++i) value |= of.fields[i].at.of(of.fields[i].reset);
  return value;
}

}  // namespace warpline
