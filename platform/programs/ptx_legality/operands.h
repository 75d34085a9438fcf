#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "platform/programs/fault_list.h"
#include "platform/programs/ptx_legality/names.h"
#include "platform/programs/ptx_legality/vocabulary.h"

namespace warpline::ptx {

/// Something wrong, or worth a note.
struct Remark {
  Place place;
  std::string message;
  std::string hint;
};

/// What the operands of a statement are judged against.
struct Accessed {
  const Names* names = nullptr;
  WordSet words;
  DataType type = DataType::none;  ///< of an element
  DataType second_type = DataType::none;
  unsigned vector = 1;
  Space space = Space::generic;
  Space second_space = Space::generic;
  const Operand* before = nullptr;  ///< the operand before the one in question
};

/// Judges `o` as the operand that a signature calls `name` (`Signature`). Pre: there is such a name.
void judge_operand(std::string_view name, const Operand& o, const Accessed& a, std::vector<Remark>& faults);

/// How a value of a form may be given.
struct ValueRules {
  bool written = false;          ///< no literal
  bool with_predicates = false;  ///< among the elements of a vector a predicate counts as 32 bits
  bool or_wider = false;         ///< a register that is wider than the type
  bool each = false;             ///< each element of a vector is a register of the type itself
};
/// Judges `o` as a value of `type`, or as a vector of `count` of them (0: no vector).
void judge_values(const Operand& o, DataType type, std::size_t count, ValueRules rules, const Accessed& a,
                  std::vector<Remark>& faults);

/// ".u32"
[[nodiscard]] std::string type_text(DataType t);
/// The untyped type of a register of so many bytes.
[[nodiscard]] DataType bits_of_size(unsigned bytes);
/// The type that a qualifier names, as its register has it: tf32 and floats of 8 bits lie there as bits. Pre:
/// it names a type.
[[nodiscard]] DataType register_type(std::string_view qualifier);

}  // namespace warpline::ptx
