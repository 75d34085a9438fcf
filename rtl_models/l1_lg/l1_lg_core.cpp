#include "rtl_models/l1_lg/l1_lg_core.h"

#include "rtl_models/l1_lg/l1_lg_mutations.h"

namespace warpline {

/// Counts an eviction, and keeps what a last use spares from being written back.
void L1LgCore::settle_eviction(Evicted& evicted) {
  counters_.evictions += evicted.happened;
  if (!evicted.dirty.any()) return;
  if (evicted.last_use) {
    ++counters_.saved_writebacks;
    if (evicted.data != nullptr) given_up_.keep(evicted.number, evicted.dirty, evicted.data);
    evicted.dirty = {};
    return;
  }
  ++counters_.writebacks;
  counters_.writeback_sectors += sector_count(evicted.dirty.sectors());
}

void L1LgCore::forward(const Request& r) {
  const std::uint64_t number = tag_of(r);
  const bool drops = (r.beyond_cta() || rereads(r)) && !mutated(L1LgMutation::strong_load_keeps_line) &&
                     !(mutated(L1LgMutation::strong_load_spares_fill) &&
                       path_.tags().find(number, number) == TagArray::kAbsent);
  if (drops) path_.drop_line(number);
  counters_.forwarded_sectors += sector_count(r.sectors);
}

void L1LgCore::finish_read(Request& r, const ReadOutcome& out) {
  const unsigned sectors = sector_count(r.sectors), hits = sector_count(out.hits),
                 fetched = sector_count(out.fetch);
  L1LgCounters::Loads& loads = counters_.loads[static_cast<unsigned>(r.reader)];
  loads.sectors += sectors;
  loads.hits += hits;
  counters_.sector_accesses += sectors;
  counters_.sector_hits += hits;
  counters_.sector_misses += sectors - hits;
  counters_.fetched_sectors += fetched;
  counters_.merged_sectors += sectors - hits - fetched;
  if (r.local) finish_local_read(r, out);
}

void L1LgCore::finish_local_read(Request& r, const ReadOutcome& out) {
  const std::uint64_t number = tag_of(r);
  if (out.kind == ReadOutcome::Kind::wait && !given_up_.empty()) {
    // Like dirty bytes, and never the same ones, they are newer than what the fill brings.
    const ByteMask laid = given_up_.lay_over(number, ByteMask::of_sectors(r.missing), r.data.data());
    if (laid.any()) r.bytes = r.captured ? r.bytes | laid : laid;
    r.captured = r.captured || laid.any();
  }
  if (!r.last_use) return;
  if (const std::uint32_t index = path_.tags().find(number, number); index != TagArray::kAbsent)
    path_.tags().state(index).last_use = 1;
}

Evicted L1LgCore::fill(const Request& fetched, RequestList& served) {
  Evicted evicted = path_.fill(fetched, served);
  counters_.dead_fills = path_.dead_fills();
  settle_eviction(evicted);
  if (fetched.local && !given_up_.empty()) {
    const std::uint64_t number = tag_of(fetched);
    const std::uint32_t index = path_.tags().find(number, number);
    if (index != TagArray::kAbsent)
      given_up_.lay_over(number, ByteMask::of_sectors(fetched.sectors), path_.lines().at(index));
  }
  return evicted;
}

void L1LgCore::store_global(const Request& r) {
  const std::uint64_t number = tag_of(r);
  const std::uint32_t index = path_.tags().find(number, number);
  SectorMask hits = 0;
  if (r.no_l1) {
    path_.drop_line(number);
  } else if (index != TagArray::kAbsent) {
    hits = path_.tags().state(index).valid_sectors() & r.sectors;
    if (names_class(r.l1_priority)) path_.tags().use(index, r.l1_priority);
    if (!update_on_store_) {
      path_.drop_line(number);
    } else if (std::uint8_t* line = path_.lines().at(index);
               line != nullptr && !mutated(L1LgMutation::store_keeps_line)) {
      copy_masked(line, r.data.data(), r.bytes & ByteMask::of_sectors(hits));
    }
  }
  if (!mutated(L1LgMutation::store_spares_fill)) path_.kill_fill(number);
  if (r.no_l1) {
    counters_.bypassed_sectors += sector_count(r.sectors);
  } else {
    count_look_up(r, hits);
  }
  counters_.stored_sectors += sector_count(r.sectors);
}

Evicted L1LgCore::store_local(const Request& r) {
  const std::uint64_t number = tag_of(r);
  // A fill under way was read before this store; installed after an eviction of the line it would
  // bring the old bytes back.
  path_.kill_fill(number);
  if (!given_up_.empty()) given_up_.forget(number, r.bytes);
  Evicted evicted;
  std::uint32_t index = path_.tags().find(number, number);
  SectorMask hits = 0;
  if (index == TagArray::kAbsent) {
    index = path_.allocate(r, r.l1_priority, evicted);
  } else {
    hits = path_.tags().state(index).valid_sectors() & r.sectors;
    path_.tags().use(index, r.l1_priority);
  }
  path_.tags().mark_dirty(index, r.bytes, r.line);
  if (std::uint8_t* line = path_.lines().at(index); line != nullptr)
    copy_masked(line, r.data.data(), r.bytes);
  count_look_up(r, hits);
  settle_eviction(evicted);
  return evicted;
}

void L1LgCore::pass_atomic(const Request& r) {
  const bool reduces = r.command == Command::reduce;
  if (!(reduces ? mutated(L1LgMutation::reduction_keeps_line) : mutated(L1LgMutation::atomic_keeps_line)))
    path_.drop_line(tag_of(r));
  ++counters_.atomics;
  counters_.atomic_sectors += sector_count(r.sectors);
}

ReadOutcome L1LgCore::prefetch(const Request& r) {
  ReadOutcome out;
  // What lies behind a peer's BAR may be registers: it is not read unasked.
  if (aperture_of(r.line) == Aperture::peer) {
    out.kind = ReadOutcome::Kind::stall;
  } else {
    out = path_.prefetch(r);
  }
  counters_.fetched_sectors += sector_count(out.fetch);
  counters_.prefetched_sectors += sector_count(out.fetch);
  counters_.dropped_prefetches += out.kind == ReadOutcome::Kind::stall;
  return out;
}

void L1LgCore::forget_local() {
  TagArray& tags = path_.tags();
  for (std::uint32_t i = 0; i < tags.lines(); ++i)
    if (is_local(tags.state(i))) tags.mark_clean(i);
  path_.invalidate(LineKind::local);
  given_up_.clear();
}

void L1LgCore::leave_to_shared(std::uint64_t bytes) {
  WARPLINE_EXPECT(bytes % set_bytes_ == 0 && bytes / set_bytes_ < sets_, "L1 keeps whole sets, one at least");
  const auto sets = static_cast<std::uint32_t>(sets_ - bytes / set_bytes_);
  if (sets * (set_bytes_ / kLineBytes) == path_.tags().lines()) return;
  forget_local();
  path_.invalidate(LineKind::global);
  path_.invalidate(LineKind::surface);
  path_.tags().use_sets(sets);
}

/// Takes the dirty bytes of a line for a write-back.
Evicted L1LgCore::clean(std::uint32_t index) {
  Evicted out;
  TagArray& tags = path_.tags();
  if (!tags.state(index).has_dirty) return out;
  out.happened = true;
  out.dirty = tags.dirty(index);
  out.home = tags.home(index);
  out.number = tags.number(index);
  out.data = path_.lines().at(index);
  tags.mark_clean(index);
  tags.state(index).last_use = 0;
  // A fill under way was read before these bytes go back; installed, it would hide them.
  path_.kill_fill(out.number);
  ++counters_.writebacks;
  counters_.writeback_sectors += sector_count(out.dirty.sectors());
  return out;
}

Evicted L1LgCore::control_line(const Request& r) {
  ++counters_.line_operations;
  const std::uint64_t number = tag_of(r);
  const std::uint32_t index = path_.tags().find(number, number);
  Evicted out;
  if (index != TagArray::kAbsent) {
    if (r.control != LineControl::reset) {
      out = clean(index);
    } else if (path_.tags().state(index).has_dirty) {
      path_.tags().mark_clean(index);
      ++counters_.reset_lines;
    }
  }
  if (r.control != LineControl::write_back) {
    path_.drop_line(number);
    path_.drop_line(tag_of(r.virtual_line, true));
  }
  return out;
}

}  // namespace warpline
