#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "warpline/programs/ptx/legality/operands.h"

namespace warpline::ptx {

enum class Width : std::uint8_t { exact, or_wider };
/// How many elements an operand has: as many as the instruction's vector, or any number where the instruction
/// names no vector.
enum class Count : std::uint8_t { of_vector, any };
/// Whether an address stands in a register of 16 bits, too.
enum class AddressWidth : std::uint8_t { any, no_half };
/// Which memory a register of 32 bits addresses: that of the spaces so small, or global and generic, too.
enum class Windows : std::uint8_t { of_space, any };

/// Whether a register of type `r` holds a value of type `t` (PTX ISA, "Operand Size Exceeding
/// Instruction-Type Size"; the assembler takes an untyped register for a float of its size or less).
[[nodiscard]] bool fits(DataType r, DataType t, Width width);
/// ".u32"
[[nodiscard]] std::string type_text(DataType t);

/// Judges one operand against what an instruction wants of it. Each function finds all faults of one kind of
/// operand.
class OperandJudge {
 public:
  OperandJudge(const Operand& o, const Accessed& a, std::vector<Remark>& faults)
      : o_(o), a_(a), faults_(faults) {}

  // Registers and literals: value_operands.cpp.
  void destination(Width width, bool may_be_sink, Count count = Count::of_vector);
  void source(Width width, Count count = Count::of_vector);
  /// A scalar of `type`: a register, or a literal where `literals`.
  void scalar(DataType type, Width width, bool literals);
  /// A policy: a register of 64 bits or a literal.
  void policy();
  void literal(std::uint64_t value);
  void any_integer();
  void any();

  // What mov reads and writes: mov_operands.cpp.
  void moved(bool written);

  // Numbers with a meaning of their own: number_operands.cpp.
  /// A literal that is a multiple of `step`, or a register of `type`.
  void multiple(std::uint64_t step, DataType type);
  void threads(bool may_be_zero);
  void barrier_number();
  void predicate();
  /// Not below the operand before it, where both are literals.
  void total_size();
  void fraction();
  void copy_size();
  void zero_fill();

  // Addresses: address_operands.cpp.
  void address(Space space, AddressWidth width = AddressWidth::any, Windows windows = Windows::of_space);
  /// An address of whatever kind.
  void any_address();
  /// A pointer as value: a register of the instruction's type, or a variable in `space`.
  void pointer(Space space);
  void any_address_register();

  // Textures and surfaces: image_operands.cpp.
  /// [object, {coordinates}], a texture also [object, sampler, {coordinates}], coordinates of type
  /// `coordinates`.
  void image(DataType coordinates);

 private:
  template <class F>
  void elements(Count count, F&& each);
  void same_size();
  /// Whether the assembler takes all elements for untyped, as it does where one register is.
  [[nodiscard]] bool untyped(const std::vector<Operand>& elements) const;
  /// Whether the assembler takes `e` for a constant of any type: a function's address.
  [[nodiscard]] bool is_address_constant(const Operand& e) const;
  /// An element of a vector whose elements are taken for untyped.
  void element(const Operand& e, Width width, bool written);
  void value(const Operand& e, DataType type, Width width, bool written = false);
  void moved_vector(bool written);
  void moved_name(bool written);
  void address_register(const Meaning& m, Space space, AddressWidth width);
  void address_variable(const Meaning& m, Space space);
  void index_register();
  void coordinates(const Operand& where, DataType type);
  Meaning meaning(const Operand& e);
  [[nodiscard]] float real() const;
  void fault(const Operand& e, std::string message, std::string hint = {});

  const Operand& o_;
  const Accessed& a_;
  std::vector<Remark>& faults_;
};

}  // namespace warpline::ptx
