#include "rtl_models/pcie/gpu_link/pcie_core.h"

#include <algorithm>

#include "rtl_models/base/contract.h"

namespace warpline {

PcieAtomicWay PcieCore::way_of(const AtomicBlock& atomics) const {
  if (!parameters_.atomic_ops) return PcieAtomicWay::read_and_write;
  const unsigned size = size_of(atomics.type);
  const bool integer = !is_float(atomics.type) && (size == 4 || size == 8);
  const bool swaps = atomics.operation == AtomicOperation::compare_and_swap;
  const bool carried =
      swaps || atomics.operation == AtomicOperation::add || atomics.operation == AtomicOperation::exchange;
  return (carried && integer) || (swaps && size == 16) ? PcieAtomicWay::atomic_op
                                                       : PcieAtomicWay::compare_and_swap;
}

unsigned PcieCore::packet_cycles(unsigned payload) const {
  const unsigned bytes = parameters_.tlp_overhead + payload;
  return std::max(1U, (bytes + parameters_.bytes_per_cycle - 1) / parameters_.bytes_per_cycle);
}

void PcieCore::add_split(PcieTrain& train, unsigned payload) const {
  train.payload += payload;
  while (payload != 0) {
    const unsigned part = std::min(payload, parameters_.max_payload);
    ++train.packets;
    train.cycles += packet_cycles(part);
    payload -= part;
  }
}

PcieTrain PcieCore::completion(unsigned bytes) const {
  PcieTrain train;
  add_split(train, bytes);
  if (train.packets == 0) train = uniform(1, 0);  // a read of no byte is answered all the same
  return train;
}

PcieTrain PcieCore::write(const ByteMask& bytes) const {
  PcieTrain train;
  unsigned run = 0;
  for (unsigned at = 0; at < kLineBytes; at += 4) {
    const std::uint64_t half = at < 64 ? bytes.low : bytes.high;
    if (((half >> (at % 64)) & 0xFU) != 0) {
      run += 4;
    } else {
      add_split(train, run);
      run = 0;
    }
  }
  add_split(train, run);
  if (train.packets == 0) train = uniform(1, 0);  // a write of no byte is still a packet
  return train;
}

PcieTrain PcieCore::packets_up(const PcieTransfer& transfer) const {
  const PcieSwap& swap = transfer.swap;
  switch (transfer.leg) {
    case PcieLeg::read: return read_request();
    case PcieLeg::write: return write(transfer.request->bytes);
    case PcieLeg::atomic_op: return atomic_request(*transfer.request->atomics);
    case PcieLeg::word_reads: return uniform(swap.left(), 0);
    case PcieLeg::word_swaps: return uniform(swap.left(), 2 * swap.word_bytes());
    case PcieLeg::word_writes: return uniform(swap.left(), swap.word_bytes());
  }
  return {};
}

PcieTrain PcieCore::packets_down(const PcieTransfer& transfer) const {
  const Request& r = *transfer.request;
  switch (transfer.leg) {
    // A completion of some bytes is as long as the write that carries them.
    case PcieLeg::read: return r.exact ? write(r.bytes) : read_completion(r.sectors);
    case PcieLeg::atomic_op: return atomic_completion(*r.atomics);
    case PcieLeg::word_reads:
    case PcieLeg::word_swaps: return uniform(transfer.swap.left(), transfer.swap.word_bytes());
    case PcieLeg::write:
    case PcieLeg::word_writes: break;
  }
  WARPLINE_EXPECT(false, "posted packets have no completion");
  return {};
}

}  // namespace warpline
