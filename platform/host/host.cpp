#include "platform/host/host.h"

#include <algorithm>
#include <functional>
#include <stdexcept>

#include "platform/host/driver_port.h"
#include "platform/host/firmware.h"
#include "platform/machine/pcie_system.h"
#include "rtl_models/base/contract.h"
#include "rtl_models/pcie/host_bridge/host_bridge.h"
#include "rtl_models/pcie/root_complex/root_complex.h"

namespace warpline {
namespace {

/// Whose message it is: each root port has a page of the window.
std::uint64_t port_of_interrupt(std::uint64_t address) {
  return (address - RootComplexCore::kInterruptWindow) / Iommu::kPage;
}

}  // namespace

static_assert(Host::kMappingPage == Iommu::kPage, "what is mapped is mapped for devices, too");

Host::Host(PcieSystem& system, std::uint64_t reserved)
    : system_(system), free_memory_(reserved), domains_(system.root().core().ports()) {
  if (!system_.take())
    throw std::logic_error(
        "this PCIe system has a host already, which places its devices: run more software in threads of that "
        "one, or let further bus masters access memory and devices as they are placed");
  system_.root().core().iommu().enable(true);
}

Host::~Host() {
  system_.leave();
}

const std::vector<HostDevice>& Host::enumerate() {
  devices_.clear();
  ports_.clear();
  system_.bridge().forget_prefetchable();
  for (unsigned port = 0; port < domains_.size(); ++port)
    if (const std::optional<HostDevice> d = bring_up(port)) devices_.push_back(*d);
  return devices_;
}

const HostDevice* Host::enumerate(unsigned port) {
  const auto at = std::lower_bound(devices_.begin(), devices_.end(), port,
                                   [](const HostDevice& d, unsigned p) { return d.port < p; });
  const bool known = at != devices_.end() && at->port == port;
  const std::optional<HostDevice> d = bring_up(port);
  if (d) return &(known ? *at = *d : *devices_.insert(at, *d));
  if (known) devices_.erase(at);
  return nullptr;
}

std::optional<HostDevice> Host::bring_up(unsigned port) {
  Firmware firmware(*this);
  std::optional<HostDevice> d = firmware.find(port);
  // Meanwhile it may make no requests, and what it sent before has come ahead of its answers.
  forget_interrupts(port);
  if (!d) return d;
  if (!domains_[port]) domains_[port] = system_.root().core().iommu().make_domain();
  d->domain = *domains_[port];
  firmware.start(*d);
  return d;
}

const wl_port& Host::port_of(unsigned device) {
  WARPLINE_EXPECT(device < devices_.size(), "a device that was found has a port");
  ports_.push_back(make_driver_port(*this, device));
  return *ports_.back();
}

void* Host::allocate(std::size_t bytes, std::size_t align) {
  MemoryImage& memory = system_.sysmem();
  const std::uint64_t at = (free_memory_ + align - 1) & ~(static_cast<std::uint64_t>(align) - 1);
  if (at > memory.size() || bytes > memory.size() - at) return nullptr;
  free_memory_ = at + bytes;
  return memory.at(at);
}

std::optional<std::uint64_t> Host::physical(const void* memory, std::size_t bytes) const {
  const MemoryImage& image = system_.sysmem();
  const auto* const at = static_cast<const std::uint8_t*>(memory);
  const std::less<> before;
  if (before(at, image.at(0)) || before(image.at(image.size()), at)) return std::nullopt;
  const auto offset = static_cast<std::uint64_t>(at - image.at(0));
  if (bytes > image.size() - offset) return std::nullopt;
  return offset;
}

std::optional<std::uint64_t> Host::map_dma(unsigned device, const void* memory, std::size_t bytes,
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

bool Host::open_bar(unsigned device, unsigned target, unsigned bar) {
  const HostDevice::Bar& b = devices_[target].bars[bar];
  if (b.address == 0) return false;
  Iommu::Window window;
  window.address = window.physical = b.address - b.address % Iommu::kPage;
  window.bytes = (b.address + b.bytes + Iommu::kPage - 1) / Iommu::kPage * Iommu::kPage - window.address;
  Iommu& iommu = system_.root().core().iommu();
  static_cast<void>(iommu.unmap(devices_[device].domain, window.address));
  return iommu.map(devices_[device].domain, window);
}

std::string Host::map(unsigned device, unsigned bar, std::uint64_t offset, std::uint64_t bytes,
                      MemoryType as) {
  if (device >= devices_.size()) return "there is no device " + std::to_string(device);
  const std::string name = "BAR " + std::to_string(bar);
  if (bar >= kBars || devices_[device].bars[bar].address == 0) return "there is no " + name;
  const HostDevice::Bar& b = devices_[device].bars[bar];
  if (offset > b.bytes || bytes > b.bytes - offset)
    return name + " has " + std::to_string(b.bytes) + " bytes and ends before what is to be mapped";
  const std::uint64_t base = b.address + offset;
  if (base % kMappingPage != 0 || bytes % kMappingPage != 0 || bytes == 0)
    return name + ": what is to be mapped is no whole pages of " + std::to_string(kMappingPage) + " bytes";
  if (!b.prefetchable) {
    if (as == MemoryType::uncached) return {};
    return name + " is not prefetchable: its accesses have side effects, and none may be joined";
  }
  barrier();
  const bool mapped = system_.bridge().set_combining({base, bytes}, as == MemoryType::write_combining);
  WARPLINE_EXPECT(mapped, "the bridge knows the prefetchable BARs that have been found");
  return {};
}

bool Host::unmap_dma(unsigned device, std::uint64_t bus) {
  return system_.root().core().iommu().unmap(devices_[device].domain, bus - bus % Iommu::kPage);
}

void Host::note_interrupt(std::uint64_t address, std::uint32_t data) {
  ++interrupts_[port_of_interrupt(address) << 32U | data];
}

void Host::forget_interrupts(unsigned port) {
  const auto first = interrupts_.lower_bound(std::uint64_t{port} << 32U);
  interrupts_.erase(first, interrupts_.lower_bound((std::uint64_t{port} + 1) << 32U));
  auto& arrived = system_.bridge().interrupts();
  const auto of_port = [port](const HostInterrupt& i) { return port_of_interrupt(i.address) == port; };
  arrived.erase(std::remove_if(arrived.begin(), arrived.end(), of_port), arrived.end());
}

bool Host::take_interrupt(unsigned device, unsigned vector) {
  const auto found = interrupts_.find(std::uint64_t{devices_[device].port} << 32U | vector);
  if (found == interrupts_.end()) return false;
  interrupts_.erase(found);
  return true;
}

}  // namespace warpline
