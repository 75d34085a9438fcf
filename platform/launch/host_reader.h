#pragma once

#include <string>

#include "platform/launch/launch_file.h"

namespace warpline {

/// Reads what a host does with devices, into a LaunchFile whose buffers are all known.
class HostReader {
 public:
  HostReader(const Document& document, LaunchFile& out, Diagnostics& faults)
      : document_(document), out_(out), faults_(faults) {}

  /// Reads the `host` key of a launch.
  void read_steps(const Member& steps, Launch& launch);
  /// Reads the [[register]] tables.
  void read_registers(const Member& registers);
  /// Says so where a bus address names a buffer that devices do not reach.
  void check(const BusAddress& bus);

 private:
  void read_step(const Value& table, Launch& launch);
  void read_register(const Value& table);
  bool read_target(TableReader& reader, const Member& member, HostTarget& target);
  bool read_element(const Member& member, HostTarget& target);
  void read_type(TableReader& reader, const Member& member, HostTarget& target);
  std::optional<HostValue> read_value(const Member& member, DataType type, const DevicePlace* target);
  std::optional<BusAddress> read_bus(const Member& member, const DevicePlace* target);
  void read_comparison(TableReader& reader, HostStep& step);
  std::uint64_t read_mask(const Member& mask, DataType type, const Member& wanted, std::uint64_t bits);
  void read_interrupt(const Member& member, HostStep& step);
  [[nodiscard]] std::optional<std::size_t> find_buffer(const std::string& name, Place place,
                                                       const std::string& key);
  bool is_reached(const Buffer& buffer, Place place, const std::string& key);
  void fault(Place place, std::string message, std::string hint = {}) {
    faults_.push_back(document_.fault(place, std::move(message), std::move(hint)));
  }

  const Document& document_;
  LaunchFile& out_;
  Diagnostics& faults_;
};

}  // namespace warpline
