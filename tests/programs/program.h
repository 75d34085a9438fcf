#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "rtl_models/base/random.h"

namespace warpline::test {

/// Memory in which every thread owns kSlice bytes that no other thread touches during a grid.
enum class Area : unsigned { vidmem_packed, vidmem_woven, sysmem_packed, sysmem_woven, shared, local };
constexpr unsigned kGlobalAreas = 4;
constexpr unsigned kAreas = 6;
constexpr unsigned kSlice = 64;     ///< bytes per thread
constexpr unsigned kRegisters = 8;  ///< 64-bit data registers per thread
constexpr unsigned kTable = 1024;   ///< bytes of the read-only buffer; the constant table has a quarter
constexpr unsigned kCounters = 16;  ///< of 8 bytes, in each of vidmem, sysmem and shared memory

/// An atomic counter whose end does not depend on the order of the updates.
struct Counter {
  std::string operation;  ///< "add", "inc", ..., or "casloop": a compare-and-swap loop that adds
  std::string type;       ///< "u32"
};

/// One step of a program that exists twice: as PTX and as plain C++.
struct Statement {
  enum class Kind {
    alu,
    load,
    store,
    atomic,
    own_atomic,
    branch,
    loop,
    shuffle,
    fence,
    swap,
    table,
    hint
  } kind = Kind::alu;
  std::string text;       ///< qualifiers, the operation, the shuffle's mode, or the fence itself
  std::string hints;      ///< eviction priorities, prefetch size and `.L2::cache_hint` of an access
  std::string policy;     ///< its operand, where it has one
  std::string op;         ///< of an atomic on the thread's own slice
  bool discards = false;  ///< such an atomic is a reduction
  unsigned to = 0, from = 0, by = 0;  ///< registers
  unsigned number = 0;                ///< immediate: offset, shuffle distance, trip mask, counter
  unsigned bytes = 4, elements = 1;   ///< of an access
  bool with_sign = false, generic = false;
  bool moving = false;   ///< the offset comes from register `by`
  bool guarded = false;  ///< only where bit `guard` of register `from` is set
  unsigned guard = 0;
  Area area = Area::local;
  Area odd_area = Area::local;  ///< of odd lanes; `area` itself unless a generic access mixes spaces
  std::vector<Statement> body, otherwise;
};

struct Grid {
  unsigned ctas = 1, threads = 32;
  unsigned shift = 0;  ///< thread t owns slice (t + shift) mod all
  std::vector<Statement> statements;
};

struct Program {
  std::vector<Counter> counters;  ///< kCounters of them; those of shared memory are the same
  std::vector<Grid> grids;        ///< of equally many CTAs and threads
  unsigned threads_in_all() const { return grids.front().ctas * grids.front().threads; }
};

/// What the memories hold: slices by owner, whatever their places.
struct Contents {
  std::vector<std::uint8_t> slices[kGlobalAreas];
  std::vector<std::uint64_t> counters[2];      ///< vidmem, sysmem
  std::vector<std::uint64_t> shared_counters;  ///< of every CTA of every grid
  std::vector<std::uint64_t> registers;        ///< of every thread at the end of every grid
  std::vector<std::uint8_t> table, constants;
};

[[nodiscard]] Program random_program(Random& random);
[[nodiscard]] Contents initial_contents(const Program& program, Random& random);
/// The program as one PTX module with entries g0, g1, ...
[[nodiscard]] std::string to_ptx(const Program& program, const Contents& contents);
/// Runs it one statement and one thread after the other.
void interpret(const Program& program, Contents& contents);

/// Where byte `offset` of slice `owner` lies in the buffer of an area.
[[nodiscard]] inline std::uint64_t place(Area area, unsigned owner, unsigned offset, unsigned owners) {
  const bool woven = area == Area::vidmem_woven || area == Area::sysmem_woven;
  return woven ? (std::uint64_t{offset / 16} * owners + owner) * 16 + offset % 16
               : std::uint64_t{owner} * kSlice + offset;
}

/// What a thread's register starts with.
[[nodiscard]] inline std::uint64_t first_value(unsigned thread, unsigned reg) {
  return (std::uint64_t{thread} + 1) * (0x9E3779B97F4A7C15ULL + 2 * reg);
}

}  // namespace warpline::test
