// The part of the PCIe link that takes one transfer on its way: leg after leg, up and down.
#include <algorithm>

#include "warpline/pcie/pcie.h"

namespace warpline {

std::uint32_t PcieLink::take(Request* r, unsigned port) {
  if (free_.empty()) {
    free_.push_back(static_cast<std::uint32_t>(transfers_.size()));
    transfers_.emplace_back();
  }
  const std::uint32_t index = free_.back();
  free_.pop_back();
  Transfer& transfer = transfers_[index];
  transfer.request = r;
  transfer.port = port;
  transfer.tags = tags_of(*r);
  transfer.line = r->line;
  transfer.peer = aperture_of(r->line) == Aperture::peer;
  transfer.reaches = (transfer.peer && function_ != nullptr) || core_.reaches(r->line);
  transfer.exact = r->exact;
  transfer.gpu = r->gpu;
  transfer.sm = r->sm;
  transfer.warp = r->warp;
  tags_ += transfer.tags;
  ++counters_.requests;
  counters_.peer_requests += transfer.peer;
  counters_.flushes += is_flush(*r);
  if (!transfer.reaches) {
    ++counters_.address_errors;
    r->status = Status::address_error;
  }
  switch (r->command) {
    case Command::read:
      ++counters_.reads;
      transfer.leg = Leg::read;
      break;
    case Command::write:
      ++counters_.writes;
      transfer.leg = Leg::write;
      transfer.bytes = r->bytes;
      transfer.data = r->data;
      break;
    case Command::atomic:
    case Command::reduce:
      ++counters_.atomics;
      switch (core_.way_of(*r->atomics)) {
        case PcieAtomicWay::atomic_op: transfer.leg = Leg::atomic_op; break;
        case PcieAtomicWay::compare_and_swap:
          ++counters_.cas_loops;
          looping_.push_back(r->line);
          transfer.leg = Leg::word_reads;
          transfer.swap = PcieCore::begin_swap(*r);
          break;
        case PcieAtomicWay::read_and_write:
          ++counters_.unsupported_atomics;
          looping_.push_back(r->line);
          transfer.leg = Leg::word_reads;
          transfer.swap = PcieCore::begin_swap(*r);
          break;
      }
      break;
    case Command::maintain:
    case Command::control: WARPLINE_EXPECT(false, "a PCIe link has no caches to maintain"); break;
  }
  if (transfer.peer && function_ != nullptr && r->command != Command::write) asking_.push_back(index);
  return index;
}

void PcieLink::answer(Transfer& transfer) {
  if (transfer.peer && function_ != nullptr) {
    const auto index = static_cast<std::uint32_t>(&transfer - transfers_.data());
    asking_.erase(std::remove(asking_.begin(), asking_.end(), index), asking_.end());
  }
  if (transfer.leg >= Leg::word_reads)
    looping_.erase(std::remove(looping_.begin(), looping_.end(), transfer.request->line), looping_.end());
  if (transfer.port != TargetPorts::kNone) ports_.answer(transfer.port, transfer.request);
  transfer.request = nullptr;
}

void PcieLink::count(const PcieTrain& train, std::uint64_t& payload) {
  payload += train.payload;
  counters_.tlp_bytes += train.payload + std::uint64_t{train.packets} * core_.parameters().tlp_overhead;
}

void PcieLink::send_up(std::uint64_t t, std::uint32_t index) {
  const Transfer& transfer = transfers_[index];
  PcieTrain train;
  switch (transfer.leg) {
    case Leg::read: train = core_.read_request(); break;
    case Leg::write: train = core_.write(transfer.bytes); break;
    case Leg::atomic_op: train = core_.atomic_request(*transfer.request->atomics); break;
    case Leg::word_reads: train = core_.word_reads(transfer.swap); break;
    case Leg::word_swaps: train = core_.word_swaps(transfer.swap); break;
    case Leg::word_writes: train = core_.word_values(transfer.swap); break;
  }
  count(train, counters_.bytes_up);
  up_free_ = t + train.cycles;
  const PcieParameters& p = core_.parameters();
  if (transfer.peer) {
    peer_up_.push_back({up_free_ + p.latency + (function_ == nullptr ? p.peer_latency : 0), index});
  } else {
    up_.push_back({up_free_ + p.latency, index});
  }
  if (transfer.leg == Leg::write || transfer.leg == Leg::word_writes) posted_.push_back({up_free_, index});
}

/// The effect at the far end. Returns the completion.
PcieTrain PcieLink::perform(Transfer& transfer) {
  if (!transfer.reaches) return core_.refusal();
  Request& r = *transfer.request;
  switch (transfer.leg) {
    case Leg::read: core_.perform_read(r); break;
    case Leg::atomic_op: core_.perform_atomic(r); break;
    case Leg::word_reads: core_.see(r.line, transfer.swap); break;
    case Leg::word_swaps: {
      const PcieTrain completion = completion_of(transfer);
      if (core_.try_swap(r.line, transfer.swap)) ++counters_.cas_retries;
      return completion;
    }
    case Leg::write:
    case Leg::word_writes: break;
  }
  return completion_of(transfer);
}

/// What answers a leg; of words, before any is done with.
PcieTrain PcieLink::completion_of(const Transfer& transfer) const {
  const Request& r = *transfer.request;
  switch (transfer.leg) {
    // A completion of some bytes is as long as the write that carries them.
    case Leg::read: return r.exact ? core_.write(r.bytes) : core_.read_completion(r.sectors);
    case Leg::atomic_op: return core_.atomic_completion(*r.atomics);
    case Leg::word_reads:
    case Leg::word_swaps: return core_.word_values(transfer.swap);
    case Leg::write:
    case Leg::word_writes: break;
  }
  WARPLINE_EXPECT(false, "posted packets have no completion");
  return {};
}

void PcieLink::arrive_up(std::uint64_t at, std::uint32_t index) {
  Transfer& transfer = transfers_[index];
  if (transfer.peer && function_ != nullptr) return go_on(index);
  if (transfer.leg == Leg::write || transfer.leg == Leg::word_writes) {
    if (transfer.reaches) core_.perform_write(transfer.line, transfer.data.data(), transfer.bytes);
    show_at_peer(transfer, at);
    release(index);
    return;
  }
  const std::uint32_t words = transfer.swap.words;
  const PcieTrain completion = perform(transfer);
  show_at_peer(transfer, at, words);
  count(completion, counters_.bytes_down);
  transfer.completion = completion.cycles;
  if (transfer.peer) {
    returning_.push_back({at + core_.parameters().peer_latency, index});
  } else {
    send_down(at, index);
  }
}

void PcieLink::send_down(std::uint64_t at, std::uint32_t index) {
  const Transfer& transfer = transfers_[index];
  down_free_ = std::max(at, down_free_) + transfer.completion;
  std::deque<Timed>& down = transfer.peer && function_ != nullptr ? devices_down_ : down_;
  down.push_back({down_free_ + core_.parameters().latency, index});
}

void PcieLink::arrive_down(std::uint32_t index) {
  Transfer& transfer = transfers_[index];
  const bool loops = transfer.leg == Leg::word_reads || transfer.leg == Leg::word_swaps;
  if (!loops || !transfer.reaches || transfer.swap.words == 0) {
    finish(index);
    return;
  }
  PcieCore::want(*transfer.request, transfer.swap);
  if (core_.parameters().atomic_ops) {
    transfer.leg = Leg::word_swaps;
  } else {
    transfer.bytes = core_.written(*transfer.request, transfer.swap);
    if (!transfer.bytes.any()) {
      finish(index);
      return;
    }
    tags_ -= transfer.tags;
    transfer.tags = 0;
    transfer.leg = Leg::word_writes;
    transfer.data = transfer.swap.wanted;
  }
  legs_.push_back(index);
}

void PcieLink::finish(std::uint32_t index) {
  Transfer& transfer = transfers_[index];
  answer(transfer);
  release(index);
}

void PcieLink::release(std::uint32_t index) {
  tags_ -= transfers_[index].tags;
  free_.push_back(index);
}

}  // namespace warpline
