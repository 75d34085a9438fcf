#pragma once

#include <cstdint>
#include <string_view>

namespace warpline {

/// The `most` of a gauge that has no fixed limit: shown with 32 bits.
inline constexpr std::uint64_t kUnlimitedGauge = 0xFFFF'FFFF;

/// Receives the gauges of a block: how much of each of its resources is in use now. Like a counter, a gauge
/// is described once, and shown by visiting (Component::visit_gauges).
class GaugeVisitor {
 public:
  virtual ~GaugeVisitor() = default;
  /// `most`: the largest value there can be, a fixed property of the block, or kUnlimitedGauge.
  virtual void gauge(std::string_view name, std::uint64_t value, std::uint64_t most,
                     std::string_view description) = 0;
};

}  // namespace warpline
