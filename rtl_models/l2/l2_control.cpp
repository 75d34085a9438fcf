// The part of the L2 core that prefetches lines, gives them priorities and discards them.
#include <algorithm>

#include "warpline/l2/l2_core.h"

namespace warpline {

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

}  // namespace warpline
