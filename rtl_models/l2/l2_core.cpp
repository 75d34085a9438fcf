#include "rtl_models/l2/l2_core.h"

#include <algorithm>

#include "rtl_models/base/contract.h"
#include "rtl_models/l2/l2_mutations.h"
#include "rtl_models/sim/atomics.h"
#include "rtl_models/sim/vidmem_access.h"

namespace warpline {
namespace {

/// An access that is performed at the memory itself, not at L2's copy.
bool is_direct(const Request& r) {
  return r.scope == Scope::sys || r.command == Command::atomic || r.command == Command::reduce ||
         r.cache_operator == CacheOperator::cv || r.cache_operator == CacheOperator::wt;
}

}  // namespace

void L2Core::clear() {
  WARPLINE_EXPECT(misses_.in_use() == 0, "a cache is cleared at rest");
  tags_.clear();
  if (near_ != nullptr) near_->clear();
  if (sysmem_lines_ == 0) return;
  for (auto& copy : copies_) copy.reset();
  sysmem_lines_ = 0;
}

void L2Core::put(const Request& r) {
  const std::uint64_t number = line_number(r.line);
  std::uint32_t index = tags_.find(number, key(number));
  if (index == TagArray::kAbsent) {
    index = tags_.victim(key(number));
    WARPLINE_EXPECT(!tags_.present(index), "a scene fits the cache");
    tags_.install(index, number, EvictionClass::normal).sysmem = aperture_of(r.line) != Aperture::vidmem;
    sysmem_lines_ += tags_.state(index).sysmem;
  }
  tags_.state(index).add_valid(r.sectors);
  if (!tags_.state(index).sysmem) return;
  if (Copy* copy = copy_of(index); copy != nullptr)
    copy_sectors(copy->bytes.data(), r.data.data(), r.sectors);
}

void L2Core::leave(PhysicalAddress line) {
  if (near_ != nullptr) drop_copies(line);
  const std::uint64_t number = line_number(line);
  std::uint32_t index = tags_.find(number, key(number));
  if (index == TagArray::kAbsent) {
    index = tags_.victim(key(number));
    if (tags_.present(index)) {
      if (tags_.state(index).has_dirty || tags_.state(index).sysmem) return;
      counters_.evictions += NearCopies::is_twin(tags_.number(index)) ? 0 : 1;
    }
    tags_.install(index, number, EvictionClass::normal);
  } else {
    tags_.touch(index);
  }
  tags_.state(index).add_valid(kAllSectors);
  ++counters_.copied_lines;
}

void L2Core::count_look_up(const Request& r, SectorMask hits) {
  const unsigned sectors = sector_count(r.sectors);
  counters_.sector_accesses += sectors;
  counters_.sector_hits += sector_count(hits);
  counters_.sector_misses += sectors - sector_count(hits);
  if (r.command == Command::read) {
    counters_.read_sectors += sectors;
  } else if (r.command == Command::write) {
    counters_.write_sectors += sectors;
  } else {
    counters_.atomic_sectors += sectors;
    counters_.atomic_operations += std::uint64_t{r.atomics->count} * r.atomics->vector;
  }
  RegionCounters& region = regions_[r.region < regions_.size() ? r.region : 0];
  region.sector_accesses += sectors;
  region.sector_hits += sector_count(hits);
}

L2Outcome L2Core::access(Request& r, WriteBackSink& sink) {
  switch (aperture_of(r.line)) {
    case Aperture::vidmem: return access_vidmem(r, sink);
    case Aperture::sysmem: return access_sysmem(r, sink);
    case Aperture::peer:
    case Aperture::multicast: break;
  }
  // Not in video or system memory: the device at the end of the link answers it, or refuses.
  counters_.direct_sectors += sector_count(r.sectors);
  return {L2Outcome::Kind::pass_on, 0, MissTable::kNone};
}

void L2Core::clean(std::uint32_t index, WriteBackSink& sink) {
  const LineState& state = tags_.state(index);
  if (!state.has_dirty) return;
  const ByteMask dirty = tags_.dirty(index);
  const PhysicalAddress home = tags_.home(index);
  if (state.sysmem) {
    ++counters_.sysmem_writebacks;
    // A fetch under way reads the memory before these bytes reach it; installed, it would hide them.
    if (const std::uint16_t pending = misses_.find(tags_.number(index)); pending != MissTable::kNone)
      misses_[pending].stale = true;
    Copy* copy = copy_of(index);
    const ByteMask taken =
        mutated(L2Mutation::clean_bytes_written_back) ? ByteMask::of_sectors(dirty.sectors()) : dirty;
    sink.write_back({home, taken, copy == nullptr ? nullptr : copy->bytes.data()});
  } else {
    ++counters_.writebacks;
    counters_.writeback_sectors += sector_count(dirty.sectors());
    sink.write_back({home, dirty, nullptr});
  }
  tags_.mark_clean(index);
}

std::uint32_t L2Core::line_for(std::uint64_t number, PhysicalAddress line, EvictionPriority priority,
                               WriteBackSink& sink) {
  const std::uint32_t present = tags_.find(number, key(number));
  if (present != TagArray::kAbsent) {
    tags_.use(present, priority);
    return present;
  }
  return new_line(number, line, priority, sink);
}

std::uint32_t L2Core::make_room(std::uint64_t set_key, WriteBackSink& sink) {
  const std::uint32_t index = tags_.victim(set_key);
  if (tags_.present(index) && !NearCopies::is_twin(tags_.number(index))) {
    ++counters_.evictions;
    clean(index, sink);
    if (tags_.state(index).sysmem) drop_sysmem(index);
  }
  return index;
}

std::uint32_t L2Core::new_line(std::uint64_t number, PhysicalAddress line, EvictionPriority priority,
                               WriteBackSink& sink) {
  const std::uint64_t set_key = key(number);
  const EvictionClass eviction = tags_.admit(set_key, priority);
  const std::uint32_t index = make_room(set_key, sink);
  LineState& state = tags_.install(index, number, eviction);
  state.sysmem = aperture_of(line) != Aperture::vidmem;
  if (state.sysmem) ++sysmem_lines_;
  return index;
}

void L2Core::refresh(PhysicalAddress line, std::uint32_t index, SectorMask sectors) {
  if (const std::uint16_t pending = misses_.find(line_number(line)); pending != MissTable::kNone)
    sectors = static_cast<SectorMask>(sectors & ~misses_[pending].pending);
  std::array<std::uint8_t, kLineBytes> bytes;
  if (sectors == 0 || !memory_->peek(line, bytes.data())) return;
  const ByteMask newer = index == TagArray::kAbsent ? ByteMask{} : tags_.dirty(index);
  copy_masked(vidmem_->at(offset_in_aperture(line)), bytes.data(), ByteMask::of_sectors(sectors) & ~newer);
}

void L2Core::perform_in_vidmem(Request& r) {
  if (vidmem_ != nullptr) perform_on(vidmem_->at(offset_in_aperture(r.line)), r);
}

void L2Core::miss(Request& r, SectorMask missing, L2Outcome& out) {
  const std::uint64_t number = line_number(r.line);
  out.entry = misses_.find(number);
  if (out.entry == MissTable::kNone) out.entry = misses_.allocate(number);
  MissTable::Entry& entry = misses_[out.entry];
  entry.priority = joined(entry.priority, r.l2_priority);
  out.fetch = static_cast<SectorMask>(missing & ~entry.pending);
  entry.pending |= missing;
}

/// A read finds its line.
void L2Core::use(std::uint32_t index, const Request& r) {
  if (r.sectors == 0) return;  // it prefetches only
  tags_.use(index, r.l2_priority);
  if (!r.last_use || !tags_.state(index).has_dirty) return;
  // The bytes are in the backing store already; what is saved is DRAM traffic.
  tags_.mark_clean(index);
  ++counters_.saved_writebacks;
}

L2Outcome L2Core::read_dram(Request& r, WriteBackSink& sink) {
  if (misses_.full()) return {L2Outcome::Kind::stall, 0, MissTable::kNone};
  const std::uint64_t number = line_number(r.line);
  const std::uint32_t found = tags_.find(number, key(number));
  counters_.direct_sectors += sector_count(r.sectors);
  if (found != TagArray::kAbsent) clean(found, sink);
  if (memory_ != nullptr) refresh(r.line, found, r.sectors);
  perform_in_vidmem(r);
  // Dead from the start: nobody joins the fetch, and it installs nothing.
  const std::uint16_t entry = misses_.allocate(number);
  misses_.kill(entry);
  misses_[entry].pending = r.missing = r.sectors;
  misses_[entry].waiters.push(&r);
  counters_.fetched_sectors += sector_count(r.sectors);
  return {L2Outcome::Kind::wait, r.sectors, entry};
}

L2Outcome L2Core::write_dram(Request& r, WriteBackSink& sink) {
  counters_.direct_sectors += sector_count(r.sectors);
  ++counters_.writebacks;
  counters_.writeback_sectors += sector_count(r.sectors);
  perform_in_vidmem(r);
  sink.write_back({r.line, r.bytes, nullptr});
  return {};
}

void L2Core::drop_copies(PhysicalAddress line) {
  const std::uint64_t number = line_number(line);
  counters_.copies_dropped += near_->drop(number, key(number));
}

bool L2Core::copy_twin(std::uint64_t number, EvictionPriority priority, WriteBackSink& sink) {
  const std::uint64_t twin = NearCopies::twin_of(number), set_key = near_->twin_key(key(number));
  if (const std::uint32_t found = tags_.find(twin, set_key); found != TagArray::kAbsent) {
    tags_.use(found, priority);
    return true;
  }
  const EvictionClass eviction = tags_.admit(set_key, priority);
  tags_.install(make_room(set_key, sink), twin, eviction);
  return false;
}

L2Outcome L2Core::access_partitions(Request& r, WriteBackSink& sink) {
  const bool by_sm = made_by_sm(r.id) && r.gpu == place_.gpu, reads = r.command == Command::read;
  const bool far = by_sm && is_far(r.sm);
  const std::uint64_t number = line_number(r.line), set_key = key(number);
  r.far = far && r.sectors != 0;
  if (r.far && reads && !r.exact) {
    const SectorMask copied = near_->copied(number, set_key);
    if (((r.sectors | r.prefetch) & ~copied & kAllSectors) == 0) {
      count_look_up(r, r.sectors);
      counters_.near_copy_sectors += sector_count(r.sectors);
      near_->use(number, set_key, r.l2_priority);
      near_->access_twin(number, set_key, r.l2_priority);
      counters_.copies_evicted += near_->take_evicted();
      perform_in_vidmem(r);
      r.far = false;
      return {};
    }
  }
  const L2Outcome out = access_home(r, sink);
  if (out.kind == L2Outcome::Kind::stall) return out;
  if (!reads) {
    // A write by an SM near the copy changes it as well; all others leave it behind, as atomics do.
    if (!far || r.command != Command::write) drop_copies(r.line);
    if (r.far) counters_.far_write_sectors += sector_count(r.sectors);
  }
  if (by_sm && !r.exact && r.sectors != 0) {
    if (far || !reads || !copy_twin(number, r.l2_priority, sink))
      near_->access_twin(number, set_key, r.l2_priority);
    counters_.copies_evicted += near_->take_evicted();
  }
  return out;
}

NearCopies::Transfer L2Core::send_far(Request& r) {
  NearCopies::Transfer t{r.sectors, MissTable::kNone};
  if (r.command != Command::read || r.status != Status::ok) return t;
  if (!r.exact) t = near_->send(r);
  counters_.far_read_sectors += sector_count(t.sectors);
  counters_.far_merged_sectors += sector_count(r.sectors) - sector_count(t.sectors);
  return t;
}

void L2Core::arrive(const NearCopies::Transfer& transfer, RequestList& served) {
  near_->arrive(transfer, key(near_->number_of(transfer.entry)), served);
  counters_.copies_evicted += near_->take_evicted();
}

L2Outcome L2Core::access_vidmem(Request& r, WriteBackSink& sink) {
  if (!lies_in_vidmem(r.line)) {
    r.status = Status::address_error;
    r.far = false;
    return {};
  }
  return near_ == nullptr ? access_home(r, sink) : access_partitions(r, sink);
}

L2Outcome L2Core::access_home(Request& r, WriteBackSink& sink) {
  if (r.exact) return r.command == Command::read ? read_dram(r, sink) : write_dram(r, sink);
  // Has the host's processor prefetch the bytes, and the line states that a miss will read, while the tags
  // are looked up.
  const unsigned first = r.sectors == 0 ? 0 : static_cast<unsigned>(__builtin_ctz(r.sectors));
  if (vidmem_ != nullptr) __builtin_prefetch(vidmem_->at(offset_in_aperture(r.line)) + kSectorBytes * first);
  const std::uint64_t number = line_number(r.line);
  const std::uint64_t set_key = key(number);
  tags_.prefetch_states(set_key);
  const std::uint32_t found = tags_.find(number, set_key);
  const SectorMask valid = found == TagArray::kAbsent ? SectorMask{0} : tags_.state(found).valid_sectors();
  const auto hits = static_cast<SectorMask>(valid & r.sectors);
  const auto missing = static_cast<SectorMask>(r.command == Command::write ? 0 : r.sectors & ~hits);
  auto wanted = static_cast<SectorMask>(missing | (r.prefetch & ~valid));
  const bool can_miss = !misses_.full() || misses_.find(number) != MissTable::kNone;
  if (missing != 0 && !can_miss) return {L2Outcome::Kind::stall, 0, MissTable::kNone};
  if (!can_miss) wanted = 0;  // a prefetch is only a hint
  count_look_up(r, hits);
  if (memory_ != nullptr && wanted != 0) refresh(r.line, found, wanted);
  perform_in_vidmem(r);
  if (r.command == Command::read) {
    if (found != TagArray::kAbsent) use(found, r);
  } else {
    const std::uint32_t index = line_for(number, r.line, r.l2_priority, sink);
    tags_.mark_dirty(index, r.command == Command::write ? r.bytes : atomic_bytes(*r.atomics), r.line);
  }
  L2Outcome out;
  if (wanted != 0) {
    miss(r, wanted, out);
    counters_.fetched_sectors += sector_count(out.fetch);
    counters_.prefetched_sectors += sector_count(static_cast<SectorMask>(out.fetch & ~missing));
    counters_.merged_sectors +=
        sector_count(missing) - sector_count(static_cast<SectorMask>(out.fetch & missing));
  }
  if (missing != 0) {
    out.kind = L2Outcome::Kind::wait;
    r.missing = missing;
    misses_[out.entry].waiters.push(&r);
  }
  return out;
}

void L2Core::fill(const Request& fetched, RequestList& served, RequestList& again, WriteBackSink& sink) {
  MissTable::Entry& entry = misses_[fetched.token];
  WARPLINE_EXPECT(entry.in_use && (entry.pending & fetched.sectors) == fetched.sectors,
                  "a fill answers a fetch");
  entry.pending = static_cast<SectorMask>(entry.pending & ~fetched.sectors);
  if (aperture_of(fetched.line) != Aperture::vidmem) {
    fill_sysmem(entry, fetched, served, again, sink);
  } else {
    const bool failed = fetched.status != Status::ok;
    if (failed) {
      ++counters_.dead_fills;
    } else if (entry.live) {
      // A line that is there has its class and age from those who used it; a prefetch gives it none.
      std::uint32_t index = tags_.find(entry.number, key(entry.number));
      if (index == TagArray::kAbsent) index = new_line(entry.number, fetched.line, entry.priority, sink);
      tags_.state(index).add_valid(fetched.sectors);
    }
    RequestList still;
    while (!entry.waiters.empty()) {
      Request* w = entry.waiters.pop();
      if (failed && (w->missing & fetched.sectors) != 0) w->status = fetched.status;
      w->came_from(AnsweredBy::dram);
      w->missing = static_cast<SectorMask>(w->missing & ~fetched.sectors);
      (w->missing == 0 ? served : still).push(w);
    }
    entry.waiters = still;
  }
  if (entry.pending == 0) misses_.release(fetched.token);
}

L2Outcome L2Core::control(Request& r) {
  const Aperture aperture = aperture_of(r.line);
  if (aperture == Aperture::peer || (aperture == Aperture::vidmem && !lies_in_vidmem(r.line))) {
    counters_.dropped_prefetches +=
        r.control == LineControl::prefetch_l1 || r.control == LineControl::prefetch_l2;
    return {};
  }
  if (aperture == Aperture::sysmem && r.control != LineControl::apply_priority) {
    // Behind those who wait for a fetch of the line, as every access to it.
    if (const std::uint16_t pending = misses_.find(line_number(r.line)); pending != MissTable::kNone) {
      misses_[pending].waiters.push(&r);
      return {L2Outcome::Kind::wait, 0, pending};
    }
  }
  switch (r.control) {
    case LineControl::none: break;
    case LineControl::prefetch_l1:
    case LineControl::prefetch_l2: return prefetch(r);
    case LineControl::apply_priority: apply_priority(r); break;
    case LineControl::discard: discard(r); break;
    case LineControl::write_back:
    case LineControl::invalidate:
    case LineControl::reset: break;  // of lines above
  }
  return {};
}

L2Outcome L2Core::prefetch(Request& r) {
  const std::uint64_t number = line_number(r.line);
  const std::uint32_t found = tags_.find(number, key(number));
  SectorMask missing = r.sectors;
  if (found != TagArray::kAbsent) {
    tags_.use(found, r.l2_priority);
    missing = static_cast<SectorMask>(missing & ~tags_.state(found).valid_sectors());
  }
  if (missing == 0) return {};
  if (misses_.full() && misses_.find(number) == MissTable::kNone) {
    ++counters_.dropped_prefetches;
    return {};
  }
  if (memory_ != nullptr && aperture_of(r.line) == Aperture::vidmem) refresh(r.line, found, missing);
  L2Outcome out;
  miss(r, missing, out);
  if (aperture_of(r.line) == Aperture::vidmem) {
    counters_.fetched_sectors += sector_count(out.fetch);
    counters_.prefetched_sectors += sector_count(out.fetch);
    return out;
  }
  // A fetch of system memory belongs to the request that asked for it.
  counters_.sysmem_fetched_sectors += sector_count(out.fetch);
  out.kind = L2Outcome::Kind::wait;
  r.bytes = ByteMask{};
  r.missing = missing;
  misses_[out.entry].waiters.push(&r);
  return out;
}

void L2Core::apply_priority(const Request& r) {
  const std::uint64_t number = line_number(r.line);
  if (const std::uint32_t found = tags_.find(number, key(number)); found != TagArray::kAbsent)
    tags_.give_class(found, r.l2_priority);
  if (const std::uint16_t pending = misses_.find(number); pending != MissTable::kNone)
    misses_[pending].priority = joined(misses_[pending].priority, r.l2_priority);
}

void L2Core::discard(const Request& r) {
  if (near_ != nullptr && aperture_of(r.line) == Aperture::vidmem) drop_copies(r.line);
  const std::uint64_t number = line_number(r.line);
  const std::uint32_t found = tags_.find(number, key(number));
  if (found != TagArray::kAbsent && tags_.state(found).has_dirty) {
    tags_.mark_clean(found);
    ++counters_.discarded_lines;
  }
  if (!poison_discarded_ || vidmem_ == nullptr) return;
  if (aperture_of(r.line) == Aperture::vidmem) {
    std::fill_n(vidmem_->at(offset_in_aperture(r.line)), kLineBytes, kDiscarded);
  } else if (found != TagArray::kAbsent) {
    copy_of(found)->bytes.fill(kDiscarded);
    tags_.state(found).add_valid(kAllSectors);
  }
}

L2Core::Copy* L2Core::copy_of(std::uint32_t index) {
  if (vidmem_ == nullptr) return nullptr;
  if (copies_.empty()) copies_.resize(tags_.lines());
  if (copies_[index] == nullptr) copies_[index] = std::make_unique<Copy>();
  return copies_[index].get();
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
    if (found != TagArray::kAbsent && !mutated(L2Mutation::sys_access_keeps_copy)) {
      if (!mutated(L2Mutation::sys_access_ignores_dirty)) clean(found, sink);
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
  first->came_from(AnsweredBy::link);
  if (first->command == Command::read) first->status = fetched.status;  // a prefetch never fails
  served.push(first);
  while (!entry.waiters.empty()) {
    entry.waiters.front()->came_from(AnsweredBy::link);
    again.push(entry.waiters.pop());
  }
  if (entry.stale || fetched.status != Status::ok) {
    ++counters_.dead_fills;
    return;
  }
  const std::uint32_t index = line_for(entry.number, fetched.line, entry.priority, sink);
  LineState& state = tags_.state(index);
  if (Copy* copy = copy_of(index); copy != nullptr) {
    const ByteMask kept = mutated(L2Mutation::fetch_overwrites_dirty) ? ByteMask{} : tags_.dirty(index);
    copy_masked(copy->bytes.data(), fetched.data.data(), ByteMask::of_sectors(fetched.sectors) & ~kept);
  }
  state.add_valid(fetched.sectors);
}

LineView L2Core::look(PhysicalAddress line) const {
  const std::uint64_t number = line_number(line);
  LineView view = view_of(tags_, misses_, number, key(number));
  if (near_ != nullptr) view.copied = near_->copied(number, key(number));
  if (view.present && !copies_.empty())
    if (const auto& copy = copies_[tags_.find(number, key(number))]; copy != nullptr)
      view.bytes = copy->bytes.data();
  return view;
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
    if (discard || !mutated(L2Mutation::sys_release_skips_write_back)) clean(i, sink);
    if (!discard || mutated(L2Mutation::sys_acquire_keeps_copies)) continue;
    drop_sysmem(i);
    ++counters_.sysmem_discards;
  }
  if (discard && !mutated(L2Mutation::sys_acquire_spares_fetches))
    misses_.mark_stale([](std::uint64_t number) {
      return aperture_of(PhysicalAddress{number * kLineBytes}) != Aperture::vidmem;
    });
}

}  // namespace warpline
