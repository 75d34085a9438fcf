// The part of the L2 core that keeps copies of system memory (semantics, R7).
#include "warpline/base/contract.h"
#include "warpline/base/mutation.h"
#include "warpline/l2/l2_core.h"

namespace warpline {
namespace {

/// An access that is performed at the memory itself, not at L2's copy.
bool is_direct(const Request& r) {
  return r.scope == Scope::sys || r.command == Command::atomic || r.command == Command::reduce ||
         r.cache_operator == CacheOperator::cv || r.cache_operator == CacheOperator::wt;
}

}  // namespace

L2Core::Copy* L2Core::copy_of(std::uint32_t index) {
  if (vidmem_ == nullptr) return nullptr;
  if (copies_.empty()) copies_.resize(tags_.lines());
  if (copies_[index] == nullptr) copies_[index] = std::make_unique<Copy>();
  return copies_[index].get();
}

void L2Core::drop_sysmem(std::uint32_t index) {
  --sysmem_lines_;
  if (!copies_.empty()) copies_[index].reset();
  tags_.drop(index);
}

void L2Core::perform_in_copy(Request& r, std::uint32_t index) {
  Copy* copy = copy_of(index);
  if (copy == nullptr) return;
  if (r.command == Command::read) {
    copy_sectors(r.data.data(), copy->bytes.data(),
                 static_cast<SectorMask>(r.sectors & tags_.state(index).valid_sectors()));
  } else {
    copy_masked(copy->bytes.data(), r.data.data(), r.bytes);
  }
}

L2Outcome L2Core::access_sysmem(Request& r, WriteBackSink& sink) {
  const std::uint64_t number = line_number(r.line);
  if (const std::uint16_t pending = misses_.find(number); pending != MissTable::kNone) {
    misses_[pending].waiters.push(&r);
    return {L2Outcome::Kind::wait, 0, pending};
  }
  const std::uint32_t found = tags_.find(number, key(number));
  if (is_direct(r)) {
    counters_.direct_sectors += sector_count(r.sectors);
    if (found != TagArray::kAbsent && !mutated(Mutation::sys_access_keeps_copy)) {
      if (!mutated(Mutation::sys_access_ignores_dirty)) clean(found, sink);
      drop_sysmem(found);
      ++counters_.sysmem_discards;
    }
    return {L2Outcome::Kind::pass_on, 0, MissTable::kNone};
  }
  const SectorMask valid = found == TagArray::kAbsent ? SectorMask{0} : tags_.state(found).valid_sectors();
  const auto hits = static_cast<SectorMask>(valid & r.sectors);
  if (r.command == Command::write) {
    count_look_up(r, hits);
    const std::uint32_t index = line_for(number, r.line, r.l2_priority, sink);
    perform_in_copy(r, index);
    tags_.mark_dirty(index, r.bytes, r.line);
    return {};
  }
  const auto missing = static_cast<SectorMask>(r.sectors & ~hits);
  if (missing != 0 && misses_.full()) return {L2Outcome::Kind::stall, 0, MissTable::kNone};
  count_look_up(r, hits);
  r.bytes = ByteMask{};
  if (found != TagArray::kAbsent) {
    tags_.use(found, r.l2_priority);
    perform_in_copy(r, found);
    if (Copy* copy = copy_of(found); copy != nullptr && missing != 0) {
      r.bytes = tags_.dirty(found) & ByteMask::of_sectors(missing);
      copy_masked(r.data.data(), copy->bytes.data(), r.bytes);
    }
  }
  if (missing == 0) return {};
  L2Outcome out;
  miss(r, missing, out);
  out.kind = L2Outcome::Kind::wait;
  counters_.sysmem_fetched_sectors += sector_count(out.fetch);
  r.missing = missing;
  misses_[out.entry].waiters.push(&r);
  return out;
}

void L2Core::fill_sysmem(MissTable::Entry& entry, const Request& fetched, RequestList& served,
                         RequestList& again, WriteBackSink& sink) {
  // The first waiter is the read or prefetch that asked; the others came later and are looked at again.
  Request* first = entry.waiters.pop();
  WARPLINE_EXPECT(first->missing == fetched.sectors, "one fetch per system-memory line");
  if (vidmem_ != nullptr)
    copy_masked(first->data.data(), fetched.data.data(),
                ByteMask::of_sectors(fetched.sectors) & ~first->bytes);
  first->missing = 0;
  if (first->command == Command::read) first->status = fetched.status;  // a prefetch never fails
  served.push(first);
  while (!entry.waiters.empty()) again.push(entry.waiters.pop());
  if (entry.stale || fetched.status != Status::ok) {
    ++counters_.dead_fills;
    return;
  }
  const std::uint32_t index = line_for(entry.number, fetched.line, entry.priority, sink);
  LineState& state = tags_.state(index);
  if (Copy* copy = copy_of(index); copy != nullptr) {
    const ByteMask kept = mutated(Mutation::fetch_overwrites_dirty) ? ByteMask{} : tags_.dirty(index);
    copy_masked(copy->bytes.data(), fetched.data.data(), ByteMask::of_sectors(fetched.sectors) & ~kept);
  }
  state.add_valid(fetched.sectors);
}

L2Core::Copy* L2Core::present_copy(std::uint64_t number, std::uint32_t& index) {
  index = tags_.find(number, key(number));
  return index == TagArray::kAbsent ? nullptr : copy_of(index);
}

void L2Core::overlay(PhysicalAddress address, std::uint8_t* bytes, unsigned count) {
  std::uint32_t index = 0;
  const Copy* copy = present_copy(line_number(address), index);
  if (copy == nullptr) return;
  const ByteMask dirty = tags_.dirty(index);
  for (unsigned n = 0, at = offset_in_line(address); n < count; ++n, ++at)
    if (dirty.test(at)) bytes[n] = copy->bytes[at];
}

void L2Core::update(PhysicalAddress address, const std::uint8_t* bytes, unsigned count) {
  std::uint32_t index = 0;
  if (Copy* copy = present_copy(line_number(address), index); copy != nullptr)
    __builtin_memcpy(&copy->bytes[offset_in_line(address)], bytes, count);
}

void L2Core::maintain_sysmem(bool discard, WriteBackSink& sink) {
  for (std::uint32_t i = 0; i < tags_.lines() && sysmem_lines_ != 0; ++i) {
    if (!tags_.present(i) || !tags_.state(i).sysmem) continue;
    if (discard || !mutated(Mutation::sys_release_skips_write_back)) clean(i, sink);
    if (!discard || mutated(Mutation::sys_acquire_keeps_copies)) continue;
    drop_sysmem(i);
    ++counters_.sysmem_discards;
  }
  if (discard && !mutated(Mutation::sys_acquire_spares_fetches))
    misses_.mark_stale([](std::uint64_t number) {
      return aperture_of(PhysicalAddress{number * kLineBytes}) != Aperture::vidmem;
    });
}

}  // namespace warpline
