#include "rtl_models/pcie/root_complex/iommu.h"

#include <array>
#include <iterator>
#include <limits>

namespace warpline {
namespace {

constexpr std::uint64_t kLastAddress = std::numeric_limits<std::uint64_t>::max();

bool on_pages(std::uint64_t address, std::uint64_t bytes) {
  return address % Iommu::kPage == 0 && bytes % Iommu::kPage == 0;
}

/// Pre: bytes != 0.
bool has_end(std::uint64_t address, std::uint64_t bytes) {
  return bytes - 1 <= kLastAddress - address;
}

}  // namespace

const char* to_text(IommuFault::Reason reason) {
  constexpr std::array<const char*, 5> kTexts = {"the device is in no domain", "no window has that address",
                                                 "it ends outside of the window in which it begins",
                                                 "the window may not be read",
                                                 "the window may not be written"};
  return kTexts[static_cast<std::size_t>(reason)];
}

bool Iommu::map(Domain domain, const Window& window) {
  WARPLINE_EXPECT(domain < domains_.size(), "a window is made in a domain that was made");
  if (window.bytes == 0 || !on_pages(window.address, window.bytes) ||
      !on_pages(window.physical, window.bytes))
    return false;
  if (!has_end(window.address, window.bytes) || !has_end(window.physical, window.bytes)) return false;
  Windows& windows = domains_[domain];
  const auto after = windows.lower_bound(window.address);
  if (after != windows.end() && after->first - window.address < window.bytes) return false;
  if (after != windows.begin()) {
    const Window& before = std::prev(after)->second;
    if (window.address - before.address < before.bytes) return false;
  }
  windows.emplace_hint(after, window.address, window);
  return true;
}

std::optional<std::uint64_t> Iommu::translate(FunctionId requester, std::uint64_t address,
                                              std::uint32_t bytes, bool write, Cycle now) {
  if (!on_) return address;
  const auto refuse = [&](IommuFault::Reason reason) {
    if (faults_.size() < most_faults_) faults_.push_back({now, requester, address, bytes, write, reason});
    ++fault_count_;
    return std::nullopt;
  };
  const auto device = devices_.find(requester.value);
  if (device == devices_.end()) return refuse(IommuFault::Reason::no_domain);
  const Windows& windows = domains_[device->second];
  const auto after = windows.upper_bound(address);
  if (after == windows.begin()) return refuse(IommuFault::Reason::unmapped);
  const Window& window = std::prev(after)->second;
  const std::uint64_t offset = address - window.address;
  if (offset >= window.bytes) return refuse(IommuFault::Reason::unmapped);
  if (bytes > window.bytes - offset) return refuse(IommuFault::Reason::beyond_window);
  if (write && !window.writable) return refuse(IommuFault::Reason::no_write);
  const bool reads = !write && (bytes != 0 || !window.writable);
  if (reads && !window.readable) return refuse(IommuFault::Reason::no_read);
  return window.physical + offset;
}

std::optional<IommuFault> Iommu::take_fault() {
  if (faults_.empty()) return std::nullopt;
  const IommuFault oldest = faults_.front();
  faults_.pop_front();
  return oldest;
}

}  // namespace warpline
