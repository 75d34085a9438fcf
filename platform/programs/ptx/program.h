#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "platform/programs/fault_list.h"
#include "rtl_models/base/types.h"
#include "rtl_models/isa/matrix_product.h"
#include "rtl_models/isa/small_float.h"
#include "rtl_models/sm/instruction_source.h"

namespace warpline::ptx {

struct Frame;
struct Op;
struct SpecialRegister;

/// Where an operand lives: an offset into the warp's register file or, negative, into the
/// kernel's constant pool (the low 31 bits). Either holds one element per lane, side by side; a
/// predicate is one 32-bit mask.
using Ref = std::int32_t;
inline constexpr Ref kNoRef = 0x7FFF'FFFF;
inline constexpr std::uint32_t kPoolBit = 0x8000'0000U;
/// Whether an operand is in the pool, where all lanes have the same.
constexpr bool is_constant(Ref ref) {
  return (static_cast<std::uint32_t>(ref) & kPoolBit) != 0;
}

/// Carries out the data effect of an operation for the lanes `Frame::active`.
using Handler = void (*)(const Op&, Frame&);
/// Fills the result mask of a comparison of all 32 lanes.
using Comparison = LaneMask (*)(const void* a, const void* b);

/// How an operation moves the lanes that execute it.
enum class Flow : std::uint8_t {
  next,
  branch,        ///< to `target`
  branch_table,  ///< to `tables[target][r[0]]`
  call,          ///< as `calls[target]` says
  back,          ///< return: to the caller, or exit at the outermost level
  exit,
  trap,
  may_trap,  ///< to the next, unless the handler says in Issue::fault why the warp ends
  barrier,   ///< `bar.*`
  converge,  ///< waits for the lanes that the mask r[kMaskOperand] names
};

constexpr bool ends_block(Flow f) {
  return f != Flow::next && f != Flow::may_trap && f != Flow::barrier && f != Flow::converge;
}

/// What else than its registers an operation is about, as far as its place among others depends on it.
enum class Effect : std::uint8_t {
  other,
  offset,      ///< r[0] is r[1] + immediate
  sum,         ///< r[0] is r[1] + r[2]
  difference,  ///< r[0] is r[1] - r[2]
  parameter,   ///< reads or writes a parameter or result of a device function
  together,    ///< tells which lanes run together
};

/// One decoded operation. The meaning of `r`, `mode` and `immediate` is the handler's.
struct Op {
  static constexpr unsigned kOperands = 11;
  static constexpr unsigned kAddress = 8;  ///< operand of a memory operation that holds the address
  static constexpr unsigned kSecond = 9;   ///< operand that holds `c` of a compare-and-swap
  static constexpr unsigned kMask = 9;     ///< operand that holds the member mask of a warp operation
  static constexpr unsigned kPolicy = 10;  ///< operand that holds the cache policy
  Handler run = nullptr;                   ///< null: no data effect
  Handler finish = nullptr;                ///< of a memory operation: writes what was loaded
  Comparison compare = nullptr;
  Flow flow = Flow::next;
  Effect effect = Effect::other;
  Rounding rounding = Rounding::nearest;
  bool flush = false;     ///< .ftz
  bool saturate = false;  ///< .sat
  bool guarded = false;
  bool guard_negated = false;
  bool wide_address = true;  ///< of a memory operation: a 64-bit address register
  bool has_policy = false;   ///< of a memory operation: `.L2::cache_hint`
  bool runs_ahead = false;   ///< computes or branches, and cannot fault but for the lanes that it waits for
  bool is_private = false;   ///< runs ahead, can neither fault nor end lanes, and waits for none
  bool spins = false;        ///< such as loops that wait for another thread contain
  std::uint8_t count = 1;    ///< vector elements
  std::uint8_t mode = 0;
  std::uint8_t data_bytes = 4;      ///< of a memory element, or of a wide source
  std::uint8_t register_bytes = 4;  ///< of the register that takes it
  bool condition_negated = false;
  Ref condition = kNoRef;  ///< a predicate that it reads
  Ref guard = kNoRef;
  std::array<Ref, kOperands> r{};
  std::uint32_t target = 0;
  std::int64_t immediate = 0;
  const MatrixProduct* product = nullptr;    ///< of `mma` and its kin
  const LoadedFragment* fragment = nullptr;  ///< of `wmma.load` and `wmma.store`
};

/// Bytes of parameters kept per lane, side by side: lane n has its at ref + n * bytes.
struct ParameterBlock {
  Ref ref = 0;
  std::uint32_t bytes = 0;
};

/// Bytes of a warp's register file.
struct FileRange {
  std::uint32_t begin = 0, end = 0;
};

/// A device function as a program contains it.
struct FunctionImage {
  int declaration = -1;
  std::uint32_t entry = 0;        ///< index of its first operation
  bool recursive = false;         ///< may be active twice in a lane
  std::uint32_t local_bytes = 0;  ///< frame in local memory, of a recursive function
  Ref local_base = kNoRef;        ///< register with the frame's offset, of a recursive function
  std::vector<ParameterBlock> parameters;
  std::vector<ParameterBlock> results;
  std::vector<std::pair<Ref, std::uint8_t>>
      registers;  ///< everything an activation owns; size 0: a predicate
  std::vector<ParameterBlock> blocks;
  std::vector<FileRange> cleared;  ///< before a warp calls it for the first time: what no other function has
};

/// A call instruction: what is copied in, and out.
struct CallSite {
  int function = -1;  ///< image, or -1: the address is in operand r[0]
  std::vector<ParameterBlock> arguments;
  std::vector<ParameterBlock> results;
};

/// A special register, filled in when a warp starts.
struct SpecialSlot {
  const SpecialRegister* source = nullptr;
  std::uint8_t bytes = 4;
  Ref ref = 0;
};

/// A constant of the pool that is known only at launch.
struct PoolFix {
  std::uint32_t offset = 0;
  std::uint8_t bytes = 8;
  int variable = -1;  ///< module variable whose address it is; -1: start of dynamic shared memory
  std::uint64_t addend = 0;
};

/// A kernel entry with every function it can reach, ready to run. Immutable after decoding.
struct Program {
  std::vector<text::TextFile> files;      ///< that it was read from
  std::vector<Instruction> instructions;  ///< one per operation, the same index
  std::vector<Op> ops;
  std::vector<std::uint32_t> lines;  ///< of the source, per operation, counted through all files
  std::vector<std::byte> pool;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> lists;  ///< of Refs in it: offset, how many
  std::vector<PoolFix> fixes;
  std::vector<SpecialSlot> specials;
  std::vector<FunctionImage> functions;  ///< [0] is the entry
  std::vector<CallSite> calls;
  std::vector<std::vector<std::uint32_t>> tables;
  std::vector<std::unique_ptr<const MatrixProduct>> products;    ///< that operations name
  std::vector<std::unique_ptr<const LoadedFragment>> fragments;  ///< likewise
  std::uint32_t file_bytes = 64;
  std::vector<FileRange> cleared;  ///< when a warp starts
  std::uint32_t registers = 0;
  std::vector<std::uint8_t> register_bytes;  ///< of each, per lane; of a predicate 0
  std::vector<Ref> register_refs;            ///< where each lies in the file
  std::uint32_t shared_bytes = 0;            ///< static
  std::uint32_t dynamic_alignment = 16;      ///< of dynamic shared memory
  std::uint32_t local_bytes = 0;             ///< static part
  std::uint32_t parameter_bytes = 0;
  bool recursive = false;
  bool has_stack = false;              ///< takes memory by alloca
  bool reallocates_registers = false;  ///< has a setmaxnreg

  /// Local memory that a thread needs, in bytes: variables, frames of recursive functions, the stack.
  [[nodiscard]] std::uint32_t thread_bytes() const;
};

/// Byte distance between operations' program counters, as fault records show them.
inline constexpr unsigned kPcShift = 4;
/// Local memory that a program with recursive functions gets for their frames, bytes per thread.
inline constexpr std::uint32_t kRecursionBytes = 16384;
/// Local memory that a program with alloca gets for its stack, bytes per thread.
inline constexpr std::uint32_t kStackBytes = 16384;
/// Nested calls of one lane before it traps.
inline constexpr std::size_t kDeepestCall = 4096;
/// The value of a pointer to function n of a module is kFunctionBase + 16 n.
inline constexpr std::uint64_t kFunctionBase = 0x7295'0000'0000ULL;

inline std::uint32_t Program::thread_bytes() const {
  return local_bytes + (recursive ? kRecursionBytes : 0) + (has_stack ? kStackBytes : 0);
}

}  // namespace warpline::ptx
