// What a host bridge makes of loads and stores: of prefetchable memory it may join some, or read further.
#include <algorithm>
#include <cstring>

#include "warpline/pcie/host_bridge.h"
#include "warpline/pcie/iommu.h"

namespace warpline {
namespace {

/// The range that holds all those bytes; null: none does.
const HostBridge::Range* find(const std::vector<HostBridge::Range>& ranges, std::uint64_t address,
                              std::uint64_t bytes) {
  const auto found = std::find_if(ranges.begin(), ranges.end(),
                                  [&](const HostBridge::Range& r) { return r.holds(address, bytes); });
  return found != ranges.end() ? &*found : nullptr;
}

}  // namespace

void HostBridge::forget_prefetchable() {
  prefetchable_.clear();
  combining_.clear();
  drop_ahead();
}

/// Page by page, so that pages can be mapped back one by one.
bool HostBridge::set_combining(const Range& range, bool on) {
  if (range.base % Iommu::kPage != 0 || range.bytes % Iommu::kPage != 0 || range.bytes == 0) return false;
  if (find(prefetchable_, range.base, range.bytes) == nullptr) return false;
  std::vector<Range> left;
  for (const Range& r : combining_) {
    const std::uint64_t end = r.base + r.bytes, cut_end = range.base + range.bytes;
    if (const std::uint64_t before = std::min(end, range.base); before > r.base)
      left.push_back({r.base, before - r.base});
    if (const std::uint64_t after = std::max(r.base, cut_end); after < end)
      left.push_back({after, end - after});
  }
  if (on) left.push_back(range);
  combining_ = std::move(left);
  drop_ahead();
  return true;
}

/// How many bytes a load reads.
std::uint32_t HostBridge::length_ahead(std::uint64_t address, std::uint32_t bytes) const {
  if (parameters_.read_ahead == 0 || bytes == 0) return bytes;
  if (find(combining_, address, bytes) == nullptr) return bytes;
  // A block lies in one page, and mapped are whole ones.
  const std::uint64_t end = (address / parameters_.read_ahead + 1) * parameters_.read_ahead;
  return std::max(bytes, static_cast<std::uint32_t>(end - address));
}

void HostBridge::drop_ahead() {
  ahead_.drop();
  ++epoch_;
}

/// What it sends may, loosely timed, come back as an interrupt, which asks for the same: then that call sends
/// what this one has left.
void HostBridge::send_leaving(Cycle at) {
  while (left_ != leaving_.size()) {
    const WriteCombiner::Write& write = leaving_[left_++];
    ++counters_.writes;
    Tlp* const tlp = make(TlpKind::memory_write, write.address, write.bytes);
    tlp->data.assign(write.data.begin(), write.data.begin() + write.bytes);
    submit(tlp, at, {});
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

void HostBridge::barrier(Cycle at) {
  settle(at);
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
  return submit(make(TlpKind::memory_read, address, length), at, std::move(ahead));
}

void HostBridge::store(std::uint64_t address, const void* data, std::uint32_t bytes, Cycle at) {
  if (!combining_.empty() && find(combining_, address, bytes) != nullptr) {
    drop_ahead();
    ++counters_.combined;
    const Cycle before = combiner_.deadline();
    combiner_.store(address, static_cast<const std::uint8_t*>(data), bytes, at, leaving_);
    send_leaving(at);
    if (combiner_.deadline() != before && !combiner_.empty()) wake(combiner_.deadline());
    return;
  }
  settle(at);
  ++counters_.writes;
  Tlp* const tlp = make(TlpKind::memory_write, address, bytes);
  tlp->data.resize(bytes);
  std::memcpy(tlp->data.data(), data, bytes);
  submit(tlp, at, {});
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

/// A load that reads further is answered as soon as what was asked for is here: what becomes of the rest is
/// nobody's fault. If it is refused before, only what was asked for is read again.
void HostBridge::receive_ahead(Access& access, const Tlp& tlp, bool last, Cycle now) {
  Ahead& ahead = access.ahead;
  const bool refused = tlp.status != CompletionStatus::successful;
  if (refused && !access.given_up) {
    Tlp* const again = make(TlpKind::memory_read, ahead.address, ahead.asked);
    again->tag = tlp.tag;
    access.sent = kNever;
    access.address = again->address;
    access.left = again->bytes;
    access.answer = {};
    ahead = {};
    ++counters_.reads;
    return link_.send(again);
  }
  const Outcome outcome = outcome_of(tlp, false);
  if (outcome != Outcome::done) ahead.epoch = kNever;
  if (access.given_up) {
    ahead.beyond.insert(ahead.beyond.end(), tlp.data.begin(), tlp.data.end());
  } else {
    std::vector<std::uint8_t>& data = access.answer.data;
    data.insert(data.end(), tlp.data.begin(), tlp.data.end());
    access.answer.outcome = outcome_of(tlp, access.answer.outcome == Outcome::poisoned);
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

}  // namespace warpline
