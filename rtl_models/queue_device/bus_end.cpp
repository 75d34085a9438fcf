#include "rtl_models/queue_device/bus_end.h"

#include <algorithm>
#include <utility>

#include "rtl_models/base/contract.h"
#include "rtl_models/base/text.h"
#include "rtl_models/pcie/packets/config_registers.h"
#include "rtl_models/pcie/packets/tlp_rules.h"

namespace warpline {
namespace {

constexpr unsigned kPage = kBusPage;

/// The field of device control that says so many bytes.
std::uint32_t size_field(unsigned bytes) {
  std::uint32_t field = 0;
  while (128U << field < bytes) ++field;
  return field;
}

}  // namespace

LinkParameters BusEnd::link(const Limits& limits) {
  LinkParameters p;
  p.latency = 1;
  p.bytes_per_cycle = kLineBytes;
  p.max_payload = kPage;
  p.max_read_request = kPage;
  p.tags = limits.outstanding;
  p.posted_credits = p.non_posted_credits = p.completion_credits = 64;
  return p;
}

BusEnd::BusEnd(QueueDevice& device, TlpPool& pool, DeviceBus& bus, const QueueDeviceParameters& parameters,
               const Limits& limits)
    : Component(device, device.name() + ".bus"),
      device_(device),
      pool_(pool),
      bus_(bus),
      parameters_(parameters),
      limits_(limits),
      link_(*this, "device", link(limits)) {
  connect(device.to_root(), link_);
  device.perform_by(*this);
  device.watch([this](const BusAccess& access) { heard(access); });
  device.core().on_interrupt([this](unsigned vector, Cycle now) {
    raised_.push_back({posted_made(), vector});
    interrupt_if_due(now);
  });
  set_up();
}

/// What firmware does for a function: places its BARs, and lets it make requests and interrupts. Its reads
/// are given up never, as a bus answers or hangs.
void BusEnd::set_up() {
  using namespace config;
  ConfigSpace& space = device_.endpoint().config();
  const auto place = [&space](unsigned bar, std::uint64_t at) {
    space.write(kBar0 + 4 * bar, static_cast<std::uint32_t>(at));
    space.write(kBar0 + 4 * (bar + 1), static_cast<std::uint32_t>(at >> 32U));
  };
  place(QueueDeviceCore::kRegisterBar, kBase);
  place(QueueDeviceCore::kMsixBar, kBase + kMessageTable);
  place(QueueDeviceCore::kBufferBar, kBase + memory_at(parameters_.buffer_bytes));
  space.write(kCommandStatus, kMemorySpace | kBusMaster);
  space.write(space.msix_capability(), kMsixEnable);
  const unsigned express = space.express_capability();
  space.write(express + kDeviceControl, kRelaxedOrdering | kExtendedTags | kNoSnoop |
                                            size_field(limits_.burst_bytes) << kMaxPayloadShift |
                                            size_field(limits_.burst_bytes) << kMaxReadShift);
  space.write(express + kDeviceControl2, kTimeoutDisable);
}

bool BusEnd::holds(std::uint64_t offset, std::uint64_t bytes) const {
  const auto within = [&](std::uint64_t first, std::uint64_t size) {
    return offset >= first && offset - first < size && bytes <= size - (offset - first);
  };
  return within(0, kMessageTable) || within(kMessageTable, kMessageTableBytes) ||
         within(memory_at(parameters_.buffer_bytes), parameters_.buffer_bytes);
}

void BusEnd::submit(DeviceAccess& access, Cycle at) {
  device_.set_loose(false);
  made_.push_back({at, &access});
  wake(at);
}

Tlp* BusEnd::packet_of(const DeviceAccess& access) {
  Tlp* const tlp = pool_.allocate(access.writes ? TlpKind::memory_write : TlpKind::memory_read,
                                  kBase + access.offset, static_cast<std::uint32_t>(access.data.size()));
  if (access.writes) tlp->data = access.data;
  return tlp;
}

void BusEnd::send(DeviceAccess& access) {
  Tlp* const tlp = packet_of(access);
  if (access.writes) {
    writes_.push_back(&access);
  } else {
    std::uint16_t tag = 0;
    while (reads_.count(tag) != 0) ++tag;
    reads_[tag] = {&access, 0};
    tlp->tag = tag;
  }
  link_.send(tlp);
}

void BusEnd::end(DeviceAccess& access, CompletionStatus status) {
  access.status = status;
  access.done = true;
  bus_.answered();
}

void BusEnd::receive_completion(const Tlp& tlp) {
  const auto found = reads_.find(tlp.tag);
  WARPLINE_EXPECT(found != reads_.end(), "a device answers what it was asked for, once");
  Read& read = found->second;
  std::copy(tlp.data.begin(), tlp.data.end(),
            read.access->data.begin() + static_cast<std::ptrdiff_t>(read.filled));
  read.filled += tlp.data.size();
  if (tlp.status == CompletionStatus::successful && tlp.remaining != tlp.bytes) return;
  end(*read.access, tlp.status);
  reads_.erase(found);
}

/// The device has performed an access. Writes, which it does not answer, are done by that.
void BusEnd::heard(const BusAccess& access) {
  if (access.kind != AccessKind::write || writes_.empty()) return;
  end(*writes_.front(), CompletionStatus::successful);
  writes_.pop_front();
}

void BusEnd::perform(DeviceAccess& access, Cycle& at) {
  // Nothing timed is under way, so the write that is heard of is nobody's who waits.
  Tlp* const tlp = packet_of(access);
  device_.set_loose(true);
  device_.perform(*tlp, at);
  access.status = tlp->status;
  if (!access.writes && tlp->status == CompletionStatus::successful) access.data = tlp->data;
  access.done = true;
  pool_.release(tlp);
}

bool BusEnd::may_begin(const Tlp& tlp) const {
  if (exclusive_ || under_way_ >= limits_.outstanding) return false;
  if (tlp.kind == TlpKind::memory_write && tlp.relaxed_ordering) return ordered_ == 0;
  return posted_ == 0;
}

void BusEnd::issue(Cycle now) {
  while (!held_.empty() && may_begin(*held_.front())) {
    if (bus_.is_loose()) {
      Tlp* const tlp = held_.front();
      held_.pop_front();
      Cycle at = now;
      const bool posted = tlp->posted();
      perform(*tlp, at);
      if (posted) {
        pool_.release(tlp);
      } else {
        const std::vector<std::uint8_t> data = std::move(tlp->data);
        answer(tlp, tlp->status, data.data());
      }
      continue;
    }
    if (!bus_.ready(now)) return;
    Tlp* const tlp = held_.front();
    held_.pop_front();
    begin(tlp, now);
  }
}

BusTransfer& BusEnd::allocate() {
  if (free_.empty()) free_.push_back(&all_.emplace_back());
  BusTransfer& t = *free_.back();
  free_.pop_back();
  return t;
}

void BusEnd::begin(Tlp* tlp, Cycle now) {
  BusTransfer& t = allocate();
  t.tlp = tlp;
  t.address = tlp->address;
  t.writes = tlp->posted();
  if (t.writes) {
    t.data = tlp->data;
    t.number = taken_++;
    answered_apart_.push_back(false);
    ++posted_;
    ordered_ += !tlp->relaxed_ordering;
  } else {
    t.data.assign(tlp->bytes, 0);
    exclusive_ = tlp->kind != TlpKind::memory_read;
  }
  start(t, now);
}

void BusEnd::start(BusTransfer& transfer, Cycle now) {
  ++under_way_;
  transfer.status = CompletionStatus::successful;
  bus_.begin(now, transfer);
}

void BusEnd::finish(BusTransfer& transfer, Cycle c) {
  if (transfer.tlp == nullptr) return release(transfer);
  finished_.emplace(c, &transfer);
  wake(c);
}

/// A transfer is over. Of an atomic the read is; then what comes of it is written.
void BusEnd::settle(BusTransfer& t, Cycle now) {
  Tlp* const tlp = t.tlp;
  --under_way_;
  const bool failed = t.status != CompletionStatus::successful;
  if (tlp->posted()) {
    --posted_;
    ordered_ -= !tlp->relaxed_ordering;
    if (failed) device_.core().write_refused(t.address);
    posted_done(t.number, now);
    pool_.release(tlp);
  } else if (tlp->kind == TlpKind::memory_read) {
    answer(tlp, t.status, t.data.data());
  } else if (failed) {
    exclusive_ = false;
    answer(tlp, t.status, nullptr);
  } else if (!t.writes) {
    perform_atomic(*tlp, t.data.data());
    t.writes = true;
    held_atomic_ = &t;
    return;
  } else {
    exclusive_ = false;
    const std::vector<std::uint8_t> old = tlp->data;
    answer(tlp, CompletionStatus::successful, old.data());
  }
  release(t);
}

void BusEnd::answer(Tlp* request, CompletionStatus status, const std::uint8_t* data) {
  std::vector<Tlp*> completions;
  make_completions(pool_, *request, status, {}, data, link_.parameters().max_payload,
                   link_.parameters().completion_boundary, completions);
  pool_.release(request);
  for (Tlp* c : completions) link_.send(c);
}

/// Posted request `number` is answered: those that are answered count from the oldest on.
void BusEnd::posted_done(std::uint64_t number, Cycle now) {
  answered_apart_[number - answered_] = true;
  for (; !answered_apart_.empty() && answered_apart_.front(); answered_apart_.pop_front()) ++answered_;
  interrupt_if_due(now);
}

void BusEnd::interrupt_if_due(Cycle now) {
  for (; !raised_.empty() && raised_.front().after <= answered_; raised_.pop_front())
    bus_.interrupt(raised_.front().vector, now);
}

void BusEnd::perform(Tlp& tlp, Cycle& at) {
  BusTransfer& t = allocate();
  t.address = tlp.address;
  t.writes = tlp.posted();
  t.status = CompletionStatus::successful;
  if (t.writes) {
    t.data = tlp.data;
  } else {
    t.data.assign(tlp.bytes, 0);
  }
  bus_.perform(t, at);
  if (!t.writes && tlp.kind != TlpKind::memory_read && t.status == CompletionStatus::successful) {
    perform_atomic(tlp, t.data.data());
    t.writes = true;
    bus_.perform(t, at);
  } else if (!t.writes) {
    tlp.data = t.data;
  }
  tlp.status = t.status;
  if (tlp.posted()) {
    if (t.status != CompletionStatus::successful) device_.core().write_refused(t.address);
    const std::uint64_t number = taken_++;
    answered_apart_.push_back(false);
    posted_done(number, at);
  }
  release(t);
}

Cycle BusEnd::tick(Cycle now) {
  while (!finished_.empty() && finished_.begin()->first <= now) {
    BusTransfer& t = *finished_.begin()->second;
    finished_.erase(finished_.begin());
    settle(t, now);
  }
  if (held_atomic_ != nullptr && bus_.ready(now)) start(*std::exchange(held_atomic_, nullptr), now);
  // Room first, then what wants it.
  issue(now);
  const auto fits = [this](const Tlp& tlp) {
    return tlp.kind == TlpKind::completion || held_.size() < kHeld;
  };
  while (Tlp* const tlp = link_.next(now, fits)) {
    link_.take(now, tlp);
    if (tlp->kind != TlpKind::completion) {
      held_.push_back(tlp);
    } else {
      receive_completion(*tlp);
      pool_.release(tlp);
    }
  }
  const bool full = held_.size() == kHeld;
  issue(now);
  for (; !made_.empty() && made_.front().at <= now && reads_.size() < kAccesses; made_.pop_front())
    send(*made_.front().access);
  Cycle next = link_.transmit(now);
  if (full && held_.size() < kHeld) next = std::min(next, domain().after(now, 1));
  if (!finished_.empty()) next = std::min(next, finished_.begin()->first);
  if (!made_.empty() && made_.front().at > now) next = std::min(next, made_.front().at);
  return next;
}

void BusEnd::reset() {
  device_.hot_reset();
  std::vector<DeviceAccess*> pending(writes_.begin(), writes_.end());
  for (const auto& [tag, read] : reads_) pending.push_back(read.access);
  for (const Made& made : made_) pending.push_back(made.access);
  writes_.clear();
  reads_.clear();
  made_.clear();
  for (Tlp* tlp : held_) pool_.release(tlp);
  held_.clear();
  for (BusTransfer& t : all_)
    if (t.tlp != nullptr) pool_.release(std::exchange(t.tlp, nullptr));
  for (const auto& [cycle, transfer] : finished_) free_.push_back(transfer);
  finished_.clear();
  if (held_atomic_ != nullptr) free_.push_back(std::exchange(held_atomic_, nullptr));
  under_way_ = posted_ = ordered_ = 0;
  exclusive_ = false;
  raised_.clear();
  answered_apart_.clear();
  taken_ = answered_ = posted_made();
  set_up();
  for (DeviceAccess* access : pending) end(*access, CompletionStatus::completer_abort);
}

void BusEnd::explain(std::vector<Wait>& waits) const {
  if (under_way_ != 0) waits.push_back({name(), "the bus to answer " + counted(under_way_, "transfer")});
  if (!held_.empty()) waits.push_back({name(), "the bus to take " + counted(held_.size(), "transfer")});
  const std::size_t asked = made_.size() + reads_.size() + writes_.size();
  if (asked != 0)
    waits.push_back({name(), device_.name() + " to answer " + counted(asked, "request"), {device_.name()}});
  link_.explain(waits);
}

}  // namespace warpline
