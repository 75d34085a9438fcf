#include "rtl_models/pcie/gpu_link/memory_end.h"

#include <algorithm>
#include <cstring>
#include <optional>

#include "rtl_models/sim/atomics.h"

namespace warpline {

bool MemoryEnd::reaches(PhysicalAddress line) const {
  if (aperture_of(line) != memory_.aperture) return false;
  if (memory_.image == nullptr) return memory_.aperture == Aperture::sysmem;
  const std::uint64_t offset = offset_in_aperture(line);
  return offset < memory_.image->size() && memory_.image->size() - offset >= kLineBytes;
}

/// As of edge `at`. Afterwards a transfer that is to be answered has its completion.
void MemoryEnd::take_effect(std::uint64_t at, PcieTransfer& transfer) {
  if (!transfer.reaches) {
    transfer.completion = core_.refusal();
    return;
  }
  if (!transfer.posted()) transfer.completion = core_.packets_down(transfer);
  const bool shown = memory_.device != nullptr && memory_.device->is_watched();
  std::optional<PcieSwap> before;
  if (shown && transfer.loops()) before = transfer.swap;
  Request& r = *transfer.request;
  std::uint8_t* const line = this->at(r.line);
  switch (transfer.leg) {
    case PcieLeg::read:
      if (line == nullptr) break;
      if (r.exact) {
        copy_masked(r.data.data(), line, r.bytes);
      } else {
        copy_sectors(r.data.data(), line, r.sectors);
      }
      break;
    case PcieLeg::atomic_op:
      if (line != nullptr) perform_atomics(*r.atomics, line);
      break;
    case PcieLeg::word_reads: transfer.swap.see(line); break;
    case PcieLeg::word_swaps: counters_.cas_retries += transfer.swap.try_swap(line); break;
    case PcieLeg::write:
    case PcieLeg::word_writes:
      if (line != nullptr) copy_masked(line, r.data.data(), r.bytes);
      break;
  }
  if (shown) show(transfer, before ? *before : transfer.swap, at);
}

void MemoryEnd::arrive(Cycle now) {
  const std::uint64_t t = link_.domain().edge_at_or_after(now);
  arriving_.take_due(t, [&](const auto& arrival) {
    take_effect(arrival.at, *arrival.what);
    if (arrival.what->posted()) return transfers_.release(*arrival.what);
    returning_.push(arrival.at + memory_.farther, arrival.what);
  });
}

template <class F>
void MemoryEnd::for_each_coming(PhysicalAddress address, unsigned count, F&& f) const {
  for (const auto& arrival : arriving_)
    if (arrival.what->posted()) for_each_byte_of(*arrival.what->request, address, count, f);
}

void MemoryEnd::overlay(PhysicalAddress address, std::uint8_t* bytes, unsigned count) const {
  for_each_coming(address, count, [bytes](unsigned n, const std::uint8_t& coming) { bytes[n] = coming; });
}

void MemoryEnd::update(PhysicalAddress address, const std::uint8_t* bytes, unsigned count) {
  for_each_coming(address, count, [bytes](unsigned n, std::uint8_t& coming) { coming = bytes[n]; });
}

/// Shows the device's bus a transfer that has been performed. `swap`: its words before that.
void MemoryEnd::show(const PcieTransfer& transfer, const PcieSwap& swap, std::uint64_t at) const {
  const Request& r = *transfer.request;
  const std::uint8_t* const line = this->at(r.line);
  const bool reads = transfer.leg == PcieLeg::read || transfer.leg == PcieLeg::word_reads;
  for_each_part(transfer, swap, [&](unsigned, unsigned offset, unsigned bytes) {
    BusAccess access;
    access.cycle = link_.domain().cycle_of(at);
    access.kind = transfer.posted() ? AccessKind::write
                  : !reads          ? AccessKind::atomic
                  : bytes == 0      ? AccessKind::flush
                                    : AccessKind::read;
    access.exact = r.exact;
    access.requester = r.gpu;
    access.sm = r.sm;
    access.warp = r.warp;
    access.bytes = bytes;
    access.offset = offset_in_aperture(r.line) + offset;
    if (line != nullptr) std::memcpy(&access.value, line + offset, std::min<std::size_t>(bytes, 8));
    memory_.device->arrived(access);
  });
}

void MemoryEnd::in_flight(std::vector<InFlight>& rows) const {
  list_timed(rows, link_, arriving_, " wire upward", "its packets to arrive");
  list_timed(rows, link_, returning_, " peer", "its completion to reach the wire downward");
}

}  // namespace warpline
