#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "platform/launch/device_place.h"
#include "rtl_models/isa/data_type.h"

namespace warpline {

/// The address by which a device reaches a place in a buffer of system memory, which the platform maps for
/// it, or of a GPU's memory, whose BAR it opens to it.
struct BusAddress {
  std::size_t buffer = 0;    ///< its number in LaunchFile::buffers
  std::uint64_t offset = 0;  ///< in the buffer, bytes
  DeviceName device;
  Place place;         ///< of the buffer's name
  Place offset_place;  ///< of the offset, where it is said
};

/// What a host writes or compares with.
struct HostValue {
  std::uint64_t bits = 0;         ///< of the target's type, or:
  std::optional<BusAddress> bus;  ///< known when the platform is
};

/// What a host writes to or reads: a place in a device, or an element of a buffer, in system memory or behind
/// the BAR of a GPU.
struct HostTarget {
  std::optional<DevicePlace> device;
  std::size_t buffer = 0;  ///< its number in LaunchFile::buffers, unless it is a device's
  std::uint64_t element = 0;
  DataType type = DataType::u32;
  std::string text;  ///< as written
};

/// One thing that a host does while a grid runs.
struct HostStep {
  enum class Kind : std::uint8_t {
    write,
    read,       ///< once; what it reads is compared if there is a value
    wait,       ///< until it has the value, or at least that
    interrupt,  ///< until a vector of a device is raised
    delay
  };
  Kind kind = Kind::delay;
  HostTarget target;                       ///< of write, read and wait
  std::optional<HostValue> value;          ///< that is written, or that it reads
  std::uint64_t mask = ~std::uint64_t{0};  ///< bits that are compared
  bool at_least = false;                   ///< of wait: more will do
  DeviceName device;                       ///< of interrupt
  unsigned vector = 0;
  std::uint64_t cycles = 0;  ///< of delay
  Place place;               ///< of what it says to do
};

/// A register of a device that a launch file sets or checks.
struct LaunchRegister {
  DevicePlace where;
  std::optional<HostValue> initial;
  std::optional<std::uint64_t> expect;
  std::uint64_t mask = ~std::uint64_t{0};  ///< of what is expected
  Place expect_place;
};

}  // namespace warpline
