// What the peer's registers do beyond what their description says.
#include "warpline/peer/peer_core.h"

namespace warpline {

using namespace regs::peer;

void PeerCore::describe_registers() {
  registers_.on_write(kControl, [this](const RegisterWrite& w) {
    if ((w.value & w.bits & kControlReset) != 0) begin_reset();
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

void PeerCore::describe_queues() {
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

void PeerCore::ring_submissions(unsigned queue, std::uint32_t tail) {
  const std::uint64_t before = queues_[queue].submitted();
  ring(queues_[queue].ring_submissions(tail));
  const auto added = static_cast<unsigned>(queues_[queue].submitted() - before);
  if (observer_ != nullptr && added != 0) observer_->submitted(queue, before, added, now_);
}

void PeerCore::ring(bool taken) {
  ++counters_.doorbells;
  waiting_ = true;
  if (!taken) error(kErrorBadDoorbell);
}

void PeerCore::control_queue(unsigned queue, std::uint64_t value) {
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

}  // namespace warpline
