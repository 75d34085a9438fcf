#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "platform/programs/inspection.h"
#include "rtl_models/base/types.h"
#include "rtl_models/isa/sass_cctl.h"
#include "rtl_models/sm/instruction.h"

namespace warpline::wls {

inline constexpr std::uint8_t kZero = 255;       ///< RZ: reads as zero, written into nothing
inline constexpr unsigned kMostRegisters = 255;  ///< R0 to R254
inline constexpr std::uint8_t kAlways = 7;       ///< PT
inline constexpr unsigned kPredicates = 7;       ///< P0 to P6
inline constexpr unsigned kPcShift = 4;          ///< instructions have 16 bytes each

/// What an instruction computes or does.
enum class Code : std::uint8_t {
  nop,
  move,           ///< d = b
  add,            ///< d = a + b
  multiply_add,   ///< d = a * b + c
  multiply_wide,  ///< (d, d+1) = a * b + (c, c+1)
  shift_left,     ///< d = a << b, 0 from 32 on
  shift_right,    ///< d = a >> b, with a's sign unless `is_unsigned`
  logic_and,      ///< d = a & b
  logic_or,
  logic_xor,
  compare,  ///< predicate d = a ? b
  special,  ///< d = special register
  load,
  store,
  cache_control,            ///< CCTL and CCTLL that go through the load/store unit
  invalidate_constants,     ///< CCTL.C.IVALL
  invalidate_instructions,  ///< CCTL.I.IVALL
  barrier,
  fence,
  branch,
  call,
  ret,
  set_stack,    ///< SETCRSPTR
  get_stack,    ///< GETCRSPTR
  flush_stack,  ///< CCTLL.CRS.WBALL
  exit,
};

enum class Comparison : std::uint8_t { equal, not_equal, less, less_equal, greater, greater_equal };

enum class Special : std::uint8_t {
  tid_x,
  tid_y,
  tid_z,
  ctaid_x,
  ctaid_y,
  ctaid_z,
  ntid_x,
  ntid_y,
  ntid_z,
  nctaid_x,
  nctaid_y,
  nctaid_z,
  lane,
  warp,
  sm,
  clock
};

/// A register or a constant of 32 bits, which may be half of a variable's address.
struct Operand {
  bool is_register = false;
  std::uint8_t reg = kZero;
  std::uint32_t constant = 0;  ///< added to the symbol's half, if there is one
  int symbol = -1;             ///< variable of the program
  bool high = false;           ///< bits 63:32 of its address, not 31:0
};

/// One decoded instruction.
struct Op {
  Code code = Code::nop;
  std::uint8_t predicate = kAlways;
  bool unless = false;
  std::uint8_t d = kZero;  ///< destination; of a store the first register stored; of compare a predicate
  std::uint8_t a = kZero;  ///< first source; of a memory access the address register
  Operand b;               ///< second source; of a memory access the offset
  std::uint8_t c = kZero;  ///< third source
  bool is_unsigned = false;
  bool extended = false;  ///< `.E`: the address is a register pair
  Comparison comparison = Comparison::equal;
  Special special = Special::tid_x;
  std::uint32_t target = 0;  ///< of branch and call: number of an instruction
  Cctl cctl;                 ///< of cache_control
};

/// A variable of 32-bit words in global or constant memory.
struct WordVariable {
  std::string name;
  bool constant = false;
  std::vector<std::uint32_t> words;
};

/// A kernel parameter: bytes at an offset of the parameter block.
struct WordParameter {
  std::string name;
  std::uint32_t offset = 0;
  std::uint32_t bytes = 4;
};

/// A parsed program.
struct Program {
  std::string file;
  std::string entry = "main";
  Dim3 grid{1, 1, 1};
  Dim3 block{32, 1, 1};
  unsigned grid_line = 0, block_line = 0;  ///< of the text; 0: not stated
  std::uint32_t registers = 0;             ///< of a thread
  std::uint32_t local_bytes = 0;           ///< of a thread, a multiple of 4
  bool calls = false;                      ///< uses the call-return stack
  std::vector<WordVariable> variables;
  std::vector<WordParameter> parameters;
  std::vector<Op> ops;
  std::vector<Instruction> instructions;  ///< as the SM sees the ops
  std::vector<unsigned> lines;            ///< of each op
  Inspection inspection;
};

}  // namespace warpline::wls
