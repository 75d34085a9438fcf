#include "rtl_models/sm/bulk_copy_unit.h"

#include <algorithm>

#include "rtl_models/isa/atomic.h"
#include "rtl_models/isa/cache_policy.h"

namespace warpline {
namespace {

SectorMask bulk_sectors(std::uint64_t address, std::uint32_t bytes) {
  const auto first = static_cast<unsigned>(address % kLineBytes / kSectorBytes);
  const auto last = static_cast<unsigned>((address % kLineBytes + bytes - 1) / kSectorBytes);
  return static_cast<SectorMask>((2U << last) - (1U << first));
}

/// How a reduction goes over elements: those of 16 bits in pairs where it can.
struct Elements {
  DataType type = DataType::none;
  unsigned bytes = 0;  ///< of a lane's part of a request
  unsigned vector = 1;
};

Elements elements_of(const MemOp& op, DataType element) {
  DataType type = element;
  if (op.atomic == AtomicOperation::bit_and || op.atomic == AtomicOperation::bit_or ||
      op.atomic == AtomicOperation::bit_xor)
    type = size_of(element) == 8 ? DataType::b64 : size_of(element) == 4 ? DataType::b32 : element;
  return {type, size_of(type), 1};
}

/// The most elements of 16 bits of which a lane of a request has several.
constexpr unsigned kHalvesOfLane = 2;

constexpr FaultKind fault_of_mbarrier(MbarrierStatus status) {
  return status == MbarrierStatus::no_object ? FaultKind::no_mbarrier : FaultKind::mbarrier_count;
}

/// What the policy `value` of `.L2::cache_hint` wants of L2 for the line at `line`. A policy that no
/// instruction makes counts as evict_normal.
EvictionPriority priority_by_policy(std::uint64_t value, std::uint64_t line) {
  const auto policy = decode_policy(value);
  if (!policy) return EvictionPriority::normal;
  switch (policy->applied_to(line)) {
    case L2Eviction::none: return EvictionPriority::none;
    case L2Eviction::normal: return EvictionPriority::normal;
    case L2Eviction::first: return EvictionPriority::first;
    case L2Eviction::last: return EvictionPriority::last;
    case L2Eviction::unchanged: return EvictionPriority::unchanged;
  }
  return EvictionPriority::none;
}

}  // namespace

BulkCopyUnit::BulkCopyUnit(const BulkCopyParameters& parameters, Component& owner,
                           Out<RequestMessage>& to_crossbar, LoadStoreUnit& lsu, SmNumber sm)
    : parameters_(parameters),
      owner_(owner),
      to_crossbar_(to_crossbar),
      lsu_(lsu),
      sm_(sm),
      copies_(parameters.copies),
      flights_(parameters.requests) {
  for (unsigned i = parameters.copies; i-- > 0;) free_copies_.push_back(i);
  for (unsigned i = parameters.requests; i-- > 0;) free_flights_.push_back(i);
}

void BulkCopyUnit::start(const MemoryMap& map) {
  map_ = map;
  hint_ = nullptr;
  maps_.clear();
}

void BulkCopyUnit::take(Cycle now, const BulkOrder& order) {
  const unsigned index = free_copies_.back();
  free_copies_.pop_back();
  ++under_way_;
  Copy& c = copies_[index];
  c = Copy{};
  c.order = order;
  c.at = parameters_.latency == 0 ? now : owner_.domain().after(now, parameters_.latency);
  queue_.push_back(index);
  if (queue_.size() == 1) blocked_ = false;
  ++counters_.copies;
  counters_.tensor_copies += order.op().dimensions != 0;
}

Cycle BulkCopyUnit::next_work(Cycle now) const {
  if (queue_.empty()) return kNever;
  const Cycle at = std::max(copies_[queue_.front()].at, next_request_);
  if (at > now) return at;
  return blocked_ ? kNever : owner_.domain().after(now, 1);
}

void BulkCopyUnit::kill(unsigned slot) {
  for (Copy& c : copies_)
    if (c.order.slot == slot) c.killed = true;
}

void BulkCopyUnit::advance(Cycle now, std::vector<BulkEvent>& events, std::vector<LsuEvent>& waits) {
  if (queue_.empty()) return;
  const unsigned index = queue_.front();
  Copy& c = copies_[index];
  if (std::max(c.at, next_request_) > now) return;
  blocked_ = false;
  if (c.killed) {
    // What has been asked of its tensor map comes first.
    blocked_ = reading_.asked != reading_.come;
    if (!blocked_) end_turn(events);
    return;
  }
  if (!c.begun && !begin(now, index, events)) return;
  if (c.killed) return;
  if (c.piece.outside) return fill(now, c, events, waits);
  if (!send(now, index, events)) blocked_ = true;
}

/// Finds the copy's first piece, of a tensor's when its map is there. False: not yet, or there is none.
bool BulkCopyUnit::begin(Cycle now, unsigned index, std::vector<BulkEvent>& events) {
  Copy& c = copies_[index];
  const bool of_map = c.order.op().bulk == BulkDirection::prefetch && c.order.op().level == 0;
  if (of_map || c.order.op().dimensions != 0) {
    if (!read_map(now, index, events)) return false;
  } else {
    c.walk = BulkWalk::of_bytes(c.order.address, c.order.operands.bytes);
  }
  c.begun = true;
  if (c.walk.next(c.piece)) return true;
  end_turn(events);
  return false;
}

/// Whether the tensor map of the copy is there. Asks for it, in one or two requests, where it is not.
bool BulkCopyUnit::read_map(Cycle now, unsigned index, std::vector<BulkEvent>& events) {
  Copy& c = copies_[index];
  const std::uint64_t address = c.order.address;
  const auto held =
      std::find_if(maps_.begin(), maps_.end(), [&](const HeldMap& m) { return m.address == address; });
  if (held != maps_.end() && reading_.asked == 0) {
    ++counters_.tensor_map_hits;
    std::rotate(held, held + 1, maps_.end());
    begin_tensor(now, c, maps_.back().map, events);
    return !c.killed;
  }
  if (reading_.come == TensorMap::kBytes) {
    const auto map = TensorMap::decode(reading_.bytes);
    reading_ = {};
    if (map_.with_data && !map) {
      report(now, c, c.order.fault(FaultKind::no_tensor_map, address, Space::generic, TensorMap::kBytes),
             events);
      return false;
    }
    ++counters_.tensor_map_reads;
    hold(address, map.value_or(TensorMap{}));
    begin_tensor(now, c, maps_.back().map, events);
    return !c.killed;
  }
  blocked_ = true;
  if (reading_.asked == TensorMap::kBytes || free_flights_.empty() || !to_crossbar_.ready(now)) return false;
  const std::uint64_t at = address + reading_.asked;
  PhysicalAddress place;
  std::uint16_t region = 0;
  if (AddressWindows::is_parameter(at)) {
    place = PhysicalAddress{map_.constant_base.value +
                            ConstantBanks::of_parameter(AddressWindows::from_generic(Space::param, at))};
  } else if (AddressWindows::is_constant(at)) {
    place = PhysicalAddress{map_.constant_base.value + AddressWindows::from_generic(Space::constant, at)};
  } else {
    const unsigned rest = TensorMap::kBytes - reading_.asked;
    const Mapping* const mapping = map_.space->find(VirtualAddress{at}, rest, hint_);
    if (mapping == nullptr) {
      blocked_ = false;
      report(now, c, c.order.fault(FaultKind::unmapped, at, Space::generic, rest), events);
      return false;
    }
    place = mapping->translate(VirtualAddress{at});
    region = mapping->region;
  }
  // Parameters do not lie as their generic addresses say: lines are those of the bank.
  const auto bytes = static_cast<std::uint32_t>(
      std::min<std::uint64_t>(TensorMap::kBytes - reading_.asked, kLineBytes - place.value % kLineBytes));
  Request* r = new_request(now, c, new_flight(index, {reading_.asked, bytes, place.value, false}, true));
  r->command = Command::read;
  r->virtual_line = VirtualAddress{at & ~(kLineBytes - std::uint64_t{1})};
  r->line = PhysicalAddress{place.value & ~(kLineBytes - std::uint64_t{1})};
  r->region = region;
  r->sectors = bulk_sectors(place.value, bytes);
  r->no_l1 = true;
  counters_.read_sectors += sector_count(r->sectors);
  reading_.asked += bytes;
  ++c.outstanding;
  ++counters_.requests;
  to_crossbar_.send(now, {r});
  blocked_ = reading_.asked == TensorMap::kBytes;
  next_request_ = owner_.domain().after(now, parameters_.request_interval);
  return false;
}

void BulkCopyUnit::hold(std::uint64_t address, const TensorMap& map) {
  if (maps_.size() == parameters_.tensor_maps) maps_.erase(maps_.begin());
  maps_.push_back({address, map});
}

/// Whether the copy is one that its tensor map allows; if so, where its pieces are.
void BulkCopyUnit::begin_tensor(Cycle now, Copy& c, const TensorMap& map, std::vector<BulkEvent>& events) {
  const BulkOrder& o = c.order;
  const MemOp& op = o.op();
  c.map = map;
  if (!map_.with_data || op.dimensions == 0) return;
  const TensorMode mode = op.tensor_mode;
  const bool other_mode = map.im2col != is_of_images(mode) || (map.im2col && map.wide != is_wide(mode)) ||
                          (mode == TensorMode::rows && map.box[1] != 1);
  if (map.rank != op.dimensions || other_mode)
    return report(now, c, o.fault(FaultKind::other_tensor_map, o.address, Space::generic, TensorMap::kBytes),
                  events);
  if (op.bulk == BulkDirection::reduce) {
    const Elements e = elements_of(op, map.type);
    if (!is_atomic_legal(op.atomic, e.type))
      return report(
          now, c, o.fault(FaultKind::other_tensor_map, o.address, Space::generic, TensorMap::kBytes), events);
  }
  std::array<std::uint16_t, 3> offsets{};
  for (unsigned n = 0; n < offsets.size(); ++n) offsets[n] = static_cast<std::uint16_t>(o.offsets >> 16U * n);
  c.walk = BulkWalk::of_tensor(c.map, mode, o.operands.coordinates, offsets);
  const std::uint32_t bytes = c.walk.bytes();
  if (op.bulk != BulkDirection::prefetch &&
      (o.operands.shared > o.shared_bytes || o.shared_bytes - o.operands.shared < bytes))
    return report(now, c, o.fault(FaultKind::shared_range, o.operands.shared, Space::shared, bytes), events);
}

/// On to the copy's next piece. Pre: it is its turn.
void BulkCopyUnit::step(Copy& c, std::vector<BulkEvent>& events) {
  if (!c.walk.next(c.piece)) end_turn(events);
}

/// All of the copy whose turn it is has been sent, or never will be.
void BulkCopyUnit::end_turn(std::vector<BulkEvent>& events) {
  const unsigned index = queue_.front();
  queue_.erase(queue_.begin());
  reading_ = {};
  const BulkOrder& o = copies_[index].order;
  const bool grouped = is_grouped(o.op().bulk);
  if (grouped) events.push_back({BulkEvent::Kind::read, o.slot, o.group, grouped});
  if (copies_[index].outstanding == 0) end_copy(index, events);
}

void BulkCopyUnit::end_copy(unsigned index, std::vector<BulkEvent>& events) {
  Copy& c = copies_[index];
  events.push_back({BulkEvent::Kind::done, c.order.slot, c.order.group, is_grouped(c.order.op().bulk)});
  c.killed = false;
  free_copies_.push_back(index);
  --under_way_;
}

/// The piece is not in the tensor: of a copy to shared memory it is filled, of others left out.
void BulkCopyUnit::fill(Cycle now, Copy& c, std::vector<BulkEvent>& events, std::vector<LsuEvent>& waits) {
  const BulkPiece piece = c.piece;
  next_request_ = owner_.domain().after(now, parameters_.request_interval);
  if (reads_global(c)) {
    std::array<std::uint8_t, BulkWalk::kLine> bytes{};
    // All ones are a NaN of every type of floating-point numbers.
    if (c.map.fill == TensorFill::nan) bytes.fill(0xFF);
    if (map_.with_data) land(c, piece, bytes.data());
    counters_.filled_bytes += piece.bytes;
    tell_mbarrier(now, c, piece.bytes, events, waits);
    if (c.killed) return;
  }
  step(c, events);
}

/// Sends the request for the next piece. False: its port, or a response, has to be waited for.
bool BulkCopyUnit::send(Cycle now, unsigned index, std::vector<BulkEvent>& events) {
  Copy& c = copies_[index];
  const Mapping* const mapping = map_.space->find(VirtualAddress{c.piece.address}, c.piece.bytes, hint_);
  if (mapping == nullptr) {
    if (c.order.op().bulk == BulkDirection::prefetch) {
      step(c, events);  // a hint
    } else {
      report(now, c, c.order.fault(FaultKind::unmapped, c.piece.address, Space::global, c.piece.bytes),
             events);
    }
    return true;
  }
  if (free_flights_.empty() || !to_crossbar_.ready(now)) return false;
  BulkPiece piece = c.piece;
  if (c.order.op().bulk == BulkDirection::reduce) {
    // A request combines one element of each lane, or two where there are more.
    const unsigned element =
        c.order.op().dimensions != 0 ? c.map.element_bytes() : size_of(c.order.op().type);
    const bool pairs = element == 2 && piece.bytes % (kHalvesOfLane * element) == 0;
    piece.bytes = std::min(piece.bytes, kWarpLanes * element * (pairs ? kHalvesOfLane : 1));
  }
  Request* r = new_request(now, c, new_flight(index, piece, false));
  make(*r, c, piece, *mapping);
  ++c.outstanding;
  ++counters_.requests;
  to_crossbar_.send(now, {r});
  next_request_ = owner_.domain().after(now, parameters_.request_interval);
  if (piece.bytes < c.piece.bytes) {
    c.piece = {c.piece.offset + piece.bytes, c.piece.bytes - piece.bytes, c.piece.address + piece.bytes,
               false};
  } else {
    step(c, events);
  }
  return true;
}

unsigned BulkCopyUnit::new_flight(unsigned copy, const BulkPiece& piece, bool of_map) {
  const unsigned flight = free_flights_.back();
  free_flights_.pop_back();
  flights_[flight] = {copy, piece, of_map};
  return flight;
}

Request* BulkCopyUnit::new_request(Cycle now, const Copy& c, unsigned flight) {
  Request* r = owner_.engine().pool().allocate();
  r->maker = &owner_;
  last_number_ = std::max(now, last_number_ + 1);
  r->made_by(sm_, last_number_);
  r->warp = static_cast<std::uint16_t>(c.order.slot);
  r->token = static_cast<std::uint16_t>(flight);
  return r;
}

void BulkCopyUnit::make(Request& r, const Copy& c, const BulkPiece& piece, const Mapping& mapping) {
  const MemOp& op = c.order.op();
  const auto in_line = static_cast<unsigned>(piece.address % kLineBytes);
  r.virtual_line = VirtualAddress{piece.address - in_line};
  r.line = mapping.translate(r.virtual_line);
  r.region = mapping.region;
  r.sectors = bulk_sectors(piece.address, piece.bytes);
  r.no_l1 = true;
  if (op.cache_hint) r.l2_priority = priority_by_policy(c.order.policy, r.virtual_line.value);
  const unsigned sectors = sector_count(r.sectors);
  switch (op.bulk) {
    case BulkDirection::to_shared:
      r.command = Command::read;
      if (mapping.device) {  // reading more of it might have effects
        r.exact = true;
        r.bytes = {};
        r.bytes.set(in_line, piece.bytes);
      }
      counters_.read_sectors += sectors;
      break;
    case BulkDirection::to_global:
      r.command = Command::write;
      r.bytes = {};
      r.bytes.set(in_line, piece.bytes);
      if (map_.with_data)
        for_each_run(c, piece, [&](std::uint64_t at, unsigned offset, unsigned bytes) {
          lsu_.shared().read(at, &r.data[in_line + offset], bytes);
        });
      counters_.written_sectors += sectors;
      counters_.bytes_to_global += piece.bytes;
      break;
    case BulkDirection::reduce:
      r.command = Command::reduce;
      make_atomics(r, c, piece, in_line);
      counters_.reduced_sectors += sectors;
      counters_.bytes_to_global += piece.bytes;
      break;
    case BulkDirection::prefetch:
      r.command = Command::control;
      r.control = LineControl::prefetch_l2;
      counters_.prefetched_sectors += sectors;
      break;
  }
}

void BulkCopyUnit::make_atomics(Request& r, const Copy& c, const BulkPiece& piece, unsigned first) {
  const MemOp& op = c.order.op();
  const Elements e = elements_of(op, op.dimensions != 0 ? c.map.type : op.type);
  AtomicBlock* block = owner_.engine().pool().allocate_atomics();
  block->operation = op.atomic;
  block->type = e.type;
  block->vector = static_cast<std::uint8_t>(piece.bytes / e.bytes > kWarpLanes ? kHalvesOfLane : 1);
  const unsigned step = e.bytes * block->vector;
  std::array<std::uint8_t, BulkWalk::kLine> bytes{};
  if (map_.with_data)
    for_each_run(c, piece, [&](std::uint64_t at, unsigned offset, unsigned count) {
      lsu_.shared().read(at, &bytes[offset], count);
    });
  for (unsigned at = 0; at < piece.bytes; at += step) {
    LaneAtomic& part = block->lanes[block->count];
    part.lane = static_cast<std::uint8_t>(block->count++);
    part.offset = static_cast<std::uint8_t>(first + at);
    part.operand = part.second = part.old_value = 0;
    __builtin_memcpy(&part.operand, &bytes[at], step);
  }
  r.atomics = block;
}

/// Calls f(at, offset, bytes) for each run of the piece's bytes that lie side by side in shared memory: where
/// in all of it, and from the piece's begin.
template <class F>
void BulkCopyUnit::for_each_run(const Copy& c, const BulkPiece& piece, F&& f) {
  const std::uint32_t begin = c.order.operands.shared + piece.offset;
  if (c.order.op().dimensions == 0 || c.map.swizzle == TensorSwizzle::none)
    return f(c.order.shared_base + begin, 0U, piece.bytes);
  for (std::uint32_t done = 0; done < piece.bytes;) {
    const std::uint32_t at = begin + done;
    const std::uint32_t bytes = std::min(piece.bytes - done, TensorMap::kPiece - at % TensorMap::kPiece);
    f(c.order.shared_base + c.map.swizzled(at), done, bytes);
    done += bytes;
  }
}

void BulkCopyUnit::land(const Copy& c, const BulkPiece& piece, const std::uint8_t* from) {
  for_each_run(c, piece, [&](std::uint64_t at, unsigned offset, unsigned bytes) {
    lsu_.shared().fill(at, from + offset, bytes, bytes);
  });
}

void BulkCopyUnit::tell_mbarrier(Cycle now, Copy& c, std::uint32_t bytes, std::vector<BulkEvent>& events,
                                 std::vector<LsuEvent>& waits) {
  if (!map_.with_data) return;
  const BulkOrder& o = c.order;
  MemOp complete;
  complete.kind = MemKind::mbarrier;
  complete.mbarrier = MbarrierOperation::complete_tx;
  const MbarrierStatus status =
      lsu_.operate_mbarrier(now, o.shared_base + o.operands.mbarrier, complete, bytes, waits);
  if (status >= MbarrierStatus::no_object)
    report(now, c, o.fault(fault_of_mbarrier(status), o.operands.mbarrier, Space::shared, Mbarrier::kBytes),
           events);
}

/// The copy goes no further, and its warp is ended. At most one in a call.
void BulkCopyUnit::report(Cycle now, Copy& c, const Fault& fault, std::vector<BulkEvent>& events) {
  c.killed = true;
  last_fault_ = fault;
  last_fault_.cycle = now;
  events.push_back({BulkEvent::Kind::faulted, c.order.slot, 0, false});
}

void BulkCopyUnit::respond(Cycle now, Request& r, std::vector<BulkEvent>& events,
                           std::vector<LsuEvent>& waits) {
  const unsigned number = r.token;
  const Flight flight = flights_[number];
  free_flights_.push_back(number);
  Copy& c = copies_[flight.copy];
  const BulkPiece& piece = flight.piece;
  const bool turn = !queue_.empty() && queue_.front() == flight.copy;
  if (r.status != Status::ok && !c.killed) {
    Fault fault = c.order.fault(FaultKind::bus_error, r.virtual_line.value, Space::global, 0);
    report(now, c, fault, events);
  } else if (flight.of_map) {
    if (turn && map_.with_data)
      __builtin_memcpy(&reading_.bytes[piece.offset], &r.data[piece.address % kLineBytes], piece.bytes);
  } else if (reads_global(c) && !c.killed) {
    if (map_.with_data) land(c, piece, &r.data[piece.address % kLineBytes]);
    counters_.bytes_to_shared += piece.bytes;
    tell_mbarrier(now, c, piece.bytes, events, waits);
  }
  if (flight.of_map && turn) reading_.come += piece.bytes;
  owner_.engine().pool().release(&r);
  --c.outstanding;
  if (c.outstanding == 0 && std::find(queue_.begin(), queue_.end(), flight.copy) == queue_.end())
    end_copy(flight.copy, events);
}

void BulkCopyUnit::explain(const std::string& who, std::vector<Wait>& waits) const {
  if (idle()) return;
  if (queue_.empty() || !blocked_ || free_flights_.empty() || reading_.asked != reading_.come) {
    waits.push_back({who, "answers to what it has sent", {}, {&owner_}});
  } else {
    waits.push_back({who,
                     to_crossbar_.room() + ", with " + std::to_string(queue_.size()) + " bulk copies to go",
                     {to_crossbar_.other_side()}});
  }
}

}  // namespace warpline
