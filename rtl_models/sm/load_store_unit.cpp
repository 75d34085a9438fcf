#include "warpline/sm/load_store_unit.h"

#include <algorithm>

#include "warpline/base/contract.h"
#include "warpline/base/mutation.h"

namespace warpline {

LoadStoreUnit::LoadStoreUnit(const SmParameters& parameters, Component& owner, LsuPorts ports, SmNumber sm)
    : parameters_(parameters),
      owner_(owner),
      ports_(ports),
      sm_(sm),
      buffers_(parameters.lsu_entries),
      queue_(parameters.lsu_entries),
      shared_(0, parameters.shared_banks, false) {
  entries_.reserve(parameters.lsu_entries);
  for (LaneBuffers& b : buffers_) entries_.emplace_back(b);
  for (unsigned i = parameters.lsu_entries; i-- > 0;) free_.push_back(i);
}

void LoadStoreUnit::start(const MemoryMap& map) {
  WARPLINE_EXPECT(idle(), "a kernel starts on an idle load/store unit");
  map_ = map;
  mapping_hint_ = nullptr;
  shared_ = SharedMemory(parameters_.shared_bytes, parameters_.shared_banks, map.with_data);
}

void LoadStoreUnit::kill(unsigned slot) {
  for (Entry& e : entries_)
    if (e.slot == slot && e.maintenance == 0) e.killed = true;
}

void LoadStoreUnit::advance(Cycle now, std::vector<LsuEvent>& events) {
  if (queue_count_ == 0 || head_.busy_until > now) return;
  const unsigned index = front();
  Entry& e = entries_[index];
  if (e.at > now) return;
  if (e.maintenance != 0) {
    send_maintenance(now, e, index);
    return;
  }
  if (!head_.started) begin_head(now, e, index, events);
  if (head_.shared != 0) {
    do_shared(now, e, index, events);
    return;
  }
  if (head_.line_held || next_space(e)) {
    if (!head_.line_held) {
      head_.line = head_.coalescer.next();
      head_.line_held = true;
    }
    if (!send_line(now, e, index)) return;
    if (head_.exact && counters_.mmio_transactions % 2 != 0 && mutated(Mutation::mmio_replayed)) return;
    head_.line_held = false;
    if (head_.mapping == nullptr && (!head_.coalescer.done() || next_space(e))) return;
  }
  finish_head(now, e, index, events);
}

void LoadStoreUnit::begin_head(Cycle now, Entry& e, unsigned index, std::vector<LsuEvent>& events) {
  head_.clear();
  head_.started = true;
  if (e.killed || e.access.active == 0) return;
  if (take_whole_line(e)) {
    ++counters_.instructions;
    return;
  }
  classify(e);
  const MemOp& op = e.instruction->mem;
  std::optional<Fault> fault = head_.image != 0      ? locate_texels(e)
                               : op.controls_lines() ? check_control(e)
                                                     : check(e);
  if (!fault && op.kind == MemKind::async_copy && map_.with_data) fault = check_copy(e);
  if (fault) {
    ++counters_.faults;
    fault->address = address_as_written(e, *fault);
    fault->cycle = now;
    fault->slot = e.slot;
    fault->instruction = e.instruction;
    last_fault_ = *fault;
    events.push_back({LsuEvent::Kind::faulted, e.slot, index, now});
    head_.clear();
    head_.started = true;
    return;
  }
  counters_.instructions += !e.tokens;
  if (op.is_atomic()) ++counters_.atomics;
  head_.exact = e.exact =
      op.is_mmio || (head_.uncached && (op.kind == MemKind::load || op.kind == MemKind::store));
  if (op.fills) begin_copy(e);
}

/// Starts the coalescer on the next space that has lanes left. False: none.
bool LoadStoreUnit::next_space(Entry& e) {
  if (head_.space != Space::generic && !head_.coalescer.done()) return true;
  const MemOp& op = e.instruction->mem;
  const unsigned bytes = std::max(1U, op.bytes_per_lane());  // a line is controlled by any byte of it
  if (head_.global != 0) {
    head_.space = Space::global;
    if (head_.exact && !mutated(Mutation::mmio_lanes_merge)) {
      head_.coalescer.start_each(e.access, head_.global, bytes);
    } else {
      head_.coalescer.start(e.access, head_.global, bytes);
    }
    head_.global = 0;
  } else if (head_.constant != 0) {
    head_.space = Space::constant;
    head_.coalescer.start(e.access, head_.constant, bytes);
    head_.constant = 0;
  } else if (head_.local != 0) {
    head_.space = Space::local;
    head_.coalescer.start_local(e.access, head_.local, bytes, op.accessed_words(), local_warp_base(e.slot));
    head_.local = 0;
  } else if (head_.image != 0) {
    start_image(e);
  } else {
    return false;
  }
  return true;
}

Out<RequestMessage>& LoadStoreUnit::port_for(const Entry& e) const {
  if (head_.space == Space::constant) return ports_.to_constant;
  const MemOp& op = e.instruction->mem;
  return (op.is_noncoherent && !head_.exact) || op.kind == MemKind::texture_load ? ports_.to_texture
                                                                                 : ports_.to_l1_lg;
}

bool LoadStoreUnit::send_line(Cycle now, Entry& e, unsigned index) {
  Out<RequestMessage>& port = port_for(e);
  if (!port.ready(now)) return false;
  if (head_.exact && mmio_reads_ != 0 && !mutated(Mutation::mmio_reads_overlap)) return false;
  const LineAccess& line = head_.line;
  Request* r = owner_.engine().pool().allocate();
  r->maker = &owner_;
  sign(*r, now);
  r->warp = static_cast<std::uint16_t>(e.slot);
  r->token = static_cast<std::uint16_t>(index);
  fill_request(*r, e, line);
  ++e.lines_pending;
  if (r->command == Command::control) {
    ++counters_.controls;
    port.send(now, {r});
    return true;
  }
  const auto sectors = sector_count(line.sectors);
  if (head_.space == Space::global) {
    ++counters_.global_requests;
    counters_.global_sectors += sectors;
  } else if (head_.space == Space::local) {
    ++counters_.local_requests;
    counters_.local_sectors += sectors;
  } else if (head_.space == Space::texture) {
    ++counters_.image_requests;
    counters_.image_sectors += sectors;
  } else {
    ++counters_.constant_requests;
  }
  (&port == &ports_.to_l1_lg     ? counters_.l1_lg_sectors
   : &port == &ports_.to_texture ? counters_.texture_sectors
                                 : counters_.constant_sectors) += sectors;
  port.send(now, {r});
  return true;
}

void LoadStoreUnit::do_shared(Cycle now, Entry& e, unsigned index, std::vector<LsuEvent>& events) {
  const MemOp& op = e.instruction->mem;
  const std::uint64_t window = op.space == Space::generic ? AddressWindows::kSharedBase : 0;
  const unsigned passes = shared_.passes(op, e.access, head_.shared, window);
  shared_.perform(op, e.access, head_.shared, e.shared_base, window);
  ++counters_.shared_accesses;
  counters_.shared_passes += passes;
  head_.shared = 0;
  head_.busy_until = owner_.domain().after(now, passes);
  e.ready = owner_.domain().after(now, passes - 1 + parameters_.shared_latency);
  if ((head_.global | head_.local | head_.constant) == 0) finish_head(now, e, index, events);
}

void LoadStoreUnit::finish_head(Cycle now, Entry& e, unsigned index, std::vector<LsuEvent>& events) {
  e.sent = true;
  head_.clear();
  pop_front();
  if (e.lines_pending == 0)
    events.push_back({LsuEvent::Kind::completed, e.slot, index, std::max(e.ready, now)});
}

/// Something below has answered `r` of `e` with an error. A global line is named by its address; where a
/// local one lies says nothing to the program, so the address of its first lane stands for it.
Fault LoadStoreUnit::bus_error(Cycle now, const Entry& e, const Request& r) const {
  const auto lane = static_cast<unsigned>(__builtin_ctz(e.access.active));
  Fault fault{FaultKind::bus_error, now, e.slot, lane, r.virtual_line.value, e.instruction};
  if (!r.local) return fault;
  const bool generic = e.instruction->mem.space == Space::generic;
  fault.address = e.access.address_of(lane);
  if (generic) fault.address = AddressWindows::to_generic(Space::local, fault.address);
  return fault;
}

void LoadStoreUnit::respond(Cycle now, Request& r, std::vector<LsuEvent>& events) {
  const unsigned index = r.token;
  if (index == kDispatched) {
    --dispatched_;
    owner_.engine().pool().release(&r);
    return;
  }
  Entry& e = entries_[index];
  if (r.command == Command::maintain) {
    const bool instruction = e.instruction != nullptr;
    events.push_back(
        {instruction ? LsuEvent::Kind::completed : LsuEvent::Kind::maintained, e.slot, index, now});
  } else {
    mmio_reads_ -= e.exact && r.command == Command::read;
    if (r.status != Status::ok && !e.killed) {
      ++counters_.faults;
      last_fault_ = bus_error(now, e, r);
      events.push_back({LsuEvent::Kind::faulted, e.slot, index, now});
    } else if (map_.with_data && !e.killed) {
      if (e.instruction->mem.reads()) {
        scatter(e, r);
      } else if (e.instruction->mem.kind == MemKind::async_copy) {
        land_copy(e, r);
      }
    }
    e.ready = std::max(e.ready, owner_.domain().after(now, parameters_.writeback_latency));
    if (--e.lines_pending == 0 && e.sent)
      events.push_back({LsuEvent::Kind::completed, e.slot, index, e.ready});
  }
  owner_.engine().pool().release(&r);
}

std::uint64_t LoadStoreUnit::local_warp_base(unsigned slot) const {
  return std::uint64_t{slot} * map_.local_bytes * kWarpLanes;
}

bool LoadStoreUnit::has_queued(unsigned slot) const {
  for (unsigned i = 0; i < queue_count_; ++i)
    if (entries_[queue_[(queue_head_ + i) % queue_.size()]].slot == slot) return true;
  return false;
}

void LoadStoreUnit::explain(const std::string& who, std::vector<Wait>& waits) const {
  if (queue_count_ == 0) {
    if (!idle()) waits.push_back({who, "answers to what it has sent", {}, {&owner_}});
    return;
  }
  const Entry& e = entries_[front()];
  const Out<RequestMessage>& port = e.maintenance != 0 ? maintenance_port(e) : port_for(e);
  const std::string count = std::to_string(queue_count_) + " instructions";
  if (head_.line_held) {
    waits.push_back({who, port.room() + ", with " + count + " to go", {port.other_side()}});
  } else {
    waits.push_back({who, "its next cycle, with " + count + " to go"});
  }
}

}  // namespace warpline
