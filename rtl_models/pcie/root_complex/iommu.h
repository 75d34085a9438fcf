#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <vector>

#include "rtl_models/base/contract.h"
#include "rtl_models/pcie/packets/tlp.h"

namespace warpline {

/// What a device wanted to do to memory and may not.
struct IommuFault {
  enum class Reason : std::uint8_t {
    no_domain,      ///< the requester is in no domain
    unmapped,       ///< no window has that address
    beyond_window,  ///< it begins in a window and ends outside
    no_read,        ///< the window may not be read
    no_write,       ///< the window may not be written
  };
  Cycle cycle = 0;
  FunctionId requester;
  std::uint64_t address = 0;  ///< as the device named it
  std::uint32_t bytes = 0;
  bool write = false;
  Reason reason = Reason::unmapped;
  template <class Archive>
  void archive(Archive& a) {
    a(cycle, requester, address, bytes, write, reason);
  }
};
[[nodiscard]] const char* to_text(IommuFault::Reason reason);

/// Which memory each device may touch, and under which addresses. A domain is a set of windows; a device is
/// in one domain at most, several may share one. Windows begin and end on pages of 4 KiB.
///
/// Off, as at first, addresses go through as they are.
class Iommu {
 public:
  static constexpr std::uint64_t kPage = kBusPage;
  using Domain = unsigned;

  /// Fault records kept: later ones are counted only.
  explicit Iommu(std::size_t most_faults = 1024) : most_faults_(most_faults) {}

  void enable(bool on) { on_ = on; }
  [[nodiscard]] bool enabled() const { return on_; }
  [[nodiscard]] Domain make_domain() {
    domains_.emplace_back();
    return static_cast<Domain>(domains_.size() - 1);
  }
  /// Puts a device into a domain, out of the one it was in.
  void attach(FunctionId device, Domain domain) {
    WARPLINE_EXPECT(domain < domains_.size(), "a device is put into a domain that was made");
    devices_[device.value] = domain;
  }
  void detach(FunctionId device) { devices_.erase(device.value); }

  struct Window {
    std::uint64_t address = 0;  ///< as devices name it
    std::uint64_t bytes = 0;
    std::uint64_t physical = 0;  ///< where it lies
    bool readable = true;
    bool writable = true;
    template <class Archive>
    void archive(Archive& a) {
      a(address, bytes, physical, readable, writable);
    }
  };
  /// False, and nothing changes: not on page boundaries, empty, past the end of the address space, or over
  /// another window of the domain.
  /// No device is in a domain, and no domain has a window. Domains keep their numbers, and faults so far stay
  /// counted.
  void restart() {
    for (Windows& windows : domains_) windows.clear();
    devices_.clear();
    faults_.clear();
  }
  [[nodiscard]] bool map(Domain domain, const Window& window);
  /// Takes away the window that begins there. False: there is none.
  bool unmap(Domain domain, std::uint64_t address) {
    WARPLINE_EXPECT(domain < domains_.size(), "a window is taken from a domain that was made");
    return domains_[domain].erase(address) != 0;
  }

  /// Where an access goes; nothing, and a fault is recorded, if it may not. A read of no byte, which follows
  /// writes to have them arrive, may go where the window may be read or written (VT-d, zero-length read).
  [[nodiscard]] std::optional<std::uint64_t> translate(FunctionId requester, std::uint64_t address,
                                                       std::uint32_t bytes, bool write, Cycle now);

  /// Oldest first.
  [[nodiscard]] const std::deque<IommuFault>& faults() const { return faults_; }
  /// Takes out the oldest record; nothing if there is none.
  [[nodiscard]] std::optional<IommuFault> take_fault();
  /// Faults so far, recorded or not.
  [[nodiscard]] std::uint64_t fault_count() const { return fault_count_; }

  template <class Archive>
  void archive(Archive& a) {
    a(on_, domains_, devices_, faults_, fault_count_);
    for (const auto& [device, domain] : devices_)
      if (domain >= domains_.size()) a.misfit("names a domain that is not there");
  }

 private:
  using Windows = std::map<std::uint64_t, Window>;  ///< by address
  std::size_t most_faults_;
  bool on_ = false;
  std::vector<Windows> domains_;
  std::map<std::uint16_t, Domain> devices_;
  std::deque<IommuFault> faults_;
  std::uint64_t fault_count_ = 0;
};

}  // namespace warpline
