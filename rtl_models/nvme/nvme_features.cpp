#include "rtl_models/nvme/nvme_features.h"

#include <algorithm>

namespace warpline {

using namespace regs::nvme;

bool NvmeFeatures::has(unsigned feature) const {
  switch (feature) {
    case kFeatureArbitration:
    case kFeaturePowerManagement:
    case kFeatureTemperatureThreshold:
    case kFeatureErrorRecovery:
    case kFeatureNumberOfQueues:
    case kFeatureInterruptCoalescing:
    case kFeatureInterruptVector:
    case kFeatureWriteAtomicity:
    case kFeatureAsyncEvents:
    case kFeatureTimestamp: return true;
    case kFeatureWriteCache: return cache_;
    default: return false;
  }
}

// NVM Express base 1.4, 7.8: which namespaces may be named.
NvmeStatus NvmeFeatures::check(const NvmeCommand& command, bool active) const {
  const bool sets = command.opcode == kAdminOpcodeSetFeatures;
  const unsigned feature = command.dword(10) & 0xFFU;
  if (!has(feature) || (!sets && (command.dword(10) >> 8U & 7U) > 3)) return refusal(kStatusCodeInvalidField);
  if (sets && (command.dword(10) >> 31U) != 0) return refusal(kStatusCodeFeatureNotSaveable);
  const bool of_all = command.nsid == kAllNamespaces, names_one = command.nsid != 0 && !of_all;
  if (names_one && command.nsid > namespaces_) return refusal(kStatusCodeInvalidNamespace);
  if (feature != kFeatureErrorRecovery)
    return sets && names_one ? refusal(kStatusCodeFeatureNotNamespaceSpecific) : NvmeStatus{};
  if (names_one) return active ? NvmeStatus{} : refusal(kStatusCodeInvalidField);
  return sets && of_all ? NvmeStatus{} : refusal(kStatusCodeInvalidNamespace);
}

NvmeStatus NvmeFeatures::set(const NvmeCommand& command, bool queues, std::uint32_t& result) {
  const unsigned feature = command.dword(10) & 0xFFU;
  const std::uint32_t value = command.dword(11);
  switch (feature) {
    case kFeatureArbitration: arbitration_ = value; return {};
    case kFeaturePowerManagement:
      // Workload hints change nothing.
      return (value & 0x1FU) == 0 ? NvmeStatus{} : refusal(kStatusCodeInvalidField);
    case kFeatureTemperatureThreshold: return set_temperature(value);
    case kFeatureErrorRecovery: return set_recovery(command);
    case kFeatureWriteCache: write_cache_ = (value & 1U) != 0; return {};
    case kFeatureNumberOfQueues: return set_queues(value, queues, result);
    case kFeatureInterruptCoalescing: coalescing_ = value & 0xFFFFU; return {};
    case kFeatureInterruptVector:
      if ((value & 0xFFFFU) > queues_) return refusal(kStatusCodeInvalidField);
      direct_[value & 0xFFFFU] = (value >> 16U & 1U) != 0;
      return {};
    case kFeatureWriteAtomicity: atomicity_ = value & 1U; return {};
    case kFeatureAsyncEvents: events_ = value & 0x11FU; return {};
    default: return refusal(kStatusCodeInvalidField);
  }
}

NvmeStatus NvmeFeatures::set_recovery(const NvmeCommand& command) {
  const std::uint32_t value = command.dword(11);
  if ((value >> 16U & 1U) != 0) return refusal(kStatusCodeInvalidField);  // errors of deallocated blocks
  for (std::uint32_t nsid = 1; nsid <= namespaces_; ++nsid)
    if (command.nsid == kAllNamespaces || command.nsid == nsid) recovery_[nsid - 1] = value & 0xFFFFU;
  return {};
}

NvmeStatus NvmeFeatures::set_temperature(std::uint32_t value) {
  const unsigned sensor = value >> 16U & 0xFU, kind = value >> 20U & 3U;
  if (kind > 1) return refusal(kStatusCodeInvalidField);
  // 0: of the controller as a whole; 15: of every sensor, and there is no other.
  if (sensor != 0 && sensor != 15) return refusal(kStatusCodeInvalidField);
  (kind == 0 ? over_ : under_) = value & 0xFFFFU;
  return {};
}

NvmeStatus NvmeFeatures::set_queues(std::uint32_t value, bool queues, std::uint32_t& result) {
  const std::uint32_t submissions = value & 0xFFFFU, completions = value >> 16U;
  if (submissions == 0xFFFF || completions == 0xFFFF) return refusal(kStatusCodeInvalidField);
  if (queues) return refusal(kStatusCodeSequenceError);
  // As many as there are: the host may use fewer.
  result = granted_;
  return {};
}

NvmeStatus NvmeFeatures::get(const NvmeCommand& command, std::uint32_t& result) const {
  const unsigned feature = command.dword(10) & 0xFFU, select = command.dword(10) >> 8U & 7U;
  const bool fixed = feature == kFeatureInterruptVector && (command.dword(11) & 0xFFFFU) > queues_;
  if (fixed) return refusal(kStatusCodeInvalidField);
  if (select == 3) {
    // It can be changed, and is not saved; one is of namespaces.
    result = 4U | (feature == kFeatureErrorRecovery ? 2U : 0U);
    return {};
  }
  NvmeFeatures defaults(*this);
  defaults.reset();
  const NvmeFeatures& from = select == 0 ? *this : defaults;
  switch (feature) {
    case kFeatureArbitration: result = from.arbitration_; break;
    case kFeatureTemperatureThreshold: {
      const unsigned sensor = command.dword(11) >> 16U & 0xFU, kind = command.dword(11) >> 20U & 3U;
      if (kind > 1 || sensor != 0) return refusal(kStatusCodeInvalidField);
      result = kind == 0 ? from.over_ : from.under_;
      break;
    }
    case kFeatureErrorRecovery: result = from.recovery_[command.nsid - 1]; break;
    case kFeatureWriteCache: result = from.write_cache_ ? 1 : 0; break;
    case kFeatureNumberOfQueues: result = from.granted_; break;
    case kFeatureInterruptCoalescing: result = from.coalescing_; break;
    case kFeatureInterruptVector: {
      const std::uint32_t vector = command.dword(11) & 0xFFFFU;
      result = vector | (from.direct_[vector] ? 1U << 16U : 0);
      break;
    }
    case kFeatureWriteAtomicity: result = from.atomicity_; break;
    case kFeatureAsyncEvents: result = from.events_; break;
    default: result = 0; break;
  }
  return {};
}

}  // namespace warpline
