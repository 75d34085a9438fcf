#pragma once

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tests/programs/machine.h"

namespace warpline::test {

/// A small machine of one SM and one L2 slice, its caches of `ways` lines each.
inline GpuConfig one_set(unsigned l1_ways, unsigned l2_ways) {
  GpuConfig c = load_gpu("mini", {}).value();
  c.sms = 1;
  c.l1_lg.geometry = {1, l1_ways, 50};
  c.l2.slices = 1;
  c.l2.geometry = {1, l2_ways, 50};
  c.dram.channels = 1;
  c.crossbar.hash_masks.clear();
  c.sm.fetch_instructions = false;  // code would take lines of L2
  return c;
}

/// Kernels of one thread on a machine of its own, in their text's order, and what they leave.
///
/// A kernel's text may use the 64-bit addresses %a to %d, of four lines in memory each, far apart, and %o, of
/// 32 words for results, 64-bit registers %x0 to %x9, 32-bit ones %r0 to %r9, and `local`, 8 KiB of local
/// memory, and `shared`, 1 KiB of shared memory. Lines of the text end with a semicolon.
class SingleThread {
 public:
  static constexpr unsigned kBytes = 4 * kLineBytes;  ///< of each of the four

  /// `kernels`: name and text.
  SingleThread(const GpuConfig& config, const std::vector<std::pair<std::string, std::string>>& kernels,
               Aperture aperture = Aperture::vidmem)
      : bench_(config, module_of(kernels), std::make_shared<DirectBackend>(TickMode::lazy, 1), 500'000'000,
               {}, ptx::Schedule::ptx) {
    for (unsigned i = 0; i < 4; ++i) {
      std::vector<std::uint8_t> bytes(kBytes);
      for (unsigned b = 0; b < kBytes; ++b) bytes[b] = static_cast<std::uint8_t>(i * 64 + b % 61);
      words_.push_back(bench_.put(bytes, aperture));
    }
    words_.push_back(bench_.put(std::vector<std::uint64_t>(32)));
    bench_.platform().build();
  }
  /// Runs a kernel; the driver invalidates L1 before it if `invalidate`.
  void run(const std::string& kernel, bool invalidate = false) {
    const LaunchResult result = bench_.launch(kernel, 1, 1, words_, invalidate);
    ASSERT_EQ(result.outcome, RunOutcome::quiescent);
    const std::vector<std::string> wrong = bench_.platform().unreconciled();
    ASSERT_TRUE(wrong.empty()) << wrong.front();
  }
  /// What `run` of `kernel` adds to a counter, such as "l1_lg.sector_hits", summed over all blocks.
  std::uint64_t added(const std::string& counter, const std::string& kernel, bool invalidate = false) {
    const std::uint64_t before = count(counter);
    run(kernel, invalidate);
    return count(counter) - before;
  }
  [[nodiscard]] std::uint64_t count(const std::string& counter) {
    Observation seen;
    bench_.platform().visit(seen);
    std::uint64_t sum = 0;
    bool found = false;
    for (const auto& [name, value] : seen.values) {
      std::string plain;
      bool index = false;
      for (const char c : name) {
        index = c == '[' || (index && c != ']');
        if (!index && c != ']') plain += c;
      }
      if (plain != counter && plain != "sm." + counter) continue;
      sum += value;
      found = true;
    }
    EXPECT_TRUE(found) << "no counter " << counter;
    return sum;
  }
  /// Result word `i`.
  [[nodiscard]] std::uint64_t result(unsigned i = 0) const {
    return bench_.get<std::uint64_t>(words_[4], 32)[i];
  }
  /// The host writes the first word of line %a (which = 0) to %d (3), as it could behind the caches' backs.
  void host_write(unsigned which, std::uint64_t value) {
    bench_.platform().write(words_[which], &value, sizeof value);
  }
  [[nodiscard]] std::uint64_t host_read(unsigned which) const {
    return bench_.get<std::uint64_t>(words_[which], 1)[0];
  }
  [[nodiscard]] std::vector<FaultRecord> faults() { return bench_.platform().faults(); }

 private:
  static std::string module_of(const std::vector<std::pair<std::string, std::string>>& kernels) {
    std::string text = ".version 8.8\n.target sm_100\n.address_size 64\n";
    for (const auto& [name, body] : kernels) {
      text += ".visible .entry " + name +
              "(.param .u64 a, .param .u64 b, .param .u64 c, .param .u64 d, .param .u64 o)\n{\n"
              ".reg .b64 %a, %b, %c, %d, %o, %x<10>;\n.reg .b32 %r<10>;\n.reg .pred %p;\n"
              ".local .align 128 .b8 local[8192];\n.shared .align 128 .b8 shared[1024];\n";
      for (const char* p : {"a", "b", "c", "d", "o"})
        text += std::string("ld.param.u64 %") + p + ", [" + p + "];\n";
      text += body + "\nret;\n}\n";
    }
    return text;
  }
  Bench bench_;
  std::vector<std::uint64_t> words_;
};

}  // namespace warpline::test
