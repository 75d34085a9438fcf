#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "platform/config/pcie_system_parameters.h"
#include "rtl_models/base/problem.h"

namespace warpline {

/// Which machine a record is of: all that a replay needs to build the same, but for the files that are
/// namespaces, which it is given as they were.
struct RecordedMachine {
  std::string warpline;  ///< the version that recorded
  unsigned mhz = 0;      ///< of its fastest clock
  PcieSystemParameters pcie_system = PcieSystemParameters::none();
  /// Of each that pcie_system.nvme.files names, when the recording began; 0: it is memory.
  std::vector<std::uint64_t> disk_bytes, disk_sums;

  template <class F>
  void visit(F&& f) {
    f("warpline", warpline, "version that recorded");
    f("mhz", mhz, "fastest clock, MHz");
    f("disk_bytes", disk_bytes, "size of each file that is a namespace, bytes");
    f("disk_sums", disk_sums, "checksum of what was in it when the recording began");
    f("pcie_system", pcie_system, "host bridge, root complex and devices");
  }

  /// Of a machine that is to be recorded. Reads the files of namespaces, which nobody has open yet: faults of
  /// these.
  [[nodiscard]] static Result<RecordedMachine> of(const PcieSystemParameters& parameters, unsigned mhz);
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
