#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <utility>

#include "rtl_models/pcie/packets/config_registers.h"
#include "rtl_models/pcie/packets/function_description.h"

namespace warpline {

/// A memory access that a function's BARs claim.
struct BarHit {
  unsigned bar = 0;
  std::uint64_t offset = 0;
};

/// Power states of a function (PCI power management).
enum class PowerState : std::uint8_t { d0 = 0, d1 = 1, d2 = 2, d3hot = 3 };

/// The 4 KiB configuration space of a function: type 0 header; capabilities power management, MSI-X (if it
/// has vectors) and PCI Express (PCI Local Bus 3.0, PCI Express base specification). Extended capabilities:
/// none.
///
/// Registers that are not there read as 0 and ignore writes. In D3hot the function claims no memory and may
/// make no request; going back to D0 resets it (there is no D1 and no D2: asking for them changes nothing),
/// as a Function Level Reset does, which device control initiates (bit 15, which reads 0). That one does not
/// change Max_Payload_Size.
/// Atomics need no permission of their own, so that there is no such bit in device control 2.
class ConfigSpace {
 public:
  /// Pre: the description has no problems.
  explicit ConfigSpace(const FunctionDescription& description);

  /// Registers of 4 bytes. Pre: `offset` is a multiple of 4 below 4096. `enables`: bit i: byte i is written.
  [[nodiscard]] std::uint32_t read(unsigned offset) const;
  void write(unsigned offset, std::uint32_t value, unsigned enables = 0xF);
  /// What it was built as: every setting that software made is gone.
  void reset() { registers_ = built_; }
  /// Whether software has reset the function, by power management or a Function Level Reset, since
  /// take_soft_reset() was called last.
  [[nodiscard]] bool was_softly_reset() const { return soft_reset_; }
  [[nodiscard]] bool take_soft_reset() { return std::exchange(soft_reset_, false); }

  /// The BAR that claims all of `bytes` bytes from `address`, if memory space is enabled and the function is
  /// in D0.
  [[nodiscard]] std::optional<BarHit> decode(std::uint64_t address, std::uint64_t bytes) const;
  /// Where a BAR lies. Nothing where there is none, or software has not placed it.
  [[nodiscard]] std::optional<std::uint64_t> address_of(unsigned bar) const;

  [[nodiscard]] bool memory_enabled() const {
    return (at(config::kCommandStatus) & config::kMemorySpace) != 0;
  }
  /// Whether the function reports damaged data that it was sent as a master data parity error.
  [[nodiscard]] bool parity_response() const {
    return (at(config::kCommandStatus) & config::kParityResponse) != 0;
  }
  /// Whether the function may make requests.
  [[nodiscard]] bool bus_master() const { return (at(config::kCommandStatus) & config::kBusMaster) != 0; }
  [[nodiscard]] PowerState power_state() const {
    return static_cast<PowerState>(at(power_ + config::kPowerControl) & config::kPowerStateBits);
  }
  [[nodiscard]] bool msix_enabled() const { return msix_ != 0 && (at(msix_) & config::kMsixEnable) != 0; }
  [[nodiscard]] bool msix_masked() const { return msix_ != 0 && (at(msix_) & config::kMsixMask) != 0; }
  /// As software set them in device control, bytes.
  [[nodiscard]] unsigned max_payload() const;
  [[nodiscard]] unsigned max_read_request() const;
  [[nodiscard]] bool relaxed_ordering_enabled() const {
    return (at(express_ + config::kDeviceControl) & config::kRelaxedOrdering) != 0;
  }
  [[nodiscard]] bool no_snoop_enabled() const {
    return (at(express_ + config::kDeviceControl) & config::kNoSnoop) != 0;
  }
  /// Whether tags have 8 bits; otherwise they have 5.
  [[nodiscard]] bool extended_tags() const {
    return (at(express_ + config::kDeviceControl) & config::kExtendedTags) != 0;
  }
  /// How many times as long as by default requests wait for their completions, as device control 2 says, by
  /// the shortest time of each range; 0: for ever.
  [[nodiscard]] unsigned completion_timeout_scale() const;
  /// What device status says of requests that are not completed.
  void show_pending(bool transactions);

  /// Bits of the PCI Express device status register.
  enum ErrorBit : std::uint16_t { kCorrectable = 1, kNonFatal = 2, kFatal = 4, kUnsupportedRequest = 8 };
  void report(std::uint16_t error_bits);
  /// Bits of the status register: a completion with an abort was received (bit 13: unsupported request, 12:
  /// completer abort) or sent (11); damaged data was received (15), and for a request of its own (8).
  void report_status(std::uint16_t status_bits);

  [[nodiscard]] const FunctionDescription& description() const { return description_; }
  /// Offsets of the capabilities; 0: it has none.
  [[nodiscard]] unsigned power_capability() const { return power_; }
  [[nodiscard]] unsigned msix_capability() const { return msix_; }
  [[nodiscard]] unsigned express_capability() const { return express_; }
  template <class Archive>
  void archive(Archive& a) {
    // What it was built as comes from its description.
    for (Register& r : registers_) a(r.value, r.writable, r.clear_by_one);
    a(soft_reset_);
  }

 private:
  void put(unsigned offset, std::uint32_t value, std::uint32_t writable = 0, std::uint32_t clear_by_one = 0);
  FunctionDescription description_;
  /// A register: what it holds, which bits software may write, and which it clears by writing 1.
  struct Register {
    std::uint32_t value = 0, writable = 0, clear_by_one = 0;
  };
  static constexpr unsigned kRegisters = 64;  ///< in the first 256 bytes; behind them there are none
  [[nodiscard]] std::uint32_t at(unsigned offset) const { return registers_[offset / 4].value; }
  void build_header();
  void build_bars();
  void build_capabilities();
  void build_express();
  void set_power_state(PowerState before);
  void reset_function();
  std::array<Register, kRegisters> registers_{}, built_{};
  unsigned power_ = 0, msix_ = 0, express_ = 0;
  bool soft_reset_ = false;
};

}  // namespace warpline
