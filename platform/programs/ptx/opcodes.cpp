#include "platform/programs/ptx/opcodes.h"

#include <map>

namespace warpline::ptx {
namespace {

using Table = std::map<std::string, Opcode, std::less<>>;

const Table& table() {
  static const Table kTable = [] {
    Table t;
    for (auto* const family : {
             integer_opcodes,   multiply_opcodes,      narrow_product_opcodes, bit_opcodes,
             bit_field_opcodes, bit_count_opcodes,     float_opcodes,          compare_opcodes,
             select_opcodes,    convert_opcodes,       move_opcodes,           memory_opcodes,
             atomic_opcodes,    policy_opcodes,        async_copy_opcodes,     mbarrier_opcodes,
             texture_opcodes,   cache_control_opcodes, control_opcodes,        warp_opcodes,
             stack_opcodes,     video_opcodes,         matrix_row_opcodes,     matrix_opcodes,
             warpgroup_opcodes, cluster_opcodes,       tensor_map_opcodes,
         })
      for (const Opcode& o : family()) t.emplace(o.name, o);
    return t;
  }();
  return kTable;
}

/// PTX ISA 9.0, "Instructions": what is left after the families above.
constexpr std::string_view kUnsupported = "tcgen05";

}  // namespace

const Opcode* find_opcode(std::string_view name) {
  const auto found = table().find(name);
  return found == table().end() ? nullptr : &found->second;
}

const Opcode* find_library_opcode(std::string_view name) {
  static const std::vector<Opcode> kOpcodes = library_opcodes();
  for (const Opcode& o : kOpcodes)
    if (o.name == name) return &o;
  return nullptr;
}

bool is_known_but_unsupported(std::string_view name) {
  const std::size_t at = (" " + std::string(kUnsupported) + " ").find(" " + std::string(name) + " ");
  return find_opcode(name) == nullptr && at != std::string::npos;
}

std::string full_name(const Statement& s) {
  std::string full(s.opcode.text);
  for (const Token& q : s.qualifiers) full += q.text;
  return full;
}

std::string reason_unsupported(const Statement& s) {
  if (s.opcode.is("tcgen05")) return ": there is no tensor memory in this model";
  return "";
}

bool check_opcode(const Statement& s, FaultList& faults, std::vector<Unsupported>& unsupported) {
  if (find_opcode(s.opcode.text) != nullptr) return true;
  if (is_known_but_unsupported(s.opcode.text)) {
    unsupported.push_back(
        {s.opcode.place(), "opcode " + quoted(full_name(s)) + " is not supported" + reason_unsupported(s)});
  } else {
    faults.add(s.opcode.place(), "unknown opcode " + quoted(s.opcode.text),
               suggestion(s.opcode.text, opcode_names()));
  }
  return false;
}

bool check_library_opcode(const Statement& s, FaultList& faults, std::vector<Unsupported>& unsupported) {
  return find_library_opcode(s.opcode.text) != nullptr || check_opcode(s, faults, unsupported);
}

const std::vector<std::string>& opcode_names() {
  static const std::vector<std::string> kNames = [] {
    std::vector<std::string> list;
    for (const auto& [name, opcode] : table()) list.push_back(name);
    return list;
  }();
  return kNames;
}

}  // namespace warpline::ptx
