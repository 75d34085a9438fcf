#include "rtl_models/pcie/gpu_link/pcie_transfers.h"

#include <algorithm>

#include "rtl_models/base/contract.h"
#include "rtl_models/pcie/gpu_link/pcie_mutations.h"

namespace warpline {

void list_timed(std::vector<InFlight>& rows, const Component& link, const TimedQueue<PcieTransfer*>& queue,
                const std::string& place, const std::string& why, bool posted) {
  for (const auto& [edge, transfer] : queue)
    if (posted || !transfer->posted())
      rows.emplace_back(*transfer->request, link.name(), link.name() + place,
                        why + " in cycle " + std::to_string(link.domain().cycle_of(edge)));
}

unsigned PcieTransfers::tags_of(const Request& r, bool to_devices) const {
  if (r.command == Command::write || to_devices) return 0;
  if (r.command == Command::read) return 1;
  return std::min(r.atomics->count, core_.parameters().tags);
}

bool PcieTransfers::waits_for_line(const Request& r) const {
  if (!mutated(PcieMutation::link_atomic_overtaken) &&
      std::find(looping_.begin(), looping_.end(), r.line) != looping_.end())
    return true;
  return std::any_of(asking_.begin(), asking_.end(), [&](const PcieTransfer* transfer) {
    const Request& earlier = *transfer->owed;
    return earlier.line == r.line && (r.command != Command::read || earlier.command != Command::read);
  });
}

PcieTransfer& PcieTransfers::begin(Request& r, unsigned port, bool to_devices, bool reaches) {
  if (free_.empty()) {
    const auto number = static_cast<std::uint32_t>(transfers_.size());
    free_.push_back(&transfers_.emplace_back());
    free_.back()->number = number;
  }
  PcieTransfer& transfer = *free_.back();
  free_.pop_back();
  transfer.request = transfer.owed = &r;
  transfer.port = port;
  transfer.tags = tags_of(r, to_devices);
  transfer.to_devices = to_devices;
  transfer.reaches = reaches;
  tags_ += transfer.tags;
  ++counters_.requests;
  counters_.peer_requests += aperture_of(r.line) == Aperture::peer;
  counters_.flushes += is_flush(r);
  if (!reaches) {
    ++counters_.address_errors;
    r.status = Status::address_error;
  }
  begin_leg(transfer);
  if (to_devices && !transfer.posted()) asking_.push_back(&transfer);
  return transfer;
}

void PcieTransfers::begin_leg(PcieTransfer& transfer) {
  const Request& r = *transfer.owed;
  switch (r.command) {
    case Command::read:
      ++counters_.reads;
      transfer.leg = PcieLeg::read;
      return;
    case Command::write: ++counters_.writes; return post(transfer, PcieLeg::write, r.bytes, r.data);
    case Command::atomic:
    case Command::reduce: break;
    case Command::maintain:
    case Command::control: WARPLINE_EXPECT(false, "a PCIe link has no caches to maintain");
  }
  ++counters_.atomics;
  const PcieAtomicWay way = core_.way_of(*r.atomics);
  if (way == PcieAtomicWay::atomic_op) {
    transfer.leg = PcieLeg::atomic_op;
    return;
  }
  ++(way == PcieAtomicWay::compare_and_swap ? counters_.cas_loops : counters_.unsupported_atomics);
  looping_.push_back(r.line);
  transfer.leg = PcieLeg::word_reads;
  transfer.swap = PcieSwap(*r.atomics);
}

/// From now on a write of the link's own is on its way: what it was made for is answered before that arrives.
void PcieTransfers::post(PcieTransfer& transfer, PcieLeg leg, const ByteMask& bytes,
                         const std::array<std::uint8_t, kLineBytes>& data) {
  const Request& r = *transfer.owed;
  Request* const write = writes_.allocate_child(r, this);
  write->command = Command::write;
  write->exact = r.exact;
  write->bytes = bytes;
  write->data = data;
  transfer.request = write;
  transfer.leg = leg;
}

bool PcieTransfers::next_leg(PcieTransfer& transfer) {
  PcieSwap& swap = transfer.swap;
  if (!transfer.loops() || !transfer.reaches || swap.left() == 0) return false;
  AtomicBlock& block = *transfer.owed->atomics;
  swap.want(block);
  if (core_.parameters().atomic_ops) {
    transfer.leg = PcieLeg::word_swaps;
    return true;
  }
  const ByteMask bytes = swap.written(block, with_data_);
  if (!bytes.any()) return false;
  tags_ -= transfer.tags;
  transfer.tags = 0;
  post(transfer, PcieLeg::word_writes, bytes, swap.wanted());
  return true;
}

Request* PcieTransfers::answer(PcieTransfer& transfer) {
  Request* const owed = transfer.owed;
  if (transfer.to_devices)
    asking_.erase(std::remove(asking_.begin(), asking_.end(), &transfer), asking_.end());
  if (transfer.loops())
    looping_.erase(std::remove(looping_.begin(), looping_.end(), owed->line), looping_.end());
  transfer.owed = nullptr;
  return owed;
}

void PcieTransfers::release(PcieTransfer& transfer) {
  if (transfer.posted()) writes_.release(transfer.request);
  transfer.request = nullptr;
  tags_ -= transfer.tags;
  free_.push_back(&transfer);
}

}  // namespace warpline
