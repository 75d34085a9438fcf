#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "platform/config/gpu_config.h"
#include "rtl_models/base/problem.h"

namespace warpline {

/// Which machine a record is of: all that a replay needs to build the same, but for the files that are
/// namespaces, which it is given as they were.
struct RecordedMachine {
  std::string warpline;  ///< the version that recorded
  /// GPUs are functions of it if they have registers; its host, devices and clocks.
  GpuConfig gpu;
  /// Of each that gpu.pcie_system.nvme.files names, when the recording began; 0: it is memory.
  std::vector<std::uint64_t> disk_bytes, disk_sums;

  template <class F>
  void visit(F&& f) {
    f("warpline", warpline, "version that recorded");
    f("disk_bytes", disk_bytes, "size of each file that is a namespace, bytes");
    f("disk_sums", disk_sums, "checksum of what was in it when the recording began");
    f("gpu", gpu, "its GPUs, host bridge, root complex and devices");
  }

  /// Of a machine that is to be recorded. Reads the files of namespaces, which nobody has open yet: faults of
  /// these.
  [[nodiscard]] static Result<RecordedMachine> of(const GpuConfig& config);
  /// As a record has it, in TOML. Faults name the record: another version of Warpline, no machine that can
  /// be.
  [[nodiscard]] static Result<RecordedMachine> parse(const std::string& record, const std::string& text);
  [[nodiscard]] std::string to_text() const;

  /// Which files its namespaces were, in their order.
  [[nodiscard]] std::vector<std::string> disks() const;
  /// Puts these in their places. What is wrong: there are more or fewer, or one is not as it was.
  [[nodiscard]] Diagnostics give_disks(const std::vector<std::string>& paths);
};

}  // namespace warpline
