#pragma once

#include <cstdint>
#include <cstdlib>

namespace warpline::test {

/// The seeds that one process tries: WARPLINE_LAW_SEEDS of them for each slice, after the first
/// WARPLINE_LAW_SEED_BASE. SystemC elaborates once in a process, and all netlists of a slice at once, so a
/// long run is many processes (see long_run). Where a number is asked for, each netlist is carried in every
/// way, and in the everyday run in every second one, in turn.
struct LawSlice {
  std::uint64_t first = 1;
  std::uint64_t count = 12;
  bool every_way = false;

  explicit LawSlice(unsigned slice) {
    if (const char* wanted = std::getenv("WARPLINE_LAW_SEEDS")) {
      count = std::strtoull(wanted, nullptr, 10);
      every_way = true;
    }
    if (const char* base = std::getenv("WARPLINE_LAW_SEED_BASE")) first += std::strtoull(base, nullptr, 10);
    first += slice * count;
  }
  [[nodiscard]] std::uint64_t end() const { return first + count; }
};

/// Slices of the everyday run: with the default number of seeds, 3 * 10^4 random transactions and more.
constexpr unsigned kLawSlices = 10;

}  // namespace warpline::test
