#pragma once

#include <cstdint>

#include "rtl_models/base/types.h"

namespace warpline {

/// CTAs of a cluster at most: 8 on every GPU that has clusters, 16 where a kernel opts in (CUDA C++
/// Programming Guide, "Thread Block Clusters").
inline constexpr unsigned kPortableClusterCtas = 8;
inline constexpr unsigned kMaxClusterCtas = 16;

/// Where a request between the SMs of a cluster goes: a byte of a CTA's shared memory, or the CTA's part in
/// the barrier of its cluster. Requests carry it as the address of their line, in an aperture of its own.
struct ClusterAddress {
  /// What a CTA tells another of its cluster.
  enum class Signal : std::uint8_t {
    none,     ///< nothing: the address is one of shared memory
    arrived,  ///< all of its threads have arrived at the barrier
    exited,   ///< all of its threads have exited, and count as arrived for good
  };

  static constexpr std::uint32_t kClusters = 1U << 20U;

  unsigned sm = 0;            ///< that the CTA runs on, below 2047
  std::uint32_t cluster = 0;  ///< number of the cluster, below kClusters
  unsigned rank = 0;          ///< of the CTA in its cluster
  std::uint32_t offset = 0;   ///< in its shared memory, below 2^24
  Signal signal = Signal::none;
  unsigned from = 0;  ///< of a signal: the rank that sends it
  bool odd = false;   ///< of `arrived`: the phase is an odd one

  [[nodiscard]] constexpr PhysicalAddress packed() const {
    const std::uint64_t low =
        signal == Signal::none
            ? offset
            : std::uint64_t{static_cast<std::uint8_t>(signal)} << 12U | (odd ? 1U << 11U : 0U) | from << 7U;
    return PhysicalAddress{kAperture << kApertureShift | (signal != Signal::none ? kSignal : 0) |
                           std::uint64_t{sm} << 48U | std::uint64_t{cluster} << 28U |
                           std::uint64_t{rank} << 24U | low};
  }
  /// Whether a request's line is such an address.
  [[nodiscard]] static constexpr bool is(PhysicalAddress at) {
    return at.value >> kApertureShift == kAperture;
  }
  [[nodiscard]] static constexpr ClusterAddress of(PhysicalAddress at) {
    ClusterAddress a;
    const std::uint64_t v = at.value;
    a.sm = static_cast<unsigned>(v >> 48U & 0x7FFU);
    a.cluster = static_cast<std::uint32_t>(v >> 28U & 0xFFFFFU);
    a.rank = static_cast<unsigned>(v >> 24U & 0xFU);
    if ((v & kSignal) == 0) {
      a.offset = static_cast<std::uint32_t>(v & 0xFFFFFFU);
      return a;
    }
    a.signal = static_cast<Signal>(v >> 12U & 3U);
    a.odd = (v >> 11U & 1U) != 0;
    a.from = static_cast<unsigned>(v >> 7U & 0xFU);
    return a;
  }

 private:
  static constexpr std::uint64_t kAperture = 3;  ///< beside those of memories (Aperture)
  static constexpr std::uint64_t kSignal = std::uint64_t{1} << 59U;
};

/// How the SMs of a GPU are grouped: SM n is in texture processing cluster t = n / sms_per_tpc, and that in
/// graphics processing cluster t mod gpcs.
struct GpcShape {
  unsigned gpcs = 1;
  unsigned sms_per_tpc = 1;
  [[nodiscard]] constexpr unsigned tpc_of(unsigned sm) const { return sm / sms_per_tpc; }
  [[nodiscard]] constexpr unsigned gpc_of(unsigned sm) const { return sm / sms_per_tpc % gpcs; }
};

}  // namespace warpline
