#pragma once

#include <cstdint>

#include "rtl_models/pcie/gpu_link/pcie_swap.h"
#include "rtl_models/pcie/packets/byte_run.h"

namespace warpline {

/// Packets that travel together in one direction.
struct PcieTrain {
  unsigned packets = 0;
  unsigned payload = 0;  ///< bytes of all of them, overhead excluded
  unsigned cycles = 0;   ///< of the wire: each packet takes ceil((overhead + payload) / bytes_per_cycle)
};

/// What the packets of a transfer on the wire upward are; the last three are of atomics that take several
/// round trips.
enum class PcieLeg : std::uint8_t { read, write, atomic_op, word_reads, word_swaps, word_writes };

/// A request on its way over a PCIe link, from when it is taken until it is answered, and if it writes has
/// arrived.
struct PcieTransfer {
  Request* request = nullptr;  ///< what the packets carry: the request taken, or for a posted leg a copy
  Request* owed = nullptr;     ///< the request taken, until it is answered; then null
  unsigned port = 0;           ///< that it came by; TargetPorts::kNone: of a loosely timed access
  std::uint32_t number = 0;    ///< of its place in PcieTransfers
  unsigned tags = 0;           ///< of the link that it holds
  PcieLeg leg = PcieLeg::read;
  bool to_devices = false;  ///< behind the root complex
  bool reaches = true;      ///< there is such a line at the far end
  PcieTrain completion;     ///< what answers the leg; no packets: nothing has answered yet
  unsigned awaited = 0;     ///< packets that devices have yet to answer
  /// Of one that devices have answered: writes to video memory that came before (Inbound::writes_taken).
  std::uint64_t behind = 0;
  PcieSwap swap;  ///< of an atomic that takes several round trips

  /// Whether what is under way is answered when it is on the wire.
  [[nodiscard]] bool posted() const { return leg == PcieLeg::write || leg == PcieLeg::word_writes; }
  [[nodiscard]] bool loops() const { return leg >= PcieLeg::word_reads; }
};

/// What a leg consists of for whoever takes it, which may be fewer packets on the wire: each run of adjacent
/// bytes that it reads or writes, each lane, or each word that is left in `swap`: visit(part, offset, bytes).
/// `part`: the first byte of a run, or the number of a lane or a word. Of a read of no byte: one of 0 bytes.
template <class F>
void for_each_part(const PcieTransfer& transfer, const PcieSwap& swap, F&& visit) {
  const Request& r = *transfer.request;
  const auto visit_runs = [&](const ByteMask& bytes) {
    for_each_run(bytes, [&](unsigned first, unsigned count) { visit(first, first, count); });
    if (!bytes.any() && !transfer.posted()) visit(0U, 0U, 0U);
  };
  switch (transfer.leg) {
    case PcieLeg::read: return visit_runs(r.exact ? r.bytes : ByteMask::of_sectors(r.sectors));
    case PcieLeg::write:
    case PcieLeg::word_writes: return visit_runs(r.bytes);
    case PcieLeg::atomic_op:
      for (unsigned i = 0; i < r.atomics->count; ++i)
        visit(i, unsigned{r.atomics->lanes[i].offset}, r.atomics->lane_bytes());
      return;
    case PcieLeg::word_reads:
    case PcieLeg::word_swaps:
      return swap.for_each([&](unsigned word, unsigned offset) { visit(word, offset, swap.word_bytes()); });
  }
}

}  // namespace warpline
