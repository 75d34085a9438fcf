#include "rtl_models/pcie/gpu_link/device_end.h"

#include <algorithm>

#include "rtl_models/sim/atomics.h"

namespace warpline {
namespace {

/// A part of a transfer as a packet's cookie: a line has 128 bytes.
constexpr unsigned kPartBits = 8;

TlpKind kind_of(AtomicOperation operation) {
  if (operation == AtomicOperation::add) return TlpKind::fetch_add;
  if (operation == AtomicOperation::compare_and_swap) return TlpKind::compare_and_swap;
  WARPLINE_EXPECT(operation == AtomicOperation::exchange, "other operations are done by compare-and-swap");
  return TlpKind::swap;
}

TlpKind kind_of(const PcieTransfer& transfer) {
  switch (transfer.leg) {
    case PcieLeg::read:
    case PcieLeg::word_reads: return TlpKind::memory_read;
    case PcieLeg::write:
    case PcieLeg::word_writes: return TlpKind::memory_write;
    case PcieLeg::atomic_op: return kind_of(transfer.request->atomics->operation);
    case PcieLeg::word_swaps: break;
  }
  return TlpKind::compare_and_swap;
}

}  // namespace

DeviceEnd::DeviceEnd(Component& link, const PcieCore& core, PcieTransfers& transfers, PcieWire& wire,
                     PcieCounters& counters, Inbound* inbound, TlpPool& pool, FunctionId id,
                     const LinkParameters& root, std::uint64_t log_entries)
    : link_(link),
      core_(core),
      transfers_(transfers),
      wire_(wire),
      counters_(counters),
      inbound_(inbound),
      pool_(pool),
      function_(link, pool, id, root,
                {inbound != nullptr ? core.parameters().bar_bytes : 0,
                 inbound != nullptr ? inbound->memory_bytes() : 0,
                 inbound != nullptr && core.parameters().registers, log_entries}) {
  if (inbound != nullptr) inbound->come_from(function_);
}

void DeviceEnd::park(Cycle now, TargetPorts& ports) {
  if (parked_goes()) return;
  for (;;) {
    const unsigned port = ports.choose([this](const Request& r) {
      return aperture_of(r.line) == Aperture::peer && (!parked_.empty() || transfers_.waits_for_line(r));
    });
    if (port == TargetPorts::kNone) return;
    parked_.push_back({ports.take(now, port), port});
  }
}

/// From the end of the link on to devices.
void DeviceEnd::send_on(PcieTransfer& transfer) {
  transfer.completion = {};
  const TlpKind kind = kind_of(transfer);
  const std::uint64_t line = offset_in_aperture(transfer.request->line);
  for_each_part(transfer, transfer.swap, [&](unsigned part, unsigned offset, unsigned bytes) {
    Tlp* const tlp = pool_.allocate(kind, line + offset, bytes);
    tlp->cookie = transfer.number << kPartBits | part;
    tlp->relaxed_ordering = relaxed_writes_ && tlp->posted();
    add_payload(transfer, part, offset, *tlp);
    function_.ask(tlp);
    transfer.awaited += !tlp->posted();
  });
}

/// What a packet writes, or the operands of an atomic: of a compare-and-swap what it compares with, then what
/// it swaps in.
void DeviceEnd::add_payload(const PcieTransfer& transfer, unsigned part, unsigned offset, Tlp& tlp) {
  if (tlp.kind == TlpKind::memory_read) return;
  tlp.data.resize(std::size_t{tlp.bytes} * (tlp.kind == TlpKind::compare_and_swap ? 2 : 1));
  std::uint8_t* const first = tlp.data.data();
  std::uint8_t* const second = first + tlp.bytes;
  if (tlp.posted()) {
    std::copy_n(&transfer.request->data[offset], tlp.bytes, first);
  } else if (transfer.leg == PcieLeg::word_swaps) {
    std::copy_n(&transfer.swap.seen()[offset], tlp.bytes, first);
    std::copy_n(&transfer.swap.wanted()[offset], tlp.bytes, second);
  } else {
    const LaneAtomic& low = transfer.request->atomics->lanes[part];
    const LaneAtomicHigh& high = transfer.request->atomics->high[part];
    gather_value(first, low.operand, high.operand, tlp.bytes);
    if (tlp.kind == TlpKind::compare_and_swap) gather_value(second, low.second, high.second, tlp.bytes);
  }
}

/// What devices have answered: answered(PcieTransfer&) for each transfer of which all has come.
template <class F>
void DeviceEnd::take_parts(F&& answered) {
  for (auto& parts = function_.parts(); !parts.empty(); parts.pop_front()) {
    ReadPart& part = parts.front();
    PcieTransfer& transfer = transfers_[part.cookie >> kPartBits];
    if (transfer.completion.packets == 0) transfer.completion = core_.packets_down(transfer);
    if (part.outcome != TlpOutcome::done) part.data.assign(part.missing, 0xFF);
    take(part, transfer);
    if (!part.last || --transfer.awaited != 0) continue;
    counters_.cas_retries += transfer.leg == PcieLeg::word_swaps && transfer.swap.left() != 0;
    transfer.behind = inbound_ != nullptr ? inbound_->writes_taken() : 0;
    answered(transfer);
  }
}

void DeviceEnd::take(const ReadPart& part, PcieTransfer& transfer) {
  Request& r = *transfer.request;
  const unsigned number = part.cookie & ((1U << kPartBits) - 1);
  const auto offset = static_cast<unsigned>(part.address - offset_in_aperture(r.line));
  const auto bytes = static_cast<unsigned>(part.data.size());
  switch (transfer.leg) {
    case PcieLeg::read: std::copy(part.data.begin(), part.data.end(), r.data.begin() + offset); return;
    case PcieLeg::atomic_op:
      spread_value(part.data.data(), r.atomics->lanes[number].old_value, r.atomics->high[number].old_value,
                   bytes);
      return;
    case PcieLeg::word_reads:
    case PcieLeg::word_swaps: {
      std::uint8_t* const seen = &transfer.swap.seen()[offset];
      // Nobody swaps what no device has: trying again would be in vain.
      const bool swapped =
          transfer.leg == PcieLeg::word_swaps &&
          (part.outcome != TlpOutcome::done || std::equal(part.data.begin(), part.data.end(), seen));
      if (swapped) {
        transfer.swap.done(number);
      } else {
        std::copy(part.data.begin(), part.data.end(), seen);
      }
      return;
    }
    case PcieLeg::write:
    case PcieLeg::word_writes: break;
  }
}

void DeviceEnd::exchange(Cycle now, std::uint64_t t) {
  arriving_.take_due(t, [&](const auto& arrival) {
    send_on(*arrival.what);
    if (arrival.what->posted()) transfers_.release(*arrival.what);
  });
  if (inbound_ != nullptr) {
    inbound_->exchange(now, t);
  } else {
    function_.exchange(now, {});
  }
  take_parts(
      [&](PcieTransfer& transfer) { answered_.push(wire_.send_down(t, transfer.completion), &transfer); });
}

std::uint64_t DeviceEnd::next(std::uint64_t t) const {
  return std::min(arriving_.next(), answered_.due(t) ? kNever : answered_.next());
}

void DeviceEnd::perform(std::uint64_t& t, PcieTransfer& transfer) {
  Cycle answered = link_.domain().cycle_of(t);
  send_on(transfer);
  function_.exchange_loosely(answered);
  take_parts([](PcieTransfer&) {});
  t = link_.domain().edge_at_or_after(answered);
}

void DeviceEnd::explain(std::vector<Wait>& waits) const {
  if (!parked_.empty())
    waits.push_back({link_.name(), std::to_string(parked_.size()) +
                                       " requests, the first of which waits for an answer about its line"});
  function_.explain(waits);
}

void DeviceEnd::in_flight(std::vector<InFlight>& rows) const {
  const std::string& name = link_.name();
  for (const Parked& p : parked_)
    rows.emplace_back(*p.request, name, name + " parked", "an answer about its line, or its turn");
  list_timed(rows, link_, arriving_, " wire upward", "its packets to arrive");
  for (const PcieTransfer* transfer : transfers_.asking())
    if (transfer->awaited != 0)
      rows.emplace_back(*transfer->request, name, name + " root", "the answers of devices");
  for (const auto& answer : answered_)
    rows.emplace_back(*answer.what->request, name, name + " wire downward",
                      "its completion to arrive behind what was written to video memory");
}

}  // namespace warpline
