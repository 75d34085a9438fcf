#include "rtl_models/nvme/nvme_core.h"

#include <algorithm>
#include <string>
#include <utility>

#include "rtl_models/base/contract.h"

namespace warpline {

using namespace regs::nvme;

namespace {

const char* name_of(unsigned queue, unsigned opcode) {
  if (queue == 0) switch (opcode) {
      case kAdminOpcodeDeleteSq: return "DELETE_SQ";
      case kAdminOpcodeCreateSq: return "CREATE_SQ";
      case kAdminOpcodeGetLogPage: return "GET_LOG_PAGE";
      case kAdminOpcodeDeleteCq: return "DELETE_CQ";
      case kAdminOpcodeCreateCq: return "CREATE_CQ";
      case kAdminOpcodeIdentify: return "IDENTIFY";
      case kAdminOpcodeAbort: return "ABORT";
      case kAdminOpcodeSetFeatures: return "SET_FEATURES";
      case kAdminOpcodeGetFeatures: return "GET_FEATURES";
      case kAdminOpcodeAsyncEventRequest: return "ASYNC_EVENT_REQUEST";
      case kAdminOpcodeFormatNvm: return "FORMAT_NVM";
      default: return "command";
    }
  switch (opcode) {
    case kNvmOpcodeFlush: return "FLUSH";
    case kNvmOpcodeWrite: return "WRITE";
    case kNvmOpcodeRead: return "READ";
    case kNvmOpcodeCompare: return "COMPARE";
    case kNvmOpcodeWriteZeroes: return "WRITE_ZEROES";
    case kNvmOpcodeDatasetManagement: return "DATASET_MANAGEMENT";
    case kNvmOpcodeVerify: return "VERIFY";
    default: return "command";
  }
}

ObservedCommand observed(unsigned queue, const NvmeCommand& command, NvmeStatus status) {
  ObservedCommand out{name_of(queue, command.opcode),
                      {{"id", command.id}, {"status", status.code}, {"namespace", command.nsid}}};
  if (queue != 0 && (NvmeFaults::reads(command.opcode) || NvmeFaults::writes(command.opcode)))
    out.details.insert(out.details.end(), {{"block", command.first_block()}, {"blocks", command.blocks()}});
  return out;
}

}  // namespace

FunctionDescription NvmeCore::description(const NvmeParameters& parameters) {
  FunctionDescription d;
  d.device = d.subsystem = 0x0002;
  d.class_code = kClassCode;
  d.bars[kRegisterBar] = {kMap.bytes, true, false};
  d.bars[kMsixBar] = {4096, true, false};
  if (parameters.buffer_bytes != 0) d.bars[kBufferBar] = {parameters.buffer_bytes, true, true};
  d.vectors = parameters.queues + 1;
  d.msix_bar = kMsixBar;
  return d;
}

NvmeCore::NvmeCore(EndpointCore& bus, const NvmeParameters& parameters, unsigned controller,
                   std::vector<std::unique_ptr<BlockStore>> stores, unsigned cycles_per_us)
    : EndpointFunction(bus, parameters.log_entries),
      cycles_per_us_(cycles_per_us),
      registers_(kMap),
      state_(parameters, controller, bus.config().description().vendor, std::move(stores)),
      engine_(bus, state_.queues, *this, parameters, cycles_per_us),
      admin_(state_, engine_, registers_, cycles_per_us),
      nvm_(state_),
      buffer_(parameters.buffer_bytes),
      untold_(parameters.queues + 1) {
  WARPLINE_EXPECT(parameters.problems("").empty() && state_.spaces.size() == parameters.namespaces,
                  "the parameters of a controller are checked before they are used");
  describe_registers();
  describe_doorbells();
}

std::uint64_t NvmeCore::capabilities() const {
  const std::uint64_t built = reset_value(kMap.registers[kCap]);
  return (built & ~kCapMqes) | in_field<kCapMqes>(state_.parameters.queue_entries - 1) |
         (buffer_.empty() ? 0 : kCapCmbs);
}

std::uint64_t NvmeCore::status() const {
  const std::uint64_t shutdown = shut_ ? 2 : (shutting_ ? 1 : 0);
  return (ready_ || resetting_ ? kCstsRdy : 0) | (fatal_ ? kCstsCfs : 0) | in_field<kCstsShst>(shutdown);
}

/// What the registers do beyond what their description says.
void NvmeCore::describe_registers() {
  registers_.on_look(kCap, [this](unsigned) { return capabilities(); });
  registers_.on_look(kCsts, [this](unsigned) { return status(); });
  registers_.on_look(kIntms, [this](unsigned) { return std::uint64_t{masked_}; });
  registers_.on_look(kIntmc, [this](unsigned) { return std::uint64_t{masked_}; });
  registers_.on_write(
      kIntms, [this](const RegisterWrite& w) { masked_ |= static_cast<std::uint32_t>(w.value & w.bits); });
  registers_.on_write(
      kIntmc, [this](const RegisterWrite& w) { masked_ &= ~static_cast<std::uint32_t>(w.value & w.bits); });
  registers_.on_write(kCc, [this](const RegisterWrite& w) { configure(w.before, w.value); });
  const auto shows_buffer = [this] {
    return !buffer_.empty() && (registers_.get(kCmbmsc) & kCmbmscCre) != 0;
  };
  registers_.on_look(kCmbloc, [shows_buffer](unsigned) {
    constexpr std::uint64_t kAnywhere =
        kCmblocCqmms | kCmblocCqpds | kCmblocCdpmls | kCmblocCdpcils | kCmblocCdmmms | kCmblocCqda;
    return shows_buffer() ? in_field<kCmblocBir>(kBufferBar) | kAnywhere : 0;
  });
  registers_.on_look(kCmbsz, [this, shows_buffer](unsigned) {
    constexpr std::uint64_t kAll = kCmbszSqs | kCmbszCqs | kCmbszLists | kCmbszRds | kCmbszWds;
    return shows_buffer() ? kAll | in_field<kCmbszSz>(buffer_.size() / 4096) : 0;
  });
  registers_.on_look(kCmbsts, [this](unsigned) { return buffer_is_misplaced() ? kCmbstsCbai : 0; });
}

/// Whether it would lie beyond the end of addresses.
bool NvmeCore::buffer_is_misplaced() const {
  const std::uint64_t space = registers_.get(kCmbmsc);
  return !buffer_.empty() && (space & kCmbmscCmse) != 0 &&
         buffer_.size() - 1 > ~std::uint64_t{0} - (space & kCmbmscCba);
}

void NvmeCore::describe_doorbells() {
  registers_.on_write(kSqTailDoorbell, [this](const RegisterWrite& w) {
    ring_submissions(w.element, static_cast<std::uint32_t>(w.value));
  });
  registers_.on_write(kCqHeadDoorbell, [this](const RegisterWrite& w) {
    auto& queues = state_.queues.completions;
    const bool known = w.element < queues.size() && queues[w.element].exists;
    ring(known, known && queues[w.element].ring(static_cast<std::uint32_t>(w.value)), w.element);
  });
}

void NvmeCore::ring_submissions(unsigned queue, std::uint32_t tail) {
  auto& queues = state_.queues.submissions;
  const bool known = queue < queues.size() && queues[queue].exists;
  const std::uint64_t before = known ? queues[queue].submitted() : 0;
  const bool taken = known && state_.queues.ring(queue, tail);
  ring(known, taken, queue);
  if (observer_ == nullptr || !taken) return;
  const auto added = static_cast<unsigned>(queues[queue].submitted() - before);
  if (added != 0) observer_->submitted(queue, before, added, now_);
}

void NvmeCore::ring(bool known, bool taken, unsigned queue) {
  ++state_.counters.doorbells;
  waiting_ = true;
  if (taken || !ready_) return;
  ++state_.counters.bad_doorbells;
  state_.errors.add_doorbell(queue);
  state_.events.add({NvmeEvents::kError, known ? 1U : 0U, kLogPageError});
}

AccessOutcome NvmeCore::access(const BarHit& where, Tlp& tlp, Cycle now) {
  now_ = now;
  if (state_.timestamp_at == kNever) state_.timestamp_at = now;
  if (where.bar == kBufferBar) {
    ++state_.counters.buffer_accesses;
    access_memory(buffer_, where.offset, tlp);
    return AccessOutcome::done;
  }
  if (tlp.kind == TlpKind::memory_read) ++state_.counters.register_reads;
  if (tlp.posted()) ++state_.counters.register_writes;
  const AccessOutcome outcome =
      where.bar == kRegisterBar ? access_registers(registers_, where, tlp, true) : access_msix(where, tlp);
  if (outcome != AccessOutcome::done) ++state_.counters.bad_accesses;
  return outcome;
}

void NvmeCore::configure(std::uint64_t before, std::uint64_t value) {
  if ((before & ~value & kCcEn) != 0) return disable();
  if (field<kCcShn>(value) != 0 && field<kCcShn>(before) == 0) {
    shutting_ = true;
    unsaved_ = false;
    shut_down_if_idle();
  }
  // Of a shutdown that failed while it was disabled.
  if ((before & kCcEn) == 0 && (value & kCcEn) != 0) fatal_ = false;
  if ((value & kCcEn) != 0 && !ready_ && !resetting_ && !fatal_) enable();
}

/// The admin queue is there, and commands are executed.
void NvmeCore::enable() {
  const std::uint64_t cc = registers_.get(kCc), aqa = registers_.get(kAqa);
  const std::uint64_t page = std::uint64_t{4096} << field<kCcMps>(cc);
  const std::uint64_t submissions = registers_.get(kAsq), completions = registers_.get(kAcq);
  const std::uint64_t capability = capabilities();
  const bool lawful = field<kCcCss>(cc) == 0 && field<kCcAms>(cc) == 0 &&
                      field<kCcMps>(cc) <= field<kCapMpsmax>(capability) && field<kAqaAsqs>(aqa) != 0 &&
                      field<kAqaAcqs>(aqa) != 0 && submissions % page == 0 && completions % page == 0;
  if (!lawful) {
    fatal_ = true;
    return;
  }
  state_.page_bytes = static_cast<std::uint32_t>(page);
  engine_.set_page(state_.page_bytes);
  NvmeCompletionQueue& completion = state_.queues.completions[0];
  completion = {};
  completion.exists = true;
  completion.place.address = completions;
  completion.entries = static_cast<std::uint32_t>(field<kAqaAcqs>(aqa)) + 1;
  completion.interrupts = true;
  completion.users = 1;
  NvmeSubmissionQueue& submission = state_.queues.submissions[0];
  submission = {};
  submission.exists = true;
  submission.place.address = submissions;
  submission.entries = static_cast<std::uint32_t>(field<kAqaAsqs>(aqa)) + 1;
  ready_ = true;
  shutting_ = shut_ = unsaved_ = false;
}

/// Commands and queues are no more; what is under way on the bus must come back before it is over.
void NvmeCore::disable() {
  ++state_.counters.resets;
  forget();
  registers_.reset();
  resetting_ = true;
}

void NvmeCore::forget() {
  engine_.drop();
  for (unsigned q = 0; observer_ != nullptr && q < state_.queues.submissions.size(); ++q)
    observer_->forgotten(q, now_);
  state_.reset(now_);
  std::fill(untold_.begin(), untold_.end(), Untold{});
  to_tell_ = kNever;
  masked_ = 0;
  ready_ = fatal_ = shutting_ = shut_ = unsaved_ = waiting_ = false;
}

void NvmeCore::power_on() {
  forget();
  state_.timestamp_at = kNever;  // the time is known when software comes
  state_.errors.clear();
  state_.changed.clear();
  resetting_ = false;
  registers_.power_on();
  buffer_.clear();
}

Cycle NvmeCore::step(Cycle now, unsigned room) {
  now_ = now;
  if (resetting_) {
    if (!engine_.abort()) return kNever;
    resetting_ = false;
    if ((registers_.get(kCc) & kCcEn) != 0) enable();
  }
  if (!ready_) return kNever;
  Cycle next = kNever;
  if (waiting_ || engine_.busy()) {
    const bool fetches = !fatal_ && !shutting_;
    // An event ends a request, which may be one that was just fetched, and lets the next be fetched.
    do {
      next = engine_.step(now, fetches, room);
    } while (tell_events());
    waiting_ = state_.queues.next_command(0) != PlaceSet::kNone;
  }
  if (shutting_) shut_down_if_idle();
  if (to_tell_ <= now)
    for (unsigned vector = 0; vector < untold_.size(); ++vector)
      if (untold_[vector].deadline <= now) raise(vector);
  return std::min(next, to_tell_);
}

/// All that was fetched has ended: caches are written back, and the shutdown is over.
void NvmeCore::shut_down_if_idle() {
  if (shut_ || unsaved_ || engine_.busy()) return;
  // What could not be written back is lost: the host is not told that the shutdown is complete.
  shut_ = true;
  for (NvmeNamespace& space : state_.spaces) shut_ = space.store().flush() && shut_;
  unsaved_ = !shut_;
  fatal_ = fatal_ || unsaved_;
}

/// Whether there was one.
bool NvmeCore::tell_events() {
  bool told = false;
  while (engine_.parked(0, kAdminOpcodeAsyncEventRequest) != 0) {
    const auto event = state_.events.take();
    if (!event) break;
    ++state_.counters.events;
    engine_.end_parked(0, kAdminOpcodeAsyncEventRequest, event->result());
    told = true;
  }
  return told;
}

void NvmeCore::set_active(std::uint32_t nsid, bool active) {
  NvmeNamespace& its = space(nsid);
  if (its.active() == active) return;
  its.set_active(active);
  state_.note_change(nsid);
  waiting_ = true;
}

NvmeStatus NvmeCore::begin(unsigned queue, std::uint64_t number, const NvmeCommand& command, NvmePlan& plan,
                           Cycle /*now*/) {
  if (state_.queues.submissions[queue].deleting) return failure(kStatusCodeAbortedSqDeletion);
  return queue == 0 ? admin_.begin(command, plan) : nvm_.begin(queue, number, command, plan);
}

bool NvmeCore::may_perform(unsigned queue, const NvmeCommand& command) {
  return queue != 0 || admin_.may_perform(command);
}

NvmeStatus NvmeCore::perform(unsigned queue, std::uint64_t /*number*/, const NvmeCommand& command,
                             std::vector<std::uint8_t>& data, std::uint32_t& result, Cycle now) {
  if (queue != 0) return nvm_.perform(command, data);
  const NvmeStatus status = admin_.perform(command, data, result, now);
  if (observer_ != nullptr && status.ok() && command.opcode == kAdminOpcodeDeleteSq)
    observer_->forgotten(command.dword(10) & 0xFFFFU, now);
  return status;
}

bool NvmeCore::completed(unsigned queue, std::uint64_t number, const NvmeCommand& command, NvmeStatus status,
                         Cycle now) {
  if (observer_ != nullptr) observer_->completed(queue, number, observed(queue, command, status), now);
  NvmeCounters& c = state_.counters;
  if (queue == 0) {
    ++c.admin_commands;
  } else if (command.opcode == kNvmOpcodeRead) {
    ++c.reads;
  } else if (command.opcode == kNvmOpcodeWrite) {
    ++c.writes;
  } else if (command.opcode == kNvmOpcodeCompare) {
    ++c.compares;
  } else {
    ++c.other_commands;
  }
  if (status.ok()) return false;
  ++c.failed_commands;
  if (status.code == kStatusCodeAbortRequested || status.code == kStatusCodeAbortedSqDeletion)
    ++c.aborted_commands;
  if (status.code == kStatusCodeUnrecoveredReadError || status.code == kStatusCodeWriteFault)
    ++c.media_errors;
  const bool names_blocks =
      queue != 0 && (NvmeFaults::reads(command.opcode) || NvmeFaults::writes(command.opcode));
  state_.errors.add(queue, command, status, names_blocks);
  return true;
}

void NvmeCore::written(unsigned completion_queue, Cycle now) {
  const NvmeCompletionQueue& queue = state_.queues.completions[completion_queue];
  if (!queue.interrupts) return;
  // Admin completions never wait.
  if (completion_queue == 0 || !state_.features.coalesces(queue.vector)) return raise(queue.vector);
  Untold& untold = untold_[queue.vector];
  if (++untold.count >= state_.features.threshold()) return raise(queue.vector);
  if (untold.deadline == kNever) untold.deadline = now + Cycle{state_.features.time()} * 100 * cycles_per_us_;
  to_tell_ = std::min(to_tell_, untold.deadline);
}

void NvmeCore::find_to_tell() {
  to_tell_ = kNever;
  for (const Untold& untold : untold_) to_tell_ = std::min(to_tell_, untold.deadline);
}

void NvmeCore::raise(unsigned vector) {
  if (std::exchange(untold_[vector], {}).deadline != kNever) find_to_tell();
  ++state_.counters.interrupts;
  bus_.msix()->raise(vector);
  if (observer_ != nullptr) observer_->raised(vector, now_);
}

std::uint8_t* NvmeCore::local(std::uint64_t address, std::uint32_t bytes) {
  if (buffer_.empty()) return nullptr;
  const std::uint64_t space = registers_.get(kCmbmsc);
  if ((space & kCmbmscCmse) == 0 || buffer_is_misplaced()) return nullptr;
  const std::uint64_t from = address - (space & kCmbmscCba);
  return from < buffer_.size() && bytes <= buffer_.size() - from ? &buffer_[from] : nullptr;
}

void NvmeCore::visit_gauges(GaugeVisitor& visitor) const {
  visitor.gauge("commands", engine_.active(), state_.parameters.commands, "commands in execution");
  visitor.gauge("parked", engine_.parked(), kUnlimitedGauge,
                "asynchronous event requests, and commands that never complete");
  for (unsigned q = 0; q < state_.queues.submissions.size(); ++q) {
    const NvmeSubmissionQueue& submissions = state_.queues.submissions[q];
    const NvmeCompletionQueue& completions = state_.queues.completions[q];
    const std::string name = "queue[" + std::to_string(q) + "].";
    visitor.gauge(name + "sq_head", submissions.head, kUnlimitedGauge, "commands before it have been read");
    visitor.gauge(name + "sq_tail", submissions.tail, kUnlimitedGauge,
                  "where software puts the next command");
    visitor.gauge(name + "cq_head", completions.head, kUnlimitedGauge, "next completion that software takes");
    visitor.gauge(name + "cq_tail", completions.tail, kUnlimitedGauge, "next completion to be written");
    visitor.gauge(name + "phase", completions.phase, 1, "phase bit of the next completion");
  }
}

void NvmeCore::archive(StateArchive& a) {
  a(registers_, state_, engine_, log_, masked_, ready_, fatal_, resetting_, shutting_, shut_, unsaved_,
    waiting_, now_);
  a(buffer_).fixed(untold_);
  engine_.set_page(state_.page_bytes);
  find_to_tell();
}

}  // namespace warpline
