#include "rtl_models/gpu_switch/gpu_switch_core.h"

#include <utility>

#include "rtl_models/base/contract.h"
#include "rtl_models/gpu_switch/gpu_switch_mutations.h"
#include "rtl_models/isa/atomic.h"
#include "rtl_models/sim/atomics.h"

namespace warpline {
namespace {

constexpr std::size_t kMaxEntries = 65536;

bool combines(AtomicOperation operation) {
  switch (operation) {
    case AtomicOperation::add:
    case AtomicOperation::min:
    case AtomicOperation::max:
    case AtomicOperation::bit_and:
    case AtomicOperation::bit_or:
    case AtomicOperation::bit_xor: return true;
    default: return false;
  }
}

}  // namespace

/// Whether it is what a multimem instruction sends, of an object all of whose GPUs are here.
bool GpuSwitchCore::is_sound(const Request& r, const MulticastObject* object) const {
  if (object == nullptr || object->replicas.back().gpu >= gpus_.size()) return false;
  if (r.command == Command::write) return true;
  return (r.command == Command::atomic || r.command == Command::reduce) && r.atomics != nullptr &&
         !r.atomics->of_mbarriers && combines(r.atomics->operation);
}

Request* GpuSwitchCore::make_part(Request& r, const MulticastObject& object, const MulticastReplica& replica,
                                  RequestPool& pool, const void* maker) {
  Request* const part = pool.allocate_child(r, maker);
  part->line = PhysicalAddress{replica.physical.value + (offset_in_aperture(r.line) - object.offset)};
  part->region = replica.region;
  part->prefetch = 0;
  GpuSwitchCounters& counters = gpus_[replica.gpu].counters;
  const unsigned sectors = sector_count(r.sectors);
  ++counters.replica_requests;
  switch (r.command) {
    case Command::write:
      part->bytes = r.bytes;
      if (with_data_) part->data = r.data;
      counters.replica_written_sectors += sectors;
      break;
    case Command::reduce:
      part->atomics = pool.allocate_atomics();
      *part->atomics = *r.atomics;
      counters.replica_reduced_sectors += sectors;
      break;
    default:
      part->command = Command::read;
      counters.replica_read_sectors += sectors;
      break;
  }
  counters.beats += RequestMessage{part}.beats(widths_.request);
  return part;
}

void GpuSwitchCore::count(const Request& r, unsigned gpu) {
  GpuSwitchCounters& counters = gpus_[gpu].counters;
  ++counters.requests;
  switch (r.command) {
    case Command::write:
      ++counters.stores;
      counters.asked_written_sectors += sector_count(r.sectors);
      break;
    case Command::atomic:
    case Command::reduce:
      ++(r.command == Command::atomic ? counters.loads : counters.reductions);
      counters.asked_atomic_sectors += sector_count(r.sectors);
      break;
    case Command::read: counters.asked_read_sectors += sector_count(r.sectors); break;
    case Command::control:
    case Command::maintain: break;
  }
}

GpuSwitchCore::Parts GpuSwitchCore::split(Request& r, unsigned gpu, RequestPool& pool, const void* maker) {
  count(r, gpu);
  Parts parts;
  const MulticastObject* const object = table_->find(r.line);
  if (!is_sound(r, object)) {
    ++gpus_[gpu].counters.refused;
    r.status = Status::address_error;
    return parts;
  }
  for (const MulticastReplica& replica : object->replicas) {
    parts.gpus.at(parts.count) = static_cast<std::uint8_t>(replica.gpu);
    parts.requests.at(parts.count++) = make_part(r, *object, replica, pool, maker);
  }
  return parts;
}

/// The old values of `r` become what its lanes load: of each element, all replicas' combined.
void GpuSwitchCore::combine(Request& r, const Parts& parts) const {
  AtomicBlock& block = *r.atomics;
  const unsigned size = size_of(block.type);
  for (unsigned i = 0; i < block.count; ++i) {
    LaneAtomic& lane = block.lanes[i];
    std::array<std::uint8_t, 16> result{};
    for (unsigned e = 0; e < block.vector; ++e) {
      std::array<std::uint64_t, kMaxReplicas> values{};
      for (unsigned n = 0; n < parts.count; ++n)
        __builtin_memcpy(&values[n], &parts.requests[n]->data[lane.offset + std::size_t{e} * size], size);
      const std::uint64_t value =
          reduce_values(block.operation, block.type, block.wide_sums, values.data(), parts.count);
      __builtin_memcpy(&result[std::size_t{e} * size], &value, size);
    }
    spread_value(result.data(), lane.old_value, block.high[i].old_value, block.lane_bytes());
  }
}

void GpuSwitchCore::join(Request& r, const Parts& parts, RequestPool& pool) const {
  r.came_from(AnsweredBy::link);
  for (unsigned n = 0; n < parts.count; ++n)
    if (parts.requests[n]->status != Status::ok) r.status = parts.requests[n]->status;
  if (with_data_ && r.command == Command::atomic && r.status == Status::ok) combine(r, parts);
  for (unsigned n = 0; n < parts.count; ++n) pool.release(parts.requests[n]);
}

GpuSwitchCore::Parts GpuSwitchCore::begin(Request& r, unsigned gpu, RequestPool& pool, const void* maker) {
  WARPLINE_EXPECT(has_room(gpu), "a switch takes as many requests of a GPU as it has room for");
  Parts parts = split(r, gpu, pool, maker);
  if (parts.count == 0) return parts;
  if (free_.empty()) {
    WARPLINE_EXPECT(entries_.size() < kMaxEntries, "at most 65536 requests are under way");
    free_.push_back(static_cast<std::uint16_t>(entries_.size()));
    entries_.emplace_back();
  }
  const std::uint16_t number = free_.back();
  free_.pop_back();
  for (unsigned n = 0; n < parts.count; ++n) parts.requests[n]->token = number;
  entries_[number] = {&r, gpu, parts.count, 0, parts};
  ++gpus_[gpu].under_way;
  ++under_way_;
  return parts;
}

GpuSwitchCore::Ended GpuSwitchCore::end(const Request& part, RequestPool& pool) {
  Entry& e = entries_[part.token];
  WARPLINE_EXPECT(e.awaited > 0, "a replica answers each request once");
  const std::uint16_t number = part.token;
  for (unsigned n = 0; n < e.parts.count; ++n)
    if (e.parts.requests[n] == &part) e.answered |= 1U << n;
  if (--e.awaited != 0) {
    if (e.original != nullptr && e.original->command != Command::atomic &&
        mutated(GpuSwitchMutation::acknowledged_by_first_replica))
      return {std::exchange(e.original, nullptr), e.gpu};
    return {};
  }
  if (e.original != nullptr) {
    join(*e.original, e.parts, pool);
  } else {
    for (unsigned n = 0; n < e.parts.count; ++n) pool.release(e.parts.requests[n]);
  }
  free_.push_back(number);
  --gpus_[e.gpu].under_way;
  --under_way_;
  return {e.original, e.gpu};
}

void GpuSwitchCore::count_response(Request& r, unsigned gpu) {
  GpuSwitchCounters& counters = gpus_[gpu].counters;
  ++counters.responses;
  counters.beats += ResponseMessage{&r}.beats(widths_.response);
}

}  // namespace warpline
