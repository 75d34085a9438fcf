#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "platform/programs/ptx_syntax/lexer.h"
#include "rtl_models/base/types.h"
#include "rtl_models/isa/data_type.h"
#include "rtl_models/isa/mem_op.h"

namespace warpline::ptx {

/// Bytes of an initialiser that hold (part of) the address of another variable.
struct Relocation {
  std::uint64_t offset = 0;  ///< where, in the variable
  unsigned bytes = 8;        ///< how many bytes
  unsigned shift = 0;        ///< of the address, in bits, before the low bytes are taken
  std::string symbol;
  std::int64_t addend = 0;
  bool generic = false;  ///< `generic(symbol)`: the address among all spaces
  Place place;
};

/// Which modules a name of module scope is known in (PTX ISA, "Linking Directives").
enum class Linkage : std::uint8_t {
  internal,  ///< its own only
  visible,   ///< all that are linked with it
  external,  ///< all, and another one defines it
  weak,      ///< all, unless another one defines it
  common,    ///< all; the largest of those that are called so is meant
};

/// A variable or formal parameter, whatever its space.
struct VariableDecl {
  std::string name;
  Linkage linkage = Linkage::internal;
  Space space = Space::global;
  DataType type = DataType::b8;  ///< of an element
  std::uint64_t alignment = 1;   ///< bytes
  std::uint64_t bytes = 0;       ///< whole size; 0 for dynamically sized shared memory
  bool is_extern = false;
  bool managed = false;       ///< the host has it, too
  bool is_reference = false;  ///< .texref, .samplerref or .surfref
  std::string unsupported;    ///< why what names it cannot be run, though it is lawful; empty: it can
  std::vector<std::uint8_t> initial;
  std::vector<Relocation> relocations;
  Place place;
};

/// A register, or a family of them: `%r<52>` declares %r0 to %r51.
struct RegisterDecl {
  DataType type = DataType::b32;
  std::uint32_t count = 0;  ///< of a family; 0: a single register
  unsigned vector = 1;      ///< elements (.v2, .v4), named .x .y .z .w
  Place place;
};

/// Names declared between one pair of braces.
struct BlockScope {
  int parent = -1;
  std::map<std::string, RegisterDecl, std::less<>> registers;
  std::map<std::string, RegisterDecl, std::less<>> families;  ///< by prefix
  std::map<std::string, int, std::less<>> variables;          ///< index into FunctionDecl::variables

  /// A register by its name: one of `registers`, `%r12` of a family `%r<20>`, or the element `v.x` of a
  /// vector.
  struct Found {
    const RegisterDecl* declaration = nullptr;  ///< null: there is none
    bool is_element = false;
  };
  [[nodiscard]] Found find_register(std::string_view name) const;
};

/// An operand, as written.
struct Operand {
  enum class Kind : std::uint8_t { name, integer, real, vector, address, pair, list, sink };
  Kind kind = Kind::name;
  Token token;             ///< its first token, for diagnostics
  std::string name;        ///< `name`, and the base of an `address` (empty: absolute)
  std::uint64_t bits = 0;  ///< `integer`; `real`: binary64, or binary32 where `single`
  bool single = false;
  bool negated = false;           ///< `!p`
  bool minus = false;             ///< `-r`, which only vmad takes
  std::int64_t offset = 0;        ///< of an `address`, and of `name + constant`
  bool subtracts = false;         ///< the offset is written `- 4`: the assembler wants `+ -4`
  bool indexed = false;           ///< an `address` written `name[4]`
  std::string index;              ///< the register of an `address` written `name[register]`
  Place unified{0, 0};            ///< of the `.unified` after an `address`; of no length where there is none
  std::vector<Operand> elements;  ///< `vector`, `list`, `pair`; what follows the first comma in an `address`
};

struct Statement {
  Token opcode;
  std::vector<Token> qualifiers;
  std::vector<Operand> operands;
  std::string guard;  ///< predicate register, or empty
  bool guard_negated = false;
  Place guard_place;
  int scope = 0;
};

struct LabelDecl {
  std::uint32_t statement = 0;  ///< index of the statement that follows
  Place place;
  int scope = 0;
};

/// `name: .branchtargets a, b;`, or of `.calltargets`
struct TargetList {
  std::vector<std::pair<std::string, Place>> labels;
  Place place;
};

/// What of a function is lawful PTX that cannot be run.
struct Unsupported {
  Place place;
  std::string message;
};

/// The shape of a callee: bytes of its parameters, in order.
struct Prototype {
  std::vector<std::uint64_t> results;
  std::vector<std::uint64_t> parameters;
  Place place;
};

/// An entry or a device function.
struct FunctionDecl {
  std::string name;
  Place place;
  Linkage linkage = Linkage::internal;
  std::uint32_t unit = 0;  ///< of which of ModuleDecl::units it is
  bool is_entry = false;
  bool has_body = false;
  std::vector<int> results;  ///< formal return parameters, indices into `variables`
  std::vector<int> parameters;
  std::vector<VariableDecl> variables;  ///< formals first, then those of the body
  std::vector<BlockScope> scopes;       ///< [0] holds the formals and the body's outermost names
  std::vector<Statement> statements;
  std::multimap<std::string, LabelDecl, std::less<>> labels;  ///< one of a name in a scope at most
  std::map<std::string, TargetList, std::less<>> target_lists;
  std::map<std::string, TargetList, std::less<>> call_targets;
  std::map<std::string, Prototype, std::less<>> prototypes;
  std::vector<Token> cluster_directives;  ///< .reqnctapercluster and its like, as they stand there
  std::vector<Unsupported>
      unsupported;  ///< left out of what was read; who calls the function cannot run either
  std::optional<Dim3> required_block;            ///< .reqntid
  std::optional<Dim3> maximum_block;             ///< .maxntid
  std::optional<Dim3> required_cluster;          ///< .reqnctapercluster
  std::optional<std::uint32_t> maximum_cluster;  ///< .maxclusterrank
  bool explicit_cluster = false;                 ///< .explicitcluster
  bool blocks_are_clusters = false;              ///< .blocksareclusters
  std::uint64_t maximum_registers = 0;           ///< .maxnreg; 0: none is said
  std::uint64_t resident_ctas = 0;               ///< .minnctapersm; 0: none is said
  /// The label that a statement in `scope` means by `label_name`: that of the innermost block around it;
  /// null: there is none (PTX ISA, "Labels and Function Names").
  [[nodiscard]] const LabelDecl* find_label(std::string_view label_name, int scope) const;
  /// Bytes of each of `formals`, which are `results` or `parameters`.
  [[nodiscard]] std::vector<std::uint64_t> bytes_of(const std::vector<int>& formals) const {
    std::vector<std::uint64_t> out;
    for (const int v : formals) out.push_back(variables[static_cast<std::size_t>(v)].bytes);
    return out;
  }
};

/// A module before it was linked with others.
struct UnitDecl {
  unsigned version = 0;  ///< of PTX, times ten
  std::string target;
};

struct ModuleDecl {
  std::vector<UnitDecl> units;  ///< of modules that were linked; empty: it is one by itself
  unsigned version = 0;         ///< of PTX, times ten; 0 where none is said
  std::string target;           ///< sm_80
  Place target_place;
  bool malformed = false;             ///< a fault outside of function bodies
  bool independent_textures = false;  ///< `.target texmode_independent`
  std::vector<Token> dated;           ///< words of declarations that not every version and target has
  std::vector<VariableDecl> variables;
  std::map<std::string, int, std::less<>> variable_index;
  std::vector<std::unique_ptr<FunctionDecl>> functions;
  std::map<std::string, int, std::less<>> function_index;
};

/// "7.4" as 74; nothing where `text` is no version that is modelled.
[[nodiscard]] std::optional<unsigned> version_from(std::string_view text);
/// Which versions are modelled, and that `text` is none of them.
[[nodiscard]] std::string unknown_version_text(std::string_view text);

/// Where a hostile text is stopped. Real modules stay far below each.
struct Limits {
  static constexpr std::uint64_t kFamilyRegisters = 1U << 20;
  static constexpr std::uint64_t kFamilyVariables = 1U << 16;  ///< all of a module together
  static constexpr std::uint64_t kAlignment = 64U << 10;       ///< of a variable
  static constexpr std::uint64_t kVariableBytes = 256U << 20;  ///< all of a module together
  static constexpr std::uint64_t kWindowBytes = 16U << 20;     ///< shared or local
  static constexpr std::uint64_t kConstantBytes = 64U << 10;   ///< one constant bank
  static constexpr std::uint64_t kParameterBytes = 32764;      ///< PTX ISA, kernel parameter limit
  static constexpr unsigned kDepth = 64;                       ///< of nested braces
  static constexpr std::uint64_t kTextBytes = 64U << 20;
};

}  // namespace warpline::ptx
