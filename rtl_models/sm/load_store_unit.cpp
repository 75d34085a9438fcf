#include "rtl_models/sm/load_store_unit.h"

#include <algorithm>
#include <cstdio>
#include <numeric>

#include "rtl_models/base/contract.h"
#include "rtl_models/sm/sm_mutations.h"
#include "rtl_models/sm/sm_profile.h"

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

/// The lowest lane with a texel in the line of `r`. Pre: a lane takes part.
unsigned lane_of_texel(const ResolvedAccess& access, const Request& r) {
  LaneMask lanes = 0;
  for_each_lane(access.texels().lanes(), [&](unsigned lane) {
    const TexelPlan& plan = access.plan(lane);
    for (unsigned k = 0; k < plan.count; ++k)
      if (plan.offset[k] != TexelPlan::kBorder &&
          access.texel(lane, k).value - r.virtual_line.value < kLineBytes)
        lanes |= LaneMask{1} << lane;
  });
  return first_lane(lanes != 0 ? lanes : access.texels().lanes());
}

FaultKind fault_of(MbarrierStatus status) {
  return status == MbarrierStatus::no_object ? FaultKind::no_mbarrier : FaultKind::mbarrier_count;
}

/// What was asked of mbarriers in another CTA is not allowed, or the CTA has ended.
Fault mbarrier_error(const ResolvedAccess& access, const AtomicBlock& block) {
  const auto end = block.lanes.begin() + block.count;
  const auto wrong = std::find_if(block.lanes.begin(), end, [](const LaneAtomic& lane) {
    return lane.old_value >= static_cast<std::uint64_t>(MbarrierStatus::no_object);
  });
  const LaneAtomic& lane = wrong != end ? *wrong : block.lanes.front();
  Fault fault = access.fault(
      wrong != end ? fault_of(static_cast<MbarrierStatus>(lane.old_value)) : FaultKind::cta_ended, lane.lane);
  if (access.op().kind == MemKind::async_store) fault.address = access.written().second[lane.lane];
  fault.bytes = Mbarrier::kBytes;
  return fault;
}

/// Something below has answered `r` of `e` with an error. A line is named by its address, and is blamed on
/// the first lane that wanted it. What is read for `exact_lane` alone is what that lane asked for; and where
/// a line of local memory lies says nothing to the program, so what its first lane asked for stands for it.
Fault bus_error(const LsuEntry& e, const Request& r, unsigned exact_lane) {
  const ResolvedAccess& access = e.resolved;
  if (access.exact() && r.command == Command::read) return access.fault(FaultKind::bus_error, exact_lane);
  if (r.local) return access.fault(FaultKind::bus_error, first_lane(access.local().lanes()));
  if (ClusterAddress::is(r.line) && r.command == Command::atomic && r.atomics->of_mbarriers)
    return mbarrier_error(access, *r.atomics);
  if (ClusterAddress::is(r.line)) return access.fault(FaultKind::cta_ended, lane_in_line(access.remote(), r));
  const bool constant = access.is_of_constants(r.virtual_line), image = access.texels().lanes() != 0;
  const unsigned lane = constant                                    ? lane_in_line(access.constant(), r)
                        : !image                                    ? lane_in_line(access.global(), r)
                        : access.op().kind == MemKind::texture_load ? lane_of_texel(access, r)
                                                                    : lane_in_line(access.texels(), r);
  Fault fault = access.fault(FaultKind::bus_error, lane);
  fault.address = r.virtual_line.value;
  fault.space = constant ? Space::constant : Space::global;
  return fault;
}

}  // namespace

void LoadStoreUnit::start(const MemoryMap& map) {
  WARPLINE_EXPECT(idle(), "a kernel starts on an idle load/store unit");
  with_data_ = map.with_data;
  space_ = map.space;
  hint_ = nullptr;
  resolution_.start(map);
  builder_.start(map);
  // Each CTA's part is cleared when it begins.
  if (shared_.size() != (map.with_data ? parameters_.shared_bytes : 0))
    shared_ = SharedMemory(parameters_.shared_bytes, parameters_.shared_banks, map.with_data);
}

/// The oldest entry has come to the unit, and no bank that it needs is busy.
void LoadStoreUnit::advance_head(Cycle now, std::vector<LsuEvent>& events) {
  const unsigned index = entries_.front();
  LsuEntry& e = entries_[index];
  if (e.maintenance.what != 0) return send_maintenance(now, index);
  if (!head_.started) {
    if (send_plain_line(now, index, e)) return;
    begin_head(now, index, events);
  }
  if (head_.not_before > now) return;
  // Last: to ask whether lines are left may go on to the next of them.
  if (mutated(SmMutation::async_store_told_before_data) && !e.killed &&
      e.instruction->mem.kind == MemKind::async_store && head_.lines.any()) {
    if (head_.mbarriers != 0) static_cast<void>(send_mbarriers(now, index));
    if (e.lines_pending != 0 || head_.mbarriers != 0) return;
  }
  if (head_.wants_shared) {
    if (!may_perform_shared(now)) return;
    perform_shared(now, index, events);
    if (head_.lines.any() || head_.mbarriers != 0) return;
  } else if (head_.line_held || head_.lines.any()) {
    for (unsigned sent = 1;; ++sent) {
      if (!head_.line_held) {
        head_.line = head_.lines.next();
        head_.line_held = true;
      }
      if (!send_line(now, index)) return;
      if (e.resolved.exact() && counters_.mmio_transactions % 2 != 0 && mutated(SmMutation::mmio_replayed))
        return;
      head_.line_held = false;
      if (sent == parameters_.l1_ports || !shares_cycle(e) || !head_.lines.any()) break;
    }
    if (head_.lines.any() || head_.mbarriers != 0) return;
  } else if (head_.mbarriers != 0 && !e.killed) {
    if (!send_mbarriers(now, index)) return;
  } else if (e.bulk_left != 0 && !e.killed && !hand_over(now, index, events)) {
    return;
  }
  finish_head(now, events);
}

/// The commonest access takes a short way: a whole line that is loaded without any qualifier. Does for it, if
/// its port to L1 is free, what begin_head(), send_line() and finish_head() do for all. False: it is to go by
/// them, and nothing has been done that they would not do.
bool LoadStoreUnit::send_plain_line(Cycle now, unsigned index, LsuEntry& e) {
  if (!e.plain || e.killed || invalidating_ != 0) return false;
  const MemOp& op = e.instruction->mem;
  if (e.access.form == AddressForm::per_lane) e.access.say_contiguous(op.bytes_per_lane());
  const Mapping* const whole = resolution_.resolve_global_line(op, e.access, e.resolved);
  if (whole == nullptr) return false;
  const VirtualAddress line{e.access.base};
  Out<RequestMessage>& port = ports_.to_l1_of(line);
  if (!port.ready(now)) return false;
  ++counters_.instructions;
  counters_.count_global(MemKind::load);
  if (parameters_.l1_ports > 1) head_.busy_until = std::max(head_.busy_until, banks_of_whole_line(now));
  e.sent = true;
  entries_.pop_front();
  send_plain(now, index, e, {line, kAllSectors, Space::global, ~LaneMask{0}, 0, whole}, *whole, port);
  return true;
}

void LoadStoreUnit::begin_head(Cycle now, unsigned index, std::vector<LsuEvent>& events) {
  LsuEntry& e = entries_[index];
  head_.started = true;
  if (e.killed || e.access.active == 0) return;
  const MemOp& op = e.instruction->mem;
  e.access.say_contiguous(op.bytes_per_lane());
  if (const Mapping* whole = resolution_.resolve_whole_line(op, e.access, e.resolved)) {
    head_.line = {VirtualAddress{e.access.base}, kAllSectors, Space::global, e.access.active, 0, whole};
    head_.line_held = true;
    ++counters_.instructions;
    counters_.count_global(op.kind);
    if (parameters_.l1_ports > 1 && op.kind == MemKind::load) head_.banks_until = banks_of_whole_line(now);
    return;
  }
  if (op.kind == MemKind::bulk_copy) {
    ++counters_.instructions;
    return;
  }
  const auto fault = resolution_.resolve(op, e.access, e.slot, e.limits, e.resolved);
  if (fault) {
    counters_.dropped_controls += e.resolved.dropped();
    e.killed = true;
    return report_fault(now, *fault, index, events);
  }
  if (e.resolved.dropped() != 0) note_dropped(now, index, events);
  counters_.instructions += !e.tokens;
  counters_.atomics += op.is_atomic();
  if (e.resolved.global().lanes() != 0) counters_.count_global(op.kind);
  head_.wants_shared = e.resolved.shared().lanes() != 0;
  head_.lines.start(e.resolved);
  if (parameters_.l1_ports > 1) take_l1_banks(now, e);
  if (op.is_atomic()) pace_atomic(now, e);
  if (const LaneMask remote = e.resolved.remote().lanes(); remote != 0) begin_remote(op, remote);
  if (with_data_) {
    if (op.of_image()) prepare_image(e);
    scatter_zeros(e.resolved, results_of(e));
  }
  if (op.kind != MemKind::async_copy) return;
  e.copy_number = arrivals_.start(e.slot);
  e.tracked = true;
}

/// An atomic waits until the one before it has left room: of shared memory that of its warp, of global memory
/// that of any warp.
void LoadStoreUnit::pace_atomic(Cycle now, const LsuEntry& e) {
  if (head_.wants_shared && e.slot == shared_atomic_slot_) head_.not_before = shared_atomics_free_;
  const unsigned lanes = lane_count(e.resolved.global().lanes());
  if (lanes == 0 || parameters_.atomic_cycles == 0) return;
  const Cycle from = std::max(now, atomics_free_);
  atomics_free_ =
      owner_.domain().after(from, (lanes * parameters_.atomic_cycles + kWarpLanes - 1) / kWarpLanes);
  head_.not_before = std::max(head_.not_before, from);
}

/// Lanes of the head access other CTAs' shared memory, or mbarriers there.
void LoadStoreUnit::begin_remote(const MemOp& op, LaneMask lanes) {
  if (op.kind != MemKind::async_store && op.kind != MemKind::mbarrier) return;
  if (with_data_) head_.mbarriers = lanes;
  counters_.mbarrier_operations += op.kind == MemKind::mbarrier && !head_.wants_shared;
}

/// Room for a load's texels; a formatted store's components become elements. Pre: the access is resolved.
void LoadStoreUnit::prepare_image(LsuEntry& e) {
  const MemOp& op = e.instruction->mem;
  if (op.kind == MemKind::texture_load && e.texels == nullptr) e.texels = std::make_unique<FetchedTexels>();
  if (op.kind != MemKind::surface_store || !op.image.formatted) return;
  for_each_lane(e.resolved.texels().lanes(), [&](unsigned lane) {
    std::array<std::uint32_t, 4> components{};
    __builtin_memcpy(components.data(), e.access.lane_data(lane), sizeof components);
    write_components(e.resolved.image(lane).format, components.data(), op.vector, e.access.lane_data(lane));
  });
}

/// The texels that a load has fetched become its results.
void LoadStoreUnit::combine_texels(LsuEntry& e) {
  if (with_data_ && !e.killed && e.access.active != 0 && e.instruction->mem.kind == MemKind::texture_load)
    combine(e.resolved, results_of(e));
}

/// Where a line of `space` goes, or what is asked of a whole cache.
SmCache LoadStoreUnit::cache_for(const LsuEntry& e, Space space) const {
  if (e.maintenance.what != 0) return served_by(e.maintenance.cache);
  if (space == Space::constant) return SmCache::constant;
  if (space == Space::shared_cluster) return SmCache::network;
  return !parameters_.unified_l1 && reader_of(e) != Reader::load ? SmCache::texture : SmCache::l1_lg;
}

/// For what the line being sent is read. Pre: it is of global memory.
Reader LoadStoreUnit::reader_of(const LsuEntry& e) const {
  const MemOp& op = e.instruction->mem;
  if (op.kind == MemKind::texture_load) return Reader::texture;
  return op.is_noncoherent && !e.resolved.exact() ? Reader::noncoherent : Reader::load;
}

/// Numbers a request that is not the first in its cycle. With several ports to L1 as many may be: what counts
/// them lies above what tells the cycle. Loosely timed, more are made while no time passes.
void LoadStoreUnit::number_further(Request& r) {
  constexpr unsigned kCounted = 58;
  if (++same_number_ >= parameters_.l1_ports) {
    ++last_number_;
    same_number_ = 0;
  }
  r.id = (fresh_.id + last_number_) | std::uint64_t{same_number_} << kCounted;
}

/// In timed runs the number of a request is the cycle, where one is made in a cycle at most.
Request* LoadStoreUnit::new_request(Cycle now, unsigned slot, unsigned token) {
  Request* r = owner_.pool().allocate(fresh_);
  number(now, *r);
  r->warp = static_cast<std::uint16_t>(slot);
  r->token = static_cast<std::uint16_t>(token);
  return r;
}

/// Pre: the request says already of which SM it is.
void LoadStoreUnit::number(Cycle now, Request& r) {
  if (now <= last_number_) return number_further(r);
  last_number_ = now;
  same_number_ = 0;
  r.id = fresh_.id + now;
}

/// Sends the line that is held, if it can go.
bool LoadStoreUnit::send_line(Cycle now, unsigned index) {
  LsuEntry& e = entries_[index];
  if (!e.plain || e.resolved.exact()) return send_any_line(now, index);
  Out<RequestMessage>& port = ports_.to_l1_of(head_.line.line);
  if (!port.ready(now) || invalidating_ != 0) return false;
  const Mapping* const memory = builder_.memory_of(head_.line, head_.lines.coalescer());
  if (memory == nullptr) return send_any_line(now, index);
  send_plain(now, index, e, head_.line, *memory, port);
  return true;
}

/// Sends a line of a plain load by `port`, which is ready.
void LoadStoreUnit::send_plain(Cycle now, unsigned index, LsuEntry& e, const LineAccess& line,
                               const Mapping& memory, Out<RequestMessage>& port) {
  Request* const r = new_request(now, e.slot, index);
  RequestBuilder::fill_plain(*r, line, memory);
  const unsigned sectors = sector_count(line.sectors);
  counters_.count_global_line(MemKind::load, sectors);
  counters_.l1_lg_sectors += sectors;
  if (profile_ != nullptr) profile_->sent(*e.instruction, sectors);
  ++e.lines_pending;
  port.send(now, {r});
}

bool LoadStoreUnit::send_any_line(Cycle now, unsigned index) {
  LsuEntry& e = entries_[index];
  const SmCache cache = cache_for(e, head_.line.space);
  const bool one_of_several = parameters_.l1_ports > 1 && cache == SmCache::l1_lg;
  Out<RequestMessage>& port = one_of_several ? ports_.to_l1_of(head_.line.line) : ports_.to(cache);
  if (cache == SmCache::network ? !may_use_network(now) : !port.ready(now)) return false;
  const bool exact = e.resolved.exact();
  if (exact && exact_reads_ != 0 && !mutated(SmMutation::mmio_reads_overlap)) return false;
  if ((exact && passing_ != 0) || (one_of_several && invalidating_ != 0)) return false;
  Request* r = new_request(now, e.slot, index);
  counters_.malformed_policies += !builder_.fill(*r, e.resolved, head_.line, head_.lines.coalescer());
  if (parameters_.unified_l1 && cache == SmCache::l1_lg) r->reader = reader_of(e);
  counters_.mmio_transactions += exact;
  if (exact && r->command == Command::read) {
    exact_reads_ = 1;
    exact_lane_ = first_lane(head_.line.lanes);
  }
  if (cache == SmCache::network && r->command == Command::write &&
      mutated(SmMutation::remote_store_not_awaited)) {
    r->token = kPastQueue;
    ++past_queue_;
  } else {
    ++e.lines_pending;
  }
  passing_ += one_of_several && r->command != Command::read;
  if (r->command == Command::control) {
    ++counters_.controls;
  } else {
    count_line(head_.line, e.instruction->mem.kind, cache, r->reader);
  }
  if (profile_ != nullptr && !e.tokens && cache != SmCache::network)
    profile_->sent(*e.instruction, sector_count(head_.line.sectors));
  port.send(now, {r});
  return true;
}

/// Whether the next line may go in the cycle of the one that was sent last.
bool LoadStoreUnit::shares_cycle(const LsuEntry& e) const {
  return (head_.line.space == Space::global || head_.line.space == Space::local) && !e.resolved.exact() &&
         cache_for(e, head_.line.space) == SmCache::l1_lg;
}

/// A load of global memory takes L1's banks for as many cycles as words of it lie in one.
void LoadStoreUnit::take_l1_banks(Cycle now, const LsuEntry& e) {
  constexpr unsigned kBanks = 16, kWordBytes = 8;
  const MemOp& op = e.instruction->mem;
  const LaneAddresses<VirtualAddress> addresses = e.resolved.global();
  const bool loads = op.kind == MemKind::load || op.kind == MemKind::async_copy;
  if (!loads || addresses.lanes() == 0 || e.resolved.exact()) return;
  const unsigned bytes = op.bytes_per_lane();
  if (addresses.contiguous(bytes)) {
    const std::uint64_t first = addresses[0].value / kWordBytes;
    const std::uint64_t last = (addresses[kWarpLanes - 1].value + bytes - 1) / kWordBytes;
    const auto words = static_cast<unsigned>(last - first + 1);
    head_.banks_until =
        owner_.domain().after(now, std::max((words + kBanks - 1) / kBanks * parameters_.l1_pass_cycles,
                                            cycles_of_l1(words * kWordBytes)));
    return;
  }
  std::uint64_t first = ~std::uint64_t{0}, last = 0;
  addresses.for_each([&](unsigned, VirtualAddress at) {
    first = std::min(first, at.value / kWordBytes);
    last = std::max(last, (at.value + bytes - 1) / kWordBytes);
  });
  constexpr unsigned kNear = 64;
  if (last - first < kNear) {
    std::uint64_t near = 0;  // words from the first on
    addresses.for_each([&](unsigned, VirtualAddress at) {
      const std::uint64_t word = at.value / kWordBytes, end = (at.value + bytes - 1) / kWordBytes;
      near |= (std::uint64_t{2} << (end - first)) - (std::uint64_t{1} << (word - first));
    });
    const auto distinct = static_cast<unsigned>(__builtin_popcountll(near));
    unsigned deepest = 1;
    if ((near & near >> kBanks) != 0 || (near & near >> 2 * kBanks) != 0 ||
        (near & near >> 3 * kBanks) != 0) {
      for (unsigned bank = 0; bank < kBanks; ++bank) {
        constexpr std::uint64_t kOfBank = 0x0001'0001'0001'0001;
        deepest = std::max(deepest, static_cast<unsigned>(__builtin_popcountll(near & kOfBank << bank)));
      }
    }
    take_banks(now, deepest, std::min(distinct * kWordBytes, lane_count(addresses.lanes()) * bytes));
    return;
  }
  std::array<std::array<std::uint64_t, kWarpLanes * 4>, kBanks> words;
  std::array<unsigned, kBanks> count{};
  unsigned passes = 1;
  addresses.for_each([&](unsigned, VirtualAddress at) {
    for (std::uint64_t word = at.value / kWordBytes; word <= (at.value + bytes - 1) / kWordBytes; ++word) {
      auto& bank = words[word % kBanks];
      unsigned& n = count[word % kBanks];
      // Lanes side by side mostly share a word, or come to a new one.
      if (std::find(bank.rbegin() + static_cast<std::ptrdiff_t>(bank.size() - n), bank.rend(), word) !=
          bank.rend())
        continue;
      bank[n++] = word;
      passes = std::max(passes, n);
    }
  });
  take_banks(now, passes,
             std::min(std::accumulate(count.begin(), count.end(), 0U) * kWordBytes,
                      lane_count(addresses.lanes()) * bytes));
}

/// Takes the banks for the longer of so many passes and of what it takes to read so many bytes.
void LoadStoreUnit::take_banks(Cycle now, unsigned passes, unsigned bytes) {
  counters_.l1_bank_conflicts += passes - 1;
  head_.banks_until =
      owner_.domain().after(now, std::max(passes * parameters_.l1_pass_cycles, cycles_of_l1(bytes)));
}

/// Whether the port to the network is ready, and no signal and no bulk copy has it first.
bool LoadStoreUnit::may_use_network(Cycle now) {
  head_.network_wanted = !network_ready(now);
  if (!head_.network_wanted) bulk_had_network_ = false;
  return !head_.network_wanted;
}

/// Asks something of the mbarriers in one line of another CTA's shared memory. The data that they are told of
/// has gone before, and comes there before. Returns whether that was all.
bool LoadStoreUnit::send_mbarriers(Cycle now, unsigned index) {
  if (!may_use_network(now)) return false;
  LsuEntry& e = entries_[index];
  Request* r = new_request(now, e.slot, index);
  head_.mbarriers &= ~builder_.fill_mbarriers(*r, e.resolved, head_.mbarriers);
  if (e.instruction->mem.kind == MemKind::mbarrier && mutated(SmMutation::remote_arrival_not_awaited)) {
    r->token = kPastQueue;
    ++past_queue_;
  } else {
    ++e.lines_pending;
  }
  ++cluster_->mbarrier_requests;
  ports_.to_network->send(now, {r});
  return head_.mbarriers == 0;
}

/// What lanes access, wherever it is.
void LoadStoreUnit::count_lanes(const LineAccess& line, MemKind kind) {
  const auto sectors = sector_count(line.sectors);
  switch (line.space) {
    case Space::global: counters_.count_global_line(kind, sectors); break;
    case Space::local:
      ++counters_.local_requests;
      counters_.local_sectors += sectors;
      break;
    case Space::texture:
      ++counters_.image_requests;
      counters_.image_sectors += sectors;
      break;
    case Space::shared_cluster:
      ++cluster_->requests;
      cluster_->sectors += sectors;
      break;
    default: ++counters_.constant_requests;
  }
}

/// The same, and what is asked of a cache.
void LoadStoreUnit::count_line(const LineAccess& line, MemKind kind, SmCache cache, Reader reader) {
  count_lanes(line, kind);
  if (cache == SmCache::network) return;
  const auto sectors = sector_count(line.sectors);
  (cache == SmCache::l1_lg     ? counters_.l1_lg_sectors
   : cache == SmCache::texture ? counters_.texture_sectors
                               : counters_.constant_sectors) += sectors;
  if (reader != Reader::load) counters_.texture_sectors += sectors;
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
  Out<RequestMessage>& port = ports_.to(served_by(e.maintenance.cache));
  constexpr unsigned kAfterWrites = maintenance::kDrain | maintenance::kDrainSurfaces |
                                    maintenance::kWriteBackSysmem | maintenance::kInvalidateLocal;
  head_.line_held = (passing_ != 0 && (e.maintenance.what & kAfterWrites) != 0) || !port.ready(now);
  if (head_.line_held) return;
  port.send(now, {new_maintenance(now, e.maintenance, e.slot, index)});
  invalidating_ += drops_lines_of_ports(e.maintenance);
  entries_.pop_front();
}

/// Whether lines go that other ports lead to, too: accesses behind it wait until they are gone.
bool LoadStoreUnit::drops_lines_of_ports(const CacheMaintenance& m) const {
  constexpr unsigned kDrops =
      maintenance::kInvalidate | maintenance::kInvalidateLocal | maintenance::kInvalidateSurfaces;
  return parameters_.l1_ports > 1 && served_by(m.cache) == SmCache::l1_lg && (m.what & kDrops) != 0;
}

bool LoadStoreUnit::invalidate_constants(Cycle now) {
  if (!ports_.to_constant.ready(now)) return false;
  ports_.to_constant.send(now, {new_maintenance(now, {maintenance::kInvalidate}, 0, kPastQueue)});
  ++past_queue_;
  return true;
}

void LoadStoreUnit::perform_shared(Cycle now, unsigned index, std::vector<LsuEvent>& events) {
  LsuEntry& e = entries_[index];
  const MemOp& op = e.instruction->mem;
  const LaneAddresses<SharedAddress> addresses = e.resolved.shared();
  SharedMemory::Passes passes;
  if (op.tile_passes != 0) {
    passes.parts = op.tile_passes;
  } else if (op.kind == MemKind::fill) {
    passes.parts = passes_of_fill(e);
  } else {
    passes = shared_.passes(op, addresses);
  }
  ++counters_.shared_accesses;
  counters_.shared_passes += passes.all();
  counters_.shared_conflicts += passes.conflicts;
  if (profile_ != nullptr && !e.tokens) profile_->shared(*e.instruction, passes);
  head_.wants_shared = false;
  const unsigned cycles =
      passes.parts * parameters_.shared_part_cycles + passes.conflicts * parameters_.shared_pass_cycles;
  head_.busy_until = banks_free_ = owner_.domain().after(now, cycles);
  remote_last_ = false;
  unsigned longer = 0;
  if (op.is_atomic()) {
    longer = parameters_.shared_atomic_cycles;
    if (op.atomic == AtomicOperation::compare_and_swap) longer += parameters_.shared_swap_cycles;
    shared_atomic_slot_ = e.slot;
    shared_atomics_free_ = owner_.domain().after(banks_free_, parameters_.shared_atomic_interval);
  }
  e.ready = readable(now, cycles + longer);
  if (op.kind >= MemKind::mbarrier) {
    perform_further(now, index, events);
  } else if (op.tile_passes != 0) {
    e.access.shared = shared_.at(e.shared_base);
  } else {
    shared_.perform(op, addresses, e.access, e.shared_base);
    if (observer_ != nullptr) observer_->shared_performed(e.access);
  }
}

/// Passes over the banks that `st.bulk` takes: one for each 128 bytes of each lane, and one at least.
unsigned LoadStoreUnit::passes_of_fill(const LsuEntry& e) {
  std::uint64_t passes = 0;
  e.resolved.shared().for_each(
      [&](unsigned lane, SharedAddress) { passes += (e.access.second[lane] + kLineBytes - 1) / kLineBytes; });
  return std::max(1U, static_cast<unsigned>(passes));
}

/// What is no load, store or atomic of shared memory.
void LoadStoreUnit::perform_further(Cycle now, unsigned index, std::vector<LsuEvent>& events) {
  LsuEntry& e = entries_[index];
  MemOp op = e.instruction->mem;
  const LaneAddresses<SharedAddress> addresses = e.resolved.shared();
  if (op.kind == MemKind::mbarrier) return perform_mbarrier(now, index, events);
  if (op.kind == MemKind::fill) {
    addresses.for_each([&](unsigned lane, SharedAddress at) {
      shared_.clear(e.shared_base + AddressWindows::own_offset(at.value), e.access.second[lane]);
    });
    return;
  }
  op.kind = op.atomic == AtomicOperation::none ? MemKind::store : MemKind::reduction;
  shared_.perform(op, addresses, e.access, e.shared_base);
  if (observer_ != nullptr) observer_->shared_performed(e.access);
  if (with_data_) tell_own_mbarriers(now, index, events);
}

// mbarriers.

MbarrierStatus LoadStoreUnit::operate_at(std::uint64_t at, const MemOp& op, std::uint32_t count) {
  Mbarrier object(shared_.word(at));
  const MbarrierStatus status = operate(op, count, object);
  if (status >= MbarrierStatus::no_object) return status;
  shared_.set_word(at, object.word());
  counters_.mbarrier_phases += status == MbarrierStatus::completed;
  return status;
}

MbarrierStatus LoadStoreUnit::operate_mbarrier(Cycle now, std::uint64_t at, const MemOp& op,
                                               std::uint32_t count, std::vector<LsuEvent>& events) {
  const MbarrierStatus status = operate_at(at, op, count);
  if (status == MbarrierStatus::completed) wake_waits(now, events);
  return status;
}

namespace {

MbarrierOperands operands_of(const MemoryAccess& access, unsigned lane) {
  MbarrierOperands operands;
  __builtin_memcpy(&operands, access.lane_data(lane), sizeof operands);
  return operands;
}

}  // namespace

/// Lane by lane, the lowest first. Each is answered the object as it was before: the state.
void LoadStoreUnit::perform_mbarrier(Cycle now, unsigned index, std::vector<LsuEvent>& events) {
  LsuEntry& e = entries_[index];
  const MemOp& op = e.instruction->mem;
  ++counters_.mbarrier_operations;
  if (!with_data_) return;
  const LaneAddresses<SharedAddress> addresses = e.resolved.shared();
  bool completed = false;
  std::uint64_t cycles = 0;
  for (LaneMask lanes = addresses.lanes(); lanes != 0; lanes &= lanes - 1) {
    const unsigned lane = first_lane(lanes);
    const std::uint64_t at = e.shared_base + AddressWindows::own_offset(addresses[lane].value);
    const MbarrierOperands operands = operands_of(e.access, lane);
    cycles = std::max<std::uint64_t>(cycles, operands.ticks);
    const std::uint64_t before = shared_.word(at);
    const MbarrierStatus status = operate_at(at, op, operands.count);
    if (status >= MbarrierStatus::no_object) {
      report_fault(now, e.resolved.fault(fault_of(status), lane), index, events);
      break;
    }
    completed |= status == MbarrierStatus::completed;
    if (observer_ != nullptr && !op.waits_for_phase())
      observer_->mbarrier_performed(e.access, lane, before, shared_.word(at));
    if (!op.waits_for_phase()) __builtin_memcpy(e.access.lane_data(lane), &before, sizeof before);
  }
  if (completed) wake_waits(now, events);
  if (!events.empty() && events.back().kind == LsuEvent::Kind::faulted) return;
  if (op.mbarrier == MbarrierOperation::copies_arrive) return await_copies(now, index, events);
  if (!op.waits_for_phase()) return;
  const LaneMask open = look_at_phases(e, addresses.lanes());
  if (open != 0 && op.mbarrier == MbarrierOperation::try_wait)
    park(now, index, cycles != 0 ? cycles : parameters_.mbarrier_try_wait_cycles, open);
}

/// Lanes whose data has come to their own CTA's shared memory tell their mbarriers there.
void LoadStoreUnit::tell_own_mbarriers(Cycle now, unsigned index, std::vector<LsuEvent>& events) {
  const LsuEntry& e = entries_[index];
  MemOp complete;
  complete.kind = MemKind::mbarrier;
  complete.mbarrier = MbarrierOperation::complete_tx;
  for (LaneMask lanes = e.resolved.shared().lanes(); lanes != 0; lanes &= lanes - 1) {
    const unsigned lane = first_lane(lanes);
    const std::uint64_t at = e.shared_base + AddressWindows::own_offset(e.resolved.told(lane));
    const std::uint64_t before = shared_.word(at);
    const MbarrierStatus status =
        operate_mbarrier(now, at, complete, e.instruction->mem.bytes_per_lane(), events);
    if (status < MbarrierStatus::no_object) {
      if (observer_ != nullptr) observer_->mbarrier_told(e.access, lane, before, shared_.word(at));
      continue;
    }
    Fault fault = e.resolved.fault(fault_of(status), lane);
    fault.address = e.access.second[lane];
    fault.bytes = Mbarrier::kBytes;
    return report_fault(now, fault, index, events);
  }
}

/// What another SM asks of mbarriers here. Waits for what it completes look again in the next cycle, in which
/// this SM's own affairs go on.
void LoadStoreUnit::serve_mbarriers(Cycle at, Request& r, std::uint64_t line) {
  AtomicBlock& block = *r.atomics;
  MemOp op;
  op.kind = MemKind::mbarrier;
  op.mbarrier = block.mbarrier;
  op.mbarrier_form = block.mbarrier_form;
  bool completed = false;
  for (unsigned i = 0; i < block.count && with_data_; ++i) {
    LaneAtomic& lane = block.lanes[i];
    MbarrierStatus status = MbarrierStatus::done;
    for (std::uint64_t n = 0; n < lane.second && status < MbarrierStatus::no_object; ++n) {
      const std::uint64_t object = line + lane.offset, before = shared_.word(object);
      status = operate_at(object, op, static_cast<std::uint32_t>(lane.operand));
      completed |= status == MbarrierStatus::completed;
      if (observer_ != nullptr && status < MbarrierStatus::no_object)
        observer_->remote_mbarrier_performed(r, lane, before, shared_.word(object));
    }
    lane.old_value = static_cast<std::uint64_t>(status);
    if (status >= MbarrierStatus::no_object) r.status = Status::address_error;
  }
  if (!completed || waits_.empty()) return;
  look_at_ = std::min(look_at_, owner_.domain().after(at, 1));
  waits_due_ = std::min(waits_due_, look_at_);
}

/// Answers those of `lanes` whose phase is complete, and returns the others, which are answered that it is
/// not.
LaneMask LoadStoreUnit::look_at_phases(LsuEntry& e, LaneMask lanes) {
  const LaneAddresses<SharedAddress> addresses = e.resolved.shared();
  const bool by_parity = e.instruction->mem.mbarrier_form == MbarrierForm::parity;
  LaneMask open = 0;
  for_each_lane(lanes, [&](unsigned lane) {
    const Mbarrier object(shared_.word(e.shared_base + AddressWindows::own_offset(addresses[lane].value)));
    const std::uint64_t state = e.access.second[lane];
    const bool complete =
        object.valid() &&
        (by_parity ? object.has_completed_parity(static_cast<unsigned>(state)) : object.has_completed(state));
    const std::uint64_t answer = complete ? 1 : 0;
    if (observer_ != nullptr) observer_->mbarrier_performed(e.access, lane, object.word(), object.word());
    __builtin_memcpy(e.access.lane_data(lane), &answer, sizeof answer);
    if (!complete) open |= LaneMask{1} << lane;
  });
  return open;
}

/// The wait leaves the queue, and is answered later. What it is counted as having sent keeps it from being
/// complete.
void LoadStoreUnit::park(Cycle now, unsigned index, std::uint64_t cycles, LaneMask open) {
  ++counters_.mbarrier_waits;
  ++entries_[index].lines_pending;
  entries_.park();
  waits_.push_back({index, owner_.domain().after(now, cycles), open});
  waits_due_ = std::min(waits_due_, waits_.back().due);
}

/// A phase is complete: ends the waits that wait for nothing else.
void LoadStoreUnit::wake_waits(Cycle now, std::vector<LsuEvent>& events) {
  const auto woken = [&](ParkedWait& w) {
    w.open = look_at_phases(entries_[w.entry], w.open);
    if (w.open == 0) end_wait(now, w, events);
    return w.open == 0;
  };
  waits_.erase(std::remove_if(waits_.begin(), waits_.end(), woken), waits_.end());
  set_due();
}

void LoadStoreUnit::end_due_waits(Cycle now, std::vector<LsuEvent>& events) {
  if (look_at_ <= now) {
    look_at_ = kNever;
    wake_waits(now, events);
  }
  const auto ended = [&](const ParkedWait& w) {
    if (w.due > now) return false;
    counters_.mbarrier_timeouts += !entries_[w.entry].killed;
    end_wait(now, w, events);
    return true;
  };
  waits_.erase(std::remove_if(waits_.begin(), waits_.end(), ended), waits_.end());
  set_due();
}

void LoadStoreUnit::end_wait(Cycle now, const ParkedWait& wait, std::vector<LsuEvent>& events) {
  LsuEntry& e = entries_[wait.entry];
  --e.lines_pending;
  e.ready = readable(now, 1);
  entries_.unpark();
  complete(now, wait.entry, e, events);
}

void LoadStoreUnit::set_due() {
  if (waits_.empty()) look_at_ = kNever;
  waits_due_ = look_at_;
  for (const ParkedWait& w : waits_) waits_due_ = std::min(waits_due_, w.due);
}

/// Lanes arrive when the copies that their warp has begun are done: those at one object together.
void LoadStoreUnit::await_copies(Cycle now, unsigned index, std::vector<LsuEvent>& events) {
  const LsuEntry& e = entries_[index];
  const LaneAddresses<SharedAddress> addresses = e.resolved.shared();
  for (LaneMask left = addresses.lanes(); left != 0;) {
    const unsigned first = first_lane(left);
    LaneMask same = 0;
    for_each_lane(left, [&](unsigned lane) {
      if (addresses[lane] == addresses[first]) same |= LaneMask{1} << lane;
    });
    left &= ~same;
    const CopyArrivals::Arrival arrival{e.slot,
                                        e.shared_base + AddressWindows::own_offset(addresses[first].value),
                                        lane_count(same),
                                        first,
                                        e.access.address_of(first),
                                        e.instruction};
    if (!arrivals_.wait(arrival) && !arrive_for_copies(now, arrival, index, events)) return;
  }
}

/// `index`: the entry that brought it about. False: it is a fault.
bool LoadStoreUnit::arrive_for_copies(Cycle now, const CopyArrivals::Arrival& arrival, unsigned index,
                                      std::vector<LsuEvent>& events) {
  MemOp arrive = arrival.instruction->mem;
  arrive.mbarrier = MbarrierOperation::arrive;
  arrive.mbarrier_form = MbarrierForm::plain;
  const std::uint64_t before = shared_.word(arrival.at);
  const MbarrierStatus status = operate_mbarrier(now, arrival.at, arrive, arrival.count, events);
  if (status < MbarrierStatus::no_object) {
    if (observer_ != nullptr)
      observer_->copies_arrived(sm_.sm, arrival.slot, *arrival.instruction, arrival.lane, before,
                                shared_.word(arrival.at));
    return true;
  }
  Fault fault{fault_of(status), 0, 0, arrival.lane, arrival.address, nullptr};
  fault.space = arrive.space;
  fault.bytes = Mbarrier::kBytes;
  report_fault(now, fault, index, events);
  last_fault_.instruction = arrival.instruction;
  return false;
}

void LoadStoreUnit::kill(unsigned slot) {
  entries_.kill(slot);
  arrivals_.forget(slot);
  for (ParkedWait& w : waits_)
    if (entries_[w.entry].slot == slot) w.due = owner_.domain().after(owner_.engine().now(), 1);
  if (!waits_.empty()) set_due();
}

std::string LoadStoreUnit::describe_wait(unsigned slot) const {
  for (const ParkedWait& w : waits_) {
    const LsuEntry& e = entries_[w.entry];
    if (e.slot != slot) continue;
    return describe_mbarrier(e.shared_base,
                             AddressWindows::own_offset(e.resolved.shared()[first_lane(w.open)].value));
  }
  return {};
}

std::string LoadStoreUnit::describe_mbarrier(std::uint64_t base, std::uint64_t offset) const {
  char place[32];
  std::snprintf(place, sizeof place, "0x%llx", static_cast<unsigned long long>(offset));
  return "the mbarrier at " + std::string(place) +
         " of shared memory: " + Mbarrier(shared_.word(base + offset)).describe();
}

// Bulk copies.

/// Hands the lanes' copies over, the lowest first. False: there is no room for the next.
bool LoadStoreUnit::hand_over(Cycle now, unsigned index, std::vector<LsuEvent>& events) {
  LsuEntry& e = entries_[index];
  for (; e.bulk_left != 0; e.bulk_left &= e.bulk_left - 1) {
    const unsigned lane = first_lane(e.bulk_left);
    BulkOrder order{e.instruction,
                    e.slot,
                    lane,
                    e.copy_group,
                    e.shared_base,
                    e.limits.shared_bytes,
                    e.access.address_of(lane),
                    BulkSecond::of(e.access.second[lane]),
                    e.access.policy[lane],
                    {},
                    e.limits.cluster};
    __builtin_memcpy(&order.operands, e.access.lane_data(lane), sizeof order.operands);
    auto fault = aim(order);
    if (!fault) fault = check_bulk(order, e);
    if (fault) {
      report_fault(now, *fault, index, events);
      return true;
    }
    head_.crowded = !bulk_->has_room();
    if (head_.crowded) return false;
    bulk_->take(now, order);
  }
  return true;
}

/// Finds the CTAs that a copy goes to. Addresses in `.shared::cluster` become those in a CTA's own shared
/// memory.
std::optional<Fault> LoadStoreUnit::aim(BulkOrder& o) {
  const MemOp& op = o.op();
  BulkOperands& p = o.operands;
  const unsigned own = o.rank(), ctas = o.cluster != nullptr ? o.cluster->ctas : 1;
  const auto rank_of = [own](std::uint64_t at) {
    const auto code = static_cast<unsigned>(std::min<std::uint64_t>(AddressWindows::rank_code(at), 99));
    return code == 0 ? own : code - 1;
  };
  const auto own_offset = [](std::uint64_t at) {
    return static_cast<std::uint32_t>(AddressWindows::own_offset(at));
  };
  if (!lands_in_shared(op.bulk)) {
    if (rank_of(p.shared) == own) p.shared = own_offset(p.shared);
    return std::nullopt;
  }
  const unsigned to = rank_of(p.shared);
  if (op.bulk == BulkDirection::cancel) {
    for (const std::uint32_t at : {p.shared, p.mbarrier}) {
      if (rank_of(at) == own) continue;
      // No CTA has such a rank: it stands for a generic address elsewhere.
      if (rank_of(at) >= kMaxClusterCtas)
        return o.fault(FaultKind::not_shared, o.address, Space::generic, p.bytes);
      return o.fault(FaultKind::not_shared, at, Space::shared_cluster, p.bytes);
    }
  }
  if (to >= ctas || (op.multicast && o.second.ctas >> ctas != 0))
    return o.fault(FaultKind::cluster_rank, p.shared, Space::shared_cluster, p.bytes);
  if (!op.multicast && rank_of(p.mbarrier) != to)
    return o.fault(FaultKind::mbarrier_apart, p.mbarrier, Space::shared_cluster, Mbarrier::kBytes);
  o.ranks = !op.multicast ? 1U << to : op.bulk == BulkDirection::cancel ? (1U << ctas) - 1 : o.second.ctas;
  p.shared = own_offset(p.shared);
  p.mbarrier = own_offset(p.mbarrier);
  if (op.bulk != BulkDirection::to_cluster) return std::nullopt;
  o.address = static_cast<std::uint32_t>(o.address);
  if (rank_of(o.address) != own) return o.fault(FaultKind::not_shared, o.address, Space::shared, p.bytes);
  o.address = own_offset(o.address);
  return std::nullopt;
}

/// What is wrong with a bulk copy whatever memory there is (PTX ISA, "cp.async.bulk": everything in units of
/// 16 bytes; "Tensor copy": shared memory in units of 128).
std::optional<Fault> LoadStoreUnit::check_bulk(const BulkOrder& o, const LsuEntry& e) {
  constexpr unsigned kUnit = 16, kTensorUnit = 128, kMapUnit = 64;
  const MemOp& op = o.op();
  const bool tensor = op.dimensions != 0;
  const bool prefetches = op.bulk == BulkDirection::prefetch;
  const bool of_map = prefetches && op.level == 0;
  const bool from_shared = op.bulk == BulkDirection::to_cluster;
  const Space space = tensor || of_map ? Space::generic : from_shared ? Space::shared : Space::global;
  if (o.address % (tensor || of_map ? kMapUnit : kUnit) != 0)
    return o.fault(FaultKind::misaligned, o.address, space, tensor || of_map ? kMapUnit : kUnit);
  if (of_map) return std::nullopt;
  const BulkOperands& p = o.operands;
  const auto within = [&](std::uint64_t at, std::uint32_t bytes) {
    return at <= e.limits.shared_bytes && e.limits.shared_bytes - at >= bytes;
  };
  if (!tensor && p.bytes % kUnit != 0) return o.fault(FaultKind::bulk_size, o.address, space, p.bytes);
  if (prefetches) return std::nullopt;
  if (from_shared && !within(o.address, p.bytes))
    return o.fault(FaultKind::shared_range, o.address, Space::shared, p.bytes);
  const unsigned unit = tensor ? kTensorUnit : kUnit;
  if (p.shared % unit != 0) return o.fault_there(FaultKind::misaligned, p.shared, unit);
  if (!within(p.shared, tensor ? 0 : p.bytes))
    return o.fault_there(FaultKind::shared_range, p.shared, p.bytes);
  if (!lands_in_shared(op.bulk)) return std::nullopt;
  if (p.mbarrier % Mbarrier::kBytes != 0)
    return o.fault_there(FaultKind::misaligned, p.mbarrier, Mbarrier::kBytes);
  if (!within(p.mbarrier, Mbarrier::kBytes))
    return o.fault_there(FaultKind::shared_range, p.mbarrier, Mbarrier::kBytes);
  return std::nullopt;
}

// The end of an access.

/// A copy for which mbarriers may wait is done.
void LoadStoreUnit::copy_done(Cycle now, unsigned index, std::vector<LsuEvent>& events) {
  const LsuEntry& e = entries_[index];
  bool right = true;
  arrivals_.finish(e.slot, e.copy_number, [&](const CopyArrivals::Arrival& arrival) {
    if (right) right = arrive_for_copies(now, arrival, index, events);
  });
}

void LoadStoreUnit::serve(Cycle now, Request& r, std::uint64_t line) {
  const unsigned cycles = 1 + (shared_.passes(r) - 1) * parameters_.shared_pass_cycles;
  banks_free_ = owner_.domain().after(now, cycles);
  remote_last_ = true;
  answer(r, serve_loosely(now, r, line));
}

Cycle LoadStoreUnit::serve_loosely(Cycle at, Request& r, std::uint64_t line) {
  const unsigned passes = shared_.passes(r);
  ++cluster_->served_requests;
  cluster_->served_passes += passes;
  if (r.command == Command::atomic && r.atomics->of_mbarriers) {
    serve_mbarriers(at, r, line);
  } else {
    shared_.perform(r, line);
    if (observer_ != nullptr && r.command != Command::read) observer_->remote_performed(r);
  }
  return owner_.domain().after(at, (passes - 1) * parameters_.shared_pass_cycles +
                                       parameters_.shared_latency - parameters_.issue_latency);
}

void LoadStoreUnit::send_signal(Cycle now, const ClusterAddress& to, unsigned cta) {
  Request* r = new_request(now, cta, kSignal);
  r->command = Command::write;
  r->line = to.packed();
  r->virtual_line = VirtualAddress{kClusterTag};
  r->sectors = 1;
  r->bytes = {};
  r->bytes.set(0, 1);
  r->data[0] = 1;
  ports_.to_network->send(now, {r});
}

void LoadStoreUnit::finish_head(Cycle now, std::vector<LsuEvent>& events) {
  const unsigned index = entries_.front();
  LsuEntry& e = entries_[index];
  e.sent = true;
  head_.busy_until = std::max(head_.busy_until, head_.banks_until);
  head_.clear();
  entries_.pop_front();
  if (e.lines_pending == 0) complete(now, index, e, events);
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
    owner_.pool().release(&r);
    return;
  }
  LsuEntry& e = entries_[index];
  passing_ -= passing_ != 0 && r.command != Command::read && r.command != Command::maintain &&
              !ClusterAddress::is(r.line);
  if (r.command == Command::maintain) {
    invalidating_ -= drops_lines_of_ports(e.maintenance);
    const bool instruction = e.instruction != nullptr;
    events.push_back(
        {instruction ? LsuEvent::Kind::completed : LsuEvent::Kind::maintained, e.slot, index, now});
  } else {
    if (profile_ != nullptr && !e.tokens) {
      e.answered_by = std::max(e.answered_by, r.answered_by);
      if (!ClusterAddress::is(r.line)) profile_->answered(*e.instruction, r);
    }
    exact_reads_ -= e.resolved.exact() && r.command == Command::read;
    if (r.status != Status::ok && !e.killed) {
      report_fault(now, bus_error(e, r, exact_lane_), index, events);
      arrivals_.forget(e.slot);
    } else if (with_data_ && !e.killed) {
      scatter(r, e.resolved, exact_lane_, results_of(e));
      if (observer_ != nullptr && e.instruction->mem.kind == MemKind::async_copy)
        observer_->copies_landed(e.access, r, shared_.at(e.shared_base));
    }
    const bool texture = parameters_.texture_latency != 0 && e.instruction->mem.kind == MemKind::texture_load;
    const unsigned pipe = texture ? parameters_.texture_latency : 0;
    e.ready = std::max(e.ready, owner_.domain().after(now, parameters_.writeback_latency + pipe));
    if (--e.lines_pending == 0 && e.sent) complete(now, index, e, events);
  }
  owner_.pool().release(&r);
}

// Functional runs.

bool LoadStoreUnit::perform_now(Cycle now, unsigned index, std::vector<LsuEvent>& events) {
  LsuEntry& e = entries_[index];
  const MemOp& op = e.instruction->mem;
  const bool plain = op.kind == MemKind::load || op.kind == MemKind::store || op.kind == MemKind::atomic ||
                     op.kind == MemKind::reduction;
  if (!plain || op.tile_passes != 0 || !with_data_ || observer_ != nullptr) return false;
  e.access.say_contiguous(op.bytes_per_lane());
  e.ready = now;
  if (move_whole_line(e)) {
    ++counters_.past_caches;
    complete(now, index, e, events);
    return true;
  }
  const auto fault = resolution_.resolve(op, e.access, e.slot, e.limits, e.resolved);
  if (!fault && (e.resolved.exact() || e.resolved.remote().lanes() != 0)) return false;
  if (fault) {
    e.killed = true;
    report_fault(now, *fault, index, events);
    complete(now, index, e, events);
    return true;
  }
  ++counters_.instructions;
  ++counters_.past_caches;
  counters_.atomics += op.is_atomic();
  if (e.resolved.global().lanes() != 0) counters_.count_global(op.kind);
  if (const auto shared = e.resolved.shared(); shared.lanes() != 0) {
    ++counters_.shared_accesses;
    shared_.perform(op, shared, e.access, e.shared_base);
  }
  if (!move_lanes(e)) {
    lines_now_.start(e.resolved);
    bool faulted = false;
    while (lines_now_.any()) faulted = perform_line(now, e, index, faulted, events) || faulted;
    lines_now_.clear();
  }
  complete(now, index, e, events);
  return true;
}

/// All lanes load consecutive bytes that fill one line of video memory. False: they do not.
bool LoadStoreUnit::move_whole_line(LsuEntry& e) {
  const MemOp& op = e.instruction->mem;
  const Mapping* const whole = resolution_.resolve_whole_line(op, e.access, e.resolved);
  if (whole == nullptr) return false;
  const std::uint8_t* const from = vidmem_->find(whole->translate(VirtualAddress{e.access.base}), kLineBytes);
  if (from == nullptr) return false;
  ++counters_.instructions;
  counters_.count_global(op.kind);
  count_lanes({VirtualAddress{e.access.base}, kAllSectors, Space::global, e.access.active, 0, whole},
              op.kind);
  with_size(op.bytes_per_lane(), [&](auto bytes) {
    for (unsigned lane = 0; lane < kWarpLanes; ++lane)
      __builtin_memcpy(e.access.lane_data(lane), from + std::size_t{lane} * bytes, bytes);
  });
  return true;
}

/// Loads and stores of video memory by global addresses, lane by lane. False: some lane's is something else,
/// and none of these lanes has been served.
bool LoadStoreUnit::move_lanes(LsuEntry& e) {
  const MemOp& op = e.instruction->mem;
  const LaneAddresses<VirtualAddress> global = e.resolved.global();
  if (op.is_atomic() || op.sink_lanes != 0 || e.resolved.local().lanes() != 0 ||
      e.resolved.constant().lanes() != 0)
    return false;
  const unsigned bytes = op.bytes_per_lane();
  std::array<std::uint8_t*, kWarpLanes> at;
  bool all = true;
  global.for_each([&](unsigned lane, VirtualAddress address) {
    const Mapping* const m = space_->reach(address, bytes, hint_);
    at[lane] = m == nullptr || m->kind != MappingKind::memory ? nullptr
                                                              : vidmem_->find(m->translate(address), bytes);
    all = all && at[lane] != nullptr;
  });
  if (!all) return false;
  counters_.global_requests += global.lanes() != 0;
  const bool load = op.kind == MemKind::load;
  with_size(bytes, [&](auto count) {
    for_each_lane(global.lanes(), [&](unsigned lane) {
      std::uint8_t* const data = e.access.lane_data(lane);
      if (load)
        __builtin_memcpy(data, at[lane], count);
      else
        __builtin_memcpy(at[lane], data, count);
    });
  });
  return true;
}

/// The next line, by the request that would be sent. Returns whether it is at fault, which is reported of one
/// line (`faulted`: it has been).
bool LoadStoreUnit::perform_line(Cycle now, LsuEntry& e, unsigned index, bool faulted,
                                 std::vector<LsuEvent>& events) {
  const LineAccess line = lines_now_.next();
  RequestPool& pool = owner_.pool();
  Request* const r = pool.allocate();
  r->maker = &owner_;
  counters_.malformed_policies += !builder_.fill(*r, e.resolved, line, lines_now_.coalescer());
  Cycle at = now;
  if (VidmemAccess::takes(*r)) {
    count_lanes(line, e.instruction->mem.kind);
    vidmem_->perform(*r, at);
  } else {
    r->made_by(sm_, now);
    number(now, *r);
    r->warp = static_cast<std::uint16_t>(e.slot);
    const SmCache cache = cache_for(e, line.space);
    if (parameters_.unified_l1 && cache == SmCache::l1_lg) r->reader = reader_of(e);
    count_line(line, e.instruction->mem.kind, cache, r->reader);
    const bool one_of_several = parameters_.l1_ports > 1 && cache == SmCache::l1_lg;
    (one_of_several ? ports_.to_l1_of(line.line) : ports_.to(cache)).binding().perform({r}, at);
  }
  const bool fails = r->status != Status::ok;
  if (!fails)
    scatter(*r, e.resolved, 0, results_of(e));
  else if (!faulted)
    report_fault(now, bus_error(e, *r, 0), index, events);
  pool.release(r);
  return fails;
}

void LoadStoreUnit::explain(const std::string& who, std::vector<Wait>& waits) const {
  if (entries_.queued() == 0) {
    if (!idle()) waits.push_back({who, "answers to what it has sent", {}, {&owner_}});
    return;
  }
  const Out<RequestMessage>& port = head_.network_wanted
                                        ? *ports_.to_network
                                        : ports_.to(cache_for(entries_[entries_.front()], head_.line.space));
  const std::string count = std::to_string(entries_.queued()) + " instructions";
  if (head_.line_held || head_.network_wanted) {
    waits.push_back({who, port.room() + ", with " + count + " to go", {port.other_side()}});
  } else {
    waits.push_back({who, "its next cycle, with " + count + " to go"});
  }
}

}  // namespace warpline
