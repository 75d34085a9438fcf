#include "rtl_models/cache/read_only_cache.h"

#include <algorithm>
#include <utility>

#include "rtl_models/base/contract.h"
#include "rtl_models/sim/gauge_visitor.h"

namespace warpline {
ReadOnlyCache::ReadOnlyCache(Engine& engine, std::string name, ClockDomain domain,
                             const ReadOnlyCacheParameters& parameters, bool with_data)
    : Component(engine, std::move(name), domain),
      path_(parameters.geometry, parameters.miss_registers, with_data),
      first_level_(parameters.first_level),
      next_latency_(parameters.first_level.next_latency) {
  if (first_level_.exists()) path_.fetch_blocks(parameters.first_level.block_bytes / kSectorBytes);
  from_sm.perform_by(*this);
}

Request* ReadOnlyCache::fetch_for(const Request& r, const ReadOutcome& out) {
  Request* f = pool().allocate_child(r, this);
  f->command = Command::read;
  f->sectors = out.fetch;
  f->prefetch = static_cast<SectorMask>(r.prefetch & kAllSectors & ~r.sectors & ~out.fetch);
  f->token = out.entry;
  if (r.prefetch == 0) return f;
  // The last one has been sent, or this fetch could not be.
  prefetch_ = pool().allocate_prefetch(r, this);
  counters_.prefetch_requests += prefetch_ != nullptr;
  return f;
}

/// Invalidates, or looks `r` up; `fetch` is what is to be sent for it at once, if anything. Returns whether
/// it could.
bool ReadOnlyCache::accept(Request& r, Request*& fetch) {
  WARPLINE_EXPECT(kTaken.take(r), "only reads and invalidations reach a read-only cache");
  if (r.command == Command::maintain) {
    if ((r.maintenance & maintenance::kInvalidate) != 0) invalidate();
    served_.push(&r);
    return true;
  }
  const ReadOutcome out = path_.read(r);
  if (out.kind == ReadOutcome::Kind::stall) return false;
  counters_.sector_accesses += sector_count(r.sectors);
  counters_.sector_hits += sector_count(out.hits);
  counters_.sector_misses += sector_count(r.sectors) - sector_count(out.hits);
  counters_.fetched_sectors += sector_count(out.fetch);
  counters_.merged_sectors += sector_count(static_cast<SectorMask>(r.sectors & ~out.hits & ~out.fetch));
  if (out.kind == ReadOutcome::Kind::hit) {
    served_.push(&r);
  } else if (out.fetch != 0) {
    fetch = fetch_for(r, out);
  }
  return true;
}

/// Whether the first level has what the read asks for, and it may overtake all that is on its way behind it:
/// reads of the same line keep their order.
bool ReadOnlyCache::is_near(const Request& r) {
  if (passing_invalidations_ != 0 || !first_level_.has(r) || !path_.has(r)) return false;
  bool alone = true;
  passing_.list().for_each(
      [&](const Request& other) { alone = alone && other.virtual_line.value != r.virtual_line.value; });
  return alone;
}

/// What has passed the first level longest ago, or else what comes from the SM. Returns whether a request has
/// moved.
bool ReadOnlyCache::take(Cycle now, Request*& fetch) {
  if (!passing_.empty() && arrivals_.front() <= now) {
    Request* const r = passing_.pop();
    if (!accept(*r, fetch)) {
      passing_.push_front(r);
      return false;
    }
    arrivals_.pop_front();
    if (r->command == Command::read) {
      first_level_.take(*r);
    } else {
      --passing_invalidations_;
    }
    return true;
  }
  if (!from_sm.ready(now)) return false;
  Request& r = *from_sm.front().request;
  if (!first_level_.exists()) {
    if (!accept(r, fetch)) return false;
    from_sm.pop(now);
    return true;
  }
  // An invalidation keeps its place behind the reads that are on their way, and before those that come.
  const bool reads = r.command == Command::read;
  if (reads ? is_near(r) : passing_.empty()) {
    if (!accept(r, fetch)) return false;
    from_sm.pop(now);
    if (!reads) return true;
    counters_.first_level_hits += sector_count(r.sectors);
    first_level_.take(r);
    return true;
  }
  if (passing_.size() >= kPassingLimit) return false;
  from_sm.pop(now);
  passing_.push(&r);
  passing_invalidations_ += !reads;
  arrivals_.push_back(domain().after(now, next_latency_));
  return true;
}

void ReadOnlyCache::handle_fill(Request& fetched) {
  if (fetched.sectors == 0) {
    pool().release(&fetched);  // a prefetch: nothing comes of it here
    return;
  }
  RequestList now_served;
  counters_.evictions += path_.fill(fetched, now_served).happened;
  counters_.dead_fills = path_.dead_fills();
  while (!now_served.empty()) served_.push(now_served.pop());
  pool().release(&fetched);
}

Cycle ReadOnlyCache::tick(Cycle now) {
  bool moved = false;
  if (served_.size() < kFillLimit && from_crossbar.ready(now)) {
    handle_fill(*from_crossbar.pop(now).request);
    fill_patience_.taken();
    moved = true;
  }
  if (prefetch_ != nullptr && to_crossbar.ready(now)) {
    to_crossbar.send(now, {prefetch_});
    prefetch_ = nullptr;
    moved = true;
  }
  // The crossbar is asked before the look-up, so that a miss never waits with its fetch unsent.
  Request* fetch = nullptr;
  fill_patience_.note(served_.size() >= kFillLimit && from_crossbar.ready(now));
  if (!fill_patience_.exhausted() && served_.size() < kHitLimit &&
      (!passing_.empty() || from_sm.ready(now)) && to_crossbar.ready(now) && take(now, fetch)) {
    if (fetch != nullptr) to_crossbar.send(now, {fetch});
    moved = true;
  }
  if (!served_.empty() && to_sm.ready(now)) {
    to_sm.send(now, {served_.pop()});
    fill_patience_.sent();
    moved = true;
  }
  const bool more =
      !served_.empty() || prefetch_ != nullptr || from_sm.ready(now) || from_crossbar.ready(now);
  Cycle next = moved && more ? domain().after(now, 1) : kNever;
  if (!passing_.empty()) {
    // Once it is there, only what moves can make room for it.
    if (arrivals_.front() > now) next = std::min(next, arrivals_.front());
    if (moved) next = std::min(next, domain().after(now, 1));
  }
  return next;
}

void ReadOnlyCache::perform(Request& r, Cycle& at) {
  r.settled = false;
  Request* fetch = nullptr;
  if (first_level_.exists() && r.command == Command::read) {
    if (is_near(r)) {
      counters_.first_level_hits += sector_count(r.sectors);
    } else {
      at = domain().after(at, next_latency_);
    }
    first_level_.take(r);
  }
  while (!accept(r, fetch)) at = std::max(at, engine().wait_below());
  const Cycle sent = at;
  settle(served_, sent);
  for (Request* out : {fetch, std::exchange(prefetch_, nullptr)}) {
    if (out == nullptr) continue;
    const Cycle back = perform_through(to_crossbar, from_crossbar, *out, sent);
    handle_fill(*out);
    settle(served_, back);
    engine().wake_waiters();
  }
  at = wait_until_settled(r, at, engine());
}

void ReadOnlyCache::visit_gauges(GaugeVisitor& visitor) const {
  visitor.gauge("miss_registers", path_.misses().in_use(), path_.misses().capacity(), "lines being fetched");
  visitor.gauge("passing", passing_.size(), first_level_.exists() ? kPassingLimit : 0,
                "reads on their way from the first level");
  visitor.gauge("answers", served_.size(), kUnlimitedGauge, "responses that wait for to_sm");
}

void ReadOnlyCache::explain(std::vector<Wait>& waits) const {
  if (!passing_.empty())
    waits.push_back(
        {name(), "the turn of " + std::to_string(passing_.size()) + " reads behind the first level"});
  path_.misses().explain(waits, this, name(), {to_crossbar.other_side()});
  if (!served_.empty()) to_sm.explain_room(waits, std::to_string(served_.size()) + " answers");
}

void ReadOnlyCache::in_flight(std::vector<InFlight>& rows) const {
  path_.misses().in_flight(rows, this, name(), {to_crossbar.other_side()});
  to_sm.list_waiting(rows, served_.list());
  list_all(rows, passing_.list(), name(), name() + " first level", "its turn behind the first level", {});
  if (prefetch_ != nullptr)
    rows.emplace_back(*prefetch_, name(), to_crossbar.path(), to_crossbar.room(),
                      std::vector<std::string>{to_crossbar.other_side()});
}

}  // namespace warpline
