#pragma once

#include <cstdint>

/// Offsets and bits of configuration space, as the PCI Local Bus and PCI Express base specifications number
/// them: those that the model acts on.
namespace warpline::config {

inline constexpr unsigned kIds = 0x00, kCommandStatus = 0x04, kClass = 0x08, kCacheLine = 0x0C, kBar0 = 0x10,
                          kSubsystem = 0x2C, kCapabilityPointer = 0x34, kInterruptLine = 0x3C;
// Command.
inline constexpr std::uint32_t kMemorySpace = 1U << 1U, kBusMaster = 1U << 2U, kParityResponse = 1U << 6U,
                               kSerr = 1U << 8U, kInterruptDisable = 1U << 10U;
// Status, which is the upper half of the register.
inline constexpr unsigned kStatusShift = 16;
inline constexpr std::uint32_t kCapabilityList = 1U << 4U, kErrorStatus = 0xF900;
// Base address registers.
inline constexpr std::uint32_t kBarWide = 1U << 2U, kBarPrefetchable = 1U << 3U, kBarFlags = 0xF;

// Capabilities: their numbers, and where this model puts them.
inline constexpr std::uint32_t kPowerId = 0x01, kExpressId = 0x10, kMsixId = 0x11;
inline constexpr unsigned kPowerAt = 0x40, kMsixAt = 0x50, kExpressAt = 0x60;
// Power management: the upper half of the first register; the second is control and status.
inline constexpr std::uint32_t kPowerVersion = 3;
inline constexpr unsigned kPowerControl = 0x04;
inline constexpr std::uint32_t kPowerStateBits = 3;
// MSI-X: message control is the upper half of the first register.
inline constexpr std::uint32_t kMsixEnable = 1U << 31U, kMsixMask = 1U << 30U;
inline constexpr unsigned kMsixTable = 0x04, kMsixPending = 0x08;
// PCI Express, version 2. Device status and link status are upper halves.
inline constexpr std::uint32_t kExpressVersion = 2;
inline constexpr unsigned kDeviceCapabilities = 0x04, kDeviceControl = 0x08, kLinkCapabilities = 0x0C,
                          kLinkStatus = 0x10, kDeviceCapabilities2 = 0x24, kDeviceControl2 = 0x28,
                          kLinkCapabilities2 = 0x2C, kLinkControl2 = 0x30;
inline constexpr std::uint32_t kExtendedTagSupported = 1U << 5U, kRoleBasedErrors = 1U << 15U,
                               kFunctionResetSupported = 1U << 28U;
inline constexpr std::uint32_t kErrorReporting = 0xF, kRelaxedOrdering = 1U << 4U, kExtendedTags = 1U << 8U,
                               kNoSnoop = 1U << 11U, kFunctionReset = 1U << 15U;
inline constexpr unsigned kMaxPayloadShift = 5, kMaxReadShift = 12;
inline constexpr std::uint32_t kSizeBits =
    7;  ///< of both sizes: they are 128 bytes shifted left by this field
inline constexpr std::uint32_t kMaxRead512 = 2;
inline constexpr unsigned kDeviceStatusShift = 16;
inline constexpr std::uint32_t kDeviceErrors = 0xF, kTransactionsPending = 1U << 5U;
inline constexpr std::uint32_t kSlotClock = 1U << 12U;
inline constexpr std::uint32_t kTimeoutRanges = 0xF, kTimeoutDisable = 1U << 4U;

}  // namespace warpline::config
