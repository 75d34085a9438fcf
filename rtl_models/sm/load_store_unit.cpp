#include "rtl_models/sm/load_store_unit.h"

#include "rtl_models/base/contract.h"
#include "rtl_models/sm/sm_mutations.h"

namespace warpline {
namespace {

/// The lowest lane with an address in the line of `r`. Pre: a lane is among them.
template <class Address>
unsigned lane_in_line(const LaneAddresses<Address>& addresses, const Request& r) {
  LaneMask lanes = 0;
  addresses.for_each([&](unsigned lane, Address at) {
    if (at.value - r.virtual_line.value < kLineBytes) lanes |= LaneMask{1} << lane;
  });
  return first_lane(lanes != 0 ? lanes : addresses.lanes());
}

/// Something below has answered `r` of `e` with an error. A line is named by its address, and is blamed on
/// the first lane that wanted it. What is read for `exact_lane` alone is what that lane asked for; and where
/// a line of local memory lies says nothing to the program, so what its first lane asked for stands for it.
Fault bus_error(const LsuEntry& e, const Request& r, unsigned exact_lane) {
  const ResolvedAccess& access = e.resolved;
  if (access.exact() && r.command == Command::read) return access.fault(FaultKind::bus_error, exact_lane);
  if (r.local) return access.fault(FaultKind::bus_error, first_lane(access.local().lanes()));
  const bool constant = access.constant().lanes() != 0, image = access.texels().lanes() != 0;
  const unsigned lane = constant ? lane_in_line(access.constant(), r)
                        : image  ? lane_in_line(access.texels(), r)
                                 : lane_in_line(access.global(), r);
  Fault fault = access.fault(FaultKind::bus_error, lane);
  fault.address = r.virtual_line.value;
  fault.space = constant ? Space::constant : Space::global;
  return fault;
}

}  // namespace

void LoadStoreUnit::start(const MemoryMap& map) {
  WARPLINE_EXPECT(idle(), "a kernel starts on an idle load/store unit");
  with_data_ = map.with_data;
  resolution_.start(map);
  builder_.start(map);
  shared_ = SharedMemory(parameters_.shared_bytes, parameters_.shared_banks, map.with_data);
}

void LoadStoreUnit::advance(Cycle now, std::vector<LsuEvent>& events) {
  if (entries_.queued() == 0 || head_.busy_until > now) return;
  const unsigned index = entries_.front();
  LsuEntry& e = entries_[index];
  if (e.at > now) return;
  if (e.maintenance.what != 0) return send_maintenance(now, index);
  if (!head_.started) begin_head(now, index, events);
  if (head_.wants_shared) {
    perform_shared(now, e);
    if (head_.lines.any()) return;
  } else if (head_.line_held || head_.lines.any()) {
    if (!head_.line_held) {
      head_.line = head_.lines.next();
      head_.line_held = true;
    }
    if (!send_line(now, index)) return;
    if (e.resolved.exact() && counters_.mmio_transactions % 2 != 0 && mutated(SmMutation::mmio_replayed))
      return;
    head_.line_held = false;
    if (head_.lines.any()) return;
  }
  finish_head(now, events);
}

void LoadStoreUnit::begin_head(Cycle now, unsigned index, std::vector<LsuEvent>& events) {
  LsuEntry& e = entries_[index];
  head_.clear();
  head_.started = true;
  if (e.killed || e.access.active == 0) return;
  const MemOp& op = e.instruction->mem;
  if (const Mapping* whole = resolution_.resolve_whole_line(op, e.access, e.resolved)) {
    head_.line = {VirtualAddress{e.access.base}, kAllSectors, Space::global, e.access.active, 0, whole};
    head_.line_held = true;
    ++counters_.instructions;
    return;
  }
  const auto fault = resolution_.resolve(op, e.access, e.slot, e.limits, e.resolved);
  if (fault) {
    counters_.dropped_controls += e.resolved.dropped();
    return report_fault(now, *fault, index, events);
  }
  if (e.resolved.dropped() != 0) note_dropped(now, index, events);
  counters_.instructions += !e.tokens;
  counters_.atomics += op.is_atomic();
  head_.wants_shared = e.resolved.shared().lanes() != 0;
  head_.lines.start(e.resolved);
  if (with_data_) scatter_zeros(e.resolved, results_of(e));
}

/// Where the line being sent goes.
SmCache LoadStoreUnit::cache_for(const LsuEntry& e) const {
  if (e.maintenance.what != 0) return e.maintenance.cache;
  if (head_.line.space == Space::constant) return SmCache::constant;
  const MemOp& op = e.instruction->mem;
  return (op.is_noncoherent && !e.resolved.exact()) || op.kind == MemKind::texture_load ? SmCache::texture
                                                                                        : SmCache::l1_lg;
}

/// In timed runs, where one request is made in a cycle at most, its number is the cycle.
Request* LoadStoreUnit::new_request(Cycle now, unsigned slot, unsigned token) {
  Request* r = owner_.engine().pool().allocate();
  r->maker = &owner_;
  last_number_ = std::max(now, last_number_ + 1);
  r->made_by(sm_, last_number_);
  r->warp = static_cast<std::uint16_t>(slot);
  r->token = static_cast<std::uint16_t>(token);
  return r;
}

bool LoadStoreUnit::send_line(Cycle now, unsigned index) {
  LsuEntry& e = entries_[index];
  const SmCache cache = cache_for(e);
  Out<RequestMessage>& port = ports_.to(cache);
  if (!port.ready(now)) return false;
  const bool exact = e.resolved.exact();
  if (exact && exact_reads_ != 0 && !mutated(SmMutation::mmio_reads_overlap)) return false;
  Request* r = new_request(now, e.slot, index);
  counters_.malformed_policies += !builder_.fill(*r, e.resolved, head_.line, head_.lines.coalescer());
  counters_.mmio_transactions += exact;
  if (exact && r->command == Command::read) {
    exact_reads_ = 1;
    exact_lane_ = first_lane(head_.line.lanes);
  }
  ++e.lines_pending;
  if (r->command == Command::control) {
    ++counters_.controls;
  } else {
    count_line(cache);
  }
  port.send(now, {r});
  return true;
}

void LoadStoreUnit::count_line(SmCache cache) {
  const auto sectors = sector_count(head_.line.sectors);
  switch (head_.line.space) {
    case Space::global:
      ++counters_.global_requests;
      counters_.global_sectors += sectors;
      break;
    case Space::local:
      ++counters_.local_requests;
      counters_.local_sectors += sectors;
      break;
    case Space::texture:
      ++counters_.image_requests;
      counters_.image_sectors += sectors;
      break;
    default: ++counters_.constant_requests;
  }
  (cache == SmCache::l1_lg     ? counters_.l1_lg_sectors
   : cache == SmCache::texture ? counters_.texture_sectors
                               : counters_.constant_sectors) += sectors;
}

Request* LoadStoreUnit::new_maintenance(Cycle now, const CacheMaintenance& m, unsigned slot, unsigned token) {
  Request* r = new_request(now, slot, token);
  r->command = Command::maintain;
  r->maintenance = m.what;
  r->scope = m.scope;
  ++counters_.fences;
  return r;
}

void LoadStoreUnit::send_maintenance(Cycle now, unsigned index) {
  const LsuEntry& e = entries_[index];
  Out<RequestMessage>& port = ports_.to(e.maintenance.cache);
  head_.line_held = !port.ready(now);
  if (head_.line_held) return;
  port.send(now, {new_maintenance(now, e.maintenance, e.slot, index)});
  entries_.pop_front();
}

bool LoadStoreUnit::invalidate_constants(Cycle now) {
  if (!ports_.to_constant.ready(now)) return false;
  ports_.to_constant.send(now, {new_maintenance(now, {maintenance::kInvalidate}, 0, kPastQueue)});
  ++past_queue_;
  return true;
}

void LoadStoreUnit::perform_shared(Cycle now, LsuEntry& e) {
  const MemOp& op = e.instruction->mem;
  const LaneAddresses<SharedAddress> addresses = e.resolved.shared();
  const SharedMemory::Passes passes = shared_.passes(op, addresses);
  shared_.perform(op, addresses, e.access, e.shared_base);
  ++counters_.shared_accesses;
  counters_.shared_passes += passes.all();
  head_.wants_shared = false;
  const unsigned cycles = passes.parts + passes.conflicts * parameters_.shared_pass_cycles;
  head_.busy_until = owner_.domain().after(now, cycles);
  e.ready = owner_.domain().after(now, cycles - 1 + parameters_.shared_latency - parameters_.issue_latency);
}

void LoadStoreUnit::finish_head(Cycle now, std::vector<LsuEvent>& events) {
  const unsigned index = entries_.front();
  LsuEntry& e = entries_[index];
  e.sent = true;
  head_.clear();
  entries_.pop_front();
  if (e.lines_pending == 0)
    events.push_back({LsuEvent::Kind::completed, e.slot, index, std::max(e.ready, now)});
}

/// Lanes control nothing, as their address is not mapped. Of prefetches and priorities, which are hints, no
/// more is said than how many.
void LoadStoreUnit::note_dropped(Cycle now, unsigned index, std::vector<LsuEvent>& events) {
  const LsuEntry& e = entries_[index];
  counters_.dropped_controls += e.resolved.dropped();
  if (e.instruction->mem.kind != MemKind::cache_control) return;
  counters_.dropped_cctl += e.resolved.dropped();
  keep_fault(now, e.resolved.fault(FaultKind::unmapped, first_lane(e.resolved.unmapped())), e);
  events.push_back({LsuEvent::Kind::unmapped, e.slot, index, now});
}

void LoadStoreUnit::keep_fault(Cycle now, const Fault& fault, const LsuEntry& e) {
  last_fault_ = fault;
  last_fault_.cycle = now;
  last_fault_.slot = e.slot;
  last_fault_.instruction = e.instruction;
}

void LoadStoreUnit::report_fault(Cycle now, const Fault& fault, unsigned index,
                                 std::vector<LsuEvent>& events) {
  const LsuEntry& e = entries_[index];
  ++counters_.faults;
  keep_fault(now, fault, e);
  events.push_back({LsuEvent::Kind::faulted, e.slot, index, now});
}

void LoadStoreUnit::respond(Cycle now, Request& r, std::vector<LsuEvent>& events) {
  const unsigned index = r.token;
  if (index == kPastQueue) {
    --past_queue_;
    owner_.engine().pool().release(&r);
    return;
  }
  LsuEntry& e = entries_[index];
  if (r.command == Command::maintain) {
    const bool instruction = e.instruction != nullptr;
    events.push_back(
        {instruction ? LsuEvent::Kind::completed : LsuEvent::Kind::maintained, e.slot, index, now});
  } else {
    exact_reads_ -= e.resolved.exact() && r.command == Command::read;
    if (r.status != Status::ok && !e.killed) {
      report_fault(now, bus_error(e, r, exact_lane_), index, events);
    } else if (with_data_ && !e.killed) {
      scatter(r, e.resolved, exact_lane_, results_of(e));
    }
    e.ready = std::max(e.ready, owner_.domain().after(now, parameters_.writeback_latency));
    if (--e.lines_pending == 0 && e.sent)
      events.push_back({LsuEvent::Kind::completed, e.slot, index, e.ready});
  }
  owner_.engine().pool().release(&r);
}

void LoadStoreUnit::explain(const std::string& who, std::vector<Wait>& waits) const {
  if (entries_.queued() == 0) {
    if (!idle()) waits.push_back({who, "answers to what it has sent", {}, {&owner_}});
    return;
  }
  const Out<RequestMessage>& port = ports_.to(cache_for(entries_[entries_.front()]));
  const std::string count = std::to_string(entries_.queued()) + " instructions";
  if (head_.line_held) {
    waits.push_back({who, port.room() + ", with " + count + " to go", {port.other_side()}});
  } else {
    waits.push_back({who, "its next cycle, with " + count + " to go"});
  }
}

}  // namespace warpline
