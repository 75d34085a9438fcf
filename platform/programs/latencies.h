#pragma once

namespace warpline::latency {

/// SM cycles from issue to a result that can be read, by class of instruction. The classes follow
/// published measurements of Volta and Ampere (4 cycles for the main pipes, about 18 for the
/// special-function unit); what the assembler expands into a sequence has the sequence's length.
inline constexpr unsigned kSimple = 4;      ///< integer add, logic, compare, select, move; f32 add, mul, fma
inline constexpr unsigned kMultiply = 5;    ///< integer multiply and multiply-add
inline constexpr unsigned kWide = 6;        ///< 64-bit integer, two instructions
inline constexpr unsigned kBits = 10;       ///< popc, clz, bfind, brev, conversions: quarter rate
inline constexpr unsigned kDouble = 8;      ///< f64 add, mul, fma
inline constexpr unsigned kFunction = 18;   ///< rcp, rsqrt, sin, cos, lg2, ex2, tanh: special-function unit
inline constexpr unsigned kDivide32 = 40;   ///< integer or f32 division, f32 square root
inline constexpr unsigned kDivide64 = 120;  ///< 64-bit integer or f64 division, f64 square root
inline constexpr unsigned kShuffle = 23;    ///< shfl
inline constexpr unsigned kVote = 8;        ///< vote, activemask
inline constexpr unsigned kReduce = 20;     ///< redux, match
inline constexpr unsigned kClock = 14;      ///< reading a clock
inline constexpr unsigned kFraction = 26;   ///< createpolicy.fractional of a register: five in a row
inline constexpr unsigned kRange = 90;      ///< createpolicy.range: some 20 in a row, one of them a logarithm
inline constexpr unsigned kControl = 4;     ///< branches

}  // namespace warpline::latency
