#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "platform/programs/ptx_syntax/syntax.h"

namespace warpline::ptx {

class Decoder;

/// Decodes the statement that the decoder is at into one or more operations.
using DecodeFunction = void (*)(Decoder&);

struct Opcode {
  const char* name;  ///< up to the first dot
  DecodeFunction decode;
};

/// The opcode named `name`, or null where this version does not run it.
[[nodiscard]] const Opcode* find_opcode(std::string_view name);
/// An opcode that the device library alone may have; null: it is none.
[[nodiscard]] const Opcode* find_library_opcode(std::string_view name);
/// Whether PTX has an opcode `name` that this version does not run.
[[nodiscard]] bool is_known_but_unsupported(std::string_view name);
/// The opcode of `s` with its qualifiers.
[[nodiscard]] std::string full_name(const Statement& s);
/// What is missing for the opcode of `s`, as ": ..."; empty: nothing is known of it. Pre: it is known but
/// unsupported.
[[nodiscard]] std::string reason_unsupported(const Statement& s);
/// Whether this version runs the opcode of `s`; why not goes to `unsupported`, or to `faults` if there is no
/// such opcode.
[[nodiscard]] bool check_opcode(const Statement& s, FaultList& faults, std::vector<Unsupported>& unsupported);
/// The same in the device library.
[[nodiscard]] bool check_library_opcode(const Statement& s, FaultList& faults,
                                        std::vector<Unsupported>& unsupported);
/// Every name that `find_opcode` knows.
[[nodiscard]] const std::vector<std::string>& opcode_names();

/// Decodes `barrier.cluster`. False: the statement is another barrier.
[[nodiscard]] bool decode_cluster_barrier(Decoder& d);

// One list for each family, in the file of that name (float_opcodes: functions.cpp).
[[nodiscard]] std::vector<Opcode> integer_opcodes();
[[nodiscard]] std::vector<Opcode> multiply_opcodes();
[[nodiscard]] std::vector<Opcode> narrow_product_opcodes();
[[nodiscard]] std::vector<Opcode> bit_opcodes();
[[nodiscard]] std::vector<Opcode> bit_field_opcodes();
[[nodiscard]] std::vector<Opcode> bit_count_opcodes();
[[nodiscard]] std::vector<Opcode> float_opcodes();
[[nodiscard]] std::vector<Opcode> compare_opcodes();
[[nodiscard]] std::vector<Opcode> select_opcodes();
[[nodiscard]] std::vector<Opcode> convert_opcodes();
[[nodiscard]] std::vector<Opcode> move_opcodes();
[[nodiscard]] std::vector<Opcode> memory_opcodes();
[[nodiscard]] std::vector<Opcode> atomic_opcodes();
[[nodiscard]] std::vector<Opcode> policy_opcodes();
[[nodiscard]] std::vector<Opcode> async_copy_opcodes();
[[nodiscard]] std::vector<Opcode> mbarrier_opcodes();
[[nodiscard]] std::vector<Opcode> texture_opcodes();
[[nodiscard]] std::vector<Opcode> cache_control_opcodes();
[[nodiscard]] std::vector<Opcode> control_opcodes();
[[nodiscard]] std::vector<Opcode> stack_opcodes();
[[nodiscard]] std::vector<Opcode> video_opcodes();
[[nodiscard]] std::vector<Opcode> library_opcodes();
[[nodiscard]] std::vector<Opcode> warp_opcodes();
[[nodiscard]] std::vector<Opcode> matrix_row_opcodes();
[[nodiscard]] std::vector<Opcode> matrix_opcodes();
[[nodiscard]] std::vector<Opcode> warpgroup_opcodes();
[[nodiscard]] std::vector<Opcode> cluster_opcodes();
[[nodiscard]] std::vector<Opcode> tensor_map_opcodes();

}  // namespace warpline::ptx
