// What a peer's bus shows of the transfers that arrive there.
#include "warpline/pcie/byte_runs.h"
#include "warpline/pcie/pcie.h"

namespace warpline {

void PcieLink::show(BusAccess::Kind kind, const Transfer& transfer, unsigned offset, unsigned bytes,
                    std::uint64_t at) const {
  BusAccess access;
  access.kind = kind;
  access.exact = transfer.exact;
  access.offset = offset_in_aperture(transfer.line) + offset;
  access.bytes = bytes;
  access.gpu = transfer.gpu;
  access.sm = transfer.sm;
  access.warp = transfer.warp;
  access.cycle = domain().cycle_of(at);
  if (const std::uint8_t* line = core_.at(transfer.line); line != nullptr && bytes != 0)
    __builtin_memcpy(access.data.data(), line + offset, bytes);
  core_.peer()->arrived(access);
}

/// Each run of adjacent bytes of `mask`.
void PcieLink::show_runs(BusAccess::Kind kind, const Transfer& transfer, const ByteMask& mask,
                         std::uint64_t at) const {
  for_each_run(mask, [&](unsigned first, unsigned bytes) { show(kind, transfer, first, bytes, at); });
}

/// `words`: of the line, those that it reads or tries to swap.
void PcieLink::show_at_peer(const Transfer& transfer, std::uint64_t at, std::uint32_t words) const {
  if (!transfer.peer || !transfer.reaches || !core_.peer()->is_watched()) return;
  using Kind = BusAccess::Kind;
  const auto show_words = [&](Kind kind) {
    for (std::uint32_t left = words; left != 0; left &= left - 1)
      show(kind, transfer, static_cast<unsigned>(__builtin_ctz(left)) * transfer.swap.word_bytes,
           transfer.swap.word_bytes, at);
  };
  switch (transfer.leg) {
    case Leg::read: {
      const Request& r = *transfer.request;
      if (is_flush(r)) return show(Kind::flush, transfer, 0, 0, at);
      return show_runs(Kind::read, transfer, r.exact ? r.bytes : ByteMask::of_sectors(r.sectors), at);
    }
    case Leg::write:
    case Leg::word_writes: return show_runs(Kind::write, transfer, transfer.bytes, at);
    case Leg::atomic_op: {
      const AtomicBlock& block = *transfer.request->atomics;
      for (unsigned i = 0; i < block.count; ++i)
        show(Kind::atomic, transfer, block.lanes[i].offset, block.lane_bytes(), at);
      return;
    }
    case Leg::word_reads: return show_words(Kind::read);
    case Leg::word_swaps: return show_words(Kind::atomic);
  }
}

}  // namespace warpline
