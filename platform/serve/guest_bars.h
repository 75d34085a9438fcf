#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "rtl_models/pcie/packets/config_registers.h"
#include "rtl_models/pcie/packets/config_space.h"
#include "rtl_models/pcie/packets/function_description.h"

namespace warpline {

/// The base address registers of a function as a guest's software writes and reads them. Where the function's
/// memory lies for the guest is not where it lies on the bus here.
class GuestBars {
 public:
  explicit GuestBars(const FunctionDescription& description) : description_(description) {}

  /// Whether a register of configuration space is one of them.
  [[nodiscard]] static bool holds(unsigned offset) {
    return offset >= config::kBar0 && offset < config::kBar0 + 4 * kBars;
  }
  /// Pre: holds(); `offset` is a multiple of 4. `enables`: bit i: byte i is written.
  [[nodiscard]] std::uint32_t read(unsigned offset) const;
  void write(unsigned offset, std::uint32_t value, unsigned enables);
  /// None is placed.
  void reset() { values_ = {}; }
  /// The BAR that has all of these bytes for the guest.
  [[nodiscard]] std::optional<BarHit> find(std::uint64_t address, std::uint64_t bytes) const;

 private:
  /// Bits that software may write.
  [[nodiscard]] std::uint32_t writable(unsigned index) const;
  [[nodiscard]] std::uint64_t address_of(unsigned bar) const;

  FunctionDescription description_;
  std::array<std::uint32_t, kBars> values_{};
};

}  // namespace warpline
