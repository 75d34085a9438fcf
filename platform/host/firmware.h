#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "platform/host/host.h"

namespace warpline {

/// What a host's firmware does: it finds devices, and gives them addresses, interrupts and a domain.
class Firmware {
 public:
  explicit Firmware(Host& host) : host_(host) {}
  /// The device behind a root port, its BARs placed, and silent: it decodes no memory and makes no requests.
  /// Nothing: there is none.
  [[nodiscard]] std::optional<HostDevice> find(unsigned port);
  /// Lets it work in its domain, with vectors that are messages to its port's page of the interrupt window.
  void start(HostDevice& device);

 private:
  void place_bars(HostDevice& device);
  void lay_out(HostDevice& device, const std::vector<unsigned>& bars, const std::array<bool, kBars>& wide,
               bool which);
  [[nodiscard]] std::uint64_t capability(const HostDevice& device, std::uint8_t id);
  void allow_largest_packets(const HostDevice& device);
  void route_vectors(HostDevice& device);

  Host& host_;
};

}  // namespace warpline
