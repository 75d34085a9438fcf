#include "rtl_models/cache/read_path.h"

#include <algorithm>

#include "rtl_models/cache/cache_mutations.h"

namespace warpline {

SectorMask ReadPath::whole_blocks(std::uint64_t number, SectorMask missing) {
  const unsigned block = (1U << block_sectors_) - 1;
  unsigned whole = 0;
  for (unsigned at = 0; at < kLineBytes / kSectorBytes; at += block_sectors_)
    if ((missing & (block << at)) != 0) whole |= block << at;
  const std::uint32_t index = tags_.find(number, number);
  if (index != TagArray::kAbsent) whole &= ~unsigned{tags_.state(index).valid_sectors()};
  return static_cast<SectorMask>(whole);
}

bool ReadPath::want(const Request& r, SectorMask missing, ReadOutcome& out) {
  const std::uint64_t number = tag_of(r);
  if (block_sectors_ != 1) missing = whole_blocks(number, missing);
  out.entry = misses_.find(number);
  if (out.entry == MissTable::kNone) {
    if (misses_.full()) {
      out.kind = ReadOutcome::Kind::stall;
      return false;
    }
    out.entry = misses_.allocate(number);
    misses_[out.entry].kind = kind_of(r);
  }
  MissTable::Entry& entry = misses_[out.entry];
  out.fetch = static_cast<SectorMask>(missing & ~entry.pending);
  entry.pending |= missing;
  entry.priority = joined(entry.priority, r.l1_priority);
  return true;
}

ReadOutcome ReadPath::prefetch(const Request& r) {
  ReadOutcome out;
  const std::uint64_t number = tag_of(r);
  const std::uint32_t index = tags_.find(number, number);
  if (index != TagArray::kAbsent) {
    out.hits = tags_.state(index).valid_sectors() & r.sectors;
    tags_.use(index, r.l1_priority);
  }
  if (const auto missing = static_cast<SectorMask>(r.sectors & ~out.hits); missing != 0)
    static_cast<void>(want(r, missing, out));
  return out;
}

ReadOutcome ReadPath::miss(Request& r, std::uint32_t index, SectorMask hits) {
  ReadOutcome out;
  out.hits = hits;
  const auto missing = static_cast<SectorMask>(r.sectors & ~hits);
  if (!want(r, missing, out)) return out;
  out.kind = ReadOutcome::Kind::wait;
  r.missing = missing;
  r.captured = false;
  misses_[out.entry].waiters.push(&r);
  if (index == TagArray::kAbsent) return out;
  tags_.use(index, r.l1_priority);
  const std::uint8_t* line = lines_.at(index);
  if (line == nullptr) return out;
  copy_sectors(r.data.data(), line, hits);
  if (!tags_.state(index).has_dirty) return out;
  r.captured = true;
  r.bytes = tags_.dirty(index) & ByteMask::of_sectors(missing);
  copy_masked(r.data.data(), line, r.bytes);
  return out;
}

void ReadPath::serve_waiters(MissTable::Entry& entry, const Request& fetched, RequestList& served) {
  RequestList still;
  while (!entry.waiters.empty()) {
    Request* w = entry.waiters.pop();
    const auto got = static_cast<SectorMask>(w->missing & fetched.sectors);
    if (fetched.status != Status::ok) w->status = fetched.status;
    if (got != 0) w->came_from(std::max(fetched.answered_by, AnsweredBy::l2));
    if (lines_.at(0) != nullptr) {
      if (w->captured) {
        copy_masked(w->data.data(), fetched.data.data(), ByteMask::of_sectors(got) & ~w->bytes);
      } else {
        copy_sectors(w->data.data(), fetched.data.data(), got);
      }
    }
    w->missing = static_cast<SectorMask>(w->missing & ~got);
    if (w->missing == 0) {
      served.push(w);
    } else {
      still.push(w);
    }
  }
  entry.waiters = still;
}

std::uint32_t ReadPath::allocate(const Request& r, EvictionPriority priority, Evicted& evicted) {
  const std::uint64_t number = tag_of(r);
  const EvictionClass eviction = tags_.admit(number, priority);
  const std::uint32_t index = tags_.victim(number);
  if (tags_.present(index)) {
    const LineState& old = tags_.state(index);
    evicted.happened = true;
    evicted.dirty = tags_.dirty(index);
    if (old.has_dirty) {
      evicted.home = tags_.home(index);
      evicted.number = tags_.number(index);
      evicted.last_use = old.last_use != 0;
      // A fill under way was read before these bytes go back; installed, it would hide them.
      kill_fill(tags_.number(index));
    }
    if (lines_.at(index) != nullptr && old.has_dirty) {
      __builtin_memcpy(victim_.data(), lines_.at(index), kLineBytes);
      evicted.data = victim_.data();
    }
    --present_[old.kind];
  }
  LineState& fresh = tags_.install(index, number, eviction);
  fresh.kind = static_cast<std::uint64_t>(kind_of(r)) & 3U;
  if (!homes_.empty()) homes_[index] = r.line;
  ++present_[fresh.kind];
  return index;
}

void ReadPath::install(const MissTable::Entry& entry, const Request& fetched, Evicted& evicted) {
  std::uint32_t index = tags_.find(entry.number, entry.number);
  if (index == TagArray::kAbsent) index = allocate(fetched, entry.priority, evicted);
  LineState& state = tags_.state(index);
  state.add_valid(fetched.sectors);
  if (std::uint8_t* line = lines_.at(index); line != nullptr) {
    if (state.has_dirty) {
      copy_masked(line, fetched.data.data(), ByteMask::of_sectors(fetched.sectors) & ~tags_.dirty(index));
    } else {
      copy_sectors(line, fetched.data.data(), fetched.sectors);
    }
  }
}

Evicted ReadPath::fill(const Request& fetched, RequestList& served) {
  Evicted evicted;
  MissTable::Entry& entry = misses_[fetched.token];
  WARPLINE_EXPECT(entry.in_use && (entry.pending & fetched.sectors) == fetched.sectors,
                  "a fill answers a fetch");
  entry.pending = static_cast<SectorMask>(entry.pending & ~fetched.sectors);
  serve_waiters(entry, fetched, served);
  if (!entry.live && !mutated(CacheMutation::dead_fill_installs)) {
    ++dead_fills_;
  } else if (fetched.status == Status::ok && entry.priority != EvictionPriority::no_allocate) {
    install(entry, fetched, evicted);
  }
  if (entry.pending == 0) misses_.release(fetched.token);
  return evicted;
}

void ReadPath::drop_line(std::uint64_t number) {
  kill_fill(number);
  if (const std::uint32_t index = tags_.find(number, number); index != TagArray::kAbsent) {
    --present_[tags_.state(index).kind];
    tags_.drop(index);
  }
}

void ReadPath::put(const Request& r) {
  const std::uint64_t number = tag_of(r);
  std::uint32_t index = tags_.find(number, number);
  Evicted evicted;
  if (index == TagArray::kAbsent) index = allocate(r, EvictionPriority::none, evicted);
  WARPLINE_EXPECT(!evicted.dirty.any(), "a scene drops nothing that is owed to memory");
  tags_.state(index).add_valid(r.sectors);
  if (std::uint8_t* line = lines_.at(index); line != nullptr) copy_sectors(line, r.data.data(), r.sectors);
}

void ReadPath::overlay(PhysicalAddress address, std::uint8_t* bytes, unsigned count) {
  const unsigned offset = offset_in_line(address);
  for (std::uint32_t i = 0; i < homes_.size(); ++i) {
    if (!tags_.present(i) || !tags_.state(i).has_dirty || homes_[i] != line_of(address)) continue;
    const ByteMask dirty = tags_.dirty(i);
    for (unsigned n = 0; n < count; ++n)
      if (dirty.test(offset + n)) bytes[n] = lines_.at(i)[offset + n];
  }
}

void ReadPath::update(PhysicalAddress address, const std::uint8_t* bytes, unsigned count) {
  for (std::uint32_t i = 0; i < homes_.size(); ++i) {
    // Bytes of sectors that are not valid are overwritten by their fill.
    if (tags_.present(i) && homes_[i] == line_of(address))
      __builtin_memcpy(lines_.at(i) + offset_in_line(address), bytes, count);
  }
}

std::uint64_t ReadPath::invalidate(LineKind kind) {
  if (!mutated(CacheMutation::invalidation_spares_fills)) misses_.kill_all(kind);
  const auto own = static_cast<std::uint64_t>(kind);
  std::uint64_t dropped = 0;
  for (std::uint32_t i = 0; i < tags_.lines() && present_[own] != 0; ++i) {
    if (!tags_.present(i) || tags_.state(i).kind != own) continue;
    WARPLINE_EXPECT(!tags_.state(i).has_dirty, "dirty lines are written back before they are dropped");
    tags_.drop(i);
    --present_[own];
    ++dropped;
  }
  return dropped;
}

}  // namespace warpline
