#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "warpline/fabric/jitter.h"
#include "warpline/gpu/device_memory.h"
#include "warpline/gpu/gpu_platform.h"
#include "warpline/gpu/netlist.h"
#include "warpline/gpu/observe/observation.h"

namespace warpline {

/// What a platform consists of, and what it does before a launch.
struct GpuPlatform::State {
  State(const GpuConfig& c, const RunOptions& o)
      : config(c),
        options(o),
        driver(o.driver != nullptr ? o.driver : std::make_shared<DirectDriver>(o.tick_mode, o.seed)) {}

  GpuConfig config;
  RunOptions options;
  std::shared_ptr<NetlistDriver> driver;
  DeviceMemory memory{config};
  ImageTable images;
  std::unique_ptr<Netlist> netlist;          ///< made by the first launch
  std::unique_ptr<Observation> observation;  ///< of the netlist; null: none
  std::uint32_t local_bytes_laid_out = 0;    ///< per thread, of the last grid
  std::uint64_t local_base = 0;              ///< likewise, in video memory
  std::optional<Jitter> jitter;              ///< made by the first launch that wants it
  std::uint64_t launches = 0;                ///< so far
  Cycle progress_every = kNever;
  std::function<bool(double)> progress;

  /// Local memory that the kernel needs: that of every warp slot.
  [[nodiscard]] std::uint64_t local_bytes(const KernelInfo& info) const;
  /// CTAs that an SM holds at once.
  [[nodiscard]] unsigned resident(const KernelInfo& info) const;
  [[nodiscard]] unsigned fastest_mhz() const {
    const ClockParameters& c = config.clocks;
    return std::max({c.sm, c.l2, c.dram, c.link});
  }
  CacheRegisters registers{{CacheRegisters::kL1Global | CacheRegisters::kTexture | CacheRegisters::kConstant |
                                CacheRegisters::kInstruction,
                            [this] { return netlist != nullptr && !driver->engine().quiescent(); },
                            [this](std::uint32_t caches) { invalidate(caches); }}};

  void build();
  void invalidate(std::uint32_t caches);  ///< bits of CacheRegisters::kInvalidate
  void prepare(const KernelInfo& info, bool invalidate_l1);
  [[nodiscard]] std::vector<std::string> refusals(const KernelInfo& info) const;
  /// Bytes of video memory that the kernel's code would take.
  [[nodiscard]] std::uint64_t code_to_place(const KernelInfo& info) const;
  /// Where the kernel's code lies in video memory, if it fits; 0 if it has none.
  [[nodiscard]] std::optional<std::uint64_t> place_code(const KernelInfo& info);
};

}  // namespace warpline
