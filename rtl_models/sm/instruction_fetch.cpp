#include "rtl_models/sm/instruction_fetch.h"

#include <algorithm>

#include "rtl_models/base/contract.h"

namespace warpline {
namespace {

/// Tells a fetch from what the load/store unit requests in the same cycle.
constexpr std::uint64_t kFetchIdentity = std::uint64_t{1} << 62U;

}  // namespace

void InstructionFetch::start(PhysicalAddress base, std::uint64_t bytes) {
  WARPLINE_EXPECT(idle(), "a kernel starts when nothing is being fetched");
  WARPLINE_EXPECT(base.value % kLineBytes == 0, "code begins with a line");
  constexpr unsigned kAllInOne = 32;
  base_line_ = base.value >> kLineShift;
  code_bytes_ = bytes;
  shift_ = bytes == 0 ? kAllInOne : kLineShift;
  ++changes_;
}

std::uint16_t InstructionFetch::request(std::uint64_t number, unsigned slot) {
  auto free = std::find_if(entries_.begin(), entries_.end(), [](const Entry& e) { return !e.in_use; });
  if (free == entries_.end()) free = entries_.insert(free, Entry{});
  *free = {number, 0, slot, true, true};
  const auto index = static_cast<std::uint16_t>(free - entries_.begin());
  queue_.push_back(index);
  ++under_way_;
  return index;
}

bool InstructionFetch::prefetch_after(std::uint64_t line, unsigned slot) {
  bool all = true;
  for (std::uint64_t next = line + 1; next <= line + ahead_ && next << kLineShift < code_bytes_; ++next) {
    if (holds(base_line_ + next)) continue;
    all = false;
    if (under_way_ != 0 && find(base_line_ + next) != kNone) continue;
    request(base_line_ + next, slot);
    ++counters_.prefetches;
  }
  return all;
}

/// What come_to() does of a line of which it is not known that it and those after it are there.
bool InstructionFetch::look_up(unsigned slot, std::uint64_t line) {
  const std::uint64_t number = base_line_ + line;
  if (holds(number)) {
    forget(slot);
    if (prefetch_after(line, slot)) followed_[place_of_.remainder(number)] = changes_;
    return true;
  }
  // It may wait for a line that is dead by now, and has that served all the same.
  if (waits(slot) && entries_[awaited_[slot]].number == number) return false;
  forget(slot);
  ++counters_.waits;
  std::uint16_t entry = under_way_ == 0 ? kNone : find(number);
  counters_.merges += entry != kNone;
  if (entry == kNone) entry = request(number, slot);
  awaited_[slot] = entry;
  entries_[entry].waiters |= std::uint64_t{1} << slot;
  prefetch_after(line, slot);
  return false;
}

Cycle InstructionFetch::advance(Cycle now) {
  if (queue_.empty() || !port_.ready(now)) return kNever;
  const std::uint16_t index = queue_.front();
  queue_.pop_front();
  Request* r = owner_.pool().allocate();
  r->maker = this;
  last_number_ = std::max(now, last_number_ + 1);
  r->made_by(sm_, last_number_);
  r->id |= kFetchIdentity;
  r->token = index;
  if (index == kInvalidation) {
    r->command = Command::maintain;
    r->maintenance = maintenance::kInvalidate;
    r->line = PhysicalAddress{};
    r->virtual_line = VirtualAddress{};
  } else {
    const Entry& e = entries_[index];
    r->command = Command::read;
    r->sectors = kAllSectors;
    r->line = PhysicalAddress{e.number << kLineShift};
    r->virtual_line = VirtualAddress{e.number << kLineShift};
    r->warp = static_cast<std::uint16_t>(e.asked_by);
    ++counters_.requests;
    counters_.sectors += kSectorsPerLine;
  }
  port_.send(now, {r});
  return queue_.empty() ? kNever : owner_.domain().after(now, 1);
}

InstructionFetch::Arrival InstructionFetch::respond(Request& r) {
  Arrival arrival;
  --under_way_;
  if (r.command == Command::read) {
    Entry& e = entries_[r.token];
    arrival = {e.number - base_line_, e.waiters, e.live, r.status != Status::ok};
    if (e.live && !arrival.failed) {
      buffer_[place_of_.remainder(e.number)] = e.number;
      ++changes_;
    }
    for (std::uint64_t slots = e.waiters; slots != 0; slots &= slots - 1)
      awaited_[static_cast<unsigned>(__builtin_ctzll(slots))] = kNone;
    e = {};
  }
  owner_.pool().release(&r);
  return arrival;
}

void InstructionFetch::empty() {
  std::fill(buffer_.begin(), buffer_.end(), kNoLine);
  ++changes_;
}

void InstructionFetch::invalidate() {
  empty();
  for (Entry& e : entries_) e.live = false;
  queue_.push_back(kInvalidation);
  ++under_way_;
  ++counters_.invalidations;
}

void InstructionFetch::explain(const std::string& who, std::vector<Wait>& waits) const {
  if (queue_.empty()) return;
  waits.push_back({who,
                   port_.room() + ", with " + std::to_string(queue_.size()) + " requests to go",
                   {port_.other_side()}});
}

}  // namespace warpline
