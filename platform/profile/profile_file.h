#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "rtl_models/base/problem.h"
#include "rtl_models/sm/sm_profile.h"

namespace warpline {

/// What the file of a profile says of one instruction.
struct ProfileLine {
  std::string where;      ///< "vecadd.ptx:12", "trace, pc 0x0040"
  std::string text;       ///< of that line; empty: not known
  std::string cuda;       ///< "vecadd.cu:7", of a program with `.loc`; empty: it says nothing
  std::string cuda_text;  ///< of that line; empty: not known
  std::uint64_t issued = 0, lanes = 0;
  std::map<std::string, std::uint64_t> stalls;  ///< warp-cycles by StallReason, those that are not 0
  struct Memory {
    std::uint64_t accesses = 0, bytes = 0, sectors = 0;
    std::map<std::string, std::uint64_t> answered;  ///< sectors by AnsweredBy, all of them
    std::uint64_t shared_passes = 0, shared_conflicts = 0;
    std::uint64_t latency = 0;                         ///< SM cycles, summed over accesses
    std::map<std::uint64_t, std::uint64_t> latencies;  ///< how many, by the largest of each class
    // Of several instructions together, those that asked caches, and those that went to shared memory.
    std::uint64_t asking = 0, asking_bytes = 0, shared = 0;
    void add(const Memory& other);
    /// See LatencyHistogram::percentile().
    [[nodiscard]] std::uint64_t percentile(unsigned percent) const;
  } memory;  ///< no accesses: it is none
  /// Sum of `stalls` but for `selected`.
  [[nodiscard]] std::uint64_t stalled() const;
};

struct ProfiledKernel {
  std::string name;
  std::uint64_t warps = 0, warp_cycles = 0;
  std::map<std::string, std::uint64_t> stalls;  ///< of all its instructions
  std::vector<ProfileLine> lines;               ///< by pc
};

/// What is shown of a profile.
struct ProfileFile {
  std::vector<ProfiledKernel> kernels;
};

/// The text of the file (docs/profiles.md). Lines get their text where that is known: of programs in `texts`,
/// by their names, and of files that can be read.
[[nodiscard]] std::string profile_text(const std::vector<KernelProfile>& kernels, const std::string& gpu,
                                       const std::string& transport,
                                       const std::map<std::string, std::string>& texts = {});
[[nodiscard]] Result<ProfileFile> read_profile(const std::string& path);

}  // namespace warpline
