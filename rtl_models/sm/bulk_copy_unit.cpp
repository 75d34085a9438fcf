#include "rtl_models/sm/bulk_copy_unit.h"

#include <algorithm>

#include "rtl_models/isa/atomic.h"
#include "rtl_models/isa/cache_policy.h"
#include "rtl_models/sm/sm_mutations.h"

namespace warpline {
namespace {

SectorMask bulk_sectors(std::uint64_t address, std::uint32_t bytes) {
  const auto first = static_cast<unsigned>(address % kLineBytes / kSectorBytes);
  const auto last = static_cast<unsigned>((address % kLineBytes + bytes - 1) / kSectorBytes);
  return static_cast<SectorMask>((2U << last) - (1U << first));
}

/// Whether memory is mapped, and is one that copies access.
bool is_plain(const Mapping* mapping) {
  return mapping != nullptr && mapping->kind != MappingKind::multicast;
}

/// What is wrong where it is not.
FaultKind fault_of_mapping(const Mapping* mapping) {
  return mapping == nullptr ? FaultKind::unmapped : FaultKind::multicast;
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

/// Bits that tokens of messages to mbarriers have; with them comes the number of the copy.
constexpr unsigned kTells = LoadStoreUnit::kOfBulk | 0x4000U;
/// Bytes that `clusterlaunchcontrol.try_cancel` writes: three words for the CTA, and one that says whether.
constexpr unsigned kAnswerBytes = 16;
/// Of an address in the shared memory of a CTA of the cluster, the bits that count within the CTA.
constexpr std::uint64_t kOffsets = AddressWindows::kSize - 1;

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
  outgoing_.clear();
  cancels_.clear();
}

void BulkCopyUnit::take(Cycle now, const BulkOrder& order) {
  const unsigned index = free_copies_.back();
  free_copies_.pop_back();
  ++under_way_;
  Copy& c = copies_[index];
  c = Copy{};
  c.order = order;
  c.tell_left = order.others();
  c.at = parameters_.latency == 0 ? now : owner_.domain().after(now, parameters_.latency);
  queue_.push_back(index);
  if (queue_.size() == 1) blocked_ = false;
  ++counters_.copies;
  counters_.tensor_copies += order.op().dimensions != 0;
}

Cycle BulkCopyUnit::next_work(Cycle now) const {
  if (!outgoing_.empty() && !network_blocked_) return owner_.domain().after(now, 1);
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
  if (!outgoing_.empty()) advance_network(now, events);
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
  if (c.order.op().bulk == BulkDirection::to_cluster) {
    blocked_ = !pass_on(now, index, events, waits);
    return;
  }
  if (c.piece.outside) return fill(now, c, events, waits);
  if (!send(now, index, events, waits)) blocked_ = true;
}

/// Finds the copy's first piece, of a tensor's when its map is there. False: not yet, or there is none.
bool BulkCopyUnit::begin(Cycle now, unsigned index, std::vector<BulkEvent>& events) {
  Copy& c = copies_[index];
  if (c.order.op().bulk == BulkDirection::cancel) {
    blocked_ = free_flights_.empty();
    if (!blocked_) ask_to_cancel(index, events);
    return false;
  }
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
    const Mapping* const mapping = map_.space->reach(VirtualAddress{at}, rest, hint_);
    if (!is_plain(mapping)) {
      blocked_ = false;
      report(now, c, c.order.fault(fault_of_mapping(mapping), at, Space::generic, rest), events);
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
  c.walk = BulkWalk::of_tensor(c.map, mode, o.operands.coordinates, o.second.offsets);
  const std::uint32_t bytes = c.walk.bytes();
  c.order.operands.bytes = bytes;
  if (op.bulk != BulkDirection::prefetch &&
      (o.operands.shared > o.shared_bytes || o.shared_bytes - o.operands.shared < bytes))
    return report(now, c, o.fault_there(FaultKind::shared_range, o.operands.shared, bytes), events);
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
  copies_[index].walked = true;
  settle(index, events);
}

/// Once all of a copy is on its way, mbarriers of other CTAs are told; when all has come, it is over.
void BulkCopyUnit::settle(unsigned index, std::vector<BulkEvent>& events) {
  Copy& c = copies_[index];
  if (!c.walked || c.telling) return;
  if (c.tell_left != 0 && !c.killed) {
    if (c.unsent != 0 && !mutated(SmMutation::bulk_told_elsewhere_early)) return;
    c.telling = true;
    outgoing_.push_back({index, true});
    if (outgoing_.size() == 1) network_blocked_ = false;
  } else if (c.outstanding == 0) {
    end_copy(index, events);
  }
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
  if (reads_global(c)) {
    std::array<std::uint8_t, BulkWalk::kLine> bytes{};
    // All ones are a NaN of every type of floating-point numbers.
    if (c.map.fill == TensorFill::nan) bytes.fill(0xFF);
    if (c.order.others() != 0) {
      blocked_ = free_flights_.empty();
      if (blocked_) return;
      deliver(now, new_flight(queue_.front(), piece, false), bytes.data(), events, waits);
    } else if (c.order.comes_home()) {
      if (map_.with_data) land(c, piece, bytes.data());
      tell_mbarrier(now, c, piece.offset, piece.bytes, events, waits);
    }
    counters_.filled_bytes += piece.bytes;
  }
  next_request_ = owner_.domain().after(now, parameters_.request_interval);
  if (!c.killed) step(c, events);
}

/// Sends the request for the next piece. False: its port, or a response, has to be waited for.
bool BulkCopyUnit::send(Cycle now, unsigned index, std::vector<BulkEvent>& events,
                        std::vector<LsuEvent>& waits) {
  Copy& c = copies_[index];
  const Mapping* const mapping = map_.space->reach(VirtualAddress{c.piece.address}, c.piece.bytes, hint_);
  if (!is_plain(mapping)) {
    if (c.order.op().bulk == BulkDirection::prefetch) {
      step(c, events);  // a hint
    } else {
      report(now, c, c.order.fault(fault_of_mapping(mapping), c.piece.address, Space::global, c.piece.bytes),
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
  ++counters_.requests;
  to_crossbar_.send(now, {r});
  if (reads_global(c) && c.order.comes_home() && mutated(SmMutation::bulk_told_before_data))
    tell_mbarrier(now, c, piece.offset, piece.bytes, events, waits);
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
  Flight& f = flights_[flight];
  f.copy = copy;
  f.piece = piece;
  f.of_map = of_map;
  f.ranks_left = f.answers = 0;
  ++copies_[copy].outstanding;
  copies_[copy].unsent += !of_map;
  return flight;
}

Request* BulkCopyUnit::new_request(Cycle now, const Copy& c, unsigned flight) {
  Request* r = owner_.pool().allocate();
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
      note_moved(c, piece, &r.data[in_line], false);
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
    case BulkDirection::to_cluster:
    case BulkDirection::cancel: break;  // neither goes to memory
  }
}

void BulkCopyUnit::make_atomics(Request& r, const Copy& c, const BulkPiece& piece, unsigned first) {
  const MemOp& op = c.order.op();
  const Elements e = elements_of(op, op.dimensions != 0 ? c.map.type : op.type);
  AtomicBlock* block = owner_.pool().allocate_atomics();
  block->operation = op.atomic;
  block->type = e.type;
  block->vector = static_cast<std::uint8_t>(piece.bytes / e.bytes > kWarpLanes ? kHalvesOfLane : 1);
  std::array<std::uint8_t, BulkWalk::kLine> bytes{};
  if (map_.with_data)
    for_each_run(c, piece, [&](std::uint64_t at, unsigned offset, unsigned count) {
      lsu_.shared().read(at, &bytes[offset], count);
    });
  add_atomics(*block, bytes.data(), piece.bytes, first);
  r.atomics = block;
}

/// Lanes for the `count` bytes from byte `first` of the line on. Pre: the block's type and vector are set.
void BulkCopyUnit::add_atomics(AtomicBlock& block, const std::uint8_t* bytes, unsigned count,
                               unsigned first) {
  const unsigned step = block.lane_bytes();
  for (unsigned at = 0; at < count; at += step) {
    LaneAtomic& part = block.lanes[block.count];
    part.lane = static_cast<std::uint8_t>(block.count++);
    part.offset = static_cast<std::uint8_t>(first + at);
    part.operand = part.second = part.old_value = 0;
    __builtin_memcpy(&part.operand, bytes + at, step);
  }
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

void BulkCopyUnit::tell_mbarrier(Cycle now, Copy& c, std::uint32_t offset, std::uint32_t bytes,
                                 std::vector<BulkEvent>& events, std::vector<LsuEvent>& waits) {
  if (!map_.with_data) return;
  const BulkOrder& o = c.order;
  MemOp complete;
  complete.kind = MemKind::mbarrier;
  complete.mbarrier = MbarrierOperation::complete_tx;
  const std::uint64_t at = o.shared_base + o.operands.mbarrier, before = lsu_.shared().word(at);
  const MbarrierStatus status = lsu_.operate_mbarrier(now, at, complete, bytes, waits);
  if (SharedObserver* const observer = lsu_.observer();
      observer != nullptr && status < MbarrierStatus::no_object)
    observer->bulk_told(sm_.sm, o, offset, before, lsu_.shared().word(at));
  if (status >= MbarrierStatus::no_object)
    report(now, c, o.fault(fault_of_mbarrier(status), o.operands.mbarrier, Space::shared, Mbarrier::kBytes),
           events);
}

/// Whoever observes the SM hears what has been read; `landed`: and written to shared memory of the own CTA.
void BulkCopyUnit::note_moved(const Copy& c, const BulkPiece& piece, const std::uint8_t* bytes, bool landed) {
  if (SharedObserver* const observer = lsu_.observer(); observer != nullptr && map_.with_data)
    observer->bulk_moved(sm_.sm, c.order, piece.offset, bytes, piece.bytes, landed);
}

/// The bytes of a flight are there: they come to the own CTA at once, and to others by the network.
void BulkCopyUnit::deliver(Cycle now, unsigned number, const std::uint8_t* bytes,
                           std::vector<BulkEvent>& events, std::vector<LsuEvent>& waits) {
  Flight& f = flights_[number];
  Copy& c = copies_[f.copy];
  f.ranks_left = c.order.others();
  if (c.order.comes_home()) {
    if (c.order.op().atomic != AtomicOperation::none) {
      combine_here(now, f, bytes);
    } else if (map_.with_data) {
      land(c, f.piece, bytes);
    }
    if (c.order.op().bulk == BulkDirection::to_shared) counters_.bytes_to_shared += f.piece.bytes;
    note_moved(c, f.piece, bytes, true);
    if (!reads_global(c) || !mutated(SmMutation::bulk_told_before_data))
      tell_mbarrier(now, c, f.piece.offset, f.piece.bytes, events, waits);
  }
  if (!c.order.comes_home()) note_moved(c, f.piece, bytes, false);
  if (f.ranks_left == 0 || c.killed) {
    f.ranks_left = 0;
    --c.unsent;
    return end_flight(number, events);
  }
  __builtin_memcpy(f.bytes.data(), bytes, f.piece.bytes);
  outgoing_.push_back({number, false});
  if (outgoing_.size() == 1) network_blocked_ = false;
}

/// A reduction of the own CTA's shared memory, as another would be asked for it.
void BulkCopyUnit::combine_here(Cycle now, Flight& f, const std::uint8_t* bytes) {
  __builtin_memcpy(f.bytes.data(), bytes, f.piece.bytes);
  const Copy& c = copies_[f.copy];
  unsigned parts = 1;
  for (unsigned part = 0; part < parts; ++part) {
    Request* const r = make_part(now, f, 0, c.order.rank(), part, parts);
    if (map_.with_data) lsu_.shared().perform(*r, c.order.shared_base + (r->virtual_line.value & kOffsets));
    owner_.pool().release(r);
  }
}

/// Nothing of the flight is left.
void BulkCopyUnit::end_flight(unsigned number, std::vector<BulkEvent>& events) {
  const unsigned copy = flights_[number].copy;
  // Answers of other SMs and of the work distributor come when advance() has been.
  if (free_flights_.empty()) blocked_ = false;
  free_flights_.push_back(number);
  --copies_[copy].outstanding;
  settle(copy, events);
}

/// Sends the next piece of a copy between shared memories. False: it has to wait for answers.
bool BulkCopyUnit::pass_on(Cycle now, unsigned index, std::vector<BulkEvent>& events,
                           std::vector<LsuEvent>& waits) {
  if (free_flights_.empty()) return false;
  Copy& c = copies_[index];
  std::array<std::uint8_t, BulkWalk::kLine> bytes{};
  if (map_.with_data) lsu_.shared().read(c.order.shared_base + c.piece.address, bytes.data(), c.piece.bytes);
  deliver(now, new_flight(index, c.piece, false), bytes.data(), events, waits);
  next_request_ = owner_.domain().after(now, parameters_.request_interval);
  if (!c.killed) step(c, events);
  return true;
}

// To other CTAs.

/// A request, without its command, for the line of offset `line` in the shared memory of the CTA `rank`.
Request* BulkCopyUnit::to_cta(Cycle now, const Copy& c, unsigned token, unsigned rank, std::uint64_t line) {
  Request* const r = new_request(now, c, token);
  ClusterAddress at;
  at.rank = rank;
  at.offset = static_cast<std::uint32_t>(line);
  if (c.order.cluster != nullptr) {
    at.sm = c.order.cluster->sms.at(rank);
    at.cluster = c.order.cluster->number;
  }
  r->line = at.packed();
  r->virtual_line = VirtualAddress{kClusterTag | AddressWindows::map_to_rank(line, rank)};
  return r;
}

/// The request for the bytes of `f` that fall in line `part` of those that they fall in; `parts` is how many
/// these are.
Request* BulkCopyUnit::make_part(Cycle now, const Flight& f, unsigned token, unsigned rank, unsigned part,
                                 unsigned& parts) {
  const Copy& c = copies_[f.copy];
  const MemOp& op = c.order.op();
  // Bytes side by side fall in two lines at most, and swizzles move them within their line.
  const std::uint64_t first = c.order.operands.shared + f.piece.offset;
  const std::uint64_t line = first / kLineBytes + part;
  parts = static_cast<unsigned>((first + f.piece.bytes - 1) / kLineBytes - first / kLineBytes) + 1;
  Request* const r = to_cta(now, c, token, rank, line * kLineBytes);
  const bool combines = op.atomic != AtomicOperation::none;
  AtomicBlock* block = nullptr;
  r->bytes = {};
  if (combines) {
    block = owner_.pool().allocate_atomics();
    block->operation = op.atomic;
    block->type = elements_of(op, op.type).type;
    r->atomics = block;
  }
  r->command = combines ? Command::reduce : Command::write;
  for_each_run(c, f.piece, [&](std::uint64_t at, unsigned offset, unsigned bytes) {
    const std::uint64_t to = at - c.order.shared_base;
    const std::uint64_t begin = std::max(to, line * kLineBytes);
    const std::uint64_t end = std::min(to + bytes, (line + 1) * kLineBytes);
    if (begin >= end) return;
    const auto in_line = static_cast<unsigned>(begin % kLineBytes),
               count = static_cast<unsigned>(end - begin);
    const std::uint8_t* const from = &f.bytes[offset + (begin - to)];
    r->sectors = static_cast<SectorMask>(r->sectors | bulk_sectors(begin, count));
    if (combines) {
      add_atomics(*block, from, count, in_line);
    } else {
      r->bytes.set(in_line, count);
      __builtin_memcpy(&r->data[in_line], from, count);
    }
  });
  return r;
}

/// Sends one message to another CTA, if there is one and the port is ready.
void BulkCopyUnit::advance_network(Cycle now, std::vector<BulkEvent>& events) {
  drop_outgoing(events);
  network_blocked_ = false;
  if (outgoing_.empty()) return;
  network_blocked_ = !lsu_.network_ready(now);
  if (network_blocked_ || !lsu_.is_turn_of_bulk()) return;
  Outgoing& o = outgoing_.front();
  if (o.tells) {
    Copy& c = copies_[o.number];
    const auto rank = static_cast<unsigned>(__builtin_ctz(c.tell_left));
    const std::uint32_t at = c.order.operands.mbarrier;
    Request* const r = to_cta(now, c, kTells | o.number, rank, at / kLineBytes * kLineBytes);
    AtomicBlock* const block = owner_.pool().allocate_atomics();
    block->operation = AtomicOperation::none;
    block->type = DataType::b64;
    block->of_mbarriers = true;
    block->mbarrier = MbarrierOperation::complete_tx;
    block->mbarrier_form = MbarrierForm::plain;
    block->count = 1;
    block->lanes[0] = {0, static_cast<std::uint8_t>(at % kLineBytes), bytes_of(c), 1, 0};
    r->command = Command::atomic;
    r->atomics = block;
    r->sectors = bulk_sectors(at, Mbarrier::kBytes);
    ++c.outstanding;
    c.tell_left &= c.tell_left - 1;
    lsu_.send_bulk(now, r);
    if (c.tell_left != 0) return;
    c.telling = false;
    outgoing_.pop_front();
    return;
  }
  Flight& f = flights_[o.number];
  Copy& c = copies_[f.copy];
  unsigned parts = 1;
  Request* const r = make_part(now, f, LoadStoreUnit::kOfBulk | o.number,
                               static_cast<unsigned>(__builtin_ctz(f.ranks_left)), o.part, parts);
  ++f.answers;
  lsu_.send_bulk(now, r);
  if (++o.part < parts) return;
  o.part = 0;
  counters_.bytes_to_cluster += f.piece.bytes;
  f.ranks_left &= f.ranks_left - 1;
  if (f.ranks_left != 0) return;
  outgoing_.pop_front();
  --c.unsent;
  settle(f.copy, events);
}

/// What copies have to send whose warps have been ended is sent no more.
void BulkCopyUnit::drop_outgoing(std::vector<BulkEvent>& events) {
  while (!outgoing_.empty()) {
    const Outgoing o = outgoing_.front();
    const unsigned index = o.tells ? o.number : flights_[o.number].copy;
    Copy& c = copies_[index];
    if (!c.killed) return;
    outgoing_.pop_front();
    if (o.tells) {
      c.telling = false;
      c.tell_left = 0;
      settle(index, events);
      continue;
    }
    flights_[o.number].ranks_left = 0;
    --c.unsent;
    if (flights_[o.number].answers == 0) end_flight(o.number, events);
  }
}

void BulkCopyUnit::hear(Cycle now, Request& r, std::vector<BulkEvent>& events) {
  const bool tells = (r.token & kTells) == kTells;
  const unsigned number = r.token & ~kTells & 0xFFFFU;
  const unsigned index = tells ? number : flights_[number].copy;
  Copy& c = copies_[index];
  if (r.status != Status::ok && !c.killed) {
    const BulkOrder& o = c.order;
    const auto status = static_cast<MbarrierStatus>(tells ? r.atomics->lanes[0].old_value : 0);
    const bool wrong = status >= MbarrierStatus::no_object;
    const std::uint32_t at = tells ? o.operands.mbarrier : o.operands.shared;
    const std::uint64_t rank = AddressWindows::rank_code(r.virtual_line.value & ~kClusterTag) - 1;
    report(now, c,
           o.fault(wrong ? fault_of_mbarrier(status) : FaultKind::cta_ended,
                   AddressWindows::map_to_rank(at, rank), Space::shared_cluster,
                   tells ? Mbarrier::kBytes : bytes_of(c)),
           events);
  }
  owner_.pool().release(&r);
  if (tells) {
    --c.outstanding;
    settle(index, events);
  } else if (--flights_[number].answers == 0 && flights_[number].ranks_left == 0) {
    end_flight(number, events);
  }
}

// Of CTAs that have not begun.

void BulkCopyUnit::ask_to_cancel(unsigned index, std::vector<BulkEvent>& events) {
  copies_[index].order.operands.bytes = kAnswerBytes;
  cancels_.push_back(new_flight(index, {0, kAnswerBytes, 0, false}, false));
  end_turn(events);
}

void BulkCopyUnit::answer_cancel(Cycle now, unsigned ticket, const std::optional<Dim3>& cta,
                                 std::vector<BulkEvent>& events, std::vector<LsuEvent>& waits) {
  const std::array<std::uint32_t, 4> words =
      cta ? std::array<std::uint32_t, 4>{cta->x, cta->y, cta->z, 1} : std::array<std::uint32_t, 4>{};
  std::array<std::uint8_t, kAnswerBytes> bytes{};
  __builtin_memcpy(bytes.data(), words.data(), sizeof words);
  Copy& c = copies_[flights_[ticket].copy];
  if (!c.killed) return deliver(now, ticket, bytes.data(), events, waits);
  --c.unsent;
  end_flight(ticket, events);
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
  const Flight& flight = flights_[number];
  Copy& c = copies_[flight.copy];
  const BulkPiece piece = flight.piece;
  const bool turn = !queue_.empty() && queue_.front() == flight.copy;
  const bool of_map = flight.of_map;
  bool delivers = false;
  if (r.status != Status::ok && !c.killed) {
    Fault fault = c.order.fault(FaultKind::bus_error, r.virtual_line.value, Space::global, 0);
    report(now, c, fault, events);
  } else if (of_map) {
    if (turn && map_.with_data)
      __builtin_memcpy(&reading_.bytes[piece.offset], &r.data[piece.address % kLineBytes], piece.bytes);
  } else {
    delivers = reads_global(c) && !c.killed;
  }
  if (of_map && turn) reading_.come += piece.bytes;
  if (delivers) {
    deliver(now, number, &r.data[piece.address % kLineBytes], events, waits);
  } else {
    c.unsent -= !of_map;
    end_flight(number, events);
  }
  owner_.pool().release(&r);
}

void BulkCopyUnit::explain(const std::string& who, std::vector<Wait>& waits) const {
  if (idle()) return;
  if (!outgoing_.empty()) return lsu_.explain_network(who, outgoing_.size(), waits);
  if (queue_.empty() || !blocked_ || free_flights_.empty() || reading_.asked != reading_.come) {
    waits.push_back({who, "answers to what it has sent", {}, {&owner_}});
  } else {
    waits.push_back({who,
                     to_crossbar_.room() + ", with " + std::to_string(queue_.size()) + " bulk copies to go",
                     {to_crossbar_.other_side()}});
  }
}

}  // namespace warpline
