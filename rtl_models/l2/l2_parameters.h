#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "rtl_models/base/problem.h"
#include "rtl_models/base/visibility.h"
#include "rtl_models/cache/cache_geometry.h"

namespace warpline {

/// L2 in two halves. Each SM belongs to one, each line has its home, where it is coherent, in one. What an SM
/// reads of the other half's lines leaves a copy in its own, which takes room there.
struct WARPLINE_PUBLIC L2PartitionParameters {
  unsigned count = 1;                 ///< 1: L2 is one; or 2
  unsigned far_latency = 0;           ///< L2 cycles that an access takes longer whose line's home is far
  unsigned link_bytes_per_cycle = 0;  ///< of one slice, each way between the halves; 0: any number

  [[nodiscard]] Problems problems(const std::string& path, unsigned slices) const {
    Rules rules(path);
    rules.need(count == 1 || count == 2, "count", "must be 1 or 2");
    rules.need(count <= 1 || slices >= count, "count", "must be at most slices");
    rules.need(far_latency <= 100000, "far_latency", "must be at most 100000 cycles");
    rules.need(link_bytes_per_cycle <= 4096, "link_bytes_per_cycle", "must be at most 4096");
    return rules.take();
  }
  template <class F>
  void visit(F&& f) {
    f("count", count,
      "partitions of L2: 1, or 2, of which GPC g (of one GPC, TPC t) belongs to number g mod 2 (t mod 2), "
      "and the first "
      "half of the slices to number 0");
    f("far_latency", far_latency,
      "by which an access takes longer that goes to a slice of the other partition, both ways, L2 cycles");
    f("link_bytes_per_cycle", link_bytes_per_cycle,
      "bytes per L2 cycle between one slice and the other partition, each way; 0: any number");
  }
};

/// The unit of a slice that performs atomics and reductions, one lane after the other where they name the
/// same word, the sectors of a line one after the other.
struct WARPLINE_PUBLIC L2AtomicParameters {
  unsigned latency = 0;            ///< L2 cycles that an atomic takes longer than a read
  unsigned word_cycles = 0;        ///< L2 cycles of the operations of 32 lanes on one word
  unsigned float_word_cycles = 0;  ///< likewise, additions of floating point
  unsigned line_cycles = 0;        ///< L2 cycles of operations on all words of a line
  unsigned other_line_cycles = 0;  ///< likewise, of another line than the request before
  unsigned slow_line_cycles = 0;   ///< of all words of any line, compare-and-swap, and additions of f64

  [[nodiscard]] bool takes_time() const {
    return (latency | word_cycles | float_word_cycles | line_cycles | other_line_cycles | slow_line_cycles) !=
           0;
  }
  [[nodiscard]] Problems problems(const std::string& path) const {
    Rules rules(path);
    const auto short_enough = [&](unsigned cycles, const char* key) {
      rules.need(cycles <= 100000, key, "must be at most 100000 cycles");
    };
    short_enough(latency, "latency");
    short_enough(word_cycles, "word_cycles");
    short_enough(float_word_cycles, "float_word_cycles");
    short_enough(line_cycles, "line_cycles");
    short_enough(other_line_cycles, "other_line_cycles");
    short_enough(slow_line_cycles, "slow_line_cycles");
    return rules.take();
  }
  template <class F>
  void visit(F&& f) {
    f("latency", latency, "by which an atomic or reduction takes longer than a read, L2 cycles");
    f("word_cycles", word_cycles,
      "in which the unit of a slice does the operations of 32 lanes on one word, L2 cycles; fewer lanes take "
      "their share");
    f("float_word_cycles", float_word_cycles, "likewise, additions of floating point, L2 cycles");
    f("line_cycles", line_cycles,
      "in which it does operations on different words in all sectors of a line, L2 cycles; fewer sectors "
      "take "
      "their share");
    f("other_line_cycles", other_line_cycles,
      "likewise, of another line than the request before it, L2 cycles");
    f("slow_line_cycles", slow_line_cycles,
      "of any line, at least, compare-and-swap, and additions of f64, L2 cycles");
  }
};

/// Sizes of one L2 slice. Any number of slices works.
struct WARPLINE_PUBLIC L2Parameters {
  unsigned slices = 4;
  CacheGeometry geometry{256, 16};
  unsigned miss_registers = 64;
  unsigned merge_cycles = 0;      ///< L2 cycles in which a slice lays part of a sector over the rest of it
  bool poison_discarded = false;  ///< bytes that were discarded read as a pattern; false: as they were
  /// What the slice number is hashed by (CrossbarParameters::hash_masks, which whoever builds the netlist
  /// copies): a line's set is told by what its hashed number has beside its slice's.
  std::vector<std::uint64_t> hash_masks{};
  /// Bit of the line number at which the slice number begins (CrossbarParameters::slice_shift, which whoever
  /// builds the netlist copies): a line's set is told by the other bits.
  unsigned slice_shift = 0;
  L2PartitionParameters partitions{};
  L2AtomicParameters atomics{};

  [[nodiscard]] Problems problems(const std::string& path) const {
    Rules rules(path);
    rules.need(slices >= 1 && slices <= 4096, "slices", "must be 1 to 4096");
    rules.add(geometry.problems(path));
    rules.need(miss_registers >= 1 && miss_registers <= 65534, "miss_registers", "must be 1 to 65534");
    rules.need(merge_cycles <= 1000, "merge_cycles", "must be at most 1000 cycles");
    rules.add(partitions.problems(path + ".partitions", slices));
    rules.add(atomics.problems(path + ".atomics"));
    return rules.take();
  }
  template <class F>
  void visit(F&& f) {
    f("slices", slices, "number of L2 slices");
    f("sets", geometry.sets, "sets of one slice");
    f("ways", geometry.ways, "lines per set");
    f("evict_last_percent", geometry.evict_last_percent, kEvictLastMeaning);
    f("replacement", geometry.replacement, kReplacementMeaning);
    f("miss_registers", miss_registers, "lines of one slice with fetches under way");
    f("merge_cycles", merge_cycles,
      "in which a slice reads a sector, lays over it what is written of it, and writes it back, and takes no "
      "new request, L2 cycles; 0: a write of part of a sector takes what one of a whole sector does");
    f("poison_discarded", poison_discarded, "bytes of discarded lines read as a pattern");
    f("partitions", partitions, "halves of L2, near to some SMs and far from the others");
    f("atomics", atomics, "the unit of a slice that performs atomics");
  }
};

}  // namespace warpline
