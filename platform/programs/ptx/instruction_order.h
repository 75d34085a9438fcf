#pragma once

#include <cstdint>

#include "platform/programs/ptx/program.h"

namespace warpline::ptx {

/// Registers per thread up to which an SM of compute capability 7.0 on has room for all the threads that it
/// can run: 65536 of 2048 threads (CUDA C++ Programming Guide, "Technical Specifications per Compute
/// Capability").
inline constexpr unsigned kUnlimitingRegisters = 32;

/// Puts the instructions of each basic block into the order in which an assembler such as ptxas would have
/// them: the longest chain of dependences first, so that the loads of an unrolled loop are all under way
/// before the first of their results is waited for. Source lines, and program counters by their new places,
/// go with them; branches lead where they led.
///
/// A block with a `.mmio` access keeps its order whole.
///
/// What keeps its place:
/// - what reads a register behind what writes it, and the other way round; parameters and results of calls;
/// - everything, at clocks, `nanosleep`, `setmaxnreg`, and at asynchronous products of matrices, their
///   commits and waits, and branches, calls, exits and traps;
/// - all accesses to memory, at barriers, fences, atomics, accesses that are not weak, `.volatile` or
///   `.mmio`, asynchronous copies and what waits for them, mbarriers, textures and surfaces, whatever may end
///   the warp, and instructions that exchange data within the warp; products of matrices in registers let
///   accesses pass;
/// - what converges lanes, or depends on which run together, among each other, but for products of matrices
///   and loads of their fragments: all lanes of a warp execute these (`.aligned`), in whatever order;
/// - a weak store behind every access before it;
/// - a weak load behind the stores and loads before it that may overlap with it. They do not where one is in
///   the global, one in the shared or in the local state space, or where both addresses are one value and
///   constants that lie far enough apart. Constants, parameters and `ld.global.nc` overlap with no store, as
///   their memory is read-only (PTX ISA, "ld.global.nc"), and their order among loads does not matter.
///
/// nvcc 13's ptxas does the same for sm_80 to sm_90, as its SASS of unrolled loops shows: `b[i] = a[i]` of
/// plain pointers stays load, store, load, store; it becomes loads, then stores, where `a` is `const
/// __restrict__` (nvcc makes `ld.global.nc` of that), where loads and stores have one base, and between
/// shared and global memory.
///
/// A thread has no more registers by that than it has in the text's order, or kUnlimitingRegisters, whichever
/// is more, so that no fewer are resident; and at most `most` where the text's order needs no more. A block
/// whose order would not become shorter by the latencies that are assumed here stays as it is, and so does a
/// program too large to look at in reasonable time. The registers of a thread, as register_pressure() tells
/// them of the result.
[[nodiscard]] unsigned order_as_assembler(Program& program, unsigned most);

}  // namespace warpline::ptx
