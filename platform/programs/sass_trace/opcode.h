#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "rtl_models/isa/sass_cctl.h"
#include "rtl_models/sm/instruction.h"

namespace warpline::sass {

/// What replaying an instruction does to its warp, beyond what the SM sees of it.
enum class Action : std::uint8_t {
  none,
  exit,            ///< EXIT: its lanes leave
  barrier_sync,    ///< BAR.SYNC and its kin
  barrier_arrive,  ///< BAR.ARV
  sleep,           ///< NANOSLEEP
  async_copy,      ///< LDGSTS
  async_commit,    ///< LDGDEPBAR: closes a group of asynchronous copies
  async_wait,      ///< DEPBAR: waits until at most an immediate's number of groups are under way
};

/// An opcode with its modifiers, understood.
struct Opcode {
  InstructionKind kind = InstructionKind::alu;
  Action action = Action::none;
  std::uint8_t latency = 4;
  PipeClass pipe = PipeClass::none;
  MemOp mem;
  /// Lanes whose addresses count (LDSM.16.M88 reads the rows that lanes 0 to 7 name).
  LaneMask address_lanes = 0xFFFFFFFFU;
  bool wide_address = false;    ///< `.E`: the address is a pair of registers
  bool explicit_width = false;  ///< the opcode says how many bytes a lane accesses
  /// 32-bit registers of the first destination, and of the sources in order (the last entry counts for all
  /// further ones).
  std::uint8_t destination_registers = 1;
  std::vector<std::uint8_t> source_registers = {1};
  /// The opcode or its modifiers that are not understood ("TEX.LL", "LDG.FOO"); replayed
  /// without them.
  std::vector<std::string> unknown;
  /// Of cache control: the instruction without its operands, and why it is illegal with whatever operands;
  /// empty: it is not.
  std::optional<Cctl> control;
  std::string illegal, hint;
};

/// Understands `text` ("LDG.E.64.STRONG.SYS"). Never fails: what it does not know is in `unknown`.
[[nodiscard]] Opcode decode_opcode(std::string_view text);

/// Latency of an arithmetic or control opcode, SM cycles (by its name without modifiers); 0 if unknown.
[[nodiscard]] unsigned alu_latency(std::string_view name);

/// The arithmetic pipe that it goes to.
[[nodiscard]] PipeClass alu_pipe(std::string_view name);

/// The modifiers of a memory opcode, in `words`; fills `out`. `name` is the opcode without them. False if
/// `name` is no memory opcode.
[[nodiscard]] bool decode_memory_opcode(std::string_view name, const std::vector<std::string_view>& words,
                                        Opcode& out);

/// The modifiers of CCTL, or of CCTLL if it is `local`; fills `out`. False if there is one that no CCTL is
/// known to have; those known are judged as SASS's text is (sass_cctl_text.h).
[[nodiscard]] bool decode_cache_control(bool local, const std::vector<std::string_view>& words, Opcode& out);

}  // namespace warpline::sass
