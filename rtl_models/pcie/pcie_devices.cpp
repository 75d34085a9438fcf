// The part of the PCIe link that has transfers go on to devices behind a root complex.
#include <algorithm>
#include <cstring>

#include "warpline/pcie/byte_runs.h"
#include "warpline/pcie/lane_value.h"
#include "warpline/pcie/pcie.h"

namespace warpline {
namespace {

TlpKind kind_of(AtomicOperation operation) {
  switch (operation) {
    case AtomicOperation::add: return TlpKind::fetch_add;
    case AtomicOperation::exchange: return TlpKind::swap;
    case AtomicOperation::compare_and_swap: return TlpKind::compare_and_swap;
    case AtomicOperation::none:
    case AtomicOperation::min:
    case AtomicOperation::max:
    case AtomicOperation::bit_and:
    case AtomicOperation::bit_or:
    case AtomicOperation::bit_xor:
    case AtomicOperation::increment:
    case AtomicOperation::decrement: break;
  }
  WARPLINE_EXPECT(false, "other operations are done by compare-and-swap");
  return TlpKind::swap;
}

template <class F>
void for_each_word(std::uint32_t words, F&& visit) {
  for (; words != 0; words &= words - 1) visit(static_cast<unsigned>(__builtin_ctz(words)));
}

}  // namespace

GpuFunction& PcieLink::reach_devices(TlpPool& pool, FunctionId id, const LinkParameters& root) {
  WARPLINE_EXPECT(function_ == nullptr && core_.peer() == nullptr, "one thing lies in the peer aperture");
  const std::uint64_t bar_bytes = inbound_ != nullptr ? core_.parameters().bar_bytes : 0;
  function_ =
      std::make_unique<GpuFunction>(*this, pool, id, root, GpuFunction::Memory{bar_bytes, memory_bytes_});
  function_->perform_by(*this);
  return *function_;
}

bool PcieLink::parked_goes() const {
  return !parked_.empty() && !waits_for_line(*parked_.front().request);
}

/// Takes requests for devices off the ports that have to wait for answers of devices: what is behind them
/// must not, as answers may be behind writes to video memory, and these behind that.
void PcieLink::park(Cycle now) {
  if (parked_goes()) return;
  for (;;) {
    const unsigned port = ports_.choose(
        [this](const Request& r) { return is_for_devices(r) && (!parked_.empty() || waits_for_line(r)); });
    if (port == TargetPorts::kNone) return;
    parked_.push_back({ports_.take(now, port), port});
  }
}

/// From the end of the link on to devices.
void PcieLink::go_on(std::uint32_t index) {
  Transfer& transfer = transfers_[index];
  const std::uint64_t line = offset_in_aperture(transfer.line);
  switch (transfer.leg) {
    case Leg::write:
    case Leg::word_writes:
      for_each_run(transfer.bytes, [&](unsigned first, unsigned bytes) {
        function_->write(line + first, &transfer.data[first], bytes);
      });
      return release(index);
    case Leg::read: ask(index); break;
    case Leg::atomic_op: ask_atomics(index); break;
    case Leg::word_reads:
    case Leg::word_swaps: ask_words(index); break;
  }
  transfer.completion = 0;
}

void PcieLink::ask(std::uint32_t index) {
  Transfer& transfer = transfers_[index];
  const Request& r = *transfer.request;
  const std::uint64_t line = offset_in_aperture(transfer.line);
  for_each_run(r.exact ? r.bytes : ByteMask::of_sectors(r.sectors), [&](unsigned first, unsigned bytes) {
    function_->read(index, static_cast<std::uint8_t>(first), line + first, bytes);
    ++transfer.awaited;
  });
  if (transfer.awaited != 0) return;
  function_->read(index, 0, line, 0);
  transfer.awaited = 1;
}

void PcieLink::ask_atomics(std::uint32_t index) {
  Transfer& transfer = transfers_[index];
  const AtomicBlock& block = *transfer.request->atomics;
  const std::uint64_t line = offset_in_aperture(transfer.line);
  const unsigned bytes = block.lane_bytes();
  for (unsigned i = 0; i < block.count; ++i) {
    const LaneAtomic& lane = block.lanes[i];
    std::array<std::uint8_t, 32> operands{};
    gather_value(operands.data(), lane.operand, block.high[i].operand, bytes);
    gather_value(operands.data() + bytes, lane.second, block.high[i].second, bytes);
    function_->atomic(index, static_cast<std::uint8_t>(i), kind_of(block.operation), line + lane.offset,
                      bytes, operands.data());
    ++transfer.awaited;
  }
}

void PcieLink::ask_words(std::uint32_t index) {
  Transfer& transfer = transfers_[index];
  const PcieSwap& swap = transfer.swap;
  const std::uint64_t line = offset_in_aperture(transfer.line);
  for_each_word(swap.words, [&](unsigned word) {
    const unsigned at = word * swap.word_bytes;
    if (transfer.leg == Leg::word_reads) {
      function_->read(index, static_cast<std::uint8_t>(word), line + at, swap.word_bytes);
    } else {
      std::array<std::uint8_t, 32> operands{};
      std::copy_n(&swap.seen[at], swap.word_bytes, operands.begin());
      std::copy_n(&swap.wanted[at], swap.word_bytes, operands.begin() + swap.word_bytes);
      function_->atomic(index, static_cast<std::uint8_t>(word), TlpKind::compare_and_swap, line + at,
                        swap.word_bytes, operands.data());
    }
    ++transfer.awaited;
  });
}

/// What devices have answered; whole answers go down the link from edge `at` on.
void PcieLink::take_answers(std::uint64_t at) {
  for (auto& pieces = function_->pieces(); !pieces.empty(); pieces.pop_front()) {
    const GpuFunction::Piece& piece = pieces.front();
    Transfer& transfer = transfers_[piece.transfer];
    if (transfer.completion == 0) {
      const PcieTrain completion = completion_of(transfer);
      count(completion, counters_.bytes_down);
      transfer.completion = completion.cycles;
    }
    take(piece);
    if (!piece.last || --transfer.awaited != 0) continue;
    if (transfer.leg == Leg::word_swaps && transfer.swap.words != 0) ++counters_.cas_retries;
    transfer.behind = inbound_ != nullptr ? inbound_->writes_taken() : 0;
    send_down(at, piece.transfer);
  }
}

void PcieLink::take(const GpuFunction::Piece& piece) {
  Transfer& transfer = transfers_[piece.transfer];
  Request& r = *transfer.request;
  PcieSwap& swap = transfer.swap;
  switch (transfer.leg) {
    case Leg::read:
      std::copy_n(piece.data.begin(), piece.bytes, r.data.begin() + piece.part + piece.first);
      return;
    case Leg::atomic_op: {
      AtomicBlock& block = *r.atomics;
      spread_value(piece.data.data(), block.lanes[piece.part].old_value, block.high[piece.part].old_value,
                   piece.bytes);
      return;
    }
    case Leg::word_reads:
    case Leg::word_swaps: {
      std::uint8_t* const seen = &swap.seen[piece.part * swap.word_bytes];
      // Nobody swaps what no device has: trying again would be in vain.
      const bool swapped = transfer.leg == Leg::word_swaps &&
                           (piece.refused || std::equal(seen, seen + swap.word_bytes, piece.data.begin()));
      if (swapped) swap.words &= ~(1U << piece.part);
      if (!swapped) std::copy_n(piece.data.begin(), piece.bytes, seen);
      return;
    }
    case Leg::write:
    case Leg::word_writes: break;
  }
}

}  // namespace warpline
