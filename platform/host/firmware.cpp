#include "platform/host/firmware.h"

#include <algorithm>

#include "platform/machine/pcie_system.h"
#include "rtl_models/base/contract.h"
#include "rtl_models/pcie/host_bridge/host_bridge.h"
#include "rtl_models/pcie/root_complex/root_complex.h"

namespace warpline {
namespace {

constexpr unsigned kCommand = 0x04, kBar0 = 0x10, kCapabilities = 0x34;
constexpr std::uint64_t kMemoryEnable = 2, kBusMaster = 4;
constexpr std::uint8_t kMsixId = 0x11, kExpressId = 0x10;
constexpr std::uint64_t kMsixEnable = std::uint64_t{1} << 15U;
/// Root port i has addresses from (i + 1) times this on for BARs of 64 bits, and a part of the last half GiB
/// below 4 GiB for those of 32, where system memory leaves it free.
constexpr std::uint64_t kWide = std::uint64_t{1} << 41U;
constexpr std::uint64_t kNarrowBase = 0xE000'0000, kNarrow = 0x0400'0000;

}  // namespace

std::optional<HostDevice> Firmware::find(unsigned port) {
  HostDevice d;
  d.port = port;
  d.id = RootComplexCore::id_of(port);
  const std::uint64_t id = host_.load_config(d.id, 0, 4);
  if (id == 0xFFFF'FFFF) return std::nullopt;
  d.vendor = static_cast<std::uint16_t>(id);
  d.device = static_cast<std::uint16_t>(id >> 16U);
  place_bars(d);
  return d;
}

void Firmware::start(HostDevice& d) {
  allow_largest_packets(d);
  host_.store_config(d.id, kCommand, 2, kMemoryEnable | kBusMaster);
  host_.system().root().core().iommu().attach(d.id, d.domain);
  for (const HostDevice::Bar& bar : d.bars) {
    if (!bar.prefetchable || bar.address == 0) continue;
    host_.system().bridge().forget_prefetchable({bar.address, bar.bytes});  // as it lay there before
    host_.system().bridge().add_prefetchable({bar.address, bar.bytes});
  }
  route_vectors(d);
}

/// Asks each BAR for its size by writing all ones, and lays them side by side, the largest first, so that
/// each is aligned to its size.
void Firmware::place_bars(HostDevice& d) {
  host_.store_config(d.id, kCommand, 2, 0);
  std::vector<unsigned> present;
  std::array<bool, kBars> wide{};
  for (unsigned b = 0; b < kBars; ++b) {
    const std::uint64_t offset = kBar0 + 4ULL * b;
    host_.store_config(d.id, offset, 4, 0xFFFF'FFFF);
    const std::uint64_t low = host_.load_config(d.id, offset, 4);
    if (low == 0) continue;
    wide[b] = (low & 6U) == 4;
    std::uint64_t mask = low & ~std::uint64_t{0xF};
    if (wide[b]) {
      host_.store_config(d.id, offset + 4, 4, 0xFFFF'FFFF);
      mask |= host_.load_config(d.id, offset + 4, 4) << 32U;
    } else {
      mask |= 0xFFFF'FFFFULL << 32U;
    }
    d.bars[b].bytes = ~mask + 1;
    d.bars[b].prefetchable = (low & 8U) != 0;
    present.push_back(b);
    if (wide[b]) ++b;
  }
  std::stable_sort(present.begin(), present.end(),
                   [&](unsigned a, unsigned b) { return d.bars[a].bytes > d.bars[b].bytes; });
  lay_out(d, present, wide, true);
  lay_out(d, present, wide, false);
}

/// A BAR of 32 bits that finds no room stays unplaced, and its address 0.
void Firmware::lay_out(HostDevice& d, const std::vector<unsigned>& bars, const std::array<bool, kBars>& wide,
                       bool which) {
  const std::uint64_t base = which ? kWide * (d.port + 1) : kNarrowBase + kNarrow * d.port;
  const std::uint64_t most = which ? kWide : kNarrow;
  if (!which && host_.system().sysmem().size() > kNarrowBase) return;
  std::uint64_t used = 0;
  for (const unsigned b : bars) {
    if (wide[b] != which || d.bars[b].bytes > most - used) continue;
    d.bars[b].address = base + used;
    host_.store_config(d.id, kBar0 + 4ULL * b, 4, d.bars[b].address);
    if (which) host_.store_config(d.id, kBar0 + 4ULL * b + 4, 4, d.bars[b].address >> 32U);
    used += d.bars[b].bytes;
  }
  const std::uint64_t pages = (used + Iommu::kPage - 1) / Iommu::kPage * Iommu::kPage;
  const bool placed = host_.system().root().core().set_window(
      d.port, which ? RootComplexCore::Window::wide : RootComplexCore::Window::narrow, base, pages);
  WARPLINE_EXPECT(placed, "root ports' windows lie apart");
}

/// Where the capability of that kind is; 0: it has none.
std::uint64_t Firmware::capability(const HostDevice& d, std::uint8_t id) {
  std::uint64_t at = host_.load_config(d.id, kCapabilities, 1);
  while (at != 0 && host_.load_config(d.id, at, 1) != id) at = host_.load_config(d.id, at + 1, 1);
  return at;
}

/// Payloads as long as it can send, and reads as long as there are; the link's own limits hold besides.
void Firmware::allow_largest_packets(const HostDevice& d) {
  const std::uint64_t at = capability(d, kExpressId);
  if (at == 0) return;
  constexpr std::uint64_t kPayload = 7U << 5U, kReadRequest = 7U << 12U, kLargestRead = 5U << 12U;
  const std::uint64_t payload = host_.load_config(d.id, at + 4, 4) & 7U;
  const std::uint64_t control = host_.load_config(d.id, at + 8, 2) & ~(kPayload | kReadRequest);
  host_.store_config(d.id, at + 8, 2, control | payload << 5U | kLargestRead);
}

/// Every vector becomes a message of its own, unmasked.
void Firmware::route_vectors(HostDevice& d) {
  const std::uint64_t at = capability(d, kMsixId);
  if (at == 0) return;
  const std::uint64_t control = host_.load_config(d.id, at + 2, 2);
  d.vectors = static_cast<unsigned>(control & 0x7FFU) + 1;
  const std::uint64_t table = host_.load_config(d.id, at + 4, 4);
  const std::uint64_t base = d.bars[table & 7U].address + (table & ~std::uint64_t{7});
  for (unsigned v = 0; v < d.vectors; ++v) {
    host_.store(base + 16ULL * v, 8, RootComplexCore::kInterruptWindow + Iommu::kPage * d.port);
    host_.store(base + 16ULL * v + 8, 4, v);
    host_.store(base + 16ULL * v + 12, 4, 0);
  }
  host_.store_config(d.id, at + 2, 2, control | kMsixEnable);
}

}  // namespace warpline
