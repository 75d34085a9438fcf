#include "rtl_models/pcie/packets/config_space.h"

#include <algorithm>

#include "rtl_models/base/contract.h"

namespace warpline {

using namespace config;

ConfigSpace::ConfigSpace(const FunctionDescription& description) : description_(description) {
  WARPLINE_EXPECT(description.problems("").empty(), "a description is checked before it is used");
  build_header();
  build_bars();
  build_capabilities();
  built_ = registers_;
}

void ConfigSpace::put(unsigned offset, std::uint32_t value, std::uint32_t writable,
                      std::uint32_t clear_by_one) {
  registers_[offset / 4] = {value, writable, clear_by_one};
}

void ConfigSpace::build_header() {
  const FunctionDescription& d = description_;
  put(kIds, std::uint32_t{d.device} << 16U | d.vendor);
  put(kCommandStatus, kCapabilityList << kStatusShift,
      kMemorySpace | kBusMaster | kParityResponse | kSerr | kInterruptDisable, kErrorStatus << kStatusShift);
  put(kClass, d.class_code << 8U | d.revision);
  put(kCacheLine, 0, 0xFF);
  put(kSubsystem, std::uint32_t{d.subsystem} << 16U | d.subsystem_vendor);
  put(kInterruptLine, 0, 0xFF);
}

void ConfigSpace::build_bars() {
  for (unsigned i = 0; i < kBars; ++i) {
    const BarDescription& bar = description_.bars[i];
    if (bar.bytes == 0) continue;
    const std::uint64_t sizing = ~(bar.bytes - 1);
    put(kBar0 + 4 * i, (bar.wide ? kBarWide : 0) | (bar.prefetchable ? kBarPrefetchable : 0),
        static_cast<std::uint32_t>(sizing));
    if (bar.wide) put(kBar0 + 4 * (i + 1), 0, static_cast<std::uint32_t>(sizing >> 32U));
  }
}

void ConfigSpace::build_capabilities() {
  power_ = kPowerAt;
  msix_ = description_.vectors != 0 ? kMsixAt : 0;
  express_ = kExpressAt;
  put(kCapabilityPointer, power_);
  put(power_, kPowerVersion << 16U | (msix_ != 0 ? msix_ : express_) << 8U | kPowerId);
  put(power_ + kPowerControl, 0, kPowerStateBits);
  if (msix_ != 0) {
    const std::uint32_t entries = description_.vectors - 1;
    put(msix_, entries << 16U | express_ << 8U | kMsixId, kMsixEnable | kMsixMask);
    put(msix_ + kMsixTable, description_.msix_bar);
    put(msix_ + kMsixPending, 16 * description_.vectors | description_.msix_bar);
  }
  build_express();
}

void ConfigSpace::build_express() {
  std::uint32_t payload = 0;
  while (128U << payload < description_.max_payload_supported) ++payload;
  const std::uint32_t speed = description_.link_speed, width = description_.link_width;
  put(express_, kExpressVersion << 16U | kExpressId);
  put(express_ + kDeviceCapabilities,
      payload | kExtendedTagSupported | kRoleBasedErrors | kFunctionResetSupported);
  put(express_ + kDeviceControl, kRelaxedOrdering | kExtendedTags | kNoSnoop | kMaxRead512 << kMaxReadShift,
      kErrorReporting | kRelaxedOrdering | kSizeBits << kMaxPayloadShift | kExtendedTags | kNoSnoop |
          kSizeBits << kMaxReadShift,
      kDeviceErrors << kDeviceStatusShift);
  put(express_ + kLinkCapabilities, speed | width << 4U);
  put(express_ + kLinkStatus, (speed | width << 4U | kSlotClock) << 16U);
  put(express_ + kDeviceCapabilities2, kTimeoutRanges | kTimeoutDisable);
  put(express_ + kDeviceControl2, 0, kTimeoutRanges | kTimeoutDisable);
  put(express_ + kLinkCapabilities2, ((1U << speed) - 1) << 1U);
  put(express_ + kLinkControl2, speed);
}

std::uint32_t ConfigSpace::read(unsigned offset) const {
  WARPLINE_EXPECT(offset % 4 == 0 && offset < 4096, "a register of configuration space is read");
  return offset / 4 < kRegisters ? at(offset) : 0;
}

void ConfigSpace::write(unsigned offset, std::uint32_t value, unsigned enables) {
  WARPLINE_EXPECT(offset % 4 == 0 && offset < 4096, "a register of configuration space is written");
  if (offset / 4 >= kRegisters) return;
  std::uint32_t bits = 0;
  for (unsigned i = 0; i < 4; ++i)
    if ((enables >> i & 1U) != 0) bits |= 0xFFU << 8 * i;
  Register& r = registers_[offset / 4];
  const PowerState before = power_state();
  const std::uint32_t changed = r.writable & bits;
  r.value = (r.value & ~changed) | (value & changed);
  r.value &= ~(value & bits & r.clear_by_one);
  if (offset == power_ + kPowerControl) set_power_state(before);
  if (offset == express_ + kDeviceControl && (value & bits & kFunctionReset) != 0) reset_function();
}

/// A Function Level Reset: the link goes on with the packets that its two ends have agreed on (PCI Express
/// base specification, "Function Level Reset").
void ConfigSpace::reset_function() {
  constexpr std::uint32_t kKept = kSizeBits << kMaxPayloadShift;
  const std::uint32_t kept = at(express_ + kDeviceControl) & kKept;
  reset();
  std::uint32_t& control = registers_[(express_ + kDeviceControl) / 4].value;
  control = (control & ~kKept) | kept;
  soft_reset_ = true;
}

void ConfigSpace::set_power_state(PowerState before) {
  Register& r = registers_[(power_ + kPowerControl) / 4];
  const PowerState asked = power_state();
  if (asked == PowerState::d1 || asked == PowerState::d2)
    r.value = (r.value & ~kPowerStateBits) | static_cast<std::uint32_t>(before);
  if (before != PowerState::d3hot || asked != PowerState::d0) return;
  reset();
  soft_reset_ = true;
}

std::optional<std::uint64_t> ConfigSpace::address_of(unsigned bar) const {
  WARPLINE_EXPECT(bar < kBars, "a function has six base address registers");
  if (description_.bars[bar].bytes == 0) return std::nullopt;
  std::uint64_t address = at(kBar0 + 4 * bar) & ~kBarFlags;
  if (description_.bars[bar].wide) address |= std::uint64_t{at(kBar0 + 4 * (bar + 1))} << 32U;
  if (address == 0) return std::nullopt;
  return address;
}

std::optional<BarHit> ConfigSpace::decode(std::uint64_t address, std::uint64_t bytes) const {
  if (!memory_enabled() || power_state() != PowerState::d0) return std::nullopt;
  for (unsigned i = 0; i < kBars; ++i) {
    const std::optional<std::uint64_t> base = address_of(i);
    if (!base || address < *base) continue;
    const std::uint64_t offset = address - *base, size = description_.bars[i].bytes;
    if (offset < size && bytes <= size - offset) return BarHit{i, offset};
  }
  return std::nullopt;
}

unsigned ConfigSpace::max_payload() const {
  const unsigned asked = 128U << (at(express_ + kDeviceControl) >> kMaxPayloadShift & kSizeBits);
  return std::min(asked, description_.max_payload_supported);
}

unsigned ConfigSpace::max_read_request() const {
  return std::min(128U << (at(express_ + kDeviceControl) >> kMaxReadShift & kSizeBits), 4096U);
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
