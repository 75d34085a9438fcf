#include "warpline/host/host_machine.h"

#include <algorithm>
#include <cmath>

namespace warpline {
namespace {

std::uint64_t ones(unsigned bytes) {
  return bytes >= 8 ? ~std::uint64_t{0} : (std::uint64_t{1} << 8U * bytes) - 1;
}

}  // namespace

HostMachine::HostMachine(PcieSystem& system, std::uint64_t reserved)
    : system_(system), free_memory_(reserved), domains_(system.root().core().ports()) {
  system_.root().core().iommu().enable(true);
}

void* HostMachine::allocate(std::size_t bytes, std::size_t align) {
  MemoryImage& memory = system_.sysmem();
  const std::uint64_t at = (free_memory_ + align - 1) & ~(static_cast<std::uint64_t>(align) - 1);
  if (at > memory.size() || bytes > memory.size() - at) return nullptr;
  free_memory_ = at + bytes;
  return memory.at(at);
}

std::optional<std::uint64_t> HostMachine::physical(const void* memory, std::size_t bytes) const {
  const MemoryImage& image = system_.sysmem();
  const auto* const at = static_cast<const std::uint8_t*>(memory);
  const std::less<> before;
  if (before(at, image.at(0)) || before(image.at(image.size()), at)) return std::nullopt;
  const auto offset = static_cast<std::uint64_t>(at - image.at(0));
  if (bytes > image.size() - offset) return std::nullopt;
  return offset;
}

/// Lets the engine do what comes next, by cycle `limit`. False: nothing does.
bool HostMachine::step(Cycle limit) {
  Engine& engine = system_.engine();
  const Cycle next = engine.next_tick();
  if (next > limit) return false;
  static_cast<void>(system_.run_until(next));
  return true;
}

/// The next cycle in which it may do something: time may have passed without it.
Cycle HostMachine::soonest() const {
  return std::max(now_, system_.engine().now()) + 1;
}

std::uint64_t HostMachine::finish(HostBridge::Ticket ticket, unsigned shift, unsigned bytes) {
  HostBridge::Answer answer;
  while (!system_.bridge().take(ticket, answer))
    WARPLINE_EXPECT(step(kNever - 1), "a load is answered, or given up in time");
  now_ = std::max(now_, answer.cycle);
  outcome_ = answer.outcome;
  if (answer.outcome != HostBridge::Outcome::done) return ones(bytes);
  return first_bytes(answer.data) >> shift & ones(bytes);
}

std::uint64_t HostMachine::load(std::uint64_t address, unsigned bytes) {
  return finish(system_.bridge().load(address, bytes, soonest()), 0, bytes);
}

void HostMachine::store(std::uint64_t address, unsigned bytes, std::uint64_t value) {
  system_.bridge().store(address, &value, bytes, soonest());
}

std::uint64_t HostMachine::load_config(FunctionId id, std::uint64_t offset, unsigned bytes) {
  const auto within = static_cast<unsigned>(offset % 4);
  const auto ticket = system_.bridge().load_config(id, static_cast<unsigned>(offset - within), soonest());
  return finish(ticket, 8 * within, bytes);
}

void HostMachine::store_config(FunctionId id, std::uint64_t offset, unsigned bytes, std::uint64_t value) {
  const auto ticket = system_.bridge().store_config(id, static_cast<unsigned>(offset),
                                                    static_cast<std::uint32_t>(value), bytes, soonest());
  static_cast<void>(finish(ticket, 0, bytes));
}

void HostMachine::pass(Cycle cycles) {
  now_ = soonest() - 1 + cycles;
  while (step(now_)) {
  }
}

void HostMachine::delay_ns(std::uint64_t nanoseconds) {
  pass(static_cast<Cycle>(std::ceil(static_cast<double>(nanoseconds) * system_.mhz() / 1000.0)));
}

void HostMachine::take_interrupts() {
  auto& arrived = system_.bridge().interrupts();
  for (; !arrived.empty(); arrived.pop_front()) {
    const std::uint64_t port = (arrived.front().address - RootComplexCore::kInterruptWindow) / Iommu::kPage;
    ++interrupts_[port << 32U | arrived.front().data];
  }
}

bool HostMachine::wait_interrupt(unsigned device, unsigned vector, std::uint32_t timeout_us) {
  const std::uint64_t key = std::uint64_t{devices_[device].port} << 32U | vector;
  now_ = soonest() - 1;
  const Cycle deadline = now_ + Cycle{timeout_us} * system_.mhz();
  for (;;) {
    take_interrupts();
    if (const auto found = interrupts_.find(key); found != interrupts_.end()) {
      interrupts_.erase(found);
      now_ = std::max(now_, std::min(deadline, system_.engine().now()));
      return true;
    }
    if (!step(deadline)) break;
  }
  now_ = deadline;
  return false;
}

std::optional<std::uint64_t> HostMachine::map_dma(unsigned device, const void* memory, std::size_t bytes,
                                                  unsigned direction) {
  const auto at = physical(memory, bytes);
  if (!at || bytes == 0 || direction == 0 || direction > WL_DMA_BOTH) return std::nullopt;
  const std::uint64_t into = *at % Iommu::kPage;
  Iommu::Window window;
  window.address = free_bus_;
  window.physical = *at - into;
  window.bytes = (into + bytes + Iommu::kPage - 1) / Iommu::kPage * Iommu::kPage;
  window.readable = (direction & WL_DMA_TO_DEVICE) != 0;
  window.writable = (direction & WL_DMA_FROM_DEVICE) != 0;
  if (!system_.root().core().iommu().map(devices_[device].domain, window)) return std::nullopt;
  // A page is left out after each window, so that what runs past one is caught.
  free_bus_ += window.bytes + Iommu::kPage;
  return window.address + into;
}

bool HostMachine::open_bar(unsigned device, unsigned target, unsigned bar) {
  const HostDevice::Bar& b = devices_[target].bars[bar];
  if (b.address == 0) return false;
  Iommu::Window window;
  window.address = window.physical = b.address - b.address % Iommu::kPage;
  window.bytes = (b.address + b.bytes + Iommu::kPage - 1) / Iommu::kPage * Iommu::kPage - window.address;
  Iommu& iommu = system_.root().core().iommu();
  static_cast<void>(iommu.unmap(devices_[device].domain, window.address));
  return iommu.map(devices_[device].domain, window);
}

bool HostMachine::unmap_dma(unsigned device, std::uint64_t bus) {
  return system_.root().core().iommu().unmap(devices_[device].domain, bus - bus % Iommu::kPage);
}

}  // namespace warpline
