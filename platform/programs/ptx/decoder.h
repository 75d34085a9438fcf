#pragma once

#include <initializer_list>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "platform/programs/ptx/call_graph.h"
#include "platform/programs/ptx/frame.h"
#include "platform/programs/ptx/program.h"
#include "platform/programs/ptx_legality/language.h"
#include "platform/programs/ptx_legality/operands.h"
#include "platform/programs/ptx_syntax/syntax.h"
#include "rtl_models/base/bits.h"
#include "rtl_models/isa/qualifiers.h"

namespace warpline::ptx {

/// A register that the program uses.
struct Register {
  Ref ref = kNoRef;
  std::uint16_t number = 0;  ///< for the scoreboard
  DataType type = DataType::b32;
};

/// Abandons the statement being decoded; its fault is recorded already.
struct DecodeError {};

/// A name of a variable or parameter, resolved.
struct Symbol {
  const VariableDecl* declaration = nullptr;
  int variable = -1;  ///< index in its function, or in the module
  bool of_module = false;
  bool of_kernel = false;  ///< a kernel parameter
};

/// Translates an entry and what it calls into a Program. Opcode families drive it statement by
/// statement: they take the qualifiers they know, ask for operands, and emit operations. What
/// they leave over is a fault.
class Decoder {
 public:
  /// What the assembler would refuse goes to `illegal`, and what cannot be run to `faults`; they may be one.
  Decoder(const ModuleDecl& module, FaultList& faults, FaultList& illegal);
  Program decode(const FunctionDecl& entry);

  // --- for opcode families -------------------------------------------------------------------

  [[nodiscard]] const Statement& statement() const { return *statement_; }
  /// The opcode of the statement, in quotes.
  [[nodiscard]] std::string opcode() const { return quoted(statement_->opcode.text); }
  [[nodiscard]] const FunctionDecl& function() const { return *now_.declaration; }
  [[nodiscard]] std::size_t operand_count() const { return statement_->operands.size(); }
  [[nodiscard]] const Operand& operand(std::size_t index) const { return statement_->operands[index]; }
  /// Faults unless the statement has from `low` to `high` operands.
  void need_operands(std::size_t low, std::size_t high = 0);
  [[noreturn]] void fail(Place place, const std::string& message, std::string hint = {});
  [[noreturn]] void fail(const std::string& message, std::string hint = {});

  /// Takes qualifier `text` (".wide") if it is there.
  bool take(std::string_view text);
  /// Takes the first qualifier among `names`; its index, or nothing.
  std::optional<std::size_t> take_one_of(std::initializer_list<std::string_view> names);
  /// The same; a fault, `message`, where there is none of them.
  std::size_t need_one_of(std::initializer_list<std::string_view> names, const std::string& message);
  /// Whether the statement has qualifier `text`, taken or not.
  [[nodiscard]] bool has(std::string_view text) const;
  /// Whether qualifier `q` of the statement is not taken yet.
  [[nodiscard]] bool is_left(const Token& q) const {
    for (const Token* left : left_)
      if (left->offset == q.offset) return true;
    return false;
  }
  /// Takes every qualifier of whose word, without its dot, `f` answers true.
  template <class F>
  void take_where(F&& f) {
    for (auto q = left_.begin(); q != left_.end();) q = f((*q)->text.substr(1)) ? left_.erase(q) : q + 1;
  }
  /// Takes the first qualifier that names a value of E.
  template <class E>
  std::optional<E> take_value() {
    for (auto q = left_.begin(); q != left_.end(); ++q)
      if (const auto value = value_named<E>((*q)->text.substr(1))) {
        left_.erase(q);
        return value;
      }
    return std::nullopt;
  }
  /// Takes the first type qualifier; a fault where there is none among `allowed` (empty: any).
  DataType take_type(std::initializer_list<DataType> allowed = {});
  Rounding take_rounding();
  /// Takes what is left; the qualifier it finds, or null.
  const Token* take_any();

  /// The register that holds a special register, in `bytes` bytes of each lane.
  Ref special(const SpecialRegister& source, unsigned bytes);
  /// Operand `o` as a source of `type`: a register of its size, a constant or a special register.
  Ref source(const Operand& o, DataType type);
  Ref source(std::size_t index, DataType type) { return source(operand(index), type); }
  /// A register of any size of at least `bytes`, and its size; constants take `bytes`.
  Ref wide_source(const Operand& o, DataType type, std::uint8_t& register_bytes);
  Ref destination(const Operand& o, DataType type);
  Ref destination(std::size_t index, DataType type) { return destination(operand(index), type); }
  Ref wide_destination(const Operand& o, DataType type, std::uint8_t& register_bytes);
  /// Operands 0, 1, 2 and so on of the statement, and no more: a destination of type `to`, sources of types
  /// `from`.
  Op operands(DataType to, std::initializer_list<DataType> from);
  /// A destination and `sources` sources, all of `type`.
  Op operands(DataType type, std::size_t sources);
  /// The same of predicates, for a handler that reads them by Frame::source_predicate.
  Op predicates(std::size_t sources);
  Ref predicate_source(const Operand& o);
  /// Operand `index` as Op::condition.
  void take_condition(Op& op, std::size_t index);
  /// kNoRef for the sink `_`.
  Ref predicate_destination(const Operand& o);
  /// A constant that every lane sees.
  Ref constant(std::uint64_t bits, unsigned bytes);
  /// Where the operands `refs` are, as a list that a handler finds in the constant pool.
  Ref list(const std::vector<Ref>& refs);
  /// A register of the function that is being decoded.
  Register new_register(DataType type);
  /// The condition code that .cc instructions write and addc, subc and madc read, as operand `index`; what
  /// the operation does with it is left in bits 0 (`takes`) and 1 (`leaves`) of its mode.
  void take_carry(Op& op, std::size_t index, bool takes, bool leaves);
  /// How much of the thread's stack is in use, as operand `index`, and the stack's end as its immediate.
  void take_stack(Op& op, std::size_t index, bool changes);
  /// The next operation reads, or writes, `r`: where it is.
  Ref reads(const Register& r);
  Ref writes(const Register& r);

  /// The variable of that name; nothing where there is none, a fault where it is not modelled.
  [[nodiscard]] std::optional<Symbol> find_symbol(const std::string& name);
  [[nodiscard]] const Register* find_register(const Operand& o);
  [[nodiscard]] Register need_register(const Operand& o, const char* what);
  /// The address of a variable plus `addend` as a constant of `bytes`; in its own space, or generic.
  Ref symbol_address(const Symbol& s, std::uint64_t addend, unsigned bytes, bool generic);
  /// Where a .param variable of a device function or of a call lies.
  ParameterBlock parameter_block(const Symbol& s);
  [[nodiscard]] std::uint32_t kernel_parameter_offset(const Symbol& s) const;
  /// The register with the frame's start, where the function keeps its .local variables on a stack.
  [[nodiscard]] const Register* local_frame() const;
  std::uint32_t local_offset(const Symbol& s);
  [[nodiscard]] std::uint64_t function_address(const std::string& name) const;
  /// Of the module, an entry too: its address can be taken.
  [[nodiscard]] bool is_function(const std::string& name) const;
  /// The image of function `name`, decoded later; a fault where it has no body.
  int function_image(const std::string& name, Place place);
  /// The declaration of function `name`; a fault where there is none.
  const FunctionDecl& callee(const std::string& name, Place place);
  /// The program moves registers between its warps.
  void note_reallocation() { program_.reallocates_registers = true; }
  void branch_to(Op& op, const Operand& label);
  std::uint32_t branch_table(const std::string& name, Place place);
  std::uint32_t add_call(CallSite site);
  /// Leaves the function: back to the caller, or exit at the outermost level.
  void emit_return();

  /// Appends an operation of the statement, with its guard and the registers named since the last.
  Op& emit(Op op, InstructionKind kind, unsigned latency, const MemOp* mem = nullptr);
  Op& emit(Op op, unsigned latency) { return emit(op, InstructionKind::alu, latency); }
  /// The program keeps it.
  const MatrixProduct* keep(MatrixProduct product);
  const LoadedFragment* keep(LoadedFragment fragment);
  /// Appends an operation that all lanes of the warp execute together (`.sync.aligned`).
  Op& emit_together(Op op, InstructionKind kind, unsigned latency, const MemOp* mem = nullptr);
  /// Appends what `run` computes from operands as of operands().
  void compute(Handler run, unsigned latency, DataType to, std::initializer_list<DataType> from);
  /// A fault where `op` has no handler, because there is none for `type`.
  void need_handler(const Op& op, DataType type);
  /// What the SM sees of the operation appended last. Pre: there is one.
  [[nodiscard]] Instruction& emitted() { return program_.instructions.back(); }

  [[nodiscard]] std::vector<std::string> label_names() const;

 private:
  struct Pending {
    std::uint32_t op;
    std::string label;
    Place place;
    int scope;
  };
  /// What is known of one function.
  struct FunctionState {
    const FunctionDecl* declaration = nullptr;
    std::size_t image = 0;
    std::vector<std::uint32_t> starts;  ///< op index of each statement
    std::vector<Pending> pending;
    std::map<std::pair<int, std::string>, Register> registers;  ///< by scope
    std::map<int, ParameterBlock> blocks;                       ///< by variable
    std::map<int, std::uint32_t> locals;                        ///< in the frame of a recursive function
    std::vector<std::uint16_t> read, written;                   ///< registers that the next operation names
    std::optional<Register> frame;
    std::vector<std::uint16_t> loaded;   ///< registers that memory fills
    std::vector<std::uint32_t> returns;  ///< operations to send to the epilogue
    std::optional<Register> stack;       ///< how much of the stack was in use when the function was entered
  };
  [[nodiscard]] bool is_legal(const Statement& s);
  [[nodiscard]] std::optional<Symbol> resolve_symbol(const std::string& name) const;
  void decode_function(std::size_t image);
  void create_image(const ReachedFunction& reached);
  void begin_function(std::size_t image);
  void finish_recursive_function();
  void copy_stack_use(const Register& from, const Register& to);
  void emit_waits();
  void decode_statement(const Statement& s);
  void resolve_guard(Op& op);
  void patch_branches();
  [[nodiscard]] FunctionImage& image() { return program_.functions[now_.image]; }
  [[nodiscard]] std::uint32_t next_op() const { return static_cast<std::uint32_t>(program_.ops.size()); }
  ParameterBlock take_block(const VariableDecl& v);
  [[nodiscard]] Register typed_register(const Operand& o, const char* what, DataType type, bool may_be_wider);
  /// Room for so many bytes at the end of the constant pool.
  Ref take_pool(std::size_t bytes);
  std::uint32_t take_file(std::uint32_t bytes, std::uint32_t alignment);
  /// Says which bytes of the file are cleared when, once all functions are decoded. Those of functions that
  /// never run are never touched, which are most where a kernel prints when something is wrong.
  void divide_file();
  Ref literal(const Operand& o, DataType type);
  void check_type(const Operand& o, const Register& r, DataType type, bool may_be_wider);
  std::vector<std::string> register_names() const;
  [[nodiscard]] std::string modules_text(Place place) const;
  [[nodiscard]] std::string link_hint() const;

  const ModuleDecl& module_;
  std::vector<std::optional<Language>> languages_;  ///< of each unit; nothing where it is not known
  FaultList& faults_;
  FaultList& illegal_;
  Program program_;
  FunctionState now_;  ///< of the function that is being decoded
  const Statement* statement_ = nullptr;
  std::vector<const Token*> left_;                              ///< qualifiers not yet taken
  std::map<std::pair<int, int>, std::uint32_t> static_locals_;  ///< by function (-1: module), variable
  std::map<std::pair<int, int>, std::uint32_t> shared_;         ///< by function (-1: module), variable
  std::map<std::pair<std::uint64_t, unsigned>, Ref> constants_;
  std::map<std::tuple<int, std::uint64_t, unsigned>, Ref> addresses_;
  std::map<std::pair<const SpecialRegister*, unsigned>, Ref> specials_;
  std::map<int, int> images_;          ///< by function of the module
  std::optional<Register> stack_use_;  ///< of the thread, in bytes
  std::vector<FileRange> own_;         ///< bytes of the file that a function's decoding took, by image
  std::vector<std::uint32_t> stack_operations_;  ///< whose immediate is the stack's end
};

/// Offsets of an entry's parameters in its parameter block, and the block's size last.
[[nodiscard]] std::vector<std::uint32_t> parameter_offsets(const FunctionDecl& entry);

}  // namespace warpline::ptx
