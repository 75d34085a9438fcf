#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "platform/host/host_machine.h"
#include "platform/launch/launch_file.h"
#include "platform/machine/gpu_platform.h"
#include "platform/machine/pcie_system.h"
#include "platform/report/run_statistics.h"
#include "rtl_models/base/problem.h"
#include "rtl_models/sim/engine.h"

namespace warpline {

/// What became of grids and of what a host did meanwhile.
struct HostedLaunch {
  LaunchResult result;
  bool host_is_stuck = false;           ///< the grids have ended, and the host is not done
  std::vector<Comparison> comparisons;  ///< reads that were compared
};

/// What a LaunchHost does.
class HostedRun {
 public:
  static constexpr Cycle kPoll = 20;

  /// The platform outlives it; its devices are found at the first set_up(). `max_cycles`: as the run's.
  HostedRun(GpuPlatform& platform, Cycle max_cycles) : platform_(platform), max_cycles_(max_cycles) {}

  /// Sets up what a file wants of devices, at no cost of time, and fills in its addresses. Returns what is
  /// wrong with it on this platform. Pre: its buffers are placed; the platform has the devices that it names.
  [[nodiscard]] Diagnostics set_up(PlacedFile& placed);
  /// Everything is set up: what is counted and logged from now on is the run's.
  void begin();
  /// Runs grids to their end, and does what `launch` says meanwhile.
  [[nodiscard]] HostedLaunch run(const PlacedFile& placed, const Launch& launch,
                                 const std::vector<GridLaunch>& grids);
  /// Each register of which the file expects something, after the last launch.
  [[nodiscard]] std::vector<Comparison> compared(const LaunchFile& file);
  /// What arrived at the devices since begin(), or ever if that was not called: a line of text each (see
  /// to_text(BusAccess)), or an array of JSON objects.
  [[nodiscard]] std::string access_log(bool json);

 private:
  class Program;
  /// Whether host and devices reach what the file has them reach; if not, `faults` says so, once of a buffer.
  void check_reach(const PlacedFile& placed, Diagnostics& faults) const;
  /// Writes what registers are to be at first, and waits for what devices make of that.
  void set_registers(const PlacedFile& placed);
  /// Where a buffer lies in system memory, or in its GPU's.
  [[nodiscard]] std::uint64_t offset_of(std::size_t buffer, const PlacedFile& placed) const;
  /// The BAR behind which a GPU's memory lies.
  [[nodiscard]] const HostDevice::Bar& memory_bar(unsigned gpu) const;
  /// The number that a device has among the host's devices.
  [[nodiscard]] unsigned number_of(const DeviceName& device) const;
  [[nodiscard]] const HostDevice::Bar& bar_of(const DevicePlace& where) const;
  /// The same of a GPU.
  [[nodiscard]] unsigned device_of(unsigned gpu) const { return platform_.pcie()->functions() + gpu; }
  [[nodiscard]] std::uint64_t bus_address(const BusAddress& bus, const PlacedFile& placed);
  [[nodiscard]] std::uint64_t bits_of(const HostValue& value, const PlacedFile& placed);
  [[nodiscard]] std::uint64_t address_of(const DevicePlace& where) const;
  /// Where kernels find it.
  [[nodiscard]] std::uint64_t mapped(const DevicePlace& where);
  /// Nothing moves any more, unless the host makes it.
  [[nodiscard]] bool at_rest() const;

  GpuPlatform& platform_;
  Cycle max_cycles_;
  std::optional<HostMachine> host_;
  std::map<std::pair<unsigned, std::uint64_t>, std::uint64_t> buffers_;  ///< by device and physical address
  std::map<std::pair<unsigned, unsigned>, std::uint64_t> bars_;          ///< by device and BAR
  std::set<std::pair<unsigned, unsigned>> opened_;  ///< GPUs whose memory is open to a device: device and GPU
  std::vector<std::uint64_t> log_begins_;           ///< accesses of each device before begin()
};

}  // namespace warpline
