#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "rtl_models/document/document.h"

namespace warpline {

/// A device behind the root complex, as launch files name it: "peer[0]", "nvme[1]".
struct DeviceName {
  enum class Kind : std::uint8_t { peer, nvme };
  Kind kind = Kind::peer;
  unsigned number = 0;  ///< among those of its kind

  [[nodiscard]] std::string text() const;
  [[nodiscard]] friend bool operator==(const DeviceName& a, const DeviceName& b) {
    return a.kind == b.kind && a.number == b.number;
  }
};

/// A place in a device, as launch files name it: "peer[0].SCRATCH[1]", a register by the name that the
/// device's manual gives it, in any case of letters; or "nvme[0].bar[4]+0x100", bytes of a BAR.
struct DevicePlace {
  DeviceName device;
  unsigned bar = 0;
  std::uint64_t offset = 0;  ///< in the BAR, bytes
  unsigned bytes = 0;        ///< of the register; 0: it is none
  std::string text;          ///< as written
  Place place;
};

/// Reads the string of a member. Where it names no place, says so in `faults`.
[[nodiscard]] std::optional<DevicePlace> read_device_place(const Document& document, const Member& member,
                                                           Diagnostics& faults);
/// Reads "peer[0]": a device.
[[nodiscard]] std::optional<DeviceName> read_device(const Document& document, const Member& member,
                                                    Diagnostics& faults);
/// Reads "peer[0].vector[3]": a device, and a vector that such a device can have.
[[nodiscard]] std::optional<std::pair<DeviceName, unsigned>> read_vector(const Document& document,
                                                                         const Member& member,
                                                                         Diagnostics& faults);
/// Whether a text is meant to be a place in a device, right or not: it has a dot.
[[nodiscard]] inline bool names_device(const std::string& text) {
  return text.find('.') != std::string::npos;
}

}  // namespace warpline
