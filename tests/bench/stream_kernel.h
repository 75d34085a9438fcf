#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "rtl_models/base/random.h"
#include "rtl_models/sm/instruction_source.h"
#include "rtl_models/sm/kernel.h"

namespace warpline::bench {

/// A stream of whole-line loads: load i of warp w reads line (i * warps + w) mod lines. Scattered, each lane
/// reads a word of its own somewhere in those lines, so that a load asks for kWarpLanes sectors.
struct Stream {
  std::uint64_t lines = 0;
  std::uint64_t warps = 0;
  std::uint64_t loads_per_warp = 0;
  bool scattered = false;
  [[nodiscard]] std::uint64_t line(std::uint64_t warp, std::uint64_t i) const {
    return (i * warps + warp) % lines;
  }
};

inline constexpr unsigned kRegisters = 8;
inline constexpr unsigned kWarpsPerCta = 4;
inline constexpr unsigned kWarpsPerSm = 4;  // one per issue partition, each with kRegisters loads in flight

class StreamSource final : public InstructionSource {
 public:
  StreamSource(const Stream& stream, unsigned slots) : stream_(stream), warps_(slots) {
    for (unsigned r = 0; r < kRegisters; ++r) {
      Instruction& i = loads_[r];
      i.kind = InstructionKind::memory;
      i.mem.space = Space::global;
      i.mem.type = DataType::u32;
      i.name_registers({}, {static_cast<std::uint16_t>(r)});
    }
  }
  void begin_warp(unsigned slot, Dim3 cta, unsigned warp, LaneMask) override {
    warps_[slot] = {std::uint64_t{cta.x} * kWarpsPerCta + warp, 0, false};
  }
  WarpState state(unsigned slot) const override {
    return warps_[slot].killed || warps_[slot].done == stream_.loads_per_warp ? WarpState::exited
                                                                              : WarpState::runnable;
  }
  const Instruction& next(unsigned slot) override { return loads_[warps_[slot].done % kRegisters]; }
  void execute(unsigned slot, Issue& issue) override {
    Warp& w = warps_[slot];
    issue.active = ~LaneMask{0};
    issue.access->active = ~LaneMask{0};
    if (stream_.scattered) {
      issue.access->form = AddressForm::per_lane;
      for (unsigned lane = 0; lane < kWarpLanes; ++lane) issue.access->address[lane] = scatter(w, lane);
    } else {
      issue.access->form = AddressForm::strided;
      issue.access->base = stream_.line(w.number, w.done) * kLineBytes;
      issue.access->stride = 4;
    }
    ++w.done;
  }
  void complete(unsigned, const Instruction&, const MemoryAccess&, bool) override {}
  void release_barrier(unsigned, std::uint32_t) override {}
  LaneMask live_lanes(unsigned slot) const override {
    return state(slot) == WarpState::exited ? 0 : ~LaneMask{0};
  }
  void kill(unsigned slot) override { warps_[slot].killed = true; }
  std::string where(const Instruction&) const override { return "stream"; }

 private:
  struct Warp {
    std::uint64_t number = 0, done = 0;
    bool killed = false;
  };
  /// The address of a sector of the stream, as good as drawn: from what counts loads and lanes, mixed.
  [[nodiscard]] std::uint64_t scatter(const Warp& w, unsigned lane) const {
    return splitmix64(w.number << 40U | w.done << 8U | lane) % (stream_.lines * kLineBytes / kSectorBytes) *
           kSectorBytes;
  }
  Stream stream_;
  std::vector<Warp> warps_;
  std::array<Instruction, kRegisters> loads_;
};

class StreamKernel final : public Kernel {
 public:
  explicit StreamKernel(const Stream& stream) : stream_(stream) {
    info_.name = "stream";
    info_.grid = {static_cast<std::uint32_t>(stream.warps / kWarpsPerCta), 1, 1};
    info_.block = {kWarpsPerCta * kWarpLanes, 1, 1};
    info_.registers = kRegisters;
    info_.carries_data = false;
  }
  const KernelInfo& info() const override { return info_; }
  std::unique_ptr<InstructionSource> make_source(const SmSite& site) override {
    return std::make_unique<StreamSource>(stream_, site.slots);
  }

 private:
  Stream stream_;
  KernelInfo info_;
};

}  // namespace warpline::bench
