#pragma once

#include <cstdint>
#include <string>

#include "rtl_models/isa/sass_cctl.h"

namespace warpline {

/// One 128-bit instruction. The encoding of CCTL and CCTLL is ours; opcode of CCTL, operation numbers 0, 1, 3
/// and 4 and the control fields lie where published disassemblies of sm_70 and later show them.
///
///   bits 11:0     opcode: 0x98f CCTL, 0x990 CCTLL
///   bits 14:12    predicate, 7: PT            bit 15       predicate negated
///   bits 31:24    Ra, 255: RZ
///   bits 63:32    immediate of CCTL; CCTLL: bits 55:32
///   bit  72       .E
///   bits 78:76    cache: 0 D, 1 U, 2 C, 3 I, 4 CRS
///   bits 91:87    operation: 0 PF1, 1 PF2, 2 WB, 3 IV, 4 IVALL, 5 RS, 6 WBALL
///   bits 108:105  ?WAIT, 1 to 15              bits 115:113 &rd, 7: none
///   bits 121:116  &req
///
/// Every other bit is zero.
struct InstructionWord {
  std::uint64_t low = 0;   ///< bits 63:0
  std::uint64_t high = 0;  ///< bits 127:64
};

/// Pre: judge(c) finds nothing.
[[nodiscard]] InstructionWord encode(const Cctl& c);

/// What a word decodes to: an instruction, or why it is an illegal instruction.
struct DecodedCctl {
  Cctl instruction;
  std::string illegal;  ///< empty: it is legal
};
/// The inverse of encode(): whatever decodes, encodes to the same word, and whatever can be encoded decodes.
[[nodiscard]] DecodedCctl decode_cctl(InstructionWord word);

}  // namespace warpline
