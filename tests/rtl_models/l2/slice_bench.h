#pragma once

#include <memory>
#include <vector>

#include "rtl_models/l2/l2_slice.h"
#include "tests/support/flat_check.h"

namespace warpline::test {

struct Shape {
  L2Parameters parameters;
  unsigned dram_ports = 1;
  ChannelParameters channel{128, 1, 4, 1};
  FlatMemory::Delay delay = FlatMemory::fixed(30);
  Cycle memory_gap = 1;
  Cycle answer_gap = 1;
  bool by_sm = false;  ///< of requests, which SM made each says its `sm`
};

/// The requests of one crossbar port, a slice, its DRAM channels and a link that answers in any order.
struct Bench {
  Bench(const Shape& s, const std::vector<Item>& items, TickMode mode = TickMode::lazy, bool with_data = true)
      : engine(mode, 7),
        vidmem(1U << 20U),
        crossbar(engine, "crossbar", ClockDomain{}, items, s.answer_gap, s.by_sm ? id_of_sm({}, 0) : 0),
        slice(engine, "l2[0]", ClockDomain{}, s.parameters, with_data ? &vidmem : nullptr, s.dram_ports),
        pcie(engine, "pcie", s.delay, s.memory_gap) {
    connect(crossbar.out, slice.from_crossbar, s.channel);
    connect(slice.to_crossbar, crossbar.in, s.channel);
    connect(slice.to_pcie, pcie.in, s.channel);
    connect(pcie.out, slice.from_pcie, s.channel);
    for (unsigned i = 0; i < s.dram_ports; ++i) {
      dram.push_back(std::make_unique<FlatMemory>(engine, "dram", s.delay, s.memory_gap));
      connect(slice.to_dram[i], dram[i]->in, s.channel);
      connect(dram[i]->out, slice.from_dram[i], s.channel);
    }
  }
  Engine engine;
  MemoryImage vidmem;
  Requester crossbar;
  L2Slice slice;
  FlatMemory pcie;
  std::vector<std::unique_ptr<FlatMemory>> dram;
};

inline PhysicalAddress line_at(unsigned line, bool sysmem, unsigned slices = 1) {
  return physical(sysmem ? Aperture::sysmem : Aperture::vidmem, std::uint64_t{line} * slices * kLineBytes);
}

}  // namespace warpline::test
