#include "rtl_models/pcie/host_bridge/host_bridge.h"

#include <algorithm>

#include "rtl_models/base/state_archive.h"

namespace warpline {

HostBridge::HostBridge(Engine& engine, std::string name, ClockDomain domain, TlpPool& pool,
                       const LinkParameters& link, const HostBridgeParameters& parameters)
    : Component(engine, std::move(name), domain),
      pool_(pool),
      parameters_(parameters),
      link_(*this, "root", link),
      accesses_(link.tags),
      combiner_(parameters) {
  WARPLINE_EXPECT(parameters.problems("").empty(), "host bridge parameters are checked before they are used");
  link_.on_request([this](const Tlp& tlp, Cycle now) { accesses_[tlp.tag].sent = now; });
}

/// How many bytes a load reads.
std::uint32_t HostBridge::length_ahead(std::uint64_t address, std::uint32_t bytes) const {
  if (parameters_.read_ahead == 0 || bytes == 0) return bytes;
  if (!mappings_.combines(address, bytes)) return bytes;
  // A block lies in one page, and mapped are whole ones.
  const std::uint64_t end = (address / parameters_.read_ahead + 1) * parameters_.read_ahead;
  return std::max(bytes, static_cast<std::uint32_t>(end - address));
}

void HostBridge::drop_ahead() {
  ahead_.drop();
  ++epoch_;
}

void HostBridge::submit_write(std::uint64_t address, const std::uint8_t* from, std::uint32_t bytes,
                              Cycle at) {
  ++counters_.writes;
  Tlp* const tlp = pool_.allocate(TlpKind::memory_write, address, bytes);
  tlp->data.assign(from, from + bytes);
  submit(tlp, at, {});
}

/// What it sends may, loosely timed, come back as an interrupt, which asks for the same: then that call sends
/// what this one has left.
void HostBridge::send_leaving(Cycle at) {
  while (left_ != leaving_.size()) {
    const WriteCombiner::Write& write = leaving_[left_++];
    submit_write(write.address, write.data.data(), write.bytes, at);
  }
  leaving_.clear();
  left_ = 0;
}

/// Before anything else goes out: what gathers leaves, and what was read ahead is old.
void HostBridge::settle(Cycle at) {
  drop_ahead();
  combiner_.leave(leaving_);
  send_leaving(at);
}

HostBridge::Ticket HostBridge::load(std::uint64_t address, std::uint32_t bytes, Cycle at) {
  if (parameters_.read_ahead != 0) {
    Answer answer;
    if (ahead_.take(address, bytes, at, answer.data)) {
      ++counters_.read_ahead;
      answer.cycle = at;
      answers_[++tickets_] = std::move(answer);
      return tickets_;
    }
  }
  settle(at);
  ++counters_.reads;
  const std::uint32_t length = length_ahead(address, bytes);
  Ahead ahead;
  if (length > bytes) ahead = {address, bytes, epoch_, {}};
  return submit(pool_.allocate(TlpKind::memory_read, address, length), at, std::move(ahead));
}

void HostBridge::store(std::uint64_t address, const void* data, std::uint32_t bytes, Cycle at) {
  const auto* const from = static_cast<const std::uint8_t*>(data);
  if (mappings_.combines(address, bytes)) {
    drop_ahead();
    ++counters_.combined;
    const Cycle before = combiner_.deadline();
    combiner_.store(address, from, bytes, at, leaving_);
    send_leaving(at);
    if (combiner_.deadline() != before && !combiner_.empty()) wake(combiner_.deadline());
    return;
  }
  settle(at);
  submit_write(address, from, bytes, at);
}

HostBridge::Ticket HostBridge::load_config(FunctionId function, unsigned offset, Cycle at) {
  settle(at);
  ++counters_.configurations;
  Tlp* const tlp = pool_.allocate(TlpKind::config_read, offset, 4);
  tlp->completer = function;
  return submit(tlp, at, {});
}

HostBridge::Ticket HostBridge::store_config(FunctionId function, unsigned offset, std::uint32_t value,
                                            unsigned bytes, Cycle at) {
  WARPLINE_EXPECT(bytes <= sizeof value, "a configuration request is of one register");
  settle(at);
  ++counters_.configurations;
  Tlp* const tlp = pool_.allocate(TlpKind::config_write, offset, bytes);
  tlp->completer = function;
  tlp->carry(value);
  return submit(tlp, at, {});
}

/// Leaves in `data` what was asked for.
void HostBridge::split(Ahead& ahead, std::vector<std::uint8_t>& data) const {
  if (data.size() <= ahead.asked) return;
  const auto first = data.begin() + ahead.asked;
  ahead.beyond.assign(first, data.end());
  data.erase(first, data.end());
}

/// What was read further, if nothing has happened since that makes it old.
void HostBridge::keep(const Ahead& ahead, Cycle now) {
  if (ahead.epoch != epoch_ || ahead.beyond.empty()) return;
  ahead_.keep(ahead.address + ahead.asked, ahead.beyond.data(), ahead.beyond.size(),
              now + parameters_.read_ahead_cycles);
}

HostBridge::Ticket HostBridge::submit(Tlp* tlp, Cycle at, Ahead ahead) {
  const Ticket ticket = tlp->posted() ? 0 : ++tickets_;
  if (!loose_) {
    made_.push_back({at, ticket, tlp, std::move(ahead)});
    if (made_.size() == 1 && !ticking_) wake(at);
    return ticket;
  }
  WARPLINE_EXPECT(loose_root_ != nullptr, "somebody performs what is loosely timed");
  Cycle t = at + domain().cycles_in(link_.parameters().cycles_of(tlp->payload()));
  loose_root_->perform(*tlp, t);
  if (ahead.asked != 0 && tlp->status != CompletionStatus::successful) {
    pool_.release(tlp);
    tlp = pool_.allocate(TlpKind::memory_read, ahead.address, ahead.asked);
    ahead = {};
    ++counters_.reads;
    loose_root_->perform(*tlp, t);
  }
  if (ticket != 0) {
    Answer& answer = answers_[ticket];
    answer.cycle = t + domain().cycles_in(link_.parameters().cycles_of(tlp->payload()));
    answer.outcome = outcome_of(*tlp);
    counters_.refused += tlp->status != CompletionStatus::successful;
    if (answer.outcome == TlpOutcome::done && tlp->kind != TlpKind::config_write) answer.data = tlp->data;
    if (answer.outcome == TlpOutcome::done && ahead.asked != 0) {
      split(ahead, answer.data);
      keep(ahead, at);
    }
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
  ticking_ = true;
  const auto any = [](const Tlp&) { return true; };
  while (Tlp* const tlp = link_.next(now, any)) {
    link_.take(now, tlp);
    receive(tlp, now);
  }
  expire(now);
  combiner_.expire(now, leaving_);
  send_leaving(now);
  issue(now);
  ticking_ = false;
  Cycle next = std::min(link_.transmit(now), combiner_.deadline());
  if (!made_.empty() && made_.front().at > now) next = std::min(next, made_.front().at);
  const bool waits = !made_.empty() && made_.front().at <= now;
  if (under_way_ == 0 && !waits) return next;
  for (const Access& a : accesses_) {
    if (a.ticket == 0) continue;
    if (!a.given_up) {
      if (a.sent != kNever) next = std::min(next, a.sent + timeout());
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
    if (a.given_up && lost(a) <= now && (oldest == nullptr || a.sent < oldest->sent)) oldest = &a;
  }
  return oldest;
}

/// In the order in which they were made: a load that finds no tag keeps back what comes after it.
void HostBridge::issue(Cycle now) {
  for (; !made_.empty() && made_.front().at <= now; made_.pop_front()) {
    Made& made = made_.front();
    if (made.ticket != 0) {
      Access* const free = free_access(now);
      if (free == nullptr) return;
      free->ticket = made.ticket;
      free->sent = kNever;
      free->address = made.tlp->address;
      free->left = made.tlp->kind == TlpKind::config_write ? 0 : made.tlp->bytes;
      free->given_up = false;
      free->answer = {};
      free->ahead = std::move(made.ahead);
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
  settle(at);
  interrupts_.push_back({tlp.address, static_cast<std::uint32_t>(first_bytes(tlp.data)), at});
  ++counters_.interrupts;
  if (heard_) heard_(at);
}

void HostBridge::receive_completion(const Tlp& tlp, Cycle now) {
  const bool successful = tlp.status == CompletionStatus::successful;
  const bool known = tlp.tag < accesses_.size() && accesses_[tlp.tag].ticket != 0;
  // An answer that was taken for lost may yet come to who has its tag now.
  if (!known || (successful && !brings_next(tlp, accesses_[tlp.tag].address, accesses_[tlp.tag].left))) {
    ++counters_.unexpected;
    return;
  }
  Access& access = accesses_[tlp.tag];
  const bool last = !successful || tlp.remaining == tlp.bytes;
  access.left -= std::min(access.left, tlp.bytes);
  access.address += tlp.bytes;
  if (access.ahead.asked != 0) return receive_ahead(access, tlp, last, now);
  if (access.given_up) {
    if (last) access = {};
    return;
  }
  std::vector<std::uint8_t>& data = access.answer.data;
  data.insert(data.end(), tlp.data.begin(), tlp.data.end());
  access.answer.outcome = outcome_of(tlp, access.answer.outcome);
  if (!last) return;
  counters_.refused += !successful;
  finish(access, access.answer.outcome, now);
  access = {};
}

/// A load that reads further is answered as soon as what was asked for is here: what becomes of the rest is
/// nobody's fault. If it is refused before, only what was asked for is read again.
void HostBridge::receive_ahead(Access& access, const Tlp& tlp, bool last, Cycle now) {
  Ahead& ahead = access.ahead;
  const bool refused = tlp.status != CompletionStatus::successful;
  if (refused && !access.given_up) {
    Tlp* const again = pool_.allocate(TlpKind::memory_read, ahead.address, ahead.asked);
    again->tag = tlp.tag;
    access.sent = kNever;
    access.address = again->address;
    access.left = again->bytes;
    access.answer = {};
    ahead = {};
    ++counters_.reads;
    return link_.send(again);
  }
  const TlpOutcome outcome = outcome_of(tlp);
  if (outcome != TlpOutcome::done) ahead.epoch = kNever;
  if (access.given_up) {
    ahead.beyond.insert(ahead.beyond.end(), tlp.data.begin(), tlp.data.end());
  } else {
    std::vector<std::uint8_t>& data = access.answer.data;
    data.insert(data.end(), tlp.data.begin(), tlp.data.end());
    access.answer.outcome = outcome_of(tlp, access.answer.outcome);
    if (data.size() >= ahead.asked || last) {
      split(ahead, data);
      finish(access, access.answer.outcome, now);
      access.given_up = true;
    }
  }
  if (!last) return;
  keep(ahead, now);
  access = {};
}

void HostBridge::finish(Access& access, TlpOutcome outcome, Cycle now) {
  access.answer.outcome = outcome;
  access.answer.cycle = now;
  if (outcome != TlpOutcome::done) access.answer.data.clear();
  answers_[access.ticket] = std::move(access.answer);
  --under_way_;
  if (heard_) heard_(now);
}

void HostBridge::expire(Cycle now) {
  if (under_way_ == 0) return;
  for (Access& access : accesses_) {
    if (access.ticket == 0 || access.given_up || access.sent == kNever || access.sent + timeout() > now)
      continue;
    ++counters_.timeouts;
    finish(access, TlpOutcome::timeout, now);
    access.given_up = true;
    access.ahead = {};
  }
}

void HostBridge::explain(std::vector<Wait>& waits) const {
  if (under_way_ != 0) waits.push_back({name(), std::to_string(under_way_) + " answers of devices"});
  link_.explain(waits);
}

void HostBridge::archive(StateArchive& a) {
  a(link_, answers_, tickets_, interrupts_, mappings_, ahead_, epoch_, counters_);
  a.same(accesses_.size(), "tags");
  // None is under way, but late answers may keep a tag.
  for (Access& access : accesses_)
    a(access.ticket, access.sent, access.address, access.left, access.given_up);
}

}  // namespace warpline
