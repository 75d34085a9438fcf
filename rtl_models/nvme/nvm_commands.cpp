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

/// Of what the host's disk may not do.
NvmeStatus status_of(bool done) {
  return done ? NvmeStatus{} : failure(kStatusCodeInternalError);
}
NvmeStatus status_of(BlockOutcome outcome) {
  return outcome == BlockOutcome::full ? refusal(kStatusCodeCapacityExceeded)
                                       : status_of(outcome == BlockOutcome::done);
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
      if ((command.dword(11) & kDeallocate) != 0 && through(command)) plan.media = NvmeMediaAccess::flush;
    } else if (!flushes) {
      if (const NvmeStatus status = plan_blocks(*space, command, plan); !status.ok()) return status;
    }
  }
  if (flushes && state_.features.write_cache()) plan.media = NvmeMediaAccess::flush;
  const NvmeFault fault = state_.faults.judge(queue, number, command);
  if (fault != NvmeFault::none) ++state_.counters.injected;
  switch (fault) {
    case NvmeFault::none: break;
    case NvmeFault::read_error: plan.fails = failure(kStatusCodeUnrecoveredReadError); break;
    case NvmeFault::write_fault: plan.fails = failure(kStatusCodeWriteFault); break;
    case NvmeFault::internal_error: plan.fails = failure(kStatusCodeInternalError); break;
    case NvmeFault::not_ready: return failure(kStatusCodeNamespaceNotReady);
    case NvmeFault::stuck: plan.stays = true; [[fallthrough]];
    case NvmeFault::timeout: plan.parks = true; break;
  }
  return {};
}

/// Whether what is written goes to the media before the command completes.
bool NvmCommands::through(const NvmeCommand& command) const {
  const bool may_force = command.opcode != kNvmOpcodeDatasetManagement;
  return !state_.features.write_cache() || (may_force && (command.dword(12) & kForceUnitAccess) != 0);
}

NvmeStatus NvmCommands::plan_blocks(NvmeNamespace& space, const NvmeCommand& command, NvmePlan& plan) const {
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
      break;
    default: break;
  }
  if (plan.data != NvmePlan::Data::none) {
    if (bytes > state_.parameters.max_transfer) return refusal(kStatusCodeInvalidField);
    plan.bytes = static_cast<std::uint32_t>(bytes);
  }
  return space.holds(command.first_block(), command.blocks()) ? NvmeStatus{}
                                                              : refusal(kStatusCodeLbaOutOfRange);
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
    case kNvmOpcodeRead: return read(*space, command, data.data(), bytes);
    case kNvmOpcodeWrite: return write(*space, command, data);
    case kNvmOpcodeCompare: return compare(*space, command, data);
    case kNvmOpcodeWriteZeroes: return clear(*space, command);
    case kNvmOpcodeVerify: return verify(*space, command);
    default: return {};
  }
}

NvmeStatus NvmCommands::read(NvmeNamespace& space, const NvmeCommand& command, std::uint8_t* to,
                             std::uint64_t bytes) {
  const bool done = space.store().read(command.first_block() << space.shift(), to, bytes);
  if (done) state_.counters.read_bytes += bytes;
  return status_of(done);
}

/// Whether the bytes can be read.
NvmeStatus NvmCommands::verify(NvmeNamespace& space, const NvmeCommand& command) {
  std::vector<std::uint8_t> there(std::size_t{1} << 16U);
  const std::uint64_t first = command.first_block() << space.shift();
  const std::uint64_t bytes = std::uint64_t{command.blocks()} << space.shift();
  for (std::uint64_t at = 0; at < bytes; at += there.size())
    if (!space.store().read(first + at, there.data(), std::min<std::uint64_t>(there.size(), bytes - at)))
      return status_of(false);
  state_.counters.read_bytes += bytes;
  return {};
}

NvmeStatus NvmCommands::flush(const NvmeCommand& command) {
  bool done = true;
  for (std::uint32_t nsid = 1; nsid <= state_.spaces.size(); ++nsid)
    if (command.nsid == kAllNamespaces || command.nsid == nsid)
      done = state_.spaces[nsid - 1].store().flush() && done;
  return status_of(done);
}

/// What was written, once it is where it must be.
NvmeStatus NvmCommands::wrote(NvmeNamespace& space, const NvmeCommand& command, BlockOutcome outcome) const {
  if (outcome != BlockOutcome::done) return status_of(outcome);
  return status_of(!through(command) || space.store().flush());
}

NvmeStatus NvmCommands::write(NvmeNamespace& space, const NvmeCommand& command,
                              const std::vector<std::uint8_t>& data) {
  const NvmeStatus status = wrote(
      space, command, space.store().write(command.first_block() << space.shift(), data.data(), data.size()));
  if (status.ok()) state_.counters.written_bytes += data.size();
  return status;
}

NvmeStatus NvmCommands::compare(NvmeNamespace& space, const NvmeCommand& command,
                                const std::vector<std::uint8_t>& data) {
  std::vector<std::uint8_t> there(data.size());
  if (const NvmeStatus status = read(space, command, there.data(), there.size()); !status.ok()) return status;
  return there == data ? NvmeStatus{} : refusal(kStatusCodeCompareFailure);
}

NvmeStatus NvmCommands::clear(NvmeNamespace& space, const NvmeCommand& command) {
  return wrote(space, command,
               space.store().clear(command.first_block() << space.shift(),
                                   std::uint64_t{command.blocks()} << space.shift()));
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
  BlockOutcome outcome = BlockOutcome::done;
  static_cast<void>(each([&](std::uint64_t first, std::uint64_t count) {
    if (count != 0) outcome = space.store().clear(first << space.shift(), count << space.shift());
    return outcome == BlockOutcome::done;
  }));
  return wrote(space, command, outcome);
}

}  // namespace warpline
