#include "rtl_models/queue_device/queue_device_core.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "rtl_models/base/contract.h"

namespace warpline {

using namespace regs::peer;
namespace {

const char* name_of(unsigned opcode) {
  switch (opcode) {
    case kOpcodeNop: return "NOP";
    case kOpcodeCopy: return "COPY";
    case kOpcodeFill: return "FILL";
    case kOpcodeRead: return "READ";
    case kOpcodeWrite: return "WRITE";
    case kOpcodeFetchAdd: return "FETCH_ADD";
    case kOpcodeNotify: return "NOTIFY";
    default: return "command";
  }
}

}  // namespace

FunctionDescription QueueDeviceCore::description(const QueueDeviceParameters& parameters) {
  FunctionDescription d;
  d.class_code = 0x088000;  // a system peripheral of no standard kind
  d.bars[kRegisterBar] = {kMap.bytes, true, false};
  d.bars[kMsixBar] = {4096, true, false};
  d.bars[kBufferBar] = {parameters.buffer_bytes, true, parameters.prefetchable};
  d.vectors = kQueues;
  d.msix_bar = kMsixBar;
  return d;
}

QueueDeviceCore::QueueDeviceCore(EndpointCore& bus, const QueueDeviceParameters& parameters,
                                 double cycles_per_us)
    : EndpointFunction(bus, parameters.log_entries),
      parameters_(parameters),
      cycles_per_us_(cycles_per_us),
      registers_(kMap),
      queues_(kQueues),
      buffer_(parameters.buffer_bytes),
      engine_(bus, queues_, buffer_, *this, parameters) {
  WARPLINE_EXPECT(parameters.problems("").empty(),
                  "the parameters of a queue device are checked before they are used");
  describe_registers();
  describe_queues();
}

/// What the registers do beyond what their description says.
void QueueDeviceCore::describe_registers() {
  registers_.on_write(kControl, [this](const RegisterWrite& w) {
    if ((w.value & w.bits & kControlReset) == 0) return;
    ++counters_.resets;
    resetting_ = true;
    forget_queues();
  });
  registers_.on_look(kStatus, [this](unsigned) {
    const bool enabled = (registers_.get(kControl) & kControlEnable) != 0;
    const bool stopped = engine_.is_stopped();
    return (enabled && !stopped && !resetting_ ? kStatusReady : 0) | (engine_.busy() ? kStatusBusy : 0) |
           (resetting_ ? kStatusResetting : 0) | (stopped ? kStatusStopped : 0);
  });
  registers_.on_look(kEventFifo,
                     [this](unsigned) { return events_.empty() ? 0 : std::uint64_t{events_.front()}; });
  registers_.on_read(kEventFifo, [this](unsigned, std::uint64_t) {
    if (!events_.empty()) events_.pop_front();
  });
  registers_.on_look(kEventLevel, [this](unsigned) { return std::uint64_t{events_.size()}; });
}

void QueueDeviceCore::describe_queues() {
  registers_.on_write(kQueueControl, [this](const RegisterWrite& w) { control_queue(w.element, w.value); });
  registers_.on_write(kCoalesce, [this](const RegisterWrite& w) {
    const Coalescing c = coalescing(w.element);
    queues_[w.element].coalesce(c.count, c.time, now_);
    waiting_ = true;
  });
  registers_.on_look(kSqHead, [this](unsigned queue) { return std::uint64_t{queues_[queue].sq_head()}; });
  registers_.on_look(kCqTail, [this](unsigned queue) { return std::uint64_t{queues_[queue].cq_tail()}; });
  registers_.on_write(kSqTailDoorbell, [this](const RegisterWrite& w) {
    ring_submissions(w.element, static_cast<std::uint32_t>(w.value));
  });
  registers_.on_write(kCqHeadDoorbell, [this](const RegisterWrite& w) {
    ring(queues_[w.element].ring_completions(static_cast<std::uint32_t>(w.value)));
  });
}

void QueueDeviceCore::ring_submissions(unsigned queue, std::uint32_t tail) {
  const std::uint64_t before = queues_[queue].submitted();
  ring(queues_[queue].ring_submissions(tail));
  const auto added = static_cast<unsigned>(queues_[queue].submitted() - before);
  if (observer_ != nullptr && added != 0) observer_->submitted(queue, before, added, now_);
}

void QueueDeviceCore::ring(bool taken) {
  ++counters_.doorbells;
  waiting_ = true;
  if (!taken) error(kErrorBadDoorbell);
}

void QueueDeviceCore::control_queue(unsigned queue, std::uint64_t value) {
  QueuePair& pair = queues_[queue];
  const bool enable = (value & kQueueControlEnable) != 0;
  if (!enable) return pair.disable();
  if (pair.enabled()) return;
  QueuePair::Shape shape;
  shape.submissions = registers_.get(kSqBase, queue);
  shape.completions = registers_.get(kCqBase, queue);
  shape.order = static_cast<unsigned>(field<kQueueControlOrder>(value));
  shape.vector = static_cast<unsigned>(field<kQueueControlVector>(value));
  shape.interrupts = (value & kQueueControlInterrupt) != 0;
  shape.relaxed = (value & kQueueControlRelaxed) != 0;
  const std::uint64_t capability = registers_.get(kCapability);
  const bool lawful = shape.order >= 1 && shape.order <= field<kCapabilityMaxOrder>(capability) &&
                      shape.vector < field<kCapabilityVectors>(capability) && shape.submissions % 64 == 0 &&
                      shape.completions % 64 == 0 && !engine_.executes(queue);
  if (lawful) {
    if (observer_ != nullptr) observer_->forgotten(queue, now_);
    return pair.enable(shape);
  }
  registers_.set(kQueueControl, value & ~kQueueControlEnable, queue);
  error(kErrorBadQueue);
}

AccessOutcome QueueDeviceCore::access(const BarHit& where, Tlp& tlp, Cycle now) {
  now_ = now;
  if (where.bar == kBufferBar) {
    ++counters_.buffer_accesses;
    access_memory(buffer_, where.offset, tlp);
    return AccessOutcome::done;
  }
  const bool in_registers = where.bar == kRegisterBar;
  if (tlp.kind == TlpKind::memory_read) ++counters_.register_reads;
  if (tlp.posted()) ++counters_.register_writes;
  const AccessOutcome outcome =
      in_registers ? access_registers(registers_, where, tlp, !resetting_) : access_msix(where, tlp);
  if (outcome == AccessOutcome::done) return outcome;
  ++counters_.bad_accesses;
  if (!in_registers) return outcome;
  if ((registers_.get(kError) & kErrorBadAccess) == 0) registers_.set(kBadOffset, where.offset);
  error(kErrorBadAccess);
  return outcome;
}

Cycle QueueDeviceCore::step(Cycle now, unsigned room) {
  now_ = now;
  if (resetting_) {
    if (engine_.abort()) {
      resetting_ = false;
      registers_.reset();
    }
    return kNever;
  }
  if (!waiting_ && !engine_.busy()) return kNever;
  const bool fetches = (registers_.get(kControl) & kControlEnable) != 0;
  Cycle next = engine_.step(now, fetches, room);
  waiting_ = false;
  for (unsigned q = 0; q < queues_.size(); ++q) {
    if (queues_[q].due(now)) raise(q);
    next = std::min(next, queues_[q].deadline());
    waiting_ = waiting_ || queues_[q].may_fetch() || queues_[q].deadline() != kNever;
  }
  return next;
}

void QueueDeviceCore::raise(unsigned queue) {
  ++counters_.interrupts;
  const unsigned vector = queues_[queue].shape().vector;
  bus_.msix()->raise(vector);
  if (observer_ != nullptr) observer_->raised(vector, now_);
  if (interrupt_heard_) interrupt_heard_(vector, now_);
}

void QueueDeviceCore::command_completed(unsigned queue, std::uint64_t number,
                                        const QueueDeviceCommand& command, unsigned status, Cycle now) {
  ++counters_.commands;
  if (observer_ != nullptr)
    observer_->completed(
        queue, number,
        {name_of(command.opcode), {{"id", command.id}, {"bytes", command.length}, {"status", status}}}, now);
  registers_.set(kCommands, registers_.get(kCommands) + 1);
  registers_.raise(kEvents, kEventsCompleted);
  if (status != kStatusCodeOk) {
    ++counters_.failed_commands;
    error(kErrorCommand);
  }
  const Coalescing c = coalescing(queue);
  if (queues_[queue].tell(c.count, c.time, now)) raise(queue);
}

QueueDeviceCore::Coalescing QueueDeviceCore::coalescing(unsigned queue) const {
  const std::uint64_t held = registers_.get(kCoalesce, queue);
  const auto nanoseconds = static_cast<double>(field<kCoalesceTime>(held));
  // Rounded up: a short time is a cycle, and not no limit.
  return {static_cast<unsigned>(field<kCoalesceCompletions>(held)),
          static_cast<Cycle>(std::ceil(nanoseconds * cycles_per_us_ / 1000.0))};
}

void QueueDeviceCore::notified(std::uint64_t operand) {
  registers_.raise(kEvents, kEventsNotified);
  if (events_.size() == kEventFifoDepth) return error(kErrorEventOverflow);
  events_.push_back(static_cast<std::uint32_t>(operand));
}

void QueueDeviceCore::bus_failed(std::uint64_t address) {
  if ((registers_.get(kError) & kErrorBus) == 0) registers_.set(kErrorAddress, address);
  error(kErrorBus);
}

void QueueDeviceCore::error(std::uint64_t bits) {
  registers_.raise(kError, bits);
  registers_.raise(kEvents, kEventsFailed);
}

void QueueDeviceCore::visit_gauges(GaugeVisitor& visitor) const {
  for (unsigned q = 0; q < queues_.size(); ++q) {
    const QueuePair& queue = queues_[q];
    const std::string name = "queue[" + std::to_string(q) + "].";
    visitor.gauge(name + "sq_head", queue.sq_head(), kUnlimitedGauge, "next command to be fetched");
    visitor.gauge(name + "sq_tail", queue.sq_tail(), kUnlimitedGauge, "where software puts the next command");
    visitor.gauge(name + "cq_head", queue.cq_head(), kUnlimitedGauge, "next completion that software takes");
    visitor.gauge(name + "cq_tail", queue.cq_tail(), kUnlimitedGauge, "next completion to be written");
    visitor.gauge(name + "phase", queue.phase(), 1, "phase bit of the next completion");
  }
}

/// Whatever they have under way.
void QueueDeviceCore::forget_queues() {
  engine_.drop();
  for (unsigned q = 0; q < queues_.size(); ++q) {
    queues_[q] = QueuePair{};
    if (observer_ != nullptr) observer_->forgotten(q, now_);
  }
  waiting_ = false;
  events_.clear();
}

}  // namespace warpline
