// Kernels of one GPU in the memory of another one: who is let in, and what of that memory there is to reach.
#include <fmt/format.h>

#include "platform/cuda/machine.h"
#include "platform/machine/gpu_memories.h"

namespace warpline::cuda {

bool Machine::is_for_peer(const Allocation& a, unsigned device) const {
  if ((a.kind != Allocation::Kind::device && a.kind != Allocation::Kind::array) || a.device == device)
    return false;
  // CUDA C++ Programming Guide, "Virtual Memory Management" and "Stream Ordered Memory Allocator": whom such
  // memory is open to, the program says for each mapping, node or pool.
  if (a.mapped || a.of_graph) return false;
  if (a.pool != nullptr) return a.pool->access.count(device) != 0;
  return enabled_peers_.count({device, a.device}) != 0;
}

void Machine::let_in(Allocation& a, unsigned device) {
  if (!a.peers.insert(device).second) return;
  // Variables may lie in memory of several.
  const Mapping* hint = nullptr;
  const Mapping* const own = platform_.memory().space(a.device).find(VirtualAddress{a.address}, 1, hint);
  if (own == nullptr || platform_.physical_of(a.address, device)) return;
  platform_.map_bus_at(own->base, own->bytes, peer_links_.bus_address(a.device, own->physical), device);
}

void Machine::keep_out(Allocation& a, unsigned device) {
  if (a.peers.erase(device) == 0) return;
  const Mapping* hint = nullptr;
  if (const Mapping* const own = platform_.memory().space(a.device).find(VirtualAddress{a.address}, 1, hint))
    platform_.unmap(own->base, device);
}

void Machine::let_peers_in(Allocation& a) {
  for (unsigned device = 0; device < devices(); ++device)
    if (is_for_peer(a, device)) let_in(a, device);
}

Status Machine::enable_peer(unsigned device, unsigned peer) {
  if (!can_reach(device, peer)) return Status::peer_access_unsupported;
  const Executor::Shared::Hold hold(platform_use_);
  const std::lock_guard lock(mutex_);
  if (!enabled_peers_.emplace(device, peer).second) return Status::peer_access_already_enabled;
  allocations_.for_each([this](Allocation& a) { let_peers_in(a); });
  return Status::success;
}

Status Machine::disable_peer(unsigned device, unsigned peer) {
  {
    const std::lock_guard lock(mutex_);
    if (enabled_peers_.count({device, peer}) == 0) return Status::peer_access_not_enabled;
  }
  // Nothing that was asked for may use it any more.
  if (const Status waited = wait_for_all(); waited == Status::not_permitted) return waited;
  const Executor::Shared::Hold hold(platform_use_);
  const std::lock_guard lock(mutex_);
  if (enabled_peers_.erase({device, peer}) == 0) return Status::peer_access_not_enabled;
  allocations_.for_each([&](Allocation& a) {
    if (a.device == peer && !a.mapped && !a.of_graph && !is_for_peer(a, device)) keep_out(a, device);
  });
  return Status::success;
}

std::optional<int> Machine::peer_attribute(int attribute, unsigned device, unsigned peer) const {
  switch (attribute) {
    case 1: return 0;  // all links perform alike
    case 2: return can_reach(device, peer) ? 1 : 0;
    case 3: return can_reach(device, peer) && config_.pcie.atomic_ops ? 1 : 0;
    case 4: return can_reach(device, peer) ? 1 : 0;  // arrays
    case 5: return 0;                                // atomics of some kinds alone
    default: return std::nullopt;
  }
}

Status Machine::set_pool_access(Pool& pool, unsigned device, unsigned access) {
  if (!can_reach(device, pool.device)) return access == 0 ? Status::success : Status::peer_access_unsupported;
  if (access == 1) tell("memory of a pool that another GPU is to read only can be written by it, too");
  if (access == 0)
    if (const Status waited = wait_for_all(); waited == Status::not_permitted) return waited;
  const Executor::Shared::Hold hold(platform_use_);
  const std::lock_guard lock(mutex_);
  if (access == 0)
    pool.access.erase(device);
  else
    pool.access[device] = access;
  allocations_.for_each([&](Allocation& a) {
    if (a.pool.get() != &pool) return;
    if (access == 0)
      keep_out(a, device);
    else
      let_in(a, device);
  });
  return Status::success;
}

unsigned Machine::pool_access(const Pool& pool, unsigned device) {
  constexpr unsigned kReadsAndWrites = 3;
  const std::lock_guard lock(mutex_);
  if (device == pool.device) return kReadsAndWrites;
  const auto found = pool.access.find(device);
  return found == pool.access.end() ? 0 : found->second;
}

Status Machine::share_with_peer(const GraphNode& node, unsigned device) {
  const Executor::Shared::Hold hold(platform_use_);
  const std::lock_guard lock(mutex_);
  Allocation* const a = allocations_.find(node.address);
  if (a == nullptr) return Status::invalid_value;
  if (device == a->device) return Status::success;
  if (!can_reach(device, a->device)) return Status::peer_access_unsupported;
  let_in(*a, device);
  return Status::success;
}

std::string Machine::owner_of(std::uint64_t address, unsigned device) const {
  const Allocation* const a = allocations_.find(address);
  if (a == nullptr || a->is_reached_by(device)) return {};
  return fmt::format("; it is memory of GPU {}, to which the program has given GPU {} no access", a->device,
                     device);
}

}  // namespace warpline::cuda
