#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "rtl_models/isa/mem_op.h"
#include "rtl_models/sm/dependence_counters.h"

namespace warpline {

/// How the SM treats an instruction.
enum class InstructionKind : std::uint8_t {
  alu,                   ///< results after `latency` SM cycles
  memory,                ///< `mem` says what; goes to the load/store unit
  barrier,               ///< bar.sync, bar.arrive
  fence,                 ///< `mem` says which
  sleep,                 ///< the warp issues nothing more for the cycles that execute() answers
  commit_copies,         ///< the asynchronous copies issued since the last commit become a group
  wait_copies,           ///< issues when at most `groups_left` groups of copies are unfinished
  commit_bulk,           ///< the bulk copies issued since the last commit become a group
  wait_bulk,             ///< issues when at most `groups_left` groups of bulk copies are unfinished
  wait_bulk_reads,       ///< the same; a copy counts as finished when what it reads has been read
  invalidate_constants,  ///< CCTL.C.IVALL, executed in dispatch: drops all lines of the constant cache
  /// CCTL.I.IVALL, executed in dispatch: drops the SM's instruction buffer and all lines of its instruction
  /// cache; the warp goes on after `latency` SM cycles.
  invalidate_instructions,
  /// A product of matrices: takes its partition's tensor pipe as long as `products` say, and waits for it
  matrix,
  commit_products,  ///< the asynchronous products issued since the last commit become a group
  wait_products,    ///< issues when at most `groups_left` groups of products are unfinished
  /// setmaxnreg: the warp has `groups_left` registers per thread then; issues when the CTA has as many.
  reallocate_registers,
  trigger_dependents,  ///< griddepcontrol.launch_dependents: the CTA says that dependent grids may begin
  call,                ///< pushes a token onto the warp's call-return stack
  ret,                 ///< pops one, if there is any; issues when it is there
  set_stack,           ///< SETCRSPTR: the stack has as many tokens as execute() answers
  flush_stack,         ///< CCTLL.CRS.WBALL: the warp goes on when L1 has accepted every token of its stack
  cluster_arrive,      ///< barrier.cluster.arrive, without its order
  cluster_wait,        ///< barrier.cluster.wait, likewise
};

/// Types of matrix elements that tensor pipes are told apart by.
enum class MatrixClass : std::uint8_t { f16, tf32, f8, f64, s8, s4, b1 };

/// The arithmetic pipe that an `alu` instruction goes to (CUDA C++ Programming Guide, "Arithmetic
/// Instructions"); none: it takes its turn to issue, and no pipe.
enum class PipeClass : std::uint8_t {
  none,
  f32,       ///< add, multiply and multiply-add
  integer,   ///< add, logic, shift, compare, minimum, select, permute; also comparisons of f32
  multiply,  ///< integer multiply and multiply-add
  f16,       ///< f16, bf16 and pairs of these
  f64,
  special,  ///< reciprocals, roots, logarithms, sines; conversions, bit counts
  shuffle
};
inline constexpr std::size_t kPipeClasses = 8;

/// The registers that an instruction names. Few fit here; those of a product of large matrices lie apart.
class RegisterNumbers {
 public:
  static constexpr unsigned kHere = 24;
  /// All that there are, first to last. `count`: how many the instruction names.
  [[nodiscard]] const std::uint16_t* data(unsigned count) const {
    return count <= kHere ? here_.data() : apart_.get();
  }
  [[nodiscard]] const std::uint16_t* begin() const { return apart_ == nullptr ? here_.data() : apart_.get(); }
  [[nodiscard]] std::uint16_t operator[](std::size_t n) const { return begin()[n]; }
  /// One of the first kHere. Pre: none lie apart.
  [[nodiscard]] std::uint16_t& operator[](std::size_t n) { return here_.at(n); }
  /// Those of `sources`, then those of `destinations`.
  void assign(const std::vector<std::uint16_t>& sources, const std::vector<std::uint16_t>& destinations) {
    const std::size_t count = sources.size() + destinations.size();
    std::uint16_t* to = here_.data();
    if (count > kHere) {
      apart_ = std::shared_ptr<std::uint16_t[]>(new std::uint16_t[count]);
      to = apart_.get();
    }
    std::copy(destinations.begin(), destinations.end(), std::copy(sources.begin(), sources.end(), to));
  }

 private:
  std::array<std::uint16_t, kHere> here_{};
  std::shared_ptr<std::uint16_t[]> apart_;
};

/// What the SM needs to know of a static instruction before it issues it. Registers are small
/// numbers that the program chooses; the scoreboard keeps an instruction from issuing before its
/// sources and destinations are there.
struct alignas(64) Instruction {
  static constexpr unsigned kMaxRegisters = RegisterNumbers::kHere;  ///< but of products of matrices
  static constexpr unsigned kFewRegisters = 4;
  InstructionKind kind = InstructionKind::alu;
  /// SM cycles until the results of an instruction that computes, calls or invalidates instructions are
  /// there; at least 1.
  std::uint8_t latency = 4;
  std::uint8_t source_count = 0;       ///< so many of `registers`, the first, are read
  std::uint8_t destination_count = 0;  ///< so many of them, the next, are written
  std::uint8_t wait = 1;               ///< cycles before the warp issues again, at least 1 (SASS `?WAIT`)
  std::uint8_t required = 0;           ///< dependence counters that must be free, a bit each (SASS `&req`)
  /// The dependence counters that it holds until its operands are read (`&rd`), and a load until its data is
  /// there (`&wr`).
  std::uint8_t read_counter = DependenceCounters::kNone, write_counter = DependenceCounters::kNone;
  MatrixClass matrix_class = MatrixClass::f16;  ///< of `matrix`
  PipeClass pipe = PipeClass::none;
  std::uint8_t passes = 1;  ///< instructions of its pipe that the assembler makes of it, 1 to 255
  /// griddepcontrol.wait, a `fence`: issues when the grid that its own depends on is complete.
  bool waits_for_grid = false;
  bool reads_time = false;         ///< its result depends on when it issues: `%clock` and its kin
  bool reads_short_clock = false;  ///< it reads the 32 bits of `%clock`: SmParameters::clock_latency is of it
  /// It names 1 to kFewRegisters registers, and writes one at most; those of the first kFewRegisters of
  /// `registers` that are left over repeat the last.
  bool few_registers = false;
  std::uint32_t pc = 0;       ///< bytes from where the kernel's code begins; instructions have 16 each
  RegisterNumbers registers;  ///< the first 20 are in one cache line of the host
  MemOp mem;                  ///< what a `memory` or `fence` instruction says
  /// Groups that `wait_copies` or `wait_products` does not wait for; CopyGroups::kWaitForAll: it waits for
  /// all copies, committed or not.
  std::uint32_t groups_left = 0;
  std::uint32_t products = 0;  ///< multiply-adds of the warp, of `matrix` and of an access with tiles

  /// Pre: 255 of each at most.
  void name_registers(const std::vector<std::uint16_t>& sources,
                      const std::vector<std::uint16_t>& destinations) {
    source_count = static_cast<std::uint8_t>(sources.size());
    destination_count = static_cast<std::uint8_t>(destinations.size());
    registers.assign(sources, destinations);
    note_few_registers();
  }
  /// All of its registers are named: few_registers is right from now on, until they change, and scoreboards
  /// are quicker with it.
  void note_few_registers() {
    const unsigned count = unsigned{source_count} + destination_count;
    few_registers = count >= 1 && count <= kFewRegisters && destination_count <= 1;
    for (unsigned n = count; few_registers && n < kFewRegisters; ++n) registers[n] = registers[count - 1];
  }
};

}  // namespace warpline
