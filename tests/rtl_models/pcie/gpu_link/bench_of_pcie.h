#pragma once

#include <cstring>

#include "rtl_models/pcie/gpu_link/pcie_link.h"
#include "tests/support/mock_components.h"

namespace warpline::test {

/// Requesters on a PCIe link with 64 KiB of memory behind it.
struct PcieBench {
  PcieBench(const PcieParameters& parameters, const std::vector<std::vector<Item>>& items,
            bool with_memory = true, ClockDomain domain = {}, TickMode mode = TickMode::lazy, Cycle gap = 1)
      : engine(mode, 5),
        memory(65536),
        link(engine, "pcie", domain, parameters, with_memory ? &memory : nullptr,
             static_cast<unsigned>(items.size())) {
    for (unsigned i = 0; i < items.size(); ++i) {
      l2.push_back(
          std::make_unique<Requester>(engine, "l2", ClockDomain{}, items[i], gap, std::uint64_t{i} << 32U));
      connect(l2[i]->out, link.from_l2(i), kChannel);
      connect(link.to_l2(i), l2[i]->in, kChannel);
    }
  }
  template <class T>
  [[nodiscard]] T value(std::uint64_t offset) const {
    T v;
    std::memcpy(&v, memory.at(offset), sizeof v);
    return v;
  }
  static constexpr ChannelParameters kChannel{128, 1, 8, 1};
  Engine engine;
  MemoryImage memory;
  PcieLink link;
  std::vector<std::unique_ptr<Requester>> l2;
};

inline PhysicalAddress sys(std::uint64_t offset) {
  return physical(Aperture::sysmem, offset);
}

/// An atomic of `lanes` lanes of 4 bytes at `offset`, all with the same operand.
inline AtomicBlock lanes_at(AtomicOperation operation, DataType type, unsigned lanes, unsigned offset,
                            std::uint64_t operand) {
  AtomicBlock b;
  b.operation = operation;
  b.type = type;
  b.count = lanes;
  for (unsigned i = 0; i < lanes; ++i) {
    b.lanes[i].lane = static_cast<std::uint8_t>(i);
    b.lanes[i].offset = static_cast<std::uint8_t>(offset);
    b.lanes[i].operand = operand;
  }
  return b;
}

inline ByteMask bytes(unsigned offset, unsigned count) {
  ByteMask mask;
  mask.set(offset, count);
  return mask;
}

}  // namespace warpline::test
