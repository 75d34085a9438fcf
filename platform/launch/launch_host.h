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
#include "rtl_models/base/problem.h"

namespace warpline {

/// What became of grids and of what a host did meanwhile.
struct HostedLaunch {
  LaunchResult result;
  bool host_is_stuck = false;         ///< the grids have ended, and the host is not done
  std::size_t checks = 0;             ///< reads that were compared
  std::vector<std::string> failures;  ///< a sentence for each that was not as expected
};

/// A launch file, and where its data lies.
struct PlacedFile {
  const LaunchFile& file;
  const std::vector<std::uint64_t>& buffers;  ///< addresses, as LaunchFile::buffers
};

/// The host of launch files: firmware that finds the devices and sets them up, and software that does what
/// [[host]] says while grids run.
///
/// A buffer in system memory is mapped for a device where the file gives its bus address, and a GPU's BAR
/// opened to it where the buffer lies in that GPU's memory; a device's BAR is open to all GPUs where the file
/// gives an address in it. Between two looks a host that waits lets kPoll cycles pass. A launch lasts until
/// its grids have ended and the host has done its last step. Once the grids have ended and nothing moves any
/// more, the host's next step sees what they wrote to system memory.
class LaunchHost {
 public:
  static constexpr Cycle kPoll = 20;

  /// The platform outlives it; its devices are found at the first set_up(). `max_cycles`: as the run's.
  explicit LaunchHost(GpuPlatform& platform, Cycle max_cycles = kNever)
      : platform_(platform), max_cycles_(max_cycles) {}

  /// Sets up what a file wants of devices, at no cost of time. `places`: afterwards the values of
  /// LaunchFile::addresses. Returns what is wrong with it on this platform. Pre: the platform has the devices
  /// that the file names.
  [[nodiscard]] Diagnostics set_up(const PlacedFile& placed, std::vector<std::uint64_t>& places);
  /// Everything is set up: what is counted and logged from now on is the run's.
  void begin();
  /// Runs grids to their end, and does what `launch` says meanwhile.
  [[nodiscard]] HostedLaunch run(const PlacedFile& placed, const Launch& launch,
                                 const std::vector<GridLaunch>& grids);
  /// A sentence for each register that is not as the file expects, after the last launch.
  [[nodiscard]] std::vector<std::string> unexpected(const LaunchFile& file);
  /// What arrived at the devices since begin(), or ever if that was not called: a line of text each (see
  /// to_text(BusAccess)), or an array of JSON objects.
  [[nodiscard]] std::string access_log(bool json);

 private:
  /// What is being done.
  struct Program {
    const PlacedFile& placed;
    HostedLaunch out;
    bool grids_ended = false;
    std::optional<Wait> waits;  ///< for what did not come
  };
  /// Writes what registers are to be at first, and waits for what devices make of that.
  void set_registers(const PlacedFile& placed);
  /// Where a buffer lies in system memory.
  [[nodiscard]] std::uint64_t offset_of(std::size_t buffer, const PlacedFile& placed) const;
  /// Where a buffer of a GPU's memory lies on the bus, behind the GPU's BAR.
  [[nodiscard]] std::uint64_t behind_bar(std::size_t buffer, const PlacedFile& placed) const;
  /// Whether a host and devices reach all of it; if not, `faults` says so.
  void check_reach(std::size_t buffer, Place place, const PlacedFile& placed, Diagnostics& faults) const;
  void check_reach(const PlacedFile& placed, Diagnostics& faults) const;
  /// The number that a GPU has among the host's devices.
  [[nodiscard]] unsigned device_of(unsigned gpu) const { return platform_.pcie()->peers() + gpu; }
  [[nodiscard]] std::uint64_t bus_address(const BusAddress& bus, const PlacedFile& placed);
  [[nodiscard]] std::uint64_t bits_of(const HostValue& value, const PlacedFile& placed);
  [[nodiscard]] std::uint64_t address_of(const DevicePlace& where) const;
  [[nodiscard]] std::uint64_t mapped(const DevicePlace& where);
  /// Of a target that the host reaches by loads and stores of the bus; nothing: it lies in system memory.
  [[nodiscard]] std::optional<std::uint64_t> on_bus(const HostTarget& target, const PlacedFile& placed) const;
  /// The bytes of an element in system memory.
  [[nodiscard]] std::uint8_t* at(const HostTarget& target, const PlacedFile& placed);

  /// What the host reads; nothing: nobody has answered, or with an error (HostMachine::outcome).
  [[nodiscard]] std::optional<std::uint64_t> look(const HostTarget& target, const PlacedFile& placed);
  /// These return false where the program cannot go on.
  [[nodiscard]] bool perform(const HostStep& step, Program& program);
  /// The same, but for the timeline.
  [[nodiscard]] bool perform_unseen(const HostStep& step, Program& program);
  [[nodiscard]] bool wait(const HostStep& step, Program& program);
  [[nodiscard]] bool wait_interrupt(const HostStep& step, Program& program);
  [[nodiscard]] bool delay(const HostStep& step, Program& program);
  void write(const HostStep& step, Program& program);
  void read(const HostStep& step, Program& program);
  [[nodiscard]] bool at_rest() const;
  /// Cycles before the limit.
  [[nodiscard]] Cycle left() const;
  [[nodiscard]] bool may_go_on() const;
  [[nodiscard]] bool end_grids(Program& program);
  void give_up(const HostStep& step, Program& program, const std::string& what);

  GpuPlatform& platform_;
  Cycle max_cycles_;
  std::optional<HostMachine> host_;
  std::map<std::pair<unsigned, std::uint64_t>, std::uint64_t> buffers_;  ///< by device and physical address
  std::map<std::pair<unsigned, unsigned>, std::uint64_t> bars_;          ///< by device and BAR
  std::set<std::pair<unsigned, unsigned>> opened_;  ///< GPUs whose memory is open to a device: device and GPU
  std::vector<std::uint64_t> log_begins_;           ///< accesses of each device before begin()
};

}  // namespace warpline
