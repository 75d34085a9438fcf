#include "warpline/pcie/host_bridge.h"

#include <algorithm>
#include <cstring>

namespace warpline {
namespace {

/// What an answer says, of which a part that came `earlier` may have been damaged.
HostBridge::Outcome outcome_of(const Tlp& answer, bool earlier) {
  switch (answer.status) {
    case CompletionStatus::successful: break;
    case CompletionStatus::unsupported_request: return HostBridge::Outcome::unsupported_request;
    case CompletionStatus::completer_abort: return HostBridge::Outcome::completer_abort;
  }
  return earlier || answer.poisoned ? HostBridge::Outcome::poisoned : HostBridge::Outcome::done;
}

}  // namespace

HostBridge::HostBridge(Engine& engine, std::string name, ClockDomain domain, TlpPool& pool,
                       const LinkParameters& link)
    : Component(engine, std::move(name), domain),
      pool_(pool),
      link_(*this, "root", link),
      accesses_(link.tags) {}

Tlp* HostBridge::make(TlpKind kind, std::uint64_t address, std::uint32_t bytes) {
  Tlp* const tlp = pool_.allocate();
  tlp->kind = kind;
  tlp->requester = function_id(0, 0, 0);
  tlp->address = address;
  tlp->bytes = bytes;
  return tlp;
}

HostBridge::Ticket HostBridge::load(std::uint64_t address, std::uint32_t bytes, Cycle at) {
  ++counters_.reads;
  return submit(make(TlpKind::memory_read, address, bytes), at);
}

void HostBridge::store(std::uint64_t address, const void* data, std::uint32_t bytes, Cycle at) {
  ++counters_.writes;
  Tlp* const tlp = make(TlpKind::memory_write, address, bytes);
  tlp->data.resize(bytes);
  std::memcpy(tlp->data.data(), data, bytes);
  submit(tlp, at);
}

HostBridge::Ticket HostBridge::load_config(FunctionId function, unsigned offset, Cycle at) {
  ++counters_.configurations;
  Tlp* const tlp = make(TlpKind::config_read, offset, 4);
  tlp->completer = function;
  return submit(tlp, at);
}

HostBridge::Ticket HostBridge::store_config(FunctionId function, unsigned offset, std::uint32_t value,
                                            unsigned bytes, Cycle at) {
  ++counters_.configurations;
  Tlp* const tlp = make(TlpKind::config_write, offset, bytes);
  tlp->completer = function;
  tlp->data.resize(bytes);
  std::memcpy(tlp->data.data(), &value, bytes);
  return submit(tlp, at);
}

HostBridge::Ticket HostBridge::submit(Tlp* tlp, Cycle at) {
  const Ticket ticket = tlp->posted() ? 0 : ++tickets_;
  if (!loose_) {
    made_.push_back({at, ticket, tlp});
    if (made_.size() == 1) wake(at);
    return ticket;
  }
  WARPLINE_EXPECT(loose_root_ != nullptr, "somebody performs what is loosely timed");
  Cycle t = at + domain().cycles_in(link_.parameters().cycles_of(tlp->payload()));
  loose_root_->perform(*tlp, t);
  if (ticket != 0) {
    Answer& answer = answers_[ticket];
    answer.cycle = t + domain().cycles_in(link_.parameters().cycles_of(tlp->payload()));
    answer.outcome = outcome_of(*tlp, false);
    counters_.refused += tlp->status != CompletionStatus::successful;
    if (answer.outcome == Outcome::done && tlp->kind != TlpKind::config_write) answer.data = tlp->data;
  }
  pool_.release(tlp);
  return ticket;
}

bool HostBridge::take(Ticket ticket, Answer& answer) {
  const auto found = answers_.find(ticket);
  if (found == answers_.end()) return false;
  answer = std::move(found->second);
  answers_.erase(found);
  return true;
}

Cycle HostBridge::tick(Cycle now) {
  const auto any = [](const Tlp&) { return true; };
  while (Tlp* const tlp = link_.next(now, any)) {
    link_.take(now, tlp);
    receive(tlp, now);
  }
  expire(now);
  issue(now);
  Cycle next = link_.transmit(now);
  if (!made_.empty() && made_.front().at > now) next = std::min(next, made_.front().at);
  const bool waits = !made_.empty() && made_.front().at <= now;
  if (under_way_ == 0 && !waits) return next;
  for (const Access& a : accesses_) {
    if (a.ticket == 0) continue;
    if (!a.given_up) {
      next = std::min(next, a.made + timeout());
    } else if (waits) {
      next = std::min(next, lost(a));
    }
  }
  return next;
}

/// A tag that is free. If there is none, the one of an answer that has been late for so long that it must
/// have been lost, as a host could do nothing more otherwise.
HostBridge::Access* HostBridge::free_access(Cycle now) {
  Access* oldest = nullptr;
  for (Access& a : accesses_) {
    if (a.ticket == 0) return &a;
    if (a.given_up && lost(a) <= now && (oldest == nullptr || a.made < oldest->made)) oldest = &a;
  }
  return oldest;
}

/// In the order in which they were made: a load that finds no tag keeps back what comes after it.
void HostBridge::issue(Cycle now) {
  for (; !made_.empty() && made_.front().at <= now; made_.pop_front()) {
    const Made& made = made_.front();
    if (made.ticket != 0) {
      Access* const free = free_access(now);
      if (free == nullptr) return;
      *free = {made.ticket, now, made.tlp->kind == TlpKind::config_write ? 0 : made.tlp->bytes, false, {}};
      made.tlp->tag = static_cast<std::uint16_t>(free - accesses_.data());
      ++under_way_;
    }
    link_.send(made.tlp);
  }
}

void HostBridge::receive(Tlp* tlp, Cycle now) {
  if (tlp->kind == TlpKind::completion) {
    receive_completion(*tlp, now);
  } else {
    Cycle at = now;
    perform(*tlp, at);
  }
  pool_.release(tlp);
}

void HostBridge::perform(Tlp& tlp, Cycle& at) {
  interrupts_.push_back({tlp.address, static_cast<std::uint32_t>(first_bytes(tlp.data)), at});
  ++counters_.interrupts;
  if (heard_) heard_(at);
}

void HostBridge::receive_completion(const Tlp& tlp, Cycle now) {
  const bool successful = tlp.status == CompletionStatus::successful;
  const bool known = tlp.tag < accesses_.size() && accesses_[tlp.tag].ticket != 0;
  if (!known || (successful && tlp.remaining != accesses_[tlp.tag].left)) {
    ++counters_.unexpected;
    return;
  }
  Access& access = accesses_[tlp.tag];
  const bool last = !successful || tlp.remaining == tlp.bytes;
  access.left -= std::min(access.left, tlp.bytes);
  if (access.given_up) {
    if (last) access = {};
    return;
  }
  std::vector<std::uint8_t>& data = access.answer.data;
  data.insert(data.end(), tlp.data.begin(), tlp.data.end());
  access.answer.outcome = outcome_of(tlp, access.answer.outcome == Outcome::poisoned);
  if (!last) return;
  counters_.refused += !successful;
  finish(access, access.answer.outcome, now);
  access = {};
}

void HostBridge::finish(Access& access, Outcome outcome, Cycle now) {
  access.answer.outcome = outcome;
  access.answer.cycle = now;
  if (outcome != Outcome::done) access.answer.data.clear();
  answers_[access.ticket] = std::move(access.answer);
  --under_way_;
  if (heard_) heard_(now);
}

void HostBridge::expire(Cycle now) {
  if (under_way_ == 0) return;
  for (Access& access : accesses_) {
    if (access.ticket == 0 || access.given_up || access.made + timeout() > now) continue;
    ++counters_.timeouts;
    finish(access, Outcome::timeout, now);
    access.given_up = true;
  }
}

void HostBridge::explain(std::vector<Wait>& waits) const {
  if (under_way_ != 0) waits.push_back({name(), std::to_string(under_way_) + " answers of devices"});
  link_.explain(waits);
}

}  // namespace warpline
