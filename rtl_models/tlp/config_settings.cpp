// What software has set in configuration space, and what it is told there.
#include <algorithm>

#include "warpline/base/contract.h"
#include "warpline/tlp/config_registers.h"
#include "warpline/tlp/config_space.h"

namespace warpline {

using namespace config;

bool ConfigSpace::memory_enabled() const {
  return (at(kCommandStatus) & kMemorySpace) != 0;
}

bool ConfigSpace::parity_response() const {
  return (at(kCommandStatus) & kParityResponse) != 0;
}

bool ConfigSpace::bus_master() const {
  return (at(kCommandStatus) & kBusMaster) != 0;
}

PowerState ConfigSpace::power_state() const {
  return static_cast<PowerState>(at(power_ + kPowerControl) & kPowerStateBits);
}

bool ConfigSpace::msix_enabled() const {
  return msix_ != 0 && (at(msix_) & kMsixEnable) != 0;
}

bool ConfigSpace::msix_masked() const {
  return msix_ != 0 && (at(msix_) & kMsixMask) != 0;
}

unsigned ConfigSpace::max_payload() const {
  const unsigned asked = 128U << (at(express_ + kDeviceControl) >> kMaxPayloadShift & kSizeBits);
  return std::min(asked, description_.max_payload_supported);
}

unsigned ConfigSpace::max_read_request() const {
  return std::min(128U << (at(express_ + kDeviceControl) >> kMaxReadShift & kSizeBits), 4096U);
}

bool ConfigSpace::relaxed_ordering_enabled() const {
  return (at(express_ + kDeviceControl) & kRelaxedOrdering) != 0;
}

bool ConfigSpace::no_snoop_enabled() const {
  return (at(express_ + kDeviceControl) & kNoSnoop) != 0;
}

bool ConfigSpace::extended_tags() const {
  return (at(express_ + kDeviceControl) & kExtendedTags) != 0;
}

unsigned ConfigSpace::completion_timeout_scale() const {
  const std::uint32_t control = at(express_ + kDeviceControl2);
  if ((control & kTimeoutDisable) != 0) return 0;
  switch (control & kTimeoutRanges) {
    case 0x2: return 20;      // 1 ms, where the default begins at 50 us
    case 0x5: return 320;     // 16 ms
    case 0x6: return 1300;    // 65 ms
    case 0x9: return 5200;    // 260 ms
    case 0xA: return 20000;   // 1 s
    case 0xD: return 80000;   // 4 s
    case 0xE: return 340000;  // 17 s
    default: return 1;        // the default, 50 us, and values that are reserved
  }
}

void ConfigSpace::show_pending(bool transactions) {
  constexpr std::uint32_t kBit = kTransactionsPending << kDeviceStatusShift;
  std::uint32_t& value = registers_[(express_ + kDeviceControl) / 4].value;
  value = transactions ? value | kBit : value & ~kBit;
}

void ConfigSpace::report(std::uint16_t error_bits) {
  WARPLINE_EXPECT((error_bits & ~kDeviceErrors) == 0, "device status has four error bits");
  registers_[(express_ + kDeviceControl) / 4].value |= std::uint32_t{error_bits} << kDeviceStatusShift;
}

void ConfigSpace::report_status(std::uint16_t status_bits) {
  WARPLINE_EXPECT((status_bits & ~kErrorStatus) == 0, "status has bits for these errors");
  registers_[kCommandStatus / 4].value |= std::uint32_t{status_bits} << kStatusShift;
}

}  // namespace warpline
