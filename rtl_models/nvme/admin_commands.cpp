#include "rtl_models/nvme/admin_commands.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

namespace warpline {
namespace {

using namespace regs::nvme;

/// What the host has been told of stays told.
constexpr std::uint32_t kRetainEvents = 1U << 15U;  // dword 10 of Get Log Page
constexpr std::uint32_t kContiguous = 1U << 0U;     // dword 11 of Create I/O Queue

std::uint32_t low(std::uint32_t dword) {
  return dword & 0xFFFFU;
}
std::uint32_t high(std::uint32_t dword) {
  return dword >> 16U;
}

bool is_timestamp(const NvmeCommand& command) {
  return (command.dword(10) & 0xFFU) == kFeatureTimestamp;
}
/// Of Get Features.
unsigned select_of(const NvmeCommand& command) {
  return command.dword(10) >> 8U & 7U;
}
/// Of Get Log Page.
std::uint64_t offset_of(const NvmeCommand& command) {
  return command.dword(12) | std::uint64_t{command.dword(13)} << 32U;
}
std::size_t bytes_of_log_page(unsigned page) {
  switch (page) {
    case kLogPageError: return 64 * NvmePages::kErrors;
    case kLogPageSmart:
    case kLogPageFirmwareSlot: return 512;
    default: return 4096;
  }
}

}  // namespace

NvmeStatus AdminCommands::begin(const NvmeCommand& command, NvmePlan& plan) {
  // Data of admin commands lies where PRP entries say.
  if (command.fuse() != 0 || command.psdt() != 0) return refusal(kStatusCodeInvalidField);
  switch (command.opcode) {
    case kAdminOpcodeDeleteSq: plan.stays = true; return begin_deletion(command);
    case kAdminOpcodeCreateSq:
    case kAdminOpcodeCreateCq: return begin_creation(command, plan);
    case kAdminOpcodeDeleteCq: return {};
    case kAdminOpcodeAbort: plan.stays = plan.last = true; return {};
    case kAdminOpcodeGetLogPage: return begin_log_page(command, plan);
    case kAdminOpcodeIdentify:
      plan.data = NvmePlan::Data::to_host;
      plan.bytes = NvmePages::kBytes;
      return check_identify(command);
    case kAdminOpcodeSetFeatures:
    case kAdminOpcodeGetFeatures: return begin_feature(command, plan);
    case kAdminOpcodeAsyncEventRequest:
      if (engine_.parked(0, kAdminOpcodeAsyncEventRequest) >= NvmePages::kEventRequests)
        return refusal(kStatusCodeTooManyAsyncEvents);
      plan.parks = true;
      return {};
    case kAdminOpcodeFormatNvm: plan.media = NvmeMediaAccess::flush; return {};
    default: return refusal(kStatusCodeInvalidOpcode);
  }
}

NvmeStatus AdminCommands::begin_feature(const NvmeCommand& command, NvmePlan& plan) const {
  const bool active = state_.find(command.nsid) != nullptr;
  if (const NvmeStatus status = state_.features.check(command, active); !status.ok()) return status;
  const bool sets = command.opcode == kAdminOpcodeSetFeatures;
  if (is_timestamp(command) && (sets || select_of(command) < 3)) {
    plan.data = sets ? NvmePlan::Data::from_host : NvmePlan::Data::to_host;
    plan.bytes = 8;
  }
  if (sets && turns_cache_off(command)) plan.media = NvmeMediaAccess::flush;
  return {};
}

/// Whether a Set Features does: what is in it goes to the media before.
bool AdminCommands::turns_cache_off(const NvmeCommand& command) const {
  return (command.dword(10) & 0xFFU) == kFeatureWriteCache && (command.dword(11) & 1U) == 0 &&
         state_.features.write_cache();
}

NvmeStatus AdminCommands::begin_log_page(const NvmeCommand& command, NvmePlan& plan) const {
  const unsigned page = command.dword(10) & 0xFFU;
  if (page < kLogPageError || page > kLogPageCommands) return refusal(kStatusCodeInvalidLogPage);
  // They are the controller's, and no namespace has one.
  if (command.nsid != 0 && command.nsid != kAllNamespaces) return refusal(kStatusCodeInvalidField);
  const std::uint64_t dwords = (std::uint64_t{low(command.dword(11))} << 16U | high(command.dword(10))) + 1;
  const std::uint64_t offset = offset_of(command);
  if (offset % 4 != 0 || offset > bytes_of_log_page(page)) return refusal(kStatusCodeInvalidField);
  if (4 * dwords > state_.parameters.max_transfer) return refusal(kStatusCodeInvalidField);
  plan.data = NvmePlan::Data::to_host;
  plan.bytes = static_cast<std::uint32_t>(4 * dwords);
  return {};
}

/// Its commands end now, as far as they have had no effect; the others are waited for.
NvmeStatus AdminCommands::begin_deletion(const NvmeCommand& command) {
  const std::uint32_t number = low(command.dword(10));
  auto& queues = state_.queues.submissions;
  if (number == 0 || number >= queues.size() || !queues[number].exists || queues[number].deleting)
    return refusal(kStatusCodeInvalidQueueId);
  queues[number].deleting = true;
  engine_.abort_all(number, failure(kStatusCodeAbortedSqDeletion));
  return {};
}

bool AdminCommands::may_perform(const NvmeCommand& command) const {
  return command.opcode != kAdminOpcodeDeleteSq || !engine_.executes(low(command.dword(10)));
}

NvmeStatus AdminCommands::perform(const NvmeCommand& command, std::vector<std::uint8_t>& data,
                                  std::uint32_t& result, Cycle now) {
  switch (command.opcode) {
    case kAdminOpcodeDeleteSq: {
      NvmeSubmissionQueue& queue = state_.queues.submissions[low(command.dword(10))];
      --state_.queues.completions[queue.completions].users;
      queue = {};
      return {};
    }
    case kAdminOpcodeCreateSq:
    case kAdminOpcodeCreateCq: return create(command, data);
    case kAdminOpcodeDeleteCq: return delete_completions(command);
    case kAdminOpcodeIdentify: return identify(command, data);
    case kAdminOpcodeGetLogPage: give_log_page(command, data); return {};
    case kAdminOpcodeAbort:
      // Bit 0 says that it was not aborted.
      result = engine_.abort(low(command.dword(10)), static_cast<std::uint16_t>(high(command.dword(10))),
                             failure(kStatusCodeAbortRequested))
                   ? 0
                   : 1;
      return {};
    case kAdminOpcodeSetFeatures: return set_feature(command, data, result, now);
    case kAdminOpcodeGetFeatures: return get_feature(command, data, result, now);
    case kAdminOpcodeFormatNvm: return format(command);
    default: return refusal(kStatusCodeInvalidOpcode);
  }
}

/// What is wrong with a queue that is to be made.
NvmeStatus AdminCommands::check_creation(const NvmeCommand& command) const {
  const NvmeQueues& queues = state_.queues;
  const bool submissions = command.opcode == kAdminOpcodeCreateSq;
  const std::uint32_t number = low(command.dword(10)), entries = high(command.dword(10)) + 1;
  const std::uint32_t of = high(command.dword(11));  // its completion queue, or its vector
  if (submissions && (of == 0 || of >= queues.completions.size())) return refusal(kStatusCodeInvalidQueueId);
  if (submissions && !queues.completions[of].exists) return refusal(kStatusCodeInvalidCq);
  if (number == 0 || number >= queues.submissions.size() ||
      (submissions ? queues.submissions[number].exists : queues.completions[number].exists))
    return refusal(kStatusCodeInvalidQueueId);
  const std::uint64_t cc = registers_.get(kCc);
  const bool known = submissions ? std::uint64_t{1} << field<kCcIosqes>(cc) == kCommandBytes
                                 : std::uint64_t{1} << field<kCcIocqes>(cc) == kCompletionBytes;
  if (entries < 2 || entries > state_.parameters.queue_entries || !known)
    return refusal(kStatusCodeInvalidQueueSize);
  if (command.data1 % state_.page_bytes != 0) return refusal(kStatusCodeInvalidPrpOffset);
  if (!submissions && of > state_.parameters.queues) return refusal(kStatusCodeInvalidVector);
  return {};
}

NvmeStatus AdminCommands::begin_creation(const NvmeCommand& command, NvmePlan& plan) const {
  if (const NvmeStatus status = check_creation(command); !status.ok()) return status;
  if ((command.dword(11) & kContiguous) != 0) return {};
  const unsigned entry = command.opcode == kAdminOpcodeCreateSq ? kCommandBytes : kCompletionBytes;
  plan.data = NvmePlan::Data::pages;
  plan.bytes = entry * (high(command.dword(10)) + 1);
  return {};
}

/// `pages`: of a queue that is not contiguous, 8 bytes each.
NvmeStatus AdminCommands::create(const NvmeCommand& command, const std::vector<std::uint8_t>& pages) {
  // Another command may have made it since this one began.
  if (const NvmeStatus status = check_creation(command); !status.ok()) return status;
  const std::uint32_t number = low(command.dword(10)), entries = high(command.dword(10)) + 1;
  const std::uint32_t of = high(command.dword(11));
  NvmeQueuePlace place;
  place.address = pages.empty() ? command.data1 : 0;
  for (std::size_t at = 0; at < pages.size(); at += 8) place.pages.push_back(number_at(&pages[at], 8));
  if (command.opcode == kAdminOpcodeCreateCq) {
    NvmeCompletionQueue& queue = state_.queues.completions[number] = {};
    queue.exists = true;
    queue.place = std::move(place);
    queue.entries = entries;
    queue.interrupts = (command.dword(11) & 2U) != 0;
    queue.vector = of;
    return {};
  }
  NvmeSubmissionQueue& queue = state_.queues.submissions[number] = {};
  queue.exists = true;
  queue.place = std::move(place);
  queue.entries = entries;
  queue.completions = of;
  ++state_.queues.completions[of].users;
  return {};
}

NvmeStatus AdminCommands::delete_completions(const NvmeCommand& command) {
  auto& queues = state_.queues.completions;
  const std::uint32_t number = low(command.dword(10));
  if (number == 0 || number >= queues.size() || !queues[number].exists)
    return refusal(kStatusCodeInvalidQueueId);
  if (queues[number].users != 0) return refusal(kStatusCodeInvalidQueueDeletion);
  queues[number] = {};
  return {};
}

NvmeStatus AdminCommands::check_identify(const NvmeCommand& command) const {
  const std::uint32_t nsid = command.nsid;
  switch (command.dword(10) & 0xFFU) {
    case kIdentifyCnsController: return {};
    case kIdentifyCnsNamespace: return state_.has(nsid) ? NvmeStatus{} : refusal(kStatusCodeInvalidNamespace);
    case kIdentifyCnsActiveNamespaces:
      return nsid < kAllNamespaces - 1 ? NvmeStatus{} : refusal(kStatusCodeInvalidNamespace);
    case kIdentifyCnsDescriptors:
      return state_.find(nsid) != nullptr ? NvmeStatus{} : refusal(kStatusCodeInvalidNamespace);
    default: return refusal(kStatusCodeInvalidField);
  }
}

NvmeStatus AdminCommands::identify(const NvmeCommand& command, std::vector<std::uint8_t>& data) {
  // A namespace may have gone since the command began.
  if (const NvmeStatus status = check_identify(command); !status.ok()) return status;
  const std::uint32_t nsid = command.nsid;
  switch (command.dword(10) & 0xFFU) {
    case kIdentifyCnsController: data = state_.pages.controller(); break;
    case kIdentifyCnsNamespace: data = state_.pages.name_space(state_.find(nsid), nsid); break;
    case kIdentifyCnsActiveNamespaces: data = NvmePages::active(state_.spaces, nsid); break;
    default: data = state_.pages.descriptors(nsid); break;
  }
  return {};
}

void AdminCommands::give_log_page(const NvmeCommand& command, std::vector<std::uint8_t>& data) {
  const unsigned page = command.dword(10) & 0xFFU;
  const std::uint64_t offset = offset_of(command);
  std::vector<std::uint8_t> bytes;
  switch (page) {
    case kLogPageError: bytes = state_.errors.page(); break;
    case kLogPageSmart: bytes = health(); break;
    case kLogPageFirmwareSlot:
      bytes.resize(bytes_of_log_page(page));
      bytes[0] = 1;
      bytes[8] = '1';
      std::fill_n(&bytes[9], 7, std::uint8_t{' '});
      break;
    case kLogPageChangedNamespaces: bytes = changed(); break;
    default: bytes = supported(); break;
  }
  const std::size_t count = std::min<std::size_t>(data.size(), bytes.size() - offset);
  std::fill(std::copy_n(bytes.begin() + static_cast<std::ptrdiff_t>(offset), count, data.begin()), data.end(),
            std::uint8_t{0});
  if ((command.dword(10) & kRetainEvents) != 0) return;
  if (page == kLogPageError) state_.events.hear_again(NvmeEvents::kError);
  if (page == kLogPageSmart) state_.events.hear_again(NvmeEvents::kHealth);
  if (page == kLogPageChangedNamespaces) {
    state_.events.hear_again(NvmeEvents::kNotice);
    // A host that has seen a part of the list must find the rest.
    if (offset != 0 || data.size() < 4 * state_.changed.size()) return;
    state_.changed.clear();
    state_.events.drop(NvmeEvents::kNotice);
  }
}

std::vector<std::uint8_t> AdminCommands::health() const {
  std::vector<std::uint8_t> bytes(512);
  const auto put = [&](unsigned at, unsigned count, std::uint64_t value) {
    put_number(&bytes[at], count, value);
  };
  // Units of data are thousands of 512 bytes, rounded up.
  const auto units = [](std::uint64_t data) { return (data + 511'999) / 512'000; };
  const NvmeCounters& c = state_.counters;
  put(0, 1, state_.features.warns() ? 2 : 0);
  put(1, 2, NvmeFeatures::kTemperature);
  put(3, 1, 100);  // available spare, percent
  put(4, 1, 10);   // below which it would warn
  put(32, 8, units(c.read_bytes));
  put(48, 8, units(c.written_bytes));
  put(64, 8, c.reads + c.compares);
  put(80, 8, c.writes);
  put(112, 8, 1);  // power cycles
  put(160, 8, c.media_errors);
  put(176, 8, state_.errors.total());
  return bytes;
}

std::vector<std::uint8_t> AdminCommands::supported() {
  std::vector<std::uint8_t> bytes(4096);
  constexpr std::uint32_t kSupported = 1, kChangesData = 2, kChangesNamespace = 4;
  for (const unsigned opcode :
       {kAdminOpcodeDeleteSq, kAdminOpcodeCreateSq, kAdminOpcodeGetLogPage, kAdminOpcodeDeleteCq,
        kAdminOpcodeCreateCq, kAdminOpcodeIdentify, kAdminOpcodeAbort, kAdminOpcodeSetFeatures,
        kAdminOpcodeGetFeatures, kAdminOpcodeAsyncEventRequest})
    put_number(&bytes[4 * opcode], 4, kSupported);
  put_number(&bytes[4 * kAdminOpcodeFormatNvm], 4, kSupported | kChangesData | kChangesNamespace);
  for (const unsigned opcode : {kNvmOpcodeRead, kNvmOpcodeCompare, kNvmOpcodeVerify, kNvmOpcodeFlush})
    put_number(&bytes[1024 + 4 * opcode], 4, kSupported);
  for (const unsigned opcode : {kNvmOpcodeWrite, kNvmOpcodeWriteZeroes, kNvmOpcodeDatasetManagement})
    put_number(&bytes[1024 + 4 * opcode], 4, kSupported | kChangesData);
  return bytes;
}

std::vector<std::uint8_t> AdminCommands::changed() const {
  std::vector<std::uint8_t> bytes(4096);
  unsigned at = 0;
  for (const std::uint32_t nsid : state_.changed) {
    put_number(&bytes[at], 4, nsid);
    at += 4;
  }
  return bytes;
}

NvmeStatus AdminCommands::set_feature(const NvmeCommand& command, const std::vector<std::uint8_t>& data,
                                      std::uint32_t& result, Cycle now) {
  if (is_timestamp(command) && data.size() == 8) {
    state_.timestamp = number_at(data.data(), 6);
    state_.timestamp_at = now;
    state_.timestamp_set = true;
    return {};
  }
  if (turns_cache_off(command))
    for (NvmeNamespace& space : state_.spaces)
      if (!space.store().flush()) return failure(kStatusCodeInternalError);
  const NvmeStatus status = state_.features.set(command, state_.queues.has_io(), result);
  // Bit 1: temperature. It is told when it comes to be so, and not again while it is.
  const bool warns = state_.features.warns() && (state_.features.events() & 2U) != 0;
  if (!std::exchange(state_.warned, warns) && warns)
    state_.events.add({NvmeEvents::kHealth, 1, kLogPageSmart});
  return status;
}

NvmeStatus AdminCommands::get_feature(const NvmeCommand& command, std::vector<std::uint8_t>& data,
                                      std::uint32_t& result, Cycle now) const {
  const NvmeStatus status = state_.features.get(command, result);
  if (!status.ok() || data.size() != 8) return status;
  const bool current = select_of(command) == 0;
  const std::uint64_t since = (now - state_.timestamp_at) / (std::uint64_t{cycles_per_us_} * 1000);
  put_number(data.data(), 8, 0);
  if (current) put_number(data.data(), 6, state_.timestamp + since);
  // Bits 3:1 of the attributes say where it comes from: 1, the host has set it.
  data[6] = current && state_.timestamp_set ? 2 : 0;
  return {};
}

NvmeStatus AdminCommands::format(const NvmeCommand& command) {
  const std::uint32_t how = command.dword(10);
  const unsigned format = how & 0xFU, erase = how >> 9U & 7U;
  if (!state_.has(command.nsid) && command.nsid != kAllNamespaces)
    return refusal(kStatusCodeInvalidNamespace);
  // Of metadata and protection there is none.
  if (format >= NvmeNamespace::kFormats || (how >> 5U & 7U) != 0) return refusal(kStatusCodeInvalidFormat);
  if (erase > 1) return refusal(kStatusCodeInvalidField);
  for (std::uint32_t nsid = 1; nsid <= state_.spaces.size(); ++nsid) {
    NvmeNamespace& space = state_.spaces[nsid - 1];
    if (command.nsid != kAllNamespaces && command.nsid != nsid) continue;
    if (!space.active()) {
      if (command.nsid == nsid) return refusal(kStatusCodeInvalidField);
      continue;
    }
    // What was written before must not come after, nor what is erased again.
    if (erase == 1 && space.store().clear(0, space.store().size()) != BlockOutcome::done)
      return failure(kStatusCodeInternalError);
    if (!space.store().flush()) return failure(kStatusCodeInternalError);
    if (space.format() == format) continue;
    space.set_format(format);
    state_.note_change(nsid);
  }
  return {};
}

}  // namespace warpline
