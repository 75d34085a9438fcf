#include "rtl_models/nvme/nvm_commands.h"

#include <algorithm>

namespace warpline {
namespace {

using namespace regs::nvme;

constexpr std::uint32_t kForceUnitAccess = 1U << 30U;  // dword 12
constexpr std::uint32_t kDeallocate = 1U << 2U;        // dword 11 of Dataset Management

bool is_known(unsigned opcode) {
  switch (opcode) {
    case kNvmOpcodeFlush:
    case kNvmOpcodeWrite:
    case kNvmOpcodeRead:
    case kNvmOpcodeCompare:
    case kNvmOpcodeWriteZeroes:
    case kNvmOpcodeDatasetManagement:
    case kNvmOpcodeVerify: return true;
    default: return false;
  }
}

/// What the host's disk does not do.
NvmeStatus done_or_unready(bool done) {
  return done ? NvmeStatus{} : failure(kStatusCodeNamespaceNotReady);
}

}  // namespace

NvmeStatus NvmCommands::begin(unsigned queue, std::uint64_t number, const NvmeCommand& command,
                              NvmePlan& plan) {
  if (!is_known(command.opcode)) return refusal(kStatusCodeInvalidOpcode);
  if (command.fuse() != 0 || command.psdt() == 3) return refusal(kStatusCodeInvalidField);
  const bool flushes = command.opcode == kNvmOpcodeFlush;
  if (!flushes || command.nsid != kAllNamespaces) {
    if (!state_.has(command.nsid)) return refusal(kStatusCodeInvalidNamespace);
    NvmeNamespace* const space = state_.find(command.nsid);
    if (space == nullptr) return refusal(kStatusCodeInvalidField);
    if (command.opcode == kNvmOpcodeDatasetManagement) {
      plan.data = NvmePlan::Data::from_host;
      plan.bytes = kRangeBytes * ((command.dword(10) & 0xFFU) + 1);
    } else if (!flushes) {
      if (const NvmeStatus status = plan_blocks(*space, command, plan); !status.ok()) return status;
    }
  }
  if (flushes && state_.features.write_cache()) plan.media = NvmeMediaAccess::flush;
  const NvmeFault fault = state_.faults.judge(queue, number, command);
  if (fault != NvmeFault::none) ++state_.counters.injected;
  switch (fault) {
    case NvmeFault::none: break;
    case NvmeFault::read_error: return failure(kStatusCodeUnrecoveredReadError);
    case NvmeFault::write_fault: return failure(kStatusCodeWriteFault);
    case NvmeFault::internal_error: return failure(kStatusCodeInternalError);
    case NvmeFault::not_ready: return failure(kStatusCodeNamespaceNotReady);
    case NvmeFault::timeout: plan.parks = true; break;
  }
  return {};
}

/// Whether what is written goes to the media before the command completes.
bool NvmCommands::through(const NvmeCommand& command) const {
  return !state_.features.write_cache() || (command.dword(12) & kForceUnitAccess) != 0;
}

NvmeStatus NvmCommands::plan_blocks(NvmeNamespace& space, const NvmeCommand& command, NvmePlan& plan) const {
  if (!space.holds(command.first_block(), command.blocks())) return refusal(kStatusCodeLbaOutOfRange);
  const std::uint64_t bytes = std::uint64_t{command.blocks()} << space.shift();
  plan.media_bytes = bytes;
  plan.media = NvmeMediaAccess::read;
  switch (command.opcode) {
    case kNvmOpcodeRead: plan.data = NvmePlan::Data::to_host; break;
    case kNvmOpcodeCompare: plan.data = NvmePlan::Data::from_host; break;
    case kNvmOpcodeWrite:
      plan.data = NvmePlan::Data::from_host;
      plan.media = through(command) ? NvmeMediaAccess::write_through : NvmeMediaAccess::write;
      break;
    case kNvmOpcodeWriteZeroes:
      // A note on the media, and not all of these bytes.
      plan.media = through(command) ? NvmeMediaAccess::write_through : NvmeMediaAccess::write;
      plan.media_bytes = 0;
      return {};
    default: return {};
  }
  if (bytes > state_.parameters.max_transfer) return refusal(kStatusCodeInvalidField);
  plan.bytes = static_cast<std::uint32_t>(bytes);
  return {};
}

NvmeStatus NvmCommands::perform(const NvmeCommand& command, std::vector<std::uint8_t>& data) {
  if (command.opcode == kNvmOpcodeFlush) return flush(command);
  NvmeNamespace* const space = state_.find(command.nsid);
  if (space == nullptr) return refusal(kStatusCodeInvalidField);
  if (command.opcode == kNvmOpcodeDatasetManagement) return deallocate(*space, command, data);
  // It may have been given another format since the command began.
  const std::uint64_t bytes = std::uint64_t{command.blocks()} << space->shift();
  if (!space->holds(command.first_block(), command.blocks()) || (!data.empty() && data.size() != bytes))
    return failure(kStatusCodeInvalidNamespace);
  switch (command.opcode) {
    case kNvmOpcodeRead:
      state_.counters.read_bytes += bytes;
      return done_or_unready(
          space->store().read(command.first_block() << space->shift(), data.data(), bytes));
    case kNvmOpcodeWrite: return write(*space, command, data);
    case kNvmOpcodeCompare: return compare(*space, command, data);
    case kNvmOpcodeWriteZeroes: return clear(*space, command);
    case kNvmOpcodeVerify: return verify(*space, command);
    default: return {};
  }
}

/// Whether the bytes can be read.
NvmeStatus NvmCommands::verify(NvmeNamespace& space, const NvmeCommand& command) {
  std::vector<std::uint8_t> there(std::size_t{1} << 16U);
  const std::uint64_t first = command.first_block() << space.shift();
  const std::uint64_t bytes = std::uint64_t{command.blocks()} << space.shift();
  for (std::uint64_t at = 0; at < bytes; at += there.size())
    if (!space.store().read(first + at, there.data(), std::min<std::uint64_t>(there.size(), bytes - at)))
      return failure(kStatusCodeNamespaceNotReady);
  return {};
}

NvmeStatus NvmCommands::flush(const NvmeCommand& command) {
  bool done = true;
  for (std::uint32_t nsid = 1; nsid <= state_.spaces.size(); ++nsid)
    if (command.nsid == kAllNamespaces || command.nsid == nsid)
      done = state_.spaces[nsid - 1].store().flush() && done;
  return done_or_unready(done);
}

NvmeStatus NvmCommands::write(NvmeNamespace& space, const NvmeCommand& command,
                              const std::vector<std::uint8_t>& data) {
  state_.counters.written_bytes += data.size();
  if (!space.store().write(command.first_block() << space.shift(), data.data(), data.size()))
    return failure(kStatusCodeNamespaceNotReady);
  return done_or_unready(!through(command) || space.store().flush());
}

NvmeStatus NvmCommands::compare(NvmeNamespace& space, const NvmeCommand& command,
                                const std::vector<std::uint8_t>& data) {
  std::vector<std::uint8_t> there(data.size());
  if (!space.store().read(command.first_block() << space.shift(), there.data(), there.size()))
    return failure(kStatusCodeNamespaceNotReady);
  return there == data ? NvmeStatus{} : refusal(kStatusCodeCompareFailure);
}

NvmeStatus NvmCommands::clear(NvmeNamespace& space, const NvmeCommand& command) {
  if (!space.store().clear(command.first_block() << space.shift(),
                           std::uint64_t{command.blocks()} << space.shift()))
    return failure(kStatusCodeNamespaceNotReady);
  return done_or_unready(!through(command) || space.store().flush());
}

NvmeStatus NvmCommands::deallocate(NvmeNamespace& space, const NvmeCommand& command,
                                   const std::vector<std::uint8_t>& ranges) {
  const auto each = [&](auto&& visit) {
    for (std::size_t at = 0; at < ranges.size(); at += kRangeBytes)
      if (!visit(number_at(&ranges[at + kRangeFirst], 8), number_at(&ranges[at + kRangeBlocks], 4)))
        return false;
    return true;
  };
  if (!each([&](std::uint64_t first, std::uint64_t count) { return space.holds(first, count); }))
    return refusal(kStatusCodeLbaOutOfRange);
  if ((command.dword(11) & kDeallocate) == 0) return {};
  return done_or_unready(each([&](std::uint64_t first, std::uint64_t count) {
    return count == 0 || space.store().clear(first << space.shift(), count << space.shift());
  }));
}

}  // namespace warpline
