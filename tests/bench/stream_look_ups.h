#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "platform/config/gpu_config.h"
#include "rtl_models/cache/tag_array.h"
#include "rtl_models/crossbar/crossbar_core.h"
#include "rtl_models/dram/dram_core.h"
#include "rtl_models/l1_lg/l1_lg_core.h"
#include "rtl_models/l2/l2_core.h"
#include "tests/bench/stream_kernel.h"

namespace warpline::bench {

/// Calls look_up(sm, line number) in the order in which SMs take the stream's lines: CTAs are dealt out one
/// by one, so CTA c runs on SM c mod SMs.
template <class LookUp>
void replay(const Stream& s, unsigned sms, LookUp&& look_up) {
  const std::uint64_t ctas_per_sm = (s.warps / kWarpsPerCta + sms - 1) / sms;
  for (std::uint64_t i = 0; i < s.loads_per_warp; ++i)
    for (std::uint64_t turn = 0; turn < ctas_per_sm * kWarpsPerCta; ++turn)
      for (unsigned sm = 0; sm < sms; ++sm) {
        const std::uint64_t cta = turn / kWarpsPerCta * sms + sm;
        if (cta * kWarpsPerCta < s.warps) look_up(sm, s.line(cta * kWarpsPerCta + turn % kWarpsPerCta, i));
      }
}

/// The same stream through tag arrays of the same shape, and nothing else: no sectors, no miss registers, no
/// counters, no time.
class BareTags {
 public:
  explicit BareTags(const GpuConfig& c) : config_(c), route_(c.crossbar, c.l2.slices), rows_(c.dram) {
    for (unsigned i = 0; i < c.sms; ++i) l1_.emplace_back(c.l1_lg.geometry);
    for (unsigned i = 0; i < c.l2.slices; ++i) l2_.emplace_back(c.l2.geometry);
  }
  void look_up(unsigned sm, std::uint64_t number) {
    if (hit_or_install(l1_[sm], number, number)) return;
    const PhysicalAddress line{number * kLineBytes};
    if (hit_or_install(l2_[route_.slice_of(line)], number, number / config_.l2.slices)) return;
    rows_.open(rows_.place_of(line));
  }

 private:
  static bool hit_or_install(TagArray& tags, std::uint64_t number, std::uint64_t key) {
    if (const std::uint32_t i = tags.find(number, key); i != TagArray::kAbsent) {
      tags.touch(i);
      return tags.state(i).valid == kAllSectors;
    }
    tags.install(tags.victim(key), number, EvictionClass::normal).valid = kAllSectors;
    return false;
  }
  GpuConfig config_;
  CrossbarCore route_;
  DramCore rows_;
  std::vector<TagArray> l1_, l2_;
};

/// The same stream through the model's own cores, the blocks without their time: sectors, miss registers,
/// fills and counters as in a run.
class TimelessCores final : private WriteBackSink {
 public:
  explicit TimelessCores(const GpuConfig& c) : route_(c.crossbar, c.l2.slices), rows_(c.dram) {
    for (unsigned i = 0; i < c.sms; ++i) l1_.emplace_back(c.l1_lg, false);
    for (unsigned i = 0; i < c.l2.slices; ++i) l2_.emplace_back(c.l2, c.l2.slices, nullptr);
  }
  void look_up(unsigned sm, std::uint64_t number) {
    Request& r = requests_[0];
    r.virtual_line = VirtualAddress{number * kLineBytes};
    r.line = PhysicalAddress{number * kLineBytes};
    r.sectors = kAllSectors;
    if (!l1_[sm].serves(r)) return;
    const ReadOutcome out = l1_[sm].read(r);
    if (out.kind == ReadOutcome::Kind::hit) return;
    Request& fetch = requests_[1];
    fetch.line = r.line;
    fetch.virtual_line = r.virtual_line;
    fetch.sectors = out.fetch;
    fetch.token = out.entry;
    L2Core& l2 = l2_[route_.slice_of(r.line)];
    const L2Outcome below = l2.access(fetch, *this);
    if (below.kind == L2Outcome::Kind::wait) {
      rows_.open(rows_.place_of(r.line));
      Request& fill = requests_[2];
      fill.line = r.line;
      fill.sectors = below.fetch;
      fill.token = below.entry;
      RequestList served, again;
      l2.fill(fill, served, again, *this);
    }
    RequestList served;
    l1_[sm].fill(fetch, served);
  }

 private:
  void write_back(const WriteBack&) override {}
  CrossbarCore route_;
  DramCore rows_;
  std::vector<L1LgCore> l1_;
  std::vector<L2Core> l2_;
  std::array<Request, 3> requests_;
};

}  // namespace warpline::bench
