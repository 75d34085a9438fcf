#pragma once

#include <array>
#include <cstdint>

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
  call,         ///< pushes a token onto the warp's call-return stack
  ret,          ///< pops one, if there is any; issues when it is there
  set_stack,    ///< SETCRSPTR: the stack has as many tokens as execute() answers
  flush_stack,  ///< CCTLL.CRS.WBALL: the warp goes on when L1 has accepted every token of its stack
};

/// What the SM needs to know of a static instruction before it issues it. Registers are small
/// numbers that the program chooses; the scoreboard keeps an instruction from issuing before its
/// sources and destinations are there.
struct Instruction {
  static constexpr unsigned kMaxRegisters = 24;
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
  std::array<std::uint16_t, kMaxRegisters> registers{};
  MemOp mem;             ///< what a `memory` or `fence` instruction says
  std::uint32_t pc = 0;  ///< bytes from where the kernel's code begins; instructions have 16 each
  /// Groups of copies that `wait_copies` does not wait for; CopyGroups::kWaitForAll: it waits for all copies,
  /// committed or not.
  std::uint32_t groups_left = 0;
};

}  // namespace warpline
