// What L1 does with single lines and with all of a kind when it is told to.
#include "warpline/l1_lg/l1_lg_core.h"

namespace warpline {

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

void L1LgCore::pass_control(const Request& r) {
  ++counters_.controls;
  if (r.control == LineControl::discard) path_.drop_line(tag_of(r));
}

void L1LgCore::invalidate_global() {
  path_.invalidate(LineKind::global);
  ++counters_.invalidations;
}

void L1LgCore::invalidate_surfaces() {
  path_.invalidate(LineKind::surface);
}

void L1LgCore::forget_local() {
  TagArray& tags = path_.tags();
  for (std::uint32_t i = 0; i < tags.lines(); ++i)
    if (is_local(tags.state(i))) tags.mark_clean(i);
  path_.invalidate(LineKind::local);
  given_up_.clear();
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

Evicted L1LgCore::clean_next_local(std::uint32_t& from) {
  const TagArray& tags = path_.tags();
  while (from < tags.lines() && !(is_local(tags.state(from)) && tags.state(from).has_dirty)) ++from;
  return from < tags.lines() ? clean(from++) : Evicted{};
}

void L1LgCore::invalidate_local() {
  path_.invalidate(LineKind::local);
  ++counters_.local_invalidations;
}

}  // namespace warpline
